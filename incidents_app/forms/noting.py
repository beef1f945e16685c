"""Notes, evidence, the summary, and who leads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app import queries
from incidents_app.forms.base import About, ActForm, AffectedField, Line, Names, Version, Versions, Words

_WRITTEN = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")


class PastMoment(forms.CharField):
    """A moment as the person's clock shows it; the form gives it a zone."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        for written in _WRITTEN if text else ():
            try:
                return datetime.strptime(text, written)
            except ValueError:
                continue
        if text:
            raise forms.ValidationError("Write it as 2026-03-29 14:05.")
        return None


class NoteForm(ActForm):
    """A line of the timeline, perhaps about an earlier moment, perhaps in place of another line."""

    text = Words(label="Note", required="Write what happened.")
    occurred_at = PastMoment(label="When it happened", required=False)
    session_id = AffectedField(label="About", required="")
    supersedes = Version(label="Corrects row", help_text="The row stays, and is marked as corrected.")

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        zone = about.times.zone_name
        self.fields["occurred_at"].help_text = f"In {zone}; left empty, it is now. Never in the future."
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]

    @property
    def given(self) -> dict[str, Any]:
        given = super().given
        moment = given["occurred_at"]
        return given | {
            "occurred_at": moment.replace(tzinfo=self.about.times.zone) if moment else None,
            "session_id": given["session_id"] or None,
        }


class PinForm(ActForm):
    """Versions and traces of one session that are kept as evidence."""

    session_id = AffectedField()
    versions = Versions(label="Versions", required=False)
    traces = Names(label="Traces", required=False)
    note = Words(label="Why they matter", rows=2)

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self.errors and not found.get("versions") and not found.get("traces"):
            raise forms.ValidationError("Choose at least one version or trace to pin.")
        return found


class EditForm(ActForm):
    """Title and summary; only what the person changed is saved."""

    title = Line(label="Title", required="An incident needs a title.", show_hidden_initial=True)
    summary = Words(label="Summary", rows=10, show_hidden_initial=True)
    summary_revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @property
    def given(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in super().given.items()
            if name == "summary_revision" or name in self.changed_data
        }


class CommanderForm(ActForm):
    """Who leads from now on."""

    name = forms.ChoiceField(
        label="Commander",
        error_messages={
            "required": "Say who commands.",
            "invalid_choice": "Only a responder or admin of the project can command.",
        },
    )

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        people = queries.who_may_command(about.incident.project_id)
        names = [user.get_username() for user in people]
        self.fields["name"].choices = [("", "choose"), *((name, name) for name in names)]  # type: ignore[attr-defined]
