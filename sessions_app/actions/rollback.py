"""Going back to an earlier version (contract 6.3, 8.4)."""

from __future__ import annotations

from sessions_app import control_keys, store
from sessions_app.actions._action import action, check_expected, locked_session, require_thaw
from sessions_app.actions.outcomes import StateWritten
from sessions_app.actions.state import append_version
from sessions_app.enums import Action, VersionKind
from sessions_app.limits import check_reasoning
from sessions_app.models import AgentSession
from sessions_app.queries.versions import absolute_version, document_at
from sessions_app.store import Append, Document, TraceDraft, VersionDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE


@action
def rollback(
    *,
    session_id: str,
    version: int,
    reason: str | None = None,
    expected_version: int | None = None,
    by: Actor,
) -> StateWritten:
    """Make a new version whose state is that of `version` (negative: counted back); nothing is removed.

    Rollback changes data, never the freeze: a frozen session stays frozen, a running one runs on. While
    frozen it needs `incident:manage`. Raises `SessionNotFound`, `VersionNotFound`, `ThawRefused`,
    `VersionConflict`.
    """
    by.require(SESSIONS_WRITE, to="roll back a session")
    reason = check_reasoning(reason, "reason")
    agent_session = locked_session(session_id, by)
    if made := recall(by):
        return StateWritten.again(made)
    require_thaw(agent_session, by, operation="state.rollback", to="roll back a frozen session")
    check_expected(agent_session, expected_version)
    target = absolute_version(agent_session, version)
    head = store.head(agent_session)
    snapshot = document_at(agent_session, target)
    state = control_keys.rolled_back(snapshot.value, head.document.value)
    document = snapshot if state is snapshot.value else Document.of(state)
    append = Append(agent_session, by)
    new_version = append_version(
        append,
        VersionDraft(
            document,
            VersionKind.ROLLBACK,
            reason or f"Rolled back to version {target}",
            restored_from=target,
            limited=False,
        ),
        previous=head,
        trace=rollback_trace(agent_session, target, requested=version),
    )
    append.write()
    outcome = StateWritten(agent_session, new_version, document.text)
    remember(by, outcome.made())
    return outcome


def rollback_trace(agent_session: AgentSession, target: int, *, requested: int) -> TraceDraft:
    """The trace of a rollback from the session's current version to `target`, asked for as `requested`."""
    return TraceDraft(
        Action.STATE_ROLLED_BACK,
        "state",
        agent_session.public_id,
        {
            "from_version": agent_session.head_version,
            "to_version": target,
            "new_version": agent_session.head_version + 1,
            "requested_version": requested,
            "while_frozen": agent_session.is_frozen,
        },
    )
