"""What all actions share: the transaction, the lock, the refusals and their evidence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from hashlib import sha256
from typing import ParamSpec, TypeVar

from sessions_app import store
from sessions_app.enums import Action
from sessions_app.errors import (
    RefusedWhileFrozen,
    SessionFrozen,
    SessionNotFound,
    ThawRefused,
    VersionConflict,
)
from sessions_app.limits import ATTEMPTED_BYTES, REASONING_BYTES
from sessions_app.models import AgentSession, EvidenceHold, RefusedWrite
from sessions_app.store import Append, TraceDraft, write_transaction
from statebase_site.access.actor import Actor, ActorKind
from statebase_site.access.idempotency import IdempotencyRaced
from statebase_site.access.scopes import INCIDENT_MANAGE
from statebase_site.base import clock, json
from statebase_site.base.clock import isoformat

Parameters = ParamSpec("Parameters")
Outcome = TypeVar("Outcome")

# Whoever froze in error may undo it so long (dashboard, "Acting").
FREEZE_UNDO = timedelta(seconds=60)


# Whether an action runs in this thread: one that it calls is a part of it.
_under_way: ContextVar[bool] = ContextVar("action_under_way", default=False)


def action(function: Callable[Parameters, Outcome]) -> Callable[Parameters, Outcome]:
    """Run a write in one transaction; a refusal by a freeze leaves its evidence in one of its own.

    An action may call others (with `by.part()`): all of them are one transaction, and the outermost keeps the
    evidence, because what an inner one wrote goes when the outer one is refused.
    """

    @functools.wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Outcome:
        if _under_way.get():
            with write_transaction():
                return function(*args, **kwargs)
        under_way = _under_way.set(True)
        try:
            try:
                with write_transaction():
                    return function(*args, **kwargs)
            except IdempotencyRaced:
                # The same request won the race and is committed: now it is recalled.
                with write_transaction():
                    return function(*args, **kwargs)
        except RefusedWhileFrozen as refusal:
            _keep_evidence(refusal, kwargs["by"])  # type: ignore[arg-type]
            raise
        finally:
            _under_way.reset(under_way)

    return run


def locked_session(session_id: str, by: Actor) -> AgentSession:
    """The session, locked. Raises `SessionNotFound` where it does not exist for the actor (contract 6.2)."""
    agent_session = store.lock(by.project.pk, session_id)
    if agent_session is None or agent_session.deleted_at or (by.is_agent and agent_session.is_expired):
        raise SessionNotFound(session_id)
    return agent_session


def refuse_if_frozen(agent_session: AgentSession, *, operation: str) -> None:
    """Raise `SessionFrozen` where the session is frozen; checked under its lock, so the switch is exact."""
    if agent_session.frozen_at is None or agent_session.frozen_version is None:
        return
    holds = EvidenceHold.objects.filter(agent_session=agent_session, released_at=None)
    raise SessionFrozen(
        session_id=agent_session.public_id,
        operation=operation,
        frozen_at=agent_session.frozen_at,
        frozen_version=agent_session.frozen_version,
        notices=[hold.notice for hold in holds if hold.notice],
    )


def require_thaw(agent_session: AgentSession, by: Actor, *, operation: str, to: str) -> None:
    """Resuming, and rolling back while frozen, need `incident:manage` (contract 8.2, 8.4)."""
    frozen_at, frozen_version = agent_session.frozen_at, agent_session.frozen_version
    if frozen_at is None or frozen_version is None or by.may(INCIDENT_MANAGE):
        return
    raise ThawRefused(
        by.lacking(INCIDENT_MANAGE, to=to),
        required_scope=INCIDENT_MANAGE,
        session_id=agent_session.public_id,
        operation=operation,
        frozen_at=frozen_at,
        frozen_version=frozen_version,
    )


def may_undo_freeze(agent_session: AgentSession, by: Actor) -> bool:
    """Whether `by` is the person who froze the session under a minute ago, and nobody acted on it since."""
    return (
        by.kind == ActorKind.PERSON
        and agent_session.frozen_at is not None
        and agent_session.frozen_by == by.label
        and agent_session.head_version == agent_session.frozen_version
        and not agent_session.open_holds
        and clock.now() - agent_session.frozen_at <= FREEZE_UNDO
    )


def check_expected(agent_session: AgentSession, expected_version: int | None) -> None:
    """Raise `VersionConflict` unless the session is still at the version that the caller saw."""
    if expected_version is not None and expected_version != agent_session.head_version:
        raise VersionConflict(expected_version, agent_session.head_version)


def _keep_evidence(refusal: RefusedWhileFrozen, by: Actor) -> None:
    body = by.request.body
    fingerprint = sha256(body).hexdigest()
    with write_transaction():
        agent_session = store.lock(by.project.pk, refusal.session_id)
        if agent_session is None:  # its project was emptied meanwhile: the refusal stands by itself
            return
        kept_already = RefusedWrite.objects.filter(
            agent_session=agent_session, frozen_version=refusal.frozen_version, attempted_sha256=fingerprint
        ).exists()
        truncated = len(body) > ATTEMPTED_BYTES
        append = Append(agent_session, by)
        trace = append.add_trace(
            TraceDraft(
                Action.WRITE_REFUSED,
                refusal.operation.split(".")[0],
                agent_session.public_id,
                {
                    "operation": refusal.operation,
                    "method": by.request.method,
                    "path": by.request.path,
                    "code": refusal.code,
                    "attempted_sha256": fingerprint,
                    "attempted_truncated": truncated,
                    "frozen_at": isoformat(refusal.frozen_at),
                    "frozen_version": refusal.frozen_version,
                },
            )
        )
        append.write()
        RefusedWrite.objects.create(
            agent_session=agent_session,
            project=by.project,
            trace_id=trace.public_id,
            operation=refusal.operation,
            method=by.request.method,
            path=_storable(by.request.path.encode(errors="replace")),
            code=refusal.code,
            attempted=None if kept_already else _storable(body[:ATTEMPTED_BYTES]),
            attempted_truncated=truncated,
            attempted_sha256=fingerprint,
            reasoning=_attempted_reasoning(body),
            actor_label=by.label,
            frozen_at=refusal.frozen_at,
            frozen_version=refusal.frozen_version,
            created_at=trace.created_at,
        )
    refusal.extras["trace_id"] = trace.public_id


def _storable(body: bytes) -> str:
    """Text that PostgreSQL can hold, which knows no U+0000."""
    return body.decode(errors="replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _attempted_reasoning(body: bytes) -> str | None:
    try:
        attempted = json.parse(body)
    except ValueError:
        return None
    reasoning = attempted.get("reasoning") or attempted.get("reason") if isinstance(attempted, dict) else None
    return _storable(reasoning.encode()[:REASONING_BYTES]) if isinstance(reasoning, str) else None
