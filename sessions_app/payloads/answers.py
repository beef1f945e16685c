"""The shapes of answers for the OpenAPI document; `objects` builds what they describe (contract 5)."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from statebase_site.web.answers import List

JsonDocument = dict[str, Any]


class _AboutSession(TypedDict):
    id: str
    agent_id: str
    user_id: str | None
    metadata: JsonDocument
    memory_count: int
    turn_count: int
    ttl_expires_at: str | None
    created_at: str
    updated_at: str
    state: JsonDocument
    version: int
    frozen: bool


class Session(_AboutSession):
    """A session with its current state (5.1)."""

    object: Literal["session"]
    ttl_seconds: int | None
    frozen_at: str | None
    forked_from: str | None
    forked_version: int | None


class ForkedSession(Session):
    """The new session of a fork."""

    new_session_id: str


class StateEnvelope(_AboutSession):
    """The whole state at one version (5.2)."""

    object: Literal["state"]
    session_id: str
    reasoning: str | None
    trace_id: str


class State(StateEnvelope):
    """The answer of a read; `data` is the same object as `state`."""

    data: JsonDocument


class WrittenState(StateEnvelope):
    """The answer of a write."""

    success: Literal[True]
    new_version: int
    previous_version: int


class RolledBackState(WrittenState):
    """The answer of a rollback."""

    restored_from_version: int
    from_version: int
    reason: str


class StateVersion(TypedDict):
    """One immutable version (5.3)."""

    object: Literal["state_version"]
    session_id: str
    version: int
    state: NotRequired[JsonDocument]
    created_at: str
    reasoning: str | None
    trace_id: str
    updated_by: str | None
    source: Literal["create", "update", "replace", "turn", "rollback", "fork"]
    frozen: bool
    restored_from_version: int | None
    turn_id: str | None


class VersionList(List[StateVersion]):
    """Versions of one session."""

    session_id: str
    current_version: int


class Turn(TypedDict):
    """One immutable exchange (5.4); `input` and `output` have a text `type` and a text `content`."""

    object: Literal["turn"]
    id: str
    session_id: str
    turn_number: int
    input: JsonDocument
    output: JsonDocument
    metadata: JsonDocument
    reasoning: str | None
    state_before: JsonDocument | None
    state_after: JsonDocument | None
    created_at: str
    input_preview: str
    output_preview: str
    state_version: int
    trace_id: str


class RecentTurn(Turn):
    """A turn in a context, also as a message."""

    role: Literal["assistant"]
    content: str


class Message(TypedDict):
    """One side of a turn."""

    role: Literal["user", "assistant"]
    content: str


class Memory(TypedDict):
    """A text to be found again (5.5); `session_id` is empty where it is bound to none."""

    object: Literal["memory"]
    id: str
    content: str
    type: str
    session_id: str
    user_id: str | None
    agent_id: str | None
    scope: Literal["session", "user", "agent", "global"]
    tags: list[str]
    metadata: JsonDocument
    embedding_id: str | None
    vector_available: bool
    version: int
    created_at: str
    updated_at: str


class FoundMemory(Memory):
    """A memory with how much it has to do with the query."""

    score: float


class Context(TypedDict):
    """What an agent needs for its next step (6.2)."""

    state: JsonDocument
    memories: list[FoundMemory]
    recent_turns: list[RecentTurn]
    messages: list[Message]
    drift_warning: bool
    average_relevance: float
    session_id: str
    version: int
    frozen: bool


class TraceContext(TypedDict):
    """The request behind a trace."""

    request_id: str
    api_key_id: str | None


class Trace(TypedDict):
    """One row of the audit trail (5.6)."""

    object: Literal["trace"]
    id: str
    session_id: str | None
    user_id: str | None
    action: str
    actor: str
    actor_id: str | None
    resource_type: str | None
    resource_id: str | None
    timestamp: str
    created_at: str
    details: JsonDocument
    metadata: JsonDocument
    context: TraceContext
    ip_address: str | None
    source: Literal["system", "client"]


class MemorySearch(List[FoundMemory]):
    """Results of a search, best first."""

    query: str


class MemoryList(List[Memory]):
    """Memories, newest first; of a search, `query` and scores come with them."""

    query: NotRequired[str]


class Entity(TypedDict):
    """A thing that a session knows of (6.7)."""

    object: Literal["entity"]
    id: str
    session_id: str
    entity_type: str
    entity_id: str
    attributes: JsonDocument
    version: int
    created_at: str
    updated_at: str


class Side(TypedDict):
    """A version of a session."""

    session_id: str
    version: int


class Counts(TypedDict):
    """How many differences of each kind there are."""

    added: int
    removed: int
    changed: int
    moved: int


class Change(TypedDict):
    """One difference; `path` is a JSON Pointer in the right document, of a removal in the left one."""

    op: Literal["added", "removed", "changed", "moved"]
    path: str
    from_path: str | None
    old: Any
    new: Any
    old_type: str | None
    new_type: str | None


class Difference(TypedDict):
    """How the right document differs from the left one; `patch` is RFC 6902 (section 15)."""

    object: Literal["diff"]
    left: Side
    right: Side
    equal: bool
    counts: Counts
    changes: list[Change]
    patch: list[JsonDocument]


class Effect(TypedDict):
    """A tool call that a rollback does not take back."""

    turn_id: str
    tool: str
    arguments: Any
    reversibility: Literal["reversible", "compensatable", "irreversible", "unknown"]


class ForkSince(TypedDict):
    """A session forked from a version that would be undone."""

    session_id: str
    forked_version: int
    agent_id: str
    created_at: str


class RollbackPreview(TypedDict):
    """What a rollback would do; what the key may not see is named in `omitted` (section 15)."""

    object: Literal["rollback_preview"]
    from_version: int
    to_version: int
    diff: Difference
    undone_versions: list[StateVersion]
    turns: list[Turn]
    memories: NotRequired[list[JsonDocument]]
    effects: list[Effect]
    forks: list[ForkSince]
    omitted: list[str]


class HistoryItem(TypedDict):
    """One row of the merged timeline: a turn, a version or a trace (6.2)."""

    object: Literal["history_item"]
    type: Literal["turn", "state", "trace"]
    id: str
    timestamp: str
    item: JsonDocument


class LineageNode(TypedDict):
    """A session of a lineage; `parent` is the session it was forked from."""

    session_id: str
    agent_id: str
    parent: str | None
    forked_version: int | None
    version: int
    depth: int
    frozen: bool
    created_at: str


class Lineage(TypedDict):
    """The family of a session (section 15); a deleted one is missing, its forks still name it."""

    object: Literal["lineage"]
    root: str
    nodes: list[LineageNode]


class FirstBad(TypedDict):
    """The first row that does not fit the hashes."""

    kind: str
    version: int | None
    name: str
    reason: str


class Verification(TypedDict):
    """Whether a session's hash chain holds (section 15)."""

    object: Literal["verification"]
    ok: bool
    versions: int
    traces: int
    first_bad: FirstBad | None


class ProjectStats(TypedDict):
    """Totals, and the monitoring numbers of the last 24 hours (6.8)."""

    total_sessions: int
    total_turns: int
    total_memories: int
    total_entities: int
    active_sessions_24h: int
    storage_usage_bytes: int
    rollbacks_24h: int
    sessions_24h: int
    rollback_rate_24h: float
    rollback_health: Literal["healthy", "elevated", "warning", "critical"]
    frozen_sessions: int


class ActivityCount(TypedDict):
    """How many writes there were in the hour that begins at `timestamp`."""

    timestamp: str
    count: int


class Statistics(TypedDict):
    """How much a project holds, and the writes of each of the last 24 hours, oldest first."""

    stats: ProjectStats
    recent_activity: list[ActivityCount]
