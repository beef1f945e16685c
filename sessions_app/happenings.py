"""What webhooks hear of a session's traces (contract 11): each is an event, and may be more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sessions_app.enums import Action, TraceSource
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from statebase_site.base.json import JsonObject
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.outbox import Happening

# Of these the session's head is told as it was then.
_OF_SESSION = {
    Action.SESSION_CREATED: Event.SESSION_CREATED,
    Action.SESSION_UPDATED: Event.SESSION_UPDATED,
    Action.SESSION_DELETED: Event.SESSION_DELETED,
    Action.SESSION_RESTORED: Event.SESSION_UPDATED,
    Action.SESSION_EXPIRED: Event.SESSION_EXPIRED,
    Action.SESSION_FROZEN: Event.SESSION_FROZEN,
    Action.SESSION_UNFROZEN: Event.SESSION_UNFROZEN,
    Action.STATE_UPDATED: Event.SESSION_UPDATED,
    Action.STATE_ROLLED_BACK: Event.SESSION_UPDATED,
}
# Of these the trace itself.
_OF_TRACE = {Action.STATE_ROLLED_BACK: Event.TRACE_ROLLBACK, Action.WRITE_REFUSED: Event.WRITE_REFUSED}
_ERROR, _ENDINGS_OF_ERRORS = "error", (".failed", ".error")


def happenings(
    traces: Sequence[Trace],
    agent_session: AgentSession | None = None,
    *,
    version: StateVersion | None = None,
    turn: Turn | None = None,
) -> Iterator[Happening]:
    """What these traces of one action are to webhooks; the session as it is once they are written.

    `version` and `turn` are what the action made.
    """
    head: JsonObject = {}
    if agent_session is not None:
        head = {"session": agent_session.public_id, "head": agent_session.facts()}
    for trace in traces:
        memory_id = trace.resource_id if trace.resource_type == "memory" else None
        for event, subject in _told(trace, head, version, turn):
            yield Happening(event, subject, trace.session_public_id, trace.user_id, memory_id)


def _told(
    trace: Trace, head: JsonObject, version: StateVersion | None, turn: Turn | None
) -> Iterable[tuple[Event, JsonObject]]:
    action = trace.action
    itself: JsonObject = {"trace": trace.public_id}
    yield Event.TRACE_CREATED, itself
    if trace.source == TraceSource.CLIENT:
        if action == _ERROR or action.endswith(_ENDINGS_OF_ERRORS):
            yield Event.TRACE_ERROR, itself
        return
    if head and (event := _OF_SESSION.get(action)):  # type: ignore[call-overload]
        yield event, head
    if event := _OF_TRACE.get(action):  # type: ignore[call-overload]
        yield event, itself
    if action == Action.TURN_ADDED and turn is not None:
        yield Event.TURN_ADDED, {"turn": turn.public_id}
        if version is not None:
            yield Event.SESSION_UPDATED, head
    if action == Action.MEMORY_CREATED:
        yield Event.MEMORY_CREATED, {"memory": trace.resource_id}
