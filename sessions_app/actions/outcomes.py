"""What actions return, and how an idempotent request finds it again (contract 4.2).

A version, turn or trace is immutable, so its row is enough; what is answered beside it from the session's
head is kept as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app.errors import EntityNotFound, MemoryNotFound, SessionNotFound, TraceNotFound
from sessions_app.models import AgentSession, Entity, Memory, StateVersion, Trace, Turn
from sessions_app.queries.versions import text_at


def session_as_of(made: dict[str, Any]) -> AgentSession:
    """The session with its head as it was when the answer was remembered.

    Raises `SessionNotFound` where it was purged since.
    """
    agent_session = AgentSession.objects.filter(public_id=made["session"]).first()
    if agent_session is None:
        raise SessionNotFound(made["session"])
    return agent_session.as_of(made["facts"])


@dataclass(frozen=True, slots=True)
class SessionWritten:
    """A session that was created, forked or changed."""

    agent_session: AgentSession
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {"session": self.agent_session.public_id, "facts": self.agent_session.facts()}

    @classmethod
    def again(cls, made: dict[str, Any]) -> SessionWritten:
        """The same from what `recall` found. Raises `SessionNotFound` where it was purged since."""
        return cls(session_as_of(made), replayed=True)


@dataclass(frozen=True, slots=True)
class StateWritten:
    """A new version; the version before it is `version.number - 1`. `text` is its state's."""

    agent_session: AgentSession
    version: StateVersion
    text: bytes
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {
            "session": self.agent_session.public_id,
            "version": self.version.number,
            "facts": self.agent_session.facts(),
        }

    @classmethod
    def again(cls, made: dict[str, Any]) -> StateWritten:
        """The same from what `recall` found. Raises `SessionNotFound` where it was purged since."""
        agent_session = session_as_of(made)
        version = StateVersion.objects.get(agent_session=agent_session, number=made["version"])
        return cls(agent_session, version, text_at(agent_session, version.number), replayed=True)


@dataclass(frozen=True, slots=True)
class TurnWritten:
    """A new turn; `turn.state_version` is the version in force after it."""

    agent_session: AgentSession
    turn: Turn
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {
            "session": self.agent_session.public_id,
            "turn": self.turn.number,
            "facts": self.agent_session.facts(),
        }

    @classmethod
    def again(cls, made: dict[str, Any]) -> TurnWritten:
        """The same from what `recall` found. Raises `SessionNotFound` where it was purged since."""
        agent_session = session_as_of(made)
        turn = Turn.objects.get(agent_session=agent_session, number=made["turn"])
        return cls(agent_session, turn, replayed=True)


@dataclass(frozen=True, slots=True)
class TraceWritten:
    """A client's note."""

    trace: Trace
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {"trace": self.trace.public_id}

    @classmethod
    def again(cls, made: dict[str, Any]) -> TraceWritten:
        """The same from what `recall` found. Raises `TraceNotFound` where it was purged since."""
        trace = Trace.objects.filter(public_id=made["trace"]).first()
        if trace is None:  # gone with its session, which was purged since
            raise TraceNotFound(made["trace"])
        return cls(trace, replayed=True)


@dataclass(frozen=True, slots=True)
class MemoryWritten:
    """A memory that was added or changed."""

    memory: Memory
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {"memory": self.memory.public_id}

    @classmethod
    def again(cls, made: dict[str, Any]) -> MemoryWritten:
        """The memory as it is now. Raises `MemoryNotFound` where it was deleted since."""
        memory = Memory.objects.select_related("agent_session").filter(public_id=made["memory"]).first()
        if memory is None:
            raise MemoryNotFound(made["memory"])
        return cls(memory, replayed=True)


@dataclass(frozen=True, slots=True)
class EntityWritten:
    """An entity that was created or changed."""

    entity: Entity
    replayed: bool = False

    def made(self) -> dict[str, Any]:
        """What `remember` keeps of it."""
        return {"entity": self.entity.public_id}

    @classmethod
    def again(cls, made: dict[str, Any]) -> EntityWritten:
        """The entity as it is now. Raises `EntityNotFound` where it was deleted since."""
        entity = Entity.objects.select_related("agent_session").filter(public_id=made["entity"]).first()
        if entity is None:
            raise EntityNotFound(made["entity"])
        return cls(entity, replayed=True)
