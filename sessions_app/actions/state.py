"""Changing the state: merge, replace, freeze and resume (contract 6.3, 8)."""

from __future__ import annotations

from sessions_app import chain, control_keys, store
from sessions_app.actions._action import (
    action,
    check_expected,
    locked_session,
    may_undo_freeze,
    refuse_if_frozen,
    require_thaw,
)
from sessions_app.actions.outcomes import StateWritten
from sessions_app.enums import Action, VersionKind
from sessions_app.limits import check_reasoning
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Turn
from sessions_app.models.trace import new_trace_id
from sessions_app.store import Append, Document, Head, TraceDraft, VersionDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base.clock import isoformat
from statebase_site.base.json import JsonObject

MERGE = "merge"
REPLACE = "replace"


@action
def update_state(
    *,
    session_id: str,
    changes: JsonObject,
    mode: str = MERGE,
    reasoning: str | None = None,
    expected_version: int | None = None,
    by: Actor,
) -> StateWritten:
    """Make exactly one new version: `changes` merged by top-level key, or alone (`REPLACE`).

    A control update is always a merge, may freeze or resume, and is the only update of a frozen session.
    Raises `SessionNotFound`, `SessionFrozen`, `ThawRefused`, `VersionConflict`, `StateTooLarge`.
    """
    by.require(SESSIONS_WRITE, to="change the state of a session")
    reasoning = check_reasoning(reasoning)
    agent_session = locked_session(session_id, by)
    if made := recall(by):
        return StateWritten.again(made)
    operation = "state.update" if mode == MERGE else "state.replace"
    if control_keys.is_control_update(changes):
        mode = MERGE
        if changes.get(control_keys.FROZEN) is False and not may_undo_freeze(agent_session, by):
            require_thaw(agent_session, by, operation=operation, to="resume a frozen session")
    else:
        refuse_if_frozen(agent_session, operation=operation)
    check_expected(agent_session, expected_version)
    append = Append(agent_session, by)
    version = append_update(append, changes, mode=mode, reasoning=reasoning, head=store.head(agent_session))
    append.write()
    outcome = StateWritten(agent_session, version, append.document.text)
    remember(by, outcome.made())
    return outcome


def freeze(*, session_id: str, reason: str | None = None, by: Actor) -> StateWritten:
    """Stop the session: from the answer on, nothing changes it but its rollback and resume."""
    frozen: JsonObject = {control_keys.INCIDENT: True, control_keys.FROZEN: True}
    reasoning = check_reasoning(reason, "reason")
    return update_state(session_id=session_id, changes=frozen, reasoning=reasoning, by=by)


def resume(*, session_id: str, reason: str | None = None, by: Actor) -> StateWritten:
    """Let a frozen session go on; needs `incident:manage`."""
    thawed: JsonObject = {control_keys.INCIDENT: False, control_keys.FROZEN: False}
    reasoning = check_reasoning(reason, "reason")
    return update_state(session_id=session_id, changes=thawed, reasoning=reasoning, by=by)


def append_update(
    append: Append, changes: JsonObject, *, mode: str, reasoning: str | None, head: Head
) -> StateVersion:
    """Add the version that an update of the current state `head` makes, with its traces."""
    document = Document.of({**head.document.value, **changes} if mode == MERGE else changes)
    return append_version(
        append,
        VersionDraft(
            document,
            VersionKind.UPDATE if mode == MERGE else VersionKind.REPLACE,
            reasoning,
            limited=not control_keys.is_control_update(changes),
        ),
        previous=head,
        trace=update_trace(append.agent_session, mode),
    )


def update_trace(agent_session: AgentSession, mode: str) -> TraceDraft:
    """The trace of an update of the session's current version."""
    current = agent_session.head_version
    return TraceDraft(
        Action.STATE_UPDATED,
        "state",
        agent_session.public_id,
        {"version": current + 1, "previous_version": current, "mode": mode},
    )


def append_version(
    append: Append,
    draft: VersionDraft,
    *,
    previous: Head | None,
    trace: TraceDraft,
    trace_id: str | None = None,
    turn: Turn | None = None,
) -> StateVersion:
    """Add a version, the trace that made it, and the freeze or resume that it brings.

    Where a turn brought the version, the trace covers both.
    """
    trace_id = trace_id or new_trace_id()
    version = append.add_version(draft, previous=previous, trace_id=trace_id)
    append.add_trace(trace, trace_id=trace_id, subject=chain.subject_hash(version=version, turn=turn))
    switch = _freeze_switch(append, version, draft.document.value)
    if switch:
        append.add_trace(switch)
        append.agent_session.settle_life(append.moment)
    return version


def _freeze_switch(append: Append, version: StateVersion, state: JsonObject) -> TraceDraft | None:
    """Freeze or resume the session's head where `version` does, and say so in a second trace."""
    session = append.agent_session
    if version.frozen and not session.is_frozen:
        session.frozen_at = append.moment
        session.frozen_version = version.number
        session.frozen_by = append.by.label
        return TraceDraft(
            Action.SESSION_FROZEN,
            "session",
            session.public_id,
            {"version": version.number, "incident": state.get(control_keys.INCIDENT) is True},
        )
    if session.frozen_at is not None and session.frozen_version is not None and not version.frozen:
        details: JsonObject = {
            "version": version.number,
            "frozen_at": isoformat(session.frozen_at),
            "frozen_version": session.frozen_version,
            "frozen_for_seconds": round((append.moment - session.frozen_at).total_seconds(), 3),
            "refused_writes": _refused_in_freeze(session, session.frozen_version),
        }
        session.frozen_at = session.frozen_version = session.frozen_by = None
        return TraceDraft(Action.SESSION_UNFROZEN, "session", session.public_id, details)
    return None


def _refused_in_freeze(agent_session: AgentSession, frozen_version: int) -> int:
    return RefusedWrite.objects.filter(agent_session=agent_session, frozen_version=frozen_version).count()
