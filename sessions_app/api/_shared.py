"""What the routes share: the request they get, the session they name, the answers they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions_app import queries
from sessions_app.models import AgentSession, Turn
from sessions_app.payloads import objects
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import SESSIONS_READ, SESSIONS_WRITE, TRACES_READ

SESSION = "/sessions/{session_id}"
MOST = 100  # rows of a page

reads_sessions = needs(SESSIONS_READ, to="read sessions")
writes_sessions = needs(SESSIONS_WRITE, to="change sessions")
reads_traces = needs(TRACES_READ, to="read traces")


WITH_REASON_HEADER = {
    "parameters": [
        {
            "in": "header",
            "name": "X-StateBase-Reason",
            "description": "Why, where the body can't say it.",
            "schema": {"type": "string"},
        }
    ]
}
"""For the OpenAPI document, of a route that asks `reason_header`."""


def reason_header(request: ApiRequest) -> str | None:
    """The reason in X-StateBase-Reason, for clients that can't send it in the body (contract 6.3).

    WSGI hands headers over as Latin-1; clients send UTF-8.
    """
    raw = request.META.get("HTTP_X_STATEBASE_REASON")
    if not raw:
        return None
    try:
        return raw.encode("latin-1").decode()
    except UnicodeError:
        return raw


def session_payload(agent_session: AgentSession) -> dict[str, Any]:
    """A session with its current state."""
    return objects.session(agent_session, queries.current_texts([agent_session])[agent_session.pk])


def turn_payloads(agent_session: AgentSession, turns: list[Turn], *, listed: bool) -> list[dict[str, Any]]:
    """Turns of one session, with the states that were given with them."""
    states = queries.states_of_turn(agent_session, turns)
    return [objects.turn(agent_session.public_id, turn, states[turn.number], listed=listed) for turn in turns]


def routes(add: Callable[..., Any], *paths: str, **options: Any) -> Callable[[Any], Any]:
    """Put one view at several paths; the first stands in the OpenAPI document, the others are aliases."""

    def decorate(view: Any) -> Any:
        for alias in paths[1:]:
            add(alias, include_in_schema=False, **options)(view)
        return add(paths[0], **options)(view)

    return decorate
