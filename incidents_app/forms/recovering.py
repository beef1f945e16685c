"""Divergence, rollback and what it leaves, correction, resume."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app.enums import Disposition
from incidents_app.forms.base import About, ActForm, AffectedField, Choice, Line, Version, Words


class DivergenceForm(ActForm):
    """Where the state stopped matching reality; the last good version is the one before, unless said."""

    divergence_version = Version(label="Divergence", required="Mark the first version that is wrong.")
    last_good_version = Version(label="Last good version")
    found_how = Line(
        label="How it was found",
        most=300,
        help_text="A predicate, a customer's call, the diff: what convinced you.",
    )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        divergence, good = found.get("divergence_version"), found.get("last_good_version")
        if divergence == 0:
            self.add_error(
                "divergence_version",
                "Nothing lies before version 0. If no version is good, fork a clean session and exempt this.",
            )
        elif divergence is not None and good is None and "last_good_version" not in self.errors:
            found["last_good_version"] = divergence - 1
        elif divergence is not None and good is not None and good >= divergence:
            self.add_error(
                "last_good_version", f"The last good version lies before the divergence, v{divergence}."
            )
        return found


class RollbackForm(ActForm):
    """The version to go back to, and the one that the person saw as the current one."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    expected_version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    confirm = forms.BooleanField(required=False)


class EffectForm(ActForm):
    """What became of a tool call that the rollback did not undo."""

    session_id = forms.CharField(widget=forms.HiddenInput)
    turn_id = forms.CharField(widget=forms.HiddenInput)
    disposition = Choice(
        label="What became of it",
        required="Say what became of it.",
        choices=[(each.value, each.label) for each in Disposition],
    )
    note = Words(label="Note", rows=2, help_text="How, by whom, under which reference.")


class CorrectForm(ActForm):
    """What was put right in place of a rollback."""

    text = Words(label="What was corrected", required="Say what was corrected.")
    version = Version(
        label="In version", help_text="The version that holds the correction, where there is one."
    )


class ResumeForm(ActForm):
    """Letting one session go on, or all that are frozen."""

    session_id = AffectedField(required="", widget=forms.HiddenInput)
    reason = Words(
        label="Why may it go on?",
        rows=2,
        help_text="It becomes the reasoning of the new version; left empty: agent resumed.",
    )
    confirm = forms.BooleanField(required=False)

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]

    @property
    def given(self) -> dict[str, Any]:
        given = super().given
        return given | {"session_id": given["session_id"] or None}
