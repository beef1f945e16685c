"""What all actions share: the lock, the timeline, and what follows from the facts when they are done."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from incidents_app import queries
from incidents_app.actions._noticing import notice
from incidents_app.enums import ENDED, UNDER_WAY, EventKind, Status, Step, StepState
from incidents_app.errors import CommandRefused, IncidentEnded, IncidentNotFound
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession, Episode, Incident, TimelineEvent
from incidents_app.queries import Assessed
from sessions_app.actions import action, locked_session
from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession
from statebase_site.access import scopes
from statebase_site.access.actor import Actor, ActorKind
from statebase_site.access.idempotency import recall, remember
from statebase_site.base import clock, json
from statebase_site.base.json import JsonObject
from statebase_site.webhooks import outbox
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.outbox import Happening

_ANNOUNCED = {
    EventKind.FILED: Event.INCIDENT_FILED,
    EventKind.SEVERITY: Event.INCIDENT_SEVERITY,
    EventKind.REOPENED: Event.INCIDENT_REOPENED,
}
_REACHED = {
    Status.CONTAINED: Event.INCIDENT_CONTAINED,
    Status.RECOVERED: Event.INCIDENT_RECOVERED,
    Status.RESOLVED: Event.INCIDENT_RESOLVED,
    Status.CLOSED: Event.INCIDENT_CLOSED,
}


@dataclass(frozen=True, slots=True)
class IncidentWritten:
    """The incident after an action; `replayed` where the same request had done it before."""

    incident: Incident
    replayed: bool = False


def locked_incident(by: Actor, reference: str) -> Incident:
    """The incident, locked and read afresh. Raises `IncidentNotFound`.

    Sessions are locked before the incident, never after it.
    """
    found = queries.with_reference(Incident.objects.filter(project=by.project), reference)
    # Locks that row alone: PostgreSQL refuses to lock what an outer join may not find.
    incident = found.select_for_update(no_key=True, of=("self",)).first()
    if incident is None:
        raise IncidentNotFound(reference)
    incident.project = by.project
    return incident


def require(by: Actor, scope: str, *, to: str) -> None:
    """Raise `PermissionRefused` unless the actor holds `scope`, or may manage incidents."""
    if not by.may(scopes.INCIDENT_MANAGE):
        by.require(scope, to=to)


def acting(by: Actor) -> Actor:
    """The actor for what an incident does to its sessions: it was allowed here, and is not asked again."""
    return replace(by.part(), scopes=by.scopes | {scopes.SESSIONS_WRITE})


def stored_session(row: AffectedSession) -> AgentSession:
    """The session of a row. Raises `SessionNotFound` where it was purged before it could be held."""
    session = AgentSession.objects.filter(pk=row.agent_session_id).first()
    if session is None:
        raise SessionNotFound(row.session_id)
    return session


class Work:
    """One action on one locked incident: its rows, its timeline, and what is settled at the end.

    `session` and `affected` are there where the action is about one session, which is locked too.
    """

    def __init__(self, incident: Incident, by: Actor) -> None:
        self.incident = incident
        self.by = by
        self.moment = max(clock.now(), incident.updated_at)
        self._episode: Episode | None = None
        self.session: AgentSession | None = None
        self._affected: AffectedSession | None = None

    @property
    def acting(self) -> Actor:
        """The actor for what this does to sessions."""
        return acting(self.by)

    @property
    def reference(self) -> str:
        return self.incident.reference

    @property
    def episode(self) -> Episode:
        """The current episode."""
        if self._episode is None or self._episode.number != self.incident.episode_number:
            self._episode = Episode.objects.get(incident=self.incident, number=self.incident.episode_number)
        return self._episode

    @property
    def affected(self) -> AffectedSession:
        """The row of the session that the action is about."""
        assert self._affected is not None
        return self._affected

    def about(self, session_id: str, session: AgentSession | None = None) -> AffectedSession:
        """Name the session that the action is about. Raises `SessionNotAffected`."""
        self._affected = queries.affected_by_session(self.incident, session_id)
        self.session = session
        return self._affected

    def refuse_if_ended(self) -> None:
        """Raise `IncidentEnded` unless the incident may still be worked on."""
        if self.incident.status in ENDED:
            raise IncidentEnded(self.reference, self.incident.status)

    def require_command(self, *, to: str) -> None:
        """Raise unless the actor commands: the commander, an admin, or a key that may manage incidents."""
        self.by.require(scopes.INCIDENT_MANAGE, to=to)
        if self.by.kind != ActorKind.PERSON or self.by.may(scopes.FULL) or self.is_commander(self.by):
            return
        if self.incident.commander_id is None:
            raise CommandRefused(
                f"{self.reference} has no commander, and only its commander may {to}.",
                suggestion="Take command first.",
            )
        raise CommandRefused(
            f"Only the commander of {self.reference} may {to}.",
            suggestion="Ask them, or have the command handed over to you.",
        )

    def is_commander(self, actor: Actor) -> bool:
        """Whether the actor is the incident's commander."""
        return self.incident.commander_id is not None and actor.id == f"user:{self.incident.commander_id}"

    def tell(
        self,
        kind: EventKind,
        text: str,
        *,
        session_id: str | None = None,
        version: int | None = None,
        trace_id: str | None = None,
        details: JsonObject | None = None,
        alarm: bool = False,
        backdated: bool = False,
        supersedes: int | None = None,
        occurred_at: datetime | None = None,
        actor_label: str | None = None,
        actor_kind: str | None = None,
    ) -> TimelineEvent:
        """Add a row to the timeline; by this action's actor, unless another one did what it tells."""
        self._announce(kind, details or {}, alarm)
        self.incident.event_count += 1
        return TimelineEvent.objects.create(
            incident=self.incident,
            sequence=self.incident.event_count,
            episode_number=self.incident.episode_number,
            kind=kind,
            text=text,
            details_text=json.dumps(details or {}),
            actor_kind=actor_kind or self.by.kind,
            actor_label=actor_label or self.by.label,
            session_id=session_id,
            version=version,
            trace_id=trace_id,
            is_alarm=alarm,
            is_backdated=backdated,
            supersedes=supersedes,
            occurred_at=occurred_at or self.moment,
            created_at=self.moment,
        )

    def _announce(self, kind: EventKind, details: JsonObject, alarm: bool) -> None:
        """Let webhooks hear of it (contract 16); a status that it fell back to is none that it reached."""
        event = _ANNOUNCED.get(kind)
        if kind == EventKind.STATUS and not alarm:
            event = _REACHED.get(Status(str(details["to"])))
        if event:
            told = Happening(event, {"incident": self.reference})
            outbox.announce(self.incident.project_id, [told], self.moment)

    def finish(self) -> None:
        """Look for what happened outside, settle the status, and save the incident and its episode."""
        if self.incident.is_active:
            notice(self)
            self._settle()
        self.save()

    def save(self) -> None:
        """Save the incident and its episode alone: for one part of many, which `finish` follows."""
        self.incident.updated_at = self.moment
        self.incident.save()
        if self._episode is not None:
            self._episode.save()

    def _settle(self) -> None:
        found = queries.assess(self.incident)
        for row in found.affected:
            states: JsonObject = {step: view.state for step, view in found.steps_of(row).items()}
            if row.steps != states:
                row.steps_text = json.dumps(states)
                row.save(update_fields=["steps_text"])
        before, now = Status(self.incident.status), found.status
        if before == now or now not in (*UNDER_WAY, Status.TRIAGE):
            return
        self.incident.status = now
        if now == Status.CONTAINED or (now == Status.RECOVERED and before == Status.OPEN):
            self.episode.contained_at = self.episode.contained_at or self.moment
        if now == Status.RECOVERED:
            self.episode.recovered_at = self.episode.recovered_at or self.moment
        if Status.TRIAGE in (before, now):
            return
        is_worse = UNDER_WAY.index(now) < UNDER_WAY.index(before)
        text = f"No longer {before}: {_lost(found)}" if is_worse else f"{now.label}."
        self.tell(EventKind.STATUS, text, details={"from": before, "to": now}, alarm=is_worse)


