"""The hash chain over a session's traces (domain rule 7). Pure.

Each of the server's traces covers the hash of the one before it, all its columns, and the SHA-256 of the
version or turn it made. Whoever changes a row afterwards has to change every later row as well:
tamper-evident, not tamper-proof.
"""

from datetime import datetime
from hashlib import sha256
from typing import Protocol, TypeAlias

from statebase_site.base import json
from statebase_site.base.clock import isoformat

Body: TypeAlias = bytes | memoryview
"""As a database hands it out."""


class VersionFacts(Protocol):
    """The columns of a version that its hash covers."""

    number: int
    kind: str
    sha256: Body
    actor_kind: str
    actor_label: str
    reasoning: str | None
    frozen: bool
    restored_from: int | None
    turn_id: str | None
    trace_id: str
    created_at: datetime


class TurnFacts(Protocol):
    """The columns of a turn that its hash covers."""

    number: int
    public_id: str
    input_text: str
    output_text: str
    reasoning: str | None
    metadata_text: str
    state_before_version: int | None
    state_before_body: Body | None
    state_after_version: int | None
    state_after_body: Body | None
    state_version: int
    actor_kind: str
    actor_label: str
    trace_id: str
    created_at: datetime


class TraceFacts(Protocol):
    """The columns of a trace that its hash covers."""

    public_id: str
    session_public_id: str | None
    user_id: str | None
    position: int | None
    action: str
    source: str
    actor_kind: str
    actor_label: str
    actor_id: str
    resource_type: str | None
    resource_id: str | None
    details_text: str
    metadata_text: str
    request_id: str
    latency_ms: float
    ip_address: str | None
    subject_sha256: Body | None
    created_at: datetime


def _digest(*parts: json.JsonValue) -> bytes:
    return sha256(json.dumps(list(parts)).encode()).digest()


def _hex(body: Body | None) -> str | None:
    return None if body is None else bytes(body).hex()


def subject_hash(*, version: VersionFacts | None = None, turn: TurnFacts | None = None) -> bytes:
    """SHA-256 of what an action made: a version, a turn, or a turn and the version it brought."""
    return _digest(
        _hex(_version_hash(version)) if version else None,
        _hex(_turn_hash(turn)) if turn else None,
    )


def _version_hash(version: VersionFacts) -> bytes:
    """SHA-256 of a version: document, kind, actor, reasoning, time."""
    return _digest(
        version.number,
        version.kind,
        _hex(version.sha256),
        version.actor_kind,
        version.actor_label,
        version.reasoning,
        version.frozen,
        version.restored_from,
        version.turn_id,
        version.trace_id,
        isoformat(version.created_at),
    )


def _turn_hash(turn: TurnFacts) -> bytes:
    """SHA-256 of a turn: documents, actor, reasoning, time."""
    return _digest(
        turn.number,
        turn.public_id,
        turn.input_text,
        turn.output_text,
        turn.reasoning,
        turn.metadata_text,
        turn.state_before_version,
        _hex(turn.state_before_body),
        turn.state_after_version,
        _hex(turn.state_after_body),
        turn.state_version,
        turn.actor_kind,
        turn.actor_label,
        turn.trace_id,
        isoformat(turn.created_at),
    )


def trace_hash(trace: TraceFacts, previous: bytes) -> bytes:
    """SHA-256 of a trace and all before it; `previous` is empty for the first and for a client's row."""
    return _digest(
        _hex(previous),
        trace.public_id,
        trace.session_public_id,
        trace.user_id,
        trace.position,
        trace.action,
        trace.source,
        trace.actor_kind,
        trace.actor_label,
        trace.actor_id,
        trace.resource_type,
        trace.resource_id,
        trace.details_text,
        trace.metadata_text,
        trace.request_id,
        float(trace.latency_ms),
        trace.ip_address,
        _hex(trace.subject_sha256),
        isoformat(trace.created_at),
    )
