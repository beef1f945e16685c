"""How the filing page is presented: each severity with its row of the matrix, and the sessions on offer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django import forms

from incidents_app.forms.filing import TRIAGE, FilingForm, wrong_version_field
from incidents_app.matrix import MATRIX, Duties
from incidents_app.queries.reaching import Suggestion
from sessions_app.models import AgentSession


@dataclass(frozen=True, slots=True)
class SeverityChoice:
    """A radio button: its value, the key that takes it, and what it asks for (None: triage)."""

    value: str
    key: str
    duties: Duties | None
    is_chosen: bool
    why: str
    """Why it is suggested, or nothing."""


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A box: the session, whether it is ticked, and what stands in its field for the wrong version."""

    agent_session: AgentSession
    is_chosen: bool
    version_field: str
    version: str


def severity_choices(form: forms.Form, suggestion: Suggestion | None) -> list[SeverityChoice]:
    """The four severities, and triage."""
    chosen = form["severity"].value()
    rows = [
        SeverityChoice(
            value=severity,
            key=str(place),
            duties=duties,
            is_chosen=chosen == severity,
            why=suggestion.why_severity if suggestion and suggestion.severity == severity else "",
        )
        for place, (severity, duties) in enumerate(MATRIX.items(), 1)
    ]
    return [*rows, SeverityChoice(TRIAGE, "0", None, chosen == TRIAGE, "")]


def session_choices(form: FilingForm, recent: Iterable[AgentSession]) -> list[SessionChoice]:
    """Those that were chosen, in their order, then those that changed last."""
    chosen = [form.known[each] for each in form["sessions"].value() or [] if each in form.known]
    return [
        *(_choice(form, each, is_chosen=True) for each in chosen),
        *(_choice(form, each, is_chosen=False) for each in recent if each not in chosen),
    ]


def _choice(form: FilingForm, agent_session: AgentSession, *, is_chosen: bool) -> SessionChoice:
    name = wrong_version_field(agent_session.public_id)
    typed = form.data.get(name, "") if form.is_bound else form.initial.get(name, "")
    return SessionChoice(agent_session, is_chosen, name, str(typed))


def unknown_sessions(form: FilingForm) -> str:
    """What was typed as a session and is none of the person's, to be typed over."""
    return "\n".join(each for each in form["sessions"].value() or [] if each not in form.known)
