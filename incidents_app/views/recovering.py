"""Divergence, rollback, effects, correction, resume."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from incidents_app import actions, queries
from incidents_app.forms.base import ActForm
from incidents_app.forms.recovering import CorrectForm, DivergenceForm, EffectForm, ResumeForm, RollbackForm
from incidents_app.views.acting import Act
from sessions_app import queries as session_queries


class OfSession(Act):
    """An act on the session that the address names. Raises `SessionNotAffected`, `SessionNotFound`."""

    part = "runbook"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.row = queries.affected_by_session(self.about.incident, kwargs["session_id"])
        self.agent_session = session_queries.session_for(self.about.by, self.row.session_id)

    @property
    def said(self) -> dict[str, Any]:
        return super().said | {"session_id": self.row.session_id}


class Divergence(OfSession):
    """Record where it went wrong."""

    form_class = DivergenceForm
    title, button = "Find the divergence", "Record"

    def act(self, form: ActForm) -> None:
        actions.record_divergence(**self.said, **form.given)


class Rollback(OfSession):
    """Roll back to the last good version."""

    form_class = RollbackForm
    title, button, icon, tone = "Roll back", "Roll back", "rollback", "rollback"

    def initial(self) -> dict[str, Any]:
        target = self.about.assessed.facts_of(self.row).target
        return {"version": target, "expected_version": self.agent_session.head_version}

    def act(self, form: ActForm) -> None:
        actions.rollback(**self.said, **form.given)


class Effect(Act):
    """Say what became of a tool call."""

    form_class = EffectForm
    title, button = "What a rollback does not undo", "Record"
    done, part = "Recorded.", "effects"

    def act(self, form: ActForm) -> None:
        actions.decide_effect(**self.said, **form.given)


class Correct(OfSession):
    """Record a correction in place of a rollback."""

    form_class = CorrectForm
    title, button = "Record a correction", "Record"
    done = "The correction is recorded."

    def act(self, form: ActForm) -> None:
        actions.correct(**self.said, **form.given)


class Resume(Act):
    """Let one session go on, or all."""

    form_class = ResumeForm
    title, button, icon = "Resume", "Resume", "play"
    part = "runbook"

    def act(self, form: ActForm) -> None:
        actions.resume(**self.said, **form.given)
