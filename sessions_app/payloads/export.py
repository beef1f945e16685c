"""Whole sessions as one JSON document (contract 15, `S/export`), written piece by piece.

Versions, turns and traces never change, so the head of the session as it was read at the beginning bounds
what belongs to the document, whatever is written meanwhile. The same session gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from django.db.models import Q, QuerySet

from sessions_app import codec, queries
from sessions_app.enums import TraceSource
from sessions_app.models import (
    AgentSession,
    Entity,
    EvidenceHold,
    Memory,
    RefusedWrite,
    StateVersion,
    Trace,
)
from sessions_app.payloads import objects
from sessions_app.payloads.objects import Payload
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import MEMORY_READ, TRACES_READ
from statebase_site.base import json
from statebase_site.base.clock import isoformat
from statebase_site.base.json import Written

FORMAT = 1
_ROWS_AT_ONCE = 200
_TURNS_AT_ONCE = 32  # each may hold two states of its own


def session_export(agent_session: AgentSession, by: Actor) -> Iterator[bytes]:
    """Everything of a session, as the pieces of one JSON document.

    `versions` hold whole states with their SHA-256, `turns` name a state given with them by its version where
    it is that version's, `traces` are the stored rows that their hashes cover. What the actor may not see is
    named in `omitted`. The last key, `sha256`, is the SHA-256 of the document without it, as compact JSON.
    """
    lists: list[tuple[str, str | None, Callable[[], Iterable[Payload]]]] = [
        ("versions", None, lambda: _versions(agent_session)),
        ("turns", None, lambda: _turns(agent_session)),
        ("entities", None, lambda: _entities(agent_session)),
        ("holds", None, lambda: _each(EvidenceHold.objects.filter(agent_session=agent_session), _hold)),
        ("memories", MEMORY_READ, lambda: _memories(Memory.objects.filter(agent_session=agent_session))),
        ("traces", TRACES_READ, lambda: _traces(agent_session)),
        ("refused_writes", TRACES_READ, lambda: _refused(agent_session)),
    ]
    seen = [(name, rows) for name, scope, rows in lists if scope is None or by.may(scope)]
    about: Payload = {
        "object": "session_export",
        "format": FORMAT,
        "session": _session(agent_session),
        "omitted": [name for name, scope, _ in lists if scope is not None and not by.may(scope)],
    }
    return _with_digest(about, seen)


def user_export(user_id: str, by: Actor) -> Iterator[bytes]:
    """All stored data of an end user: the sessions as `session_export` writes them, and what is in none."""
    sessions = queries.sessions_of_user(by, user_id)
    about: Payload = {"object": "user_export", "format": FORMAT, "user_id": user_id}
    return _with_digest(
        about,
        [
            ("sessions", lambda: _each(sessions, lambda each: session_export(each, by))),
            ("memories", lambda: _memories(queries.memories_elsewhere(by, user_id))),
            ("traces", lambda: _each(queries.traces_elsewhere(by, user_id), _trace)),
        ],
    )


def _with_digest(about: Payload, lists: Iterable[tuple[str, Callable[[], Iterable[Any]]]]) -> Iterator[bytes]:
    """A document of `about` and some lists, and at its end the SHA-256 of what stands before.

    An item of a list is a payload, or the pieces of one that is written already.
    """
    digest = sha256()
    for piece in _document(about, lists):
        digest.update(piece)
        yield piece
    digest.update(b"}")
    yield b',"sha256":"' + digest.hexdigest().encode() + b'"}'


def _document(about: Payload, lists: Iterable[tuple[str, Callable[[], Iterable[Any]]]]) -> Iterator[bytes]:
    """All of it but the closing brace."""
    yield json.render(about)[:-1]
    for name, rows in lists:
        yield f',"{name}":['.encode()
        for place, row in enumerate(rows()):
            if place:
                yield b","
            if isinstance(row, dict):
                yield json.render(row)
            else:
                yield from row
        yield b"]"


def _memories(rows: QuerySet[Memory]) -> Iterator[Payload]:
    return _each(rows.select_related("agent_session"), objects.memory)


def _each(rows: QuerySet, payload: Callable[[Any], Any]) -> Iterator[Any]:
    """What `payload` makes of rows in the order of their keys; no cursor is open while the client is slow."""
    last = 0
    while batch := list(rows.filter(pk__gt=last).order_by("pk")[:_ROWS_AT_ONCE]):
        yield from map(payload, batch)
        last = batch[-1].pk


def _session(agent_session: AgentSession) -> Payload:
    state = queries.text_at(agent_session, agent_session.head_version)
    return {
        **objects.session(agent_session, state),
        "frozen_version": agent_session.frozen_version,
        "deleted_at": isoformat(agent_session.deleted_at) if agent_session.deleted_at else None,
        "lineage_root": agent_session.lineage_root,
        "chain_length": agent_session.chain_length,
        "chain_hash": bytes(agent_session.chain_hash).hex(),
    }


def _versions(agent_session: AgentSession) -> Iterator[Payload]:
    for numbers in _runs(0, agent_session.head_version, _ROWS_AT_ONCE):
        rows = queries.versions_of(agent_session).filter(number__range=(numbers[0], numbers[-1]))
        texts = queries.texts_at(agent_session, numbers)
        # Strict, so that an export of a session that is purged meanwhile breaks off instead of lacking rows.
        for row, (_, text), _ in zip(rows.defer("body", "changes_text"), texts, numbers, strict=True):
            yield _version(agent_session.public_id, row, text)


def _runs(first: int, last: int, length: int) -> Iterator[range]:
    return (range(start, min(start + length, last + 1)) for start in range(first, last + 1, length))


def _version(session_id: str, version: StateVersion, text: bytes) -> Payload:
    payload = objects.state_version(session_id, version, text, listed=False)
    return {**payload, "sha256": bytes(version.sha256).hex()}


def _turns(agent_session: AgentSession) -> Iterator[Payload]:
    for numbers in _runs(1, agent_session.turn_count, _TURNS_AT_ONCE):
        rows = queries.turns_of(agent_session).filter(number__range=(numbers[0], numbers[-1]))
        for turn, _ in zip(rows, numbers, strict=True):
            given = (_given(turn.state_before_body), _given(turn.state_after_body))
            yield {
                **objects.turn(agent_session.public_id, turn, given, listed=False),
                "state_before_version": turn.state_before_version,
                "state_after_version": turn.state_after_version,
                "stale_before": turn.stale_before,
                "actor": turn.actor_label,
            }


def _given(body: bytes | memoryview | None) -> Any:
    return None if body is None else Written(codec.decode(codec.Encoding.KEYFRAME, bytes(body), None))


def _entities(agent_session: AgentSession) -> Iterator[Payload]:
    rows = Entity.objects.filter(agent_session=agent_session).select_related("agent_session")
    return _each(rows, objects.entity)


def _traces(agent_session: AgentSession) -> Iterator[Payload]:
    until = Q(source=TraceSource.CLIENT) | Q(position__lte=agent_session.chain_length)
    return _each(Trace.objects.filter(until, agent_session=agent_session), _trace)


def _trace(trace: Trace) -> Payload:
    """The stored details, which the hash covers; the content that they name is elsewhere in the document."""
    payload = objects.trace(trace, {}, listed=False)
    subject = trace.subject_sha256
    return {
        **payload,
        "details": Written(trace.details_text),
        "position": trace.position,
        "hash": bytes(trace.hash).hex(),
        "subject_sha256": None if subject is None else bytes(subject).hex(),
    }


def _refused(agent_session: AgentSession) -> Iterator[Payload]:
    return _each(RefusedWrite.objects.filter(agent_session=agent_session), _refused_write)


def _refused_write(refused: RefusedWrite) -> Payload:
    return {
        "object": "refused_write",
        "trace_id": refused.trace_id,
        "operation": refused.operation,
        "method": refused.method,
        "path": refused.path,
        "code": refused.code,
        "attempted": refused.attempted,
        "attempted_truncated": refused.attempted_truncated,
        "attempted_sha256": refused.attempted_sha256,
        "reasoning": refused.reasoning,
        "actor": refused.actor_label,
        "frozen_at": isoformat(refused.frozen_at),
        "frozen_version": refused.frozen_version,
        "created_at": isoformat(refused.created_at),
    }


def _hold(hold: EvidenceHold) -> Payload:
    return {
        "object": "hold",
        "label": hold.label,
        "url": hold.url,
        "notice": hold.notice,
        "opened_at": isoformat(hold.opened_at),
        "opened_by": hold.opened_by,
        "released_at": isoformat(hold.released_at) if hold.released_at else None,
        "released_by": hold.released_by,
    }
