"""The objects of contract section 5, built from rows. States come as texts and go out unread."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings

from sessions_app.enums import TraceSource
from sessions_app.limits import REASONING_SHOWN
from sessions_app.models import AgentSession, Entity, Memory, StateVersion, Trace, Turn
from sessions_app.queries import Statistics
from statebase_site.access.actor import ActorKind
from statebase_site.base.clock import isoformat
from statebase_site.base.json import JsonObject, JsonValue, Written

PREVIEW_SHOWN = 100  # characters

Payload = dict[str, Any]


def session(agent_session: AgentSession, state: bytes) -> Payload:
    """5.1; `state` is the text of the current state."""
    return {
        "object": "session",
        **_about(agent_session),
        "created_at": isoformat(agent_session.created_at),
        "updated_at": isoformat(agent_session.updated_at),
        "state": Written(state),
        "ttl_seconds": agent_session.ttl_seconds,
        "version": agent_session.head_version,
        "frozen": agent_session.is_frozen,
        "frozen_at": _moment(agent_session.frozen_at),
        "forked_from": agent_session.forked_from,
        "forked_version": agent_session.forked_version,
    }


def state_envelope(
    agent_session: AgentSession, version: StateVersion, state: bytes, *, with_data: bool = False
) -> Payload:
    """5.2; `with_data` repeats the state under the name that generated clients read."""
    envelope = {
        "object": "state",
        **_about(agent_session),
        "session_id": agent_session.public_id,
        "version": version.number,
        "state": Written(state),
        "created_at": isoformat(agent_session.created_at),
        "updated_at": isoformat(version.created_at),
        "reasoning": version.reasoning,
        "trace_id": version.trace_id,
        "frozen": version.frozen,
    }
    if with_data:
        envelope["data"] = envelope["state"]
    return envelope


def written_state(agent_session: AgentSession, version: StateVersion, state: bytes) -> Payload:
    """5.2 after a write."""
    return state_envelope(agent_session, version, state) | {
        "success": True,
        "new_version": version.number,
        "previous_version": version.number - 1,
    }


def rolled_back_state(agent_session: AgentSession, version: StateVersion, state: bytes) -> Payload:
    """5.2 after a rollback."""
    return written_state(agent_session, version, state) | {
        "restored_from_version": version.restored_from,
        "from_version": version.number - 1,
        "reason": version.reasoning,
    }


def state_version(session_id: str, version: StateVersion, state: bytes | None, *, listed: bool) -> Payload:
    """5.3; without a `state` that key is left out."""
    shown: Payload = {
        "object": "state_version",
        "session_id": session_id,
        "version": version.number,
        "created_at": isoformat(version.created_at),
        "reasoning": _reasoning(version.reasoning, listed),
        "trace_id": version.trace_id,
        "updated_by": version.actor_label,
        "source": version.kind,
        "frozen": version.frozen,
        "restored_from_version": version.restored_from,
        "turn_id": version.turn_id,
    }
    if state is not None:
        shown["state"] = Written(state)
    return shown


def turn(session_id: str, turn: Turn, states: tuple[JsonValue, JsonValue], *, listed: bool) -> Payload:
    """5.4; `states` are the ones given as before and after."""
    said, answered = turn.input, turn.output
    return {
        "object": "turn",
        "id": turn.public_id,
        "session_id": session_id,
        "turn_number": turn.number,
        "input": said,
        "output": answered,
        "metadata": Written(turn.metadata_text),
        "reasoning": _reasoning(turn.reasoning, listed),
        "state_before": states[0],
        "state_after": states[1],
        "created_at": isoformat(turn.created_at),
        "input_preview": said["content"][:PREVIEW_SHOWN],  # type: ignore[index]
        "output_preview": answered["content"][:PREVIEW_SHOWN],  # type: ignore[index]
        "state_version": turn.state_version,
        "trace_id": turn.trace_id,
    }


def memory(memory: Memory) -> Payload:
    """5.5."""
    return {
        "object": "memory",
        "id": memory.public_id,
        "content": memory.content,
        "type": memory.type,
        "session_id": memory.agent_session.public_id if memory.agent_session else "",
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "scope": memory.scope,
        "tags": Written(memory.tags_text),
        "metadata": Written(memory.metadata_text),
        "embedding_id": memory.embedding_id,
        "vector_available": memory.vector is not None,
        "version": memory.version,
        "created_at": isoformat(memory.created_at),
        "updated_at": isoformat(memory.updated_at),
    }


def found_memory(found: Memory, score: float) -> Payload:
    """A search result: 5.5 with its score."""
    return {**memory(found), "score": score}


def entity(entity: Entity) -> Payload:
    """6.7."""
    return {
        "object": "entity",
        "id": entity.public_id,
        "session_id": entity.agent_session.public_id,
        "entity_type": entity.entity_type,
        "entity_id": entity.entity_id,
        "attributes": Written(entity.attributes_text),
        "version": entity.version,
        "created_at": isoformat(entity.created_at),
        "updated_at": isoformat(entity.updated_at),
    }


def lineage(members: Iterable[AgentSession], root: str) -> Payload:
    """The family of a session, root first (section 15)."""
    return {
        "object": "lineage",
        "root": root,
        "nodes": [
            {
                "session_id": each.public_id,
                "agent_id": each.agent_id,
                "parent": each.forked_from,
                "forked_version": each.forked_version,
                "version": each.head_version,
                "depth": each.lineage_depth,
                "frozen": each.is_frozen,
                "created_at": isoformat(each.created_at),
            }
            for each in members
        ],
    }


def context(
    agent_session: AgentSession,
    state: bytes,
    turns: Iterable[Payload],
    memories: list[Payload],
    *,
    asked: bool,
) -> Payload:
    """The answer of a context call (6.2) over `turns`, newest first, and memories with their scores.

    `asked`: a query was given. Then memories of little relevance warn of a drift.
    """
    relevance = sum(each["score"] for each in memories) / len(memories) if memories else 0.0
    recent = [{**each, "role": "assistant", "content": each["output"]["content"]} for each in turns]
    messages = [
        {"role": role, "content": each[side]["content"]}
        for each in reversed(recent)
        for role, side in (("user", "input"), ("assistant", "output"))
    ]
    return {
        "state": Written(state),
        "memories": memories,
        "recent_turns": recent,
        "messages": messages,
        "drift_warning": asked and bool(memories) and relevance < settings.DRIFT_RELEVANCE,
        "average_relevance": round(relevance, 4),
        "session_id": agent_session.public_id,
        "version": agent_session.head_version,
        "frozen": agent_session.is_frozen,
    }


def trace(trace: Trace, details: JsonObject, *, listed: bool) -> Payload:
    """5.6; `details` with the content they name."""
    moment = isoformat(trace.created_at)
    key_id = trace.actor_id if trace.actor_kind == ActorKind.KEY else None
    if listed:
        details = {**details, **{name: _reasoning(details[name], True) for name in _SAID if name in details}}
    metadata: Any = Written(trace.metadata_text)
    if trace.source == TraceSource.SYSTEM:
        metadata = {"request_id": trace.request_id, "latency_ms": trace.latency_ms}
    return {
        "object": "trace",
        "id": trace.public_id,
        "session_id": trace.session_public_id,
        "user_id": trace.user_id,
        "action": trace.action,
        "actor": trace.actor_label,
        "actor_id": key_id,
        "resource_type": trace.resource_type,
        "resource_id": trace.resource_id,
        "timestamp": moment,
        "created_at": moment,
        "details": details,
        "metadata": metadata,
        "context": {"request_id": trace.request_id, "api_key_id": key_id},
        "ip_address": trace.ip_address,
        "source": trace.source,
    }


def statistics(found: Statistics) -> Payload:
    """Totals, and the monitoring numbers of the last 24 hours (contract 6.8)."""
    return {
        "stats": {
            "total_sessions": found.sessions,
            "total_turns": found.turns,
            "total_memories": found.memories,
            "total_entities": found.entities,
            "active_sessions_24h": found.rate.sessions,
            "storage_usage_bytes": found.storage_bytes,
            "rollbacks_24h": found.rate.rollbacks,
            "sessions_24h": found.rate.sessions,
            "rollback_rate_24h": found.rate.share,
            "rollback_health": found.rate.health,
            "frozen_sessions": found.frozen,
        },
        "recent_activity": [
            {"timestamp": isoformat(each.start), "count": each.writes} for each in found.hours
        ],
    }


_SAID = ("reasoning", "reason")


def _about(agent_session: AgentSession) -> Payload:
    """What a session and its state envelopes share."""
    return {
        "id": agent_session.public_id,
        "agent_id": agent_session.agent_id,
        "user_id": agent_session.user_id,
        "metadata": Written(agent_session.metadata_text),
        "memory_count": agent_session.memory_count,
        "turn_count": agent_session.turn_count,
        "ttl_expires_at": _moment(agent_session.expires_at),
    }


def _moment(moment: datetime | None) -> str | None:
    return isoformat(moment) if moment else None


def _reasoning(text: Any, listed: bool) -> Any:
    return text[:REASONING_SHOWN] if listed and isinstance(text, str) else text
