"""Finding sessions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.enums import SessionStatus
from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession, SessionMetadataPair, SessionPath
from sessions_app.models.agent_session import metadata_pairs
from statebase_site.access.actor import Actor
from statebase_site.base import clock, json
from statebase_site.base.ids import findable


def sessions_for(by: Actor) -> QuerySet[AgentSession]:
    """The sessions that exist for an actor: not deleted, and for an agent not expired (contract 6.2)."""
    sessions = AgentSession.objects.filter(project=by.project, deleted_at=None)
    if by.is_agent:
        sessions = sessions.filter(
            Q(expires_at=None)
            | Q(expires_at__gt=clock.now())
            | Q(frozen_at__isnull=False)
            | Q(open_holds__gt=0)
        )
    return sessions


def find_sessions(
    by: Actor,
    *,
    agent_id: str | None = None,
    user_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    frozen: bool | None = None,
    metadata: json.JsonObject | None = None,
) -> QuerySet[AgentSession]:
    """The sessions that exist for an actor, narrowed by what is given (contract 6.2, List)."""
    given = {
        "agent_id": agent_id,
        "user_id": user_id,
        "created_at__gte": created_after,
        "created_at__lte": created_before,
        "frozen_at__isnull": None if frozen is None else not frozen,
    }
    sessions = sessions_for(by).filter(**{name: value for name, value in given.items() if value is not None})
    return with_metadata(sessions, metadata or {})


def session_for(by: Actor, session_id: str) -> AgentSession:
    """One session. Raises `SessionNotFound`, also for one of another project."""
    agent_session = sessions_for(by).filter(public_id=findable(session_id)).first()
    if agent_session is None:
        raise SessionNotFound(session_id)
    return agent_session


def session_once_listed(by: Actor, session_id: str) -> AgentSession | None:
    """A session as a place in a list, where a page goes on even if it has expired or was deleted since."""
    return AgentSession.objects.filter(project=by.project, public_id=findable(session_id)).first()


def session_of_project(session_id: str, projects: Iterable[int]) -> AgentSession:
    """One session, deleted or not, in any of `projects` (their keys): how a page finds out whose it is.

    Raises `SessionNotFound`.
    """
    found = (
        AgentSession.objects.filter(public_id=findable(session_id), project__in=list(projects))
        .select_related("project")
        .first()
    )
    if found is None:
        raise SessionNotFound(session_id)
    return found


def with_metadata(sessions: QuerySet[AgentSession], wanted: json.JsonObject) -> QuerySet[AgentSession]:
    """Those whose metadata holds all pairs of `wanted`; values are compared typed."""
    for name, value_sha256 in metadata_pairs(wanted):
        pair = SessionMetadataPair.objects.filter(
            agent_session=OuterRef("pk"), name=name, value_sha256=value_sha256
        )
        sessions = sessions.filter(Exists(pair))
    return sessions


def matching_text(sessions: QuerySet[AgentSession], text: str) -> QuerySet[AgentSession]:
    """Those whose id, agent, user or a changed path holds `text`, in any case."""
    by_path = SessionPath.objects.filter(agent_session=OuterRef("pk"), path__icontains=text)
    return sessions.filter(
        Q(public_id__icontains=text)
        | Q(agent_id__icontains=text)
        | Q(user_id__icontains=text)
        | Exists(by_path)
    )


def with_changed_path(sessions: QuerySet[AgentSession], pointer: str) -> QuerySet[AgentSession]:
    """Those in which some version changed `pointer` or what lies under it."""
    under = SessionPath.objects.filter(agent_session=OuterRef("pk"))
    return sessions.filter(
        Exists(under.filter(Q(path=pointer) | Q(path__startswith=f"{pointer.rstrip('/')}/")))
    )


def with_status(sessions: QuerySet[AgentSession], status: str) -> QuerySet[AgentSession]:
    """Those that are running, frozen or expired at this moment."""
    stands_still = Q(frozen_at__isnull=False) | Q(open_holds__gt=0)
    over = Q(expires_at__lte=clock.now())
    match status:
        case SessionStatus.FROZEN:
            return sessions.filter(frozen_at__isnull=False)
        case SessionStatus.EXPIRED:
            return sessions.filter(over & ~stands_still)
    return sessions.filter(frozen_at=None).exclude(over & ~stands_still)
