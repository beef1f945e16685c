"""Declining, merging, reopening, overriding."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from incidents_app import queries
from incidents_app.enums import ACTIVE, Status
from incidents_app.forms.base import About, ActForm, Words

_OFFERED_MOST = 200
_NAMED_MOST = 5


class DeclineForm(ActForm):
    """It is no incident, and why."""

    reason = Words(label="Why it is no incident", required="Say why: it stays with the incident.")
    resume_sessions = forms.BooleanField(label="Let its frozen sessions go on", required=False)

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        frozen = [each.session_id for each in about.assessed.facts.sessions if each.is_frozen]
        if not frozen:
            del self.fields["resume_sessions"]
            return
        named = ", ".join(frozen[:_NAMED_MOST]) + (" …" if len(frozen) > _NAMED_MOST else "")
        self.fields["resume_sessions"].help_text = f"Frozen: {named}. Else they stay frozen."


class MergeForm(ActForm):
    """The incident that this one is the same as."""

    into = forms.ChoiceField(
        label="Merge into",
        error_messages={
            "required": "Choose the incident that goes on.",
            "invalid_choice": "That incident is not open any more; choose another.",
        },
    )

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        found = queries.find_incidents(about.by).filter(status__in=ACTIVE).exclude(pk=about.incident.pk)
        rows = found[:_OFFERED_MOST]
        choices = [(each.reference, f"{each.reference} · {each.title[:100]}") for each in rows]
        self.fields["into"].choices = [("", "choose"), *choices]  # type: ignore[attr-defined]

    @property
    def has_choices(self) -> bool:
        """Whether there is another open incident."""
        return len(self.fields["into"].choices) > 1  # type: ignore[attr-defined]


class ReopenForm(ActForm):
    """Why it goes on."""

    reason = Words(label="Why it is reopened", required="Say why: it begins the new episode.")


class OverrideForm(ActForm):
    """A condition that is passed over, and why."""

    gate = forms.ChoiceField(
        label="Condition",
        error_messages={
            "required": "Choose the condition to pass over.",
            "invalid_choice": "That condition is met by now, or never stood in the way.",
        },
    )
    reason = Words(label="Reason", required="Say why: the page and every export show it.")

    def __init__(self, data: QueryDict | None = None, *, about: About, initial: Any = None) -> None:
        super().__init__(data, about=about, initial=initial)
        unmet = {
            each.code: each.message
            for to in (Status.RESOLVED, Status.CLOSED)
            for each in about.assessed.unmet(to)
        }
        choices = [(code, f"{code.replace('_', ' ')} · {message[:120]}") for code, message in unmet.items()]
        self.fields["gate"].choices = [("", "choose"), *choices]  # type: ignore[attr-defined]

    @property
    def has_choices(self) -> bool:
        """Whether anything is unmet."""
        return len(self.fields["gate"].choices) > 1  # type: ignore[attr-defined]
