"""Divergence, rollback, effects, correction, resume."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from incidents_app import actions, queries
from incidents_app.enums import SETTLED, Status, Step
from incidents_app.forms.base import ActForm
from incidents_app.forms.recovering import CorrectForm, DivergenceForm, EffectForm, ResumeForm, RollbackForm
from incidents_app.models import AffectedSession, Incident
from incidents_app.presenting.gates import missing
from incidents_app.presenting.picker import Column, numbers_in, picker
from incidents_app.presenting.rehearsing import MovedOn, TargetMoved, other_incidents, rehearsal
from incidents_app.views.acting import Act
from sessions_app import queries as session_queries
from sessions_app.errors import VersionConflict
from statebase_site.base.errors import DomainError

PREVENTION = ("prevention", "followup_missing", "scenario")
"""Conditions of step 5."""


class OfSession(Act):
    """An act on the session that the address names. Raises `SessionNotAffected`, `SessionNotFound`."""

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.row = queries.affected_by_session(self.about.incident, kwargs["session_id"])
        self.agent_session = session_queries.session_for(self.about.by, self.row.session_id)

    def context(self, form: ActForm) -> dict[str, Any]:
        return {"agent_session": self.agent_session, "row": self.row}

    @property
    def said(self) -> dict[str, Any]:
        return super().said | {"session_id": self.row.session_id}


class Divergence(OfSession):
    """Record where it went wrong, picked on the session's timeline."""

    form_class = DivergenceForm
    template = "incidents_app/divergence.html"
    title, button = "Find the divergence", "Record"

    def initial(self) -> dict[str, Any]:
        row = self.row
        recorded = {
            "divergence_version": row.divergence_version,
            "last_good_version": row.last_good_version,
            "found_how": row.found_how,
        }
        return recorded | super().initial()

    def act(self, form: ActForm) -> None:
        actions.record_divergence(**self.said, **form.given)

    def tell(self, form: ActForm) -> None:
        given = form.given
        words = f"Divergence v{given['divergence_version']}, last good v{given['last_good_version']}."
        messages.success(self.request, words)

    def context(self, form: ActForm) -> dict[str, Any]:
        bad, good = (numbers_in(form[name]) for name in ("divergence_version", "last_good_version"))
        right = bad[0] if bad and 0 < bad[0] <= self.agent_session.head_version else None
        left = good[0] if good else (right or 0) - 1
        columns = [
            Column("last_good_version", "last good", "g", good),
            Column("divergence_version", "divergence", "d", bad, below="last_good_version"),
        ]
        return super().context(form) | {
            "picker": picker(self.agent_session, self.row, columns, at=self.window()),
            "left": left,
            "right": right if right is not None and left < right else None,
        }


class Rollback(OfSession):
    """Roll back to the last good version."""

    form_class = RollbackForm
    template = "incidents_app/rollback.html"
    title, button, icon, tone = "Roll back", "Roll back", "rollback", "rollback"
    done = "Rolled back; the session stays frozen until it is resumed."

    @property
    def commands(self) -> bool:  # type: ignore[override]
        """A session of several incidents takes the commander's confirmation."""
        return bool(self.others)

    @cached_property
    def others(self) -> list[Incident]:
        """The other open incidents that affect the session."""
        return other_incidents(self.about.incident, [self.row.session_id])

    @property
    def target(self) -> int | None:
        """Where a rollback goes: the earliest last good version of all open incidents."""
        return self.about.assessed.facts_of(self.row).target

    def initial(self) -> dict[str, Any]:
        return {"version": self.target, "expected_version": self.agent_session.head_version}

    def act(self, form: ActForm) -> None:
        if form.given["version"] != self.target:
            raise TargetMoved(self.target)
        actions.rollback(**self.said, **form.given)

    def refused(self, form: ActForm, refusal: DomainError) -> HttpResponse:
        """What was seen is not so any more: show what changed, and ask again from what is so now."""
        if not isinstance(refusal, (VersionConflict, TargetMoved)):
            return super().refused(form, refusal)
        self.agent_session.refresh_from_db()
        seen = min(form.given["expected_version"], self.agent_session.head_version)
        again = RollbackForm(about=self.about, initial=self.initial() | {"confirm": form.given["confirm"]})
        return self.page(again, status=409, moved=MovedOn.since(self.agent_session, seen), refusal=refusal)

    def context(self, form: ActForm) -> dict[str, Any]:
        rehearsed = None if self.target is None else rehearsal(self.agent_session, self.target)
        return super().context(form) | {
            "rehearsal": rehearsed,
            "others": self.others,
            "is_others_target": self.target != self.row.last_good_version,
        }


