"""What is stored of an end user: also what agents no longer see (contract 6.9)."""

from __future__ import annotations

from django.db.models import QuerySet

from sessions_app.models import AgentSession, Memory, Trace
from statebase_site.access.actor import Actor
from statebase_site.base.ids import findable


def sessions_of_user(by: Actor, user_id: str) -> QuerySet[AgentSession]:
    """The user's sessions, also expired ones and those that wait for their purge, in the order of keys."""
    return AgentSession.objects.filter(project=by.project, user_id=findable(user_id)).order_by("pk")


def memories_elsewhere(by: Actor, user_id: str) -> QuerySet[Memory]:
    """The user's memories that are bound to no session, or to one of somebody else."""
    memories = Memory.objects.filter(project=by.project, user_id=findable(user_id))
    return memories.exclude(agent_session__in=sessions_of_user(by, user_id))


def traces_elsewhere(by: Actor, user_id: str) -> QuerySet[Trace]:
    """The traces of no session that name the user."""
    return Trace.objects.filter(project=by.project, agent_session=None, user_id=findable(user_id))
