"""One file a model."""

from sessions_app.models.agent_session import AgentSession, SessionMetadataPair, SessionPath
from sessions_app.models.evidence_hold import EvidenceHold
from sessions_app.models.memory import Entity, Memory, MemoryTag
from sessions_app.models.refused_write import RefusedWrite
from sessions_app.models.state_version import StateVersion
from sessions_app.models.trace import Trace
from sessions_app.models.turn import Turn

__all__ = [
    "AgentSession",
    "Entity",
    "EvidenceHold",
    "Memory",
    "MemoryTag",
    "RefusedWrite",
    "SessionMetadataPair",
    "SessionPath",
    "StateVersion",
    "Trace",
    "Turn",
]