class Effect(Act):
    """Say what became of a tool call."""

    form_class = EffectForm
    template = "incidents_app/effect.html"
    title, button = "What a rollback does not undo", "Record"
    done = "Recorded."

    @property
    def part(self) -> str:  # type: ignore[override]
        """Back to the effects while there is one to decide."""
        undecided = any(each.undecided_effects for each in queries.assess(self.about.incident).facts.sessions)
        return "effects" if undecided else ""

    def get(self, request: HttpRequest, **given: Any) -> HttpResponse:
        """Which effect is meant is said by the address; without that, all of them are on the incident."""
        return super().get(request, **given) if request.GET.get("turn_id") else self.back()

    def context(self, form: ActForm) -> dict[str, Any]:
        row = queries.affected_by_session(self.about.incident, str(form["session_id"].value() or ""))
        turn_id = str(form["turn_id"].value() or "").replace("\x00", "")
        return {"effect": row.effects.filter(turn_id=turn_id).first(), "row": row}

    def act(self, form: ActForm) -> None:
        actions.decide_effect(**self.said, **form.given)


class Correct(OfSession):
    """Record a correction in place of a rollback."""

    form_class = CorrectForm
    title, button = "Record a correction", "Record"
    lead = "What was put right in place of a rollback, by hand or by the agent itself."
    done = "The correction is recorded."

    def initial(self) -> dict[str, Any]:
        return {"text": self.row.correction, "version": self.row.correction_version}

    def act(self, form: ActForm) -> None:
        actions.correct(**self.said, **form.given)


class Resume(Act):
    """Let one session go on, or all."""

    form_class = ResumeForm
    template = "incidents_app/resume.html"
    title, button, icon = "Resume", "Resume", "play"
    done = "Resumed: the agent may write again."

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Raises `SessionNotAffected` where one is named that is none of the incident's."""
        super().setup(request, *args, **kwargs)
        self.asked = request.POST.get("session_id") or request.GET.get("session_id")
        if self.asked:
            queries.affected_by_session(self.about.incident, self.asked)

    @cached_property
    def frozen(self) -> list[AffectedSession]:
        """The sessions that would go on: the one that is named, or all that are frozen."""
        found = self.about.assessed
        return [
            row
            for row in found.affected
            if found.facts_of(row).is_frozen and self.asked in (None, "", row.session_id)
        ]

    @cached_property
    def others(self) -> list[Incident]:
        """The other open incidents that affect them."""
        return other_incidents(self.about.incident, [row.session_id for row in self.frozen])

    @property
    def commands(self) -> bool:  # type: ignore[override]
        """A session of several incidents takes the commander's confirmation."""
        return bool(self.others)

    def context(self, form: ActForm) -> dict[str, Any]:
        found = self.about.assessed
        unmet = [each for each in found.unmet(Status.RESOLVED) if each.code in PREVENTION]
        away = [row for row in self.frozen if found.step(row, Step.ROLLBACK).state not in SETTLED]
        return {
            "frozen": [(row, found.facts_of(row).frozen_by) for row in self.frozen],
            "others": self.others,
            "still_open": missing(self.about.incident, unmet),
            "not_rolled_back": away,
        }

    def act(self, form: ActForm) -> None:
        actions.resume(**self.said, **form.given)
