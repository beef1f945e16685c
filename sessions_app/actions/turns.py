"""Adding turns (contract 6.4, 7.3)."""

from __future__ import annotations

from sessions_app import chain, codec, store
from sessions_app.actions._action import action, check_expected, locked_session, refuse_if_frozen
from sessions_app.actions.outcomes import TurnWritten
from sessions_app.actions.state import append_version
from sessions_app.enums import Action, VersionKind
from sessions_app.limits import check_metadata, check_reasoning
from sessions_app.models import Turn
from sessions_app.models.trace import new_trace_id
from sessions_app.store import Append, Document, Head, TraceDraft, VersionDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base import json
from statebase_site.base.json import JsonObject


@action
def add_turn(
    *,
    session_id: str,
    input: JsonObject,  # the contract's word
    output: JsonObject,
    reasoning: str | None = None,
    metadata: JsonObject | None = None,
    state_before: JsonObject | None = None,
    state_after: JsonObject | None = None,
    expected_version: int | None = None,
    by: Actor,
) -> TurnWritten:
    """Log one exchange; `input` and `output` are objects with string `type` and `content`.

    `state_after` is the whole state after the turn: it makes a version where it differs from
    `state_before` (default: the current state) and from the current state. Raises `SessionNotFound`,
    `SessionFrozen`, `VersionConflict`, `StateTooLarge`.
    """
    by.require(SESSIONS_WRITE, to="add turns")
    reasoning = check_reasoning(reasoning)
    metadata_text = check_metadata(metadata or {})
    agent_session = locked_session(session_id, by)
    if made := recall(by):
        return TurnWritten.again(made)
    refuse_if_frozen(agent_session, operation="turn.add")
    check_expected(agent_session, expected_version)

    before = Document.of(state_before) if state_before is not None else None
    after = Document.of(state_after) if state_after is not None else None
    append = Append(agent_session, by)
    turn = append_turn(
        append,
        Turn(
            input_text=json.dumps(input),
            output_text=json.dumps(output),
            reasoning=reasoning,
            metadata_text=metadata_text,
        ),
        head=store.head(agent_session) if before or after else None,
        before=before,
        after=after,
    )
    append.write()
    outcome = TurnWritten(agent_session, turn)
    remember(by, outcome.made())
    return outcome


def append_turn(
    append: Append, turn: Turn, *, head: Head | None, before: Document | None, after: Document | None
) -> Turn:
    """Add a turn, filled in but for its place and states, the trace that made it, and the version it brings.

    `head` is the current state; it may be None where neither `before` nor `after` is given.
    """
    head_number = append.agent_session.head_version
    trace_id = turn.trace_id = new_trace_id()
    turn = append.add_turn(turn)
    makes_version = bool(head and after and _differs(after, before, head))
    turn.state_version = head_number + 1 if makes_version else head_number
    turn.state_before_version, turn.state_before_body = _kept(before, head, head_number)
    if makes_version:
        turn.state_after_version = turn.state_version
    else:
        turn.state_after_version, turn.state_after_body = _kept(after, head, head_number)
    turn.stale_before = bool(head and before and not json.same(before.value, head.document.value))

    trace = TraceDraft(
        Action.TURN_ADDED,
        "turn",
        turn.public_id,
        {
            "turn_id": turn.public_id,
            "turn_number": turn.number,
            "version": turn.state_version if makes_version else None,
            "stale_before": turn.stale_before,
        },
    )
    if makes_version and after:
        draft = VersionDraft(after, VersionKind.TURN, turn.reasoning, turn_id=turn.public_id)
        append_version(append, draft, previous=head, trace=trace, trace_id=trace_id, turn=turn)
    else:
        append.add_trace(trace, trace_id=trace_id, subject=chain.subject_hash(turn=turn))
    return turn


def _differs(after: Document, before: Document | None, head: Head) -> bool:
    """The rule of contract 7.3."""
    return not json.same(after.value, head.document.value) and (
        before is None or not json.same(after.value, before.value)
    )


def _kept(given: Document | None, head: Head | None, head_number: int) -> tuple[int | None, bytes | None]:
    """A given state by the number of the version that has its very text, else as a body of its own."""
    if given is None:
        return None, None
    if head and given.text == head.document.text:
        return head_number, None
    return None, codec.encode(given.text, None)[1]
