"""More sessions, where new traffic goes, severity, and what need not be done."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app import rules
from incidents_app.enums import Severity, Step, Traffic
from incidents_app.forms.base import About, ActForm, AffectedField, Choice, Line, Version, Words
from incidents_app.matrix import is_worse

DUTIES_SHOWN = 60
"""One reason each up to so many duties; beyond that, one reason for all of them."""


class AddSessionForm(ActForm):
    """One more affected session."""

    session_id = Line(label="Session", required="Say which session.", help_text="Its id, such as sess_7f3k….")
    suspect_version = Version(label="Version that looks wrong")


class FreezeForm(ActForm):
    """One session, or all where none is named; nothing is asked."""

    session_id = AffectedField(required="", widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]

    @property
    def given(self) -> dict[str, Any]:
        return {"session_id": self.cleaned_data["session_id"] or None}


class TrafficForm(ActForm):
    """Where new traffic goes while sessions are stopped."""

    traffic = Choice(
        label="New traffic",
        required="Say where new traffic goes.",
        choices=[(each.value, each.label) for each in Traffic],
    )
    traffic_note = Line(
        label="Note",
        most=300,
        help_text="Shown to every agent whose write is refused, such as: ask the desk, extension 12.",
    )


class SeverityForm(ActForm):
    """A severity; going down takes a reason, and one for each duty that is dropped."""

    severity = Choice(
        label="Severity",
        required="Choose a severity.",
        choices=[(each.value, each.value) for each in Severity],
    )
    reason = Words(label="Reason", rows=2)

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.owed = _owed(about)
        if self.owed and len(self.owed) <= DUTIES_SHOWN:
            for session_id, step in self.owed:
                label = f"{session_id}: {step.label.lower()}"
                self.fields[_waive(session_id, step)] = Words(label=label, rows=1)
        if len(self.owed) > 1:
            self.fields["waive_all"] = Words(
                label="The same reason for all that is left empty"
                if len(self.owed) <= DUTIES_SHOWN
                else f"Why none of these {len(self.owed)} duties has to be done",
                rows=1,
            )

    @property
    def waivers(self) -> list[forms.BoundField]:
        """The fields with the reasons for what is dropped."""
        return [self[name] for name in self.fields if name.startswith("waive")]

    @property
    def is_lower(self) -> bool:
        """Whether what was chosen is less than the present severity."""
        chosen, now = self.cleaned_data.get("severity"), self.about.incident.severity
        return bool(chosen and now and chosen != now and not is_worse(chosen, now))

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if self.is_lower and not found.get("reason"):
            self.add_error("reason", "Lowering the severity needs a reason.")
        return found

    @property
    def given(self) -> dict[str, Any]:
        found = self.cleaned_data
        for_all = found.get("waive_all", "")
        waived = {
            (session_id, str(step)): found.get(_waive(session_id, step)) or for_all
            for session_id, step in self.owed
        }
        return {"severity": found["severity"], "reason": found["reason"], "waived": waived}


def _owed(about: About) -> list[tuple[str, Step]]:
    """What the present severity asks for and some lower one does not, as far as it is not done yet."""
    now = about.incident.severity
    lower = [each for each in Severity if now and each != now and not is_worse(each, now)]
    found = [duty for each in lower for duty in rules.duties_owed(about.assessed.facts, each)]
    return sorted(set(found), key=lambda duty: (duty[0], list(Step).index(duty[1])))


def _waive(session_id: str, step: Step) -> str:
    return f"waive-{session_id}-{step.value}"


class ExemptForm(ActForm):
    """A step that a session need not do, and why."""

    session_id = AffectedField()
    step = forms.ChoiceField(
        label="Step",
        choices=[("", "choose"), *((each.value, f"{n} {each.label}") for n, each in enumerate(Step, 1))],
        error_messages={"required": "Say which step.", "invalid_choice": "The runbook has no such step."},
    )
    reason = Words(label="Why it need not be done", required="Say why: it is shown with the step.")

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]
