"""How the demo's incidents are told: through the actions, step by step, at times in the past."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from incidents_app import actions
from incidents_app.models import Effect
from sessions_app.models import AgentSession, Trace
from statebase_site.access import scopes
from statebase_site.access.actor import Actor, ActorKind, person_actor
from statebase_site.access.models import Membership, Project
from statebase_site.base import clock

_AGENT_SCOPES = frozenset((scopes.SESSIONS_READ, scopes.SESSIONS_WRITE))


def person(project: Project, name: str) -> Actor:
    """A member of the project."""
    return person_actor(Membership.objects.select_related("user").get(project=project, user__username=name))


def agent(project: Project, prefix: str) -> Actor:
    """An agent that acts with a key of this prefix."""
    return Actor(project, ActorKind.KEY, prefix, f"key_demo{prefix[3:].lower()}", _AGENT_SCOPES)


def session_of(project: Project, slug: str) -> AgentSession:
    """The session of a story of the sessions' demo."""
    return AgentSession.objects.get(project=project, imported_from=f"demo:{slug}")


def trace_of_turn(agent_session: AgentSession, turn_id: str) -> str:
    """The id of the trace that says what a turn did."""
    return Trace.objects.get(agent_session=agent_session, action="turn.added", resource_id=turn_id).public_id


class Story:
    """One incident. Each step happens `after` so many seconds; `moment` is when the last one did."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment
        self._steps = 0

    def file(self, *, after: float, by: Actor, **given: Any) -> None:
        """File it."""
        self.incident = self.do(actions.file, after=after, by=by, **given).incident

    def act(self, what: Callable[..., Any], *, after: float, by: Actor, **given: Any) -> Any:
        """Do one of the acts on this incident."""
        return self.do(what, after=after, by=by, reference=self.incident.reference, **given)

    def do(self, what: Callable[..., Any], *, after: float, **given: Any) -> Any:
        """Do anything else meanwhile."""
        self._steps += 1
        self.moment += timedelta(seconds=after, milliseconds=self._steps * 173 % 1000)
        with clock.at(self.moment):
            return what(**given)

    def effects(self) -> list[Effect]:
        """What the rollbacks did not undo, in the order of the turns."""
        return list(Effect.objects.filter(affected__episode__incident=self.incident))
