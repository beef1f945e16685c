"""Finding sessions."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession, SessionMetadataPair
from sessions_app.models.agent_session import metadata_pairs
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base import clock, json


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


def session_for(by: Actor, session_id: str) -> AgentSession:
    """One session. Raises `SessionNotFound`, also for one of another project."""
    agent_session = sessions_for(by).filter(public_id=session_id).first()
    if agent_session is None:
        raise SessionNotFound(session_id)
    return agent_session


def session_of_project(session_id: str, projects: QuerySet[Project]) -> AgentSession:
    """One session, deleted or not, in any of `projects`: how a page finds out whose it is.

    Raises `SessionNotFound`.
    """
    found = (
        AgentSession.objects.filter(public_id=session_id, project__in=projects)
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


def newest_first(
    sessions: QuerySet[AgentSession], *, after: AgentSession | None, limit: int
) -> tuple[list[AgentSession], bool]:
    """One keyset page, and whether more follow. Rows of one moment are told apart by their key."""
    if after is not None:
        sessions = sessions.filter(
            Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, pk__lt=after.pk)
        )
    page = list(sessions.order_by("-created_at", "-pk")[: limit + 1])
    return page[:limit], len(page) > limit
