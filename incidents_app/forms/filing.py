"""Filing an incident: quick to fill in, and clear about what it will do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app.enums import FailureMode, Severity
from incidents_app.forms.base import Choice, Line, Names, Several, Version, Words
from incidents_app.limits import SESSIONS_MOST
from sessions_app.models import AgentSession
from statebase_site.access.models import Project

TRIAGE = "triage"
"""In place of a severity: somebody else is to judge it."""
_SHOWN = 60  # characters of what was typed, in an error


def sessions_named_in(data: QueryDict) -> list[str]:
    """The ids that a filing form names, in boxes and in its text."""
    return Several().value_from_datadict(data, None, "sessions")


def wrong_version_field(session_id: str) -> str:
    """Name of the field for the version of a session that looks wrong."""
    return f"version-{session_id}"


class FilingForm(forms.Form):
    """What went wrong, how bad it is, and which sessions it affects.

    `known` holds the sessions of the person that the form names, by their ids; all must be of `project`.
    """

    title = Line(
        label="Title",
        required="Say what went wrong, in a few words.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "true", "autofocus": True}),
    )
    severity = Choice(
        label="Severity",
        required="Choose a severity, or triage if you are not sure.",
        choices=[*((each, each) for each in Severity.values), (TRIAGE, "Triage")],
    )
    sessions = Names(label="Affected sessions", required=False)
    no_session_reason = Line(
        label="Why no session",
        help_text="Only where none is affected, or none is known yet.",
    )
    failure_mode = forms.ChoiceField(
        label="Failure mode", choices=[("", "not known yet"), *FailureMode.choices], required=False
    )
    summary = Words(label="Summary", rows=4, help_text="What was seen, by whom, and what it touched.")

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        project: Project,
        known: Mapping[str, AgentSession],
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        self.project = project
        self.known = known

    def clean_sessions(self) -> list[str]:
        wanted: list[str] = self.cleaned_data["sessions"] or []
        if len(wanted) > SESSIONS_MOST:
            raise forms.ValidationError(f"An incident has at most {SESSIONS_MOST:,} sessions.")
        if unknown := [each[:_SHOWN] for each in wanted if each not in self.known]:
            raise forms.ValidationError(
                f"There is no session {', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}. "
                "An id looks like sess_4k0z…; take out what is not one."
            )
        if strange := [each for each in wanted if self.known[each].project_id != self.project.pk]:
            raise forms.ValidationError(
                f"{strange[0]} is not of the project {self.project.name}: file an incident of its own for it."
            )
        return wanted

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if "sessions" in found and not found["sessions"] and not found.get("no_session_reason"):
            self.add_error("sessions", "Choose a session, or say below why there is none.")
        found["suspects"] = {}
        for session_id in found.get("sessions", []):
            if (number := self._wrong_version(session_id)) is not None:
                found["suspects"][session_id] = number
        return found

    def _wrong_version(self, session_id: str) -> int | None:
        head = self.known[session_id].head_version
        try:
            number = Version().clean(self.data.get(wrong_version_field(session_id), ""))
            if number is not None and number > head:
                raise forms.ValidationError(f"{session_id} has the versions 0 to {head:,}.")
        except forms.ValidationError as fault:
            self.add_error("sessions", fault)
            return None
        return number

    @property
    def given(self) -> dict[str, Any]:
        """The keywords of the action."""
        found = self.cleaned_data
        return {
            "title": found["title"],
            "severity": None if found["severity"] == TRIAGE else found["severity"],
            "session_ids": found["sessions"],
            "suspects": found["suspects"],
            "summary": found["summary"],
            "failure_mode": found["failure_mode"] or None,
            "no_session_reason": "" if found["sessions"] else found["no_session_reason"],
        }
