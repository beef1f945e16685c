"""Step 5: causes, follow-ups, scenarios and their runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app import predicate as predicates
from incidents_app.actions import QUESTIONS
from incidents_app.enums import FaultKind, FollowUpKind, Severity
from incidents_app.forms.base import About, ActForm, AffectedField, Choice, Line, Version, Words
from statebase_site.base import json
from statebase_site.base.errors import DomainError
from statebase_site.base.json import JsonValue

_ADVICE = {
    "missing_checkpoint": "If so: add a checkpoint before the risky operation.",
    "no_validation": "If so: add a schema check on tool output.",
    "no_permission_check": "If so: enforce an allowlist.",
    "state_drift": "If so: sync with the source of truth.",
}
"""Of seed 2, step 5, to each of its four questions."""


class YesOrNo(Choice):
    """A question that has to be answered; gives a bool."""

    def __init__(self, **more: Any) -> None:
        widget = forms.RadioSelect(attrs={"class": "yes-no"})
        super().__init__(required="Yes or no?", choices=[("yes", "Yes"), ("no", "No")], widget=widget, **more)

    def clean(self, value: Any) -> bool:
        return super().clean(value) == "yes"


class CausesForm(ActForm):
    """The four questions, and in words what enabled the failure."""

    missing_checkpoint = YesOrNo(
        label=QUESTIONS["missing_checkpoint"], help_text=_ADVICE["missing_checkpoint"]
    )
    no_validation = YesOrNo(label=QUESTIONS["no_validation"], help_text=_ADVICE["no_validation"])
    no_permission_check = YesOrNo(
        label=QUESTIONS["no_permission_check"], help_text=_ADVICE["no_permission_check"]
    )
    state_drift = YesOrNo(label=QUESTIONS["state_drift"], help_text=_ADVICE["state_drift"])
    text = Words(label="What enabled the failure", required="Say in a sentence what enabled it.")


class AssignForm(ActForm):
    """Whose it is, and until when."""

    owner = Line(
        label="Owner", most=160, widget=forms.TextInput(attrs={"list": "people", "autocomplete": "off"})
    )
    due = forms.DateField(
        label="Due",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": "Write the date as 2026-03-29."},
    )


class FollowUpForm(AssignForm):
    """Something that has to be done."""

    text = Words(label="What has to be done", required="Say what has to be done.", rows=2)
    kind = forms.ChoiceField(
        label="Kind",
        choices=[(each.value, each.label) for each in FollowUpKind],
        initial=FollowUpKind.OTHER,
        error_messages={"invalid_choice": "Choose one of the kinds that are offered."},
    )
    blocks = forms.BooleanField(label="Has to be done before the incident is resolved", required=False)

    field_order = ["text", "kind", "owner", "due", "blocks"]

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        if about.incident.severity == Severity.S4:
            initial = {"kind": FollowUpKind.DEPLOY} | (initial or {})
        super().__init__(data, about=about, initial=initial)


class JsonField(Words):
    """A JSON text; gives its value, None where it is left empty."""

    def __init__(self, *, is_object: bool = False, **more: Any) -> None:
        self.is_object = is_object
        widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "code-in"})
        super().__init__(widget=widget, **more)

    def clean(self, value: Any) -> JsonValue:  # type: ignore[override]
        text = super().clean(value)
        if not text:
            return None
        try:
            found = json.parse(text)
        except json.JsonFault as fault:
            raise forms.ValidationError(f"This is no JSON: {fault}") from None
        if self.is_object and not isinstance(found, dict):
            raise forms.ValidationError('This has to be an object, such as {"destination": null}.')
        return found


class ScenarioForm(ActForm):
    """The incident as a test: a fork from before the divergence, a fault, and what must hold."""

    name = Line(label="Name", required="Give it a name.")
    session_id = AffectedField(label="Made from session")
    fork_version = Version(
        label="Fork at version",
        required="Say at which version each run forks.",
        help_text="Before the divergence: the last good version is a good choice.",
    )
    fault_kind = forms.ChoiceField(
        label="Fault",
        choices=[(each.value, each.label) for each in FaultKind],
        error_messages={"required": "Choose a fault.", "invalid_choice": "Choose one of those offered."},
    )
    tool = Line(
        label="Tool", most=255, help_text="Its name: for a tool that fails or answers nothing or garbage."
    )
    patch = JsonField(
        label="Patch of the state",
        is_object=True,
        help_text='For a patch: the keys to merge into the fork, such as {"destination": null}.',
    )
    value = JsonField(label="Value", help_text="What the tool answers, or what is repeated; JSON.")
    predicate = Line(
        label="What must hold afterwards",
        required="Say what must hold.",
        most=predicates.CHARACTERS_MOST,
        help_text="JMESPath over the state, such as destination != null && booked.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
    )

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["session_id"].offer(about.rows)  # type: ignore[attr-defined]

    def clean_predicate(self) -> str:
        try:
            return predicates.check(self.cleaned_data["predicate"])
        except predicates.BadPredicate as fault:
            raise forms.ValidationError(str(fault)) from None

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        kind = found.get("fault_kind")
        if kind == FaultKind.STATE_PATCH and found.get("patch") is None and "patch" not in self.errors:
            self.add_error("patch", "Say which keys the fault changes.")
        tools = (FaultKind.TOOL_ERROR, FaultKind.TOOL_EMPTY, FaultKind.TOOL_GARBAGE)
        if kind in tools and not found.get("tool"):
            self.add_error("tool", "Say which tool.")
        return found

    @property
    def given(self) -> dict[str, Any]:
        found = super().given
        fault = {"kind": found.pop("fault_kind")}
        for name in ("tool", "patch", "value"):
            if (value := found.pop(name)) not in (None, ""):
                fault[name] = value
        return found | {"fault": fault}

    def refuse(self, refusal: DomainError, words: str) -> None:
        """A fault's field is named `fault.tool` in the API."""
        if refusal.param and refusal.param.startswith("fault."):
            name = refusal.param.removeprefix("fault.").replace("kind", "fault_kind")
            self.add_error(name if name in self.fields else None, words)
        else:
            super().refuse(refusal, words)


class ReportForm(ActForm):
    """How a run ended is read from the state; a person says which run, and of which agent."""

    session_id = Line(label="Session of the run", required="Say on which fork the agent ran.")
    agent_version = Line(
        label="Version of the agent",
        required="Say which version of the agent ran.",
        most=255,
        help_text="Such as travel@2.8.1.",
    )
