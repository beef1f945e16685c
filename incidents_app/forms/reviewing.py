"""The post-incident review."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app.enums import FailureMode
from incidents_app.forms.base import About, ActForm, AffectedField, Choice, Version, Words

FAILURE_MODES = {
    FailureMode.HALLUCINATION: "It wrote down as true what no tool, person or record had told it.",
    FailureMode.CONTEXT_OVERFLOW: "What it had to know no longer fitted into its context.",
    FailureMode.STATE_DRIFT: "Its state and the world outside had come apart before it acted.",
    FailureMode.TOOL_FAILURE: "A tool failed or answered garbage, and it went on as if it had worked.",
    FailureMode.INFINITE_LOOP: "It did the same thing again and again without getting further.",
    FailureMode.PERMISSION_VIOLATION: "It did what it should never have been allowed to do.",
    FailureMode.MEMORY_POLLUTION: "Something wrong or foreign in its memory led it astray.",
}
"""The seven ways agents fail, each in a line."""


class ReviewForm(ActForm):
    """What is known afterwards; what is left as it was stays as it was."""

    failure_mode = Choice(label="Failure mode", choices=[(each.value, each.label) for each in FAILURE_MODES])
    checkpoint_session = AffectedField(label="On session", required="")
    checkpoint_after = Version(label="Missing after version")
    no_checkpoint_why = Words(label="No checkpoint was missing, because", rows=2)
    lessons = Words(label="Lessons", rows=6, show_hidden_initial=True)
    scenario_id = forms.ChoiceField(
        label="Scenario for the failure-injection tests",
        required=False,
        error_messages={"invalid_choice": "Choose one of this incident's scenarios."},
    )

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        self.fields["checkpoint_session"].offer(about.rows)  # type: ignore[attr-defined]
        scenarios = about.incident.scenarios.all()
        choices = [(each.public_id, each.name) for each in scenarios]
        self.fields["scenario_id"].choices = [("", "none chosen"), *choices]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if found.get("checkpoint_after") is not None and not found.get("checkpoint_session"):
            self.add_error("checkpoint_session", "Say on which session.")
        if self.data.get("checkpoint_after") == "" and not found.get("no_checkpoint_why"):
            self.add_error("no_checkpoint_why", "Say why none was missing, or pick a version.")
        return found

    def _seen(self, name: str) -> str:
        """What the person began from."""
        return str(self.fields[name].to_python(self.data.get(self[name].html_initial_name, "")))

    @property
    def given(self) -> dict[str, Any]:
        """Only what differs from the review there is: a change takes an approval back."""
        found, episode = self.cleaned_data, self.about.assessed.episode
        place = (found["checkpoint_session"], found["checkpoint_after"])
        given: dict[str, Any] = {}
        if found["failure_mode"] and found["failure_mode"] != self.about.incident.failure_mode:
            given["failure_mode"] = found["failure_mode"]
        if None not in place and place != (episode.checkpoint_session, episode.checkpoint_after):
            given["checkpoint"] = place
        elif place[1] is None and (why := found["no_checkpoint_why"]) and why != episode.no_checkpoint_why:
            given["no_checkpoint_why"] = why
        if "lessons" in self.changed_data:
            given |= {"lessons": found["lessons"], "lessons_seen": self._seen("lessons")}
        chosen = episode.review_scenario.public_id if episode.review_scenario else ""
        if found["scenario_id"] and found["scenario_id"] != chosen:
            given["scenario_id"] = found["scenario_id"]
        return given
