"""Whose page it is: a session is looked for in all projects of the person."""

from __future__ import annotations

from django.http import HttpRequest

from sessions_app import queries
from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for, memberships


def person_and_session(request: HttpRequest, session_id: str) -> tuple[Actor, AgentSession]:
    """The signed-in person as an actor of the session's project, and the session.

    Raises `SessionNotFound`, also where the session is another project's or deleted.
    """
    projects = [each.project_id for each in memberships(request)]
    agent_session = queries.session_of_project(session_id, projects)
    if agent_session.deleted_at:
        raise SessionNotFound(session_id)
    return actor_for(request, agent_session.project), agent_session
