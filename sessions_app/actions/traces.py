"""Notes that clients append to the audit trail (contract 6.6)."""

from __future__ import annotations

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.actions.outcomes import TraceWritten
from sessions_app.enums import Action, TraceSource
from sessions_app.errors import InvalidInput, SessionNotFound
from sessions_app.limits import check_metadata, check_name
from sessions_app.models import AgentSession, Trace
from sessions_app.queries.sessions import session_for
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base import clock, json
from statebase_site.base.json import JsonObject


@action
def create_trace(
    *,
    action: str,
    session_id: str | None = None,
    details: JsonObject | None = None,
    metadata: JsonObject | None = None,
    by: Actor,
) -> TraceWritten:
    """Append a client's note; allowed while frozen, and it waits for no writer of the session.

    Raises `InvalidInput` for a name that the server keeps for its own rows, `SessionNotFound`.
    """
    by.require(SESSIONS_WRITE, to="write traces")
    check_name(action, "action")
    if action in Action.values:
        raise InvalidInput(
            f"The action {action} is written by the server only.",
            param="action",
            suggestion="Choose a name of your own, such as tool_call.failed.",
        )
    metadata_text = check_metadata(metadata or {})
    agent_session = session_for(by, session_id) if session_id is not None else None
    if made := recall(by):
        return TraceWritten.again(made)
    if agent_session and not store.keep(agent_session):
        raise SessionNotFound(agent_session.public_id)
    trace = client_note(agent_session, action, details or {}, metadata_text, by)
    outcome = TraceWritten(store.append_client_trace(trace))
    remember(by, outcome.made())
    return outcome


def client_note(
    agent_session: AgentSession | None, action: str, details: JsonObject, metadata_text: str, by: Actor
) -> Trace:
    """A client's trace, to be written by `store.append_client_trace`."""
    return Trace(
        project=by.project,
        agent_session=agent_session,
        session_public_id=agent_session.public_id if agent_session else None,
        user_id=agent_session.user_id if agent_session else None,
        action=action,
        source=TraceSource.CLIENT,
        actor_kind=by.kind,
        actor_label=by.label,
        actor_id=by.id,
        resource_type="session" if agent_session else None,
        resource_id=agent_session.public_id if agent_session else None,
        details_text=json.dumps(details),
        metadata_text=metadata_text,
        request_id=by.request.request_id,
        latency_ms=by.request.latency_ms(),
        ip_address=by.request.ip_address,
        created_at=clock.now(),
    )