_NOT_SO = {
    Step.FREEZE: "is not frozen",
    Step.DIVERGENCE: "has no divergence",
    Step.ROLLBACK: "is not in its last good state",
}


def _lost(found: Assessed) -> str:
    """What keeps the incident where it fell back to, in words."""
    steps = (Step.FREEZE,) if found.status == Status.OPEN else (Step.DIVERGENCE, Step.ROLLBACK)
    missing = [
        f"{row.session_id} {_NOT_SO[step]}"
        for row in found.affected
        for step in steps
        if found.step(row, step).state in (StepState.REGRESSED, StepState.PENDING)
    ]
    return f"{', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}."


def incident_action(
    scope: str, *, to: str, on_ended: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., IncidentWritten]]:
    """Make an action of a function that is given `Work` and the rest of its arguments.

    Called with `reference=`, `by=` and the rest. It checks the scope (`to` completes "may not …"), answers a
    repeated request, locks (a session named `session_id` first, where the function asks for it with
    `locks_session`), and settles the incident. `on_ended`: also for one that is closed, declined or merged.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., IncidentWritten]:
        @action
        @functools.wraps(function)
        def run(*, reference: str, by: Actor, **given: Any) -> IncidentWritten:
            require(by, scope, to=to)
            work = Work(locked_incident(by, reference), by)
            return _written(function, work, given, on_ended=on_ended)

        return run

    return decorate


def session_action(scope: str, *, to: str) -> Callable[[Callable[..., Any]], Callable[..., IncidentWritten]]:
    """The same for what an incident does to one session, `session_id=`: that is locked first."""

    def decorate(function: Callable[..., Any]) -> Callable[..., IncidentWritten]:
        @action
        @functools.wraps(function)
        def run(*, reference: str, session_id: str, by: Actor, **given: Any) -> IncidentWritten:
            require(by, scope, to=to)
            # Whose session it is, before it is locked; looked at again under the lock.
            queries.affected_by_session(queries.incident_for(by, reference), session_id)
            session = locked_session(session_id, by)
            work = Work(locked_incident(by, reference), by)
            return _written(function, work, given, about=session)

        return run

    return decorate


def _written(
    function: Callable[..., Any],
    work: Work,
    given: dict[str, Any],
    *,
    about: AgentSession | None = None,
    on_ended: bool = False,
) -> IncidentWritten:
    if recall(work.by):
        return IncidentWritten(work.incident, replayed=True)
    if not on_ended:
        work.refuse_if_ended()
    if about is not None:
        work.about(about.public_id, about)
    function(work, **given)
    work.finish()
    remember(work.by, {"incident": work.incident.pk})
    return IncidentWritten(work.incident)


def review_due(incident: Incident, resolved_at: datetime) -> datetime | None:
    """When the review is owed, by the peak severity."""
    return MATRIX[incident.peak_severity].review_due(resolved_at) if incident.peak_severity else None  # type: ignore[index]
