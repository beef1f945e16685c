"""What calls return: objects with attributes, whose fields can be read as `result["state"]` too.

Where the official SDK has a class for it, it is a subclass of that. Fields of a newer server are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr
from statebase import models as sdk

JsonObject = dict[str, Any]


class Result(BaseModel):
    """Base of all results."""

    model_config = ConfigDict(extra="allow")

    def keys(self) -> list[str]:
        """The names of all fields."""
        return [*type(self).model_fields, *(self.model_extra or {})]

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """A field by its name."""
        return self[name] if name in self.keys() else default


class Record(JsonObject):
    """A JSON object whose fields can be read as attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Session(Result, sdk.SessionResponse):
    """A session with its current state (contract 5.1)."""

    id: str
    agent_id: str
    user_id: str | None = None
    created_at: str
    updated_at: str
    metadata: JsonObject
    state: JsonObject
    memory_count: int
    turn_count: int
    ttl_seconds: int | None = None
    ttl_expires_at: str | None = None
    version: int
    frozen: bool
    frozen_at: str | None = None
    forked_from: str | None = None
    forked_version: int | None = None


class State(Result, sdk.StateGetResponse):
    """The whole state at one version (contract 5.2)."""

    session_id: str
    version: int
    state: JsonObject
    created_at: str
    updated_at: str
    reasoning: str | None = None
    trace_id: str
    frozen: bool


class WrittenState(State):
    """What a write made."""

    new_version: int
    previous_version: int


class RestoredState(WrittenState):
    """What a rollback made."""

    restored_from_version: int
    from_version: int
    reason: str | None = None


class TurnText(Result, sdk.TurnInput):
    """One side of a turn; further keys are kept."""

    type: str
    content: str


class Turn(Result, sdk.TurnResponse):
    """One immutable exchange (contract 5.4)."""

    id: str
    session_id: str
    turn_number: int
    input: TurnText
    output: TurnText
    metadata: JsonObject
    reasoning: str | None = None
    state_before: JsonObject | None = None
    state_after: JsonObject | None = None
    created_at: str
    state_version: int
    trace_id: str


class Context(Record):
    """What an agent needs for its next step (contract 6.2): a dict, as the official SDK gives it."""

    state: JsonObject
    memories: list[Record]
    recent_turns: list[Record]
    messages: list[Record]
    drift_warning: bool
    average_relevance: float
    session_id: str
    version: int
    frozen: bool

    @classmethod
    def of(cls, answer: JsonObject) -> Context:
        """The answer of the server, with attributes on what it lists too."""
        listed = {name: [*map(Record, rows)] for name, rows in answer.items() if isinstance(rows, list)}
        return cls(answer | listed)


class Trace(Result):
    """One row of the audit trail (contract 5.6)."""

    object: str = "trace"
    id: str
    session_id: str | None = None
    user_id: str | None = None
    action: str
    actor: str
    actor_id: str | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    timestamp: str
    created_at: str
    details: JsonObject
    metadata: JsonObject
    source: str


class Memory(Result, sdk.MemoryResponse):
    """A memory (contract 5.5)."""

    id: str
    content: str
    type: str
    session_id: str
    user_id: str | None = None
    agent_id: str | None = None
    scope: str
    tags: list[str]
    metadata: JsonObject
    embedding_id: str | None = None
    vector_available: bool
    created_at: str
    updated_at: str
    version: int


class FoundMemory(Memory, sdk.MemorySearchResult):
    """A memory that a search found, and how well it fits, from 0 to 1."""

    score: float


class Key(Result):
    """An API key; `full_key` is told only when it is made (contract 6.8)."""

    object: str = "api_key"
    id: str
    key_prefix: str
    name: str
    is_active: bool
    rate_limit: int
    scopes: list[str] | None = None
    owner_id: str | None = None
    created_at: str
    last_used_at: str | None = None
    expires_at: str | None = None
    total_requests: int
    full_key: str | None = None


class Webhook(Result):
    """An address that is told of events; `secret` is told only when it is made (contract 6.9)."""

    object: str = "webhook"
    id: str
    url: str
    events: list[str]
    is_active: bool
    created_at: str
    secret: str | None = None


class Difference(Result):
    """How two versions differ; `patch` is RFC 6902 (contract 15)."""

    object: str = "diff"
    left: JsonObject
    right: JsonObject
    equal: bool
    counts: JsonObject
    changes: list[JsonObject]
    patch: list[JsonObject]


class RollbackPreview(Result):
    """What a rollback would undo, and what it can't (contract 15)."""

    object: str = "rollback_preview"
    from_version: int
    to_version: int
    diff: Difference
    undone_versions: list[JsonObject]
    turns: list[JsonObject]
    memories: list[JsonObject] = []
    effects: list[JsonObject]
    forks: list[JsonObject]


class HistoryItem(Result):
    """A turn, version or trace in the order of what happened (contract 6.2)."""

    object: str = "history_item"
    type: str
    id: str
    timestamp: str
    item: JsonObject


class StateNotLoaded(RuntimeError):
    """The state of a version was not asked for, and can't be while an attribute is read."""


class StateVersion(Result):
    """One immutable version (contract 5.3); `state` is loaded when it is first looked at."""

    object: str = "state_version"
    session_id: str
    version: int
    created_at: str
    reasoning: str | None = None
    trace_id: str
    updated_by: str | None = None
    source: str
    frozen: bool
    restored_from_version: int | None = None
    turn_id: str | None = None

    _on_access: StatesOnAccess | None = PrivateAttr(None)

    @property
    def state(self) -> JsonObject:
        """The whole state at this version. Raises StateNotLoaded in `AsyncStateBase`'s `list_versions`."""
        loaded = self.__pydantic_extra__ or {}
        if "state" not in loaded:
            if self._on_access is None:
                raise StateNotLoaded(
                    f"The state of version {self.version} is not loaded: "
                    "use `await sb.sessions.list_state_versions(…)` or `get_version(…)`."
                )
            self._on_access.load(self.version)
            loaded = self.__pydantic_extra__ or {}
        return loaded["state"]  # type: ignore[no-any-return]

    def keep(self, state: JsonObject) -> None:
        """The state, now that it was loaded."""
        if self.__pydantic_extra__ is not None:
            self.__pydantic_extra__["state"] = state


STATES_AT_ONCE = 50


class StatesOnAccess:
    """Loads the states of listed versions, those around the one that is looked at with it."""

    def __init__(
        self,
        load_after: Callable[[int], Iterable[StateVersion]],
        load_one: Callable[[int], StateVersion],
    ) -> None:
        self._load_after, self._load_one = load_after, load_one
        self._waiting: dict[int, StateVersion] = {}

    def expect(self, row: JsonObject) -> StateVersion:
        """A listed version, whose state can be loaded."""
        version = StateVersion.model_validate(row)
        version._on_access = self
        self._waiting[version.version] = version
        return version

    def load(self, number: int) -> None:
        """Load this state and, with the same request, its neighbours."""
        for version in self._load_after(number - number % STATES_AT_ONCE - 1):
            self._keep(version)
        if number in self._waiting:  # a page of large states ends early
            self._keep(self._load_one(number))

    def _keep(self, loaded: StateVersion) -> None:
        waiting = self._waiting.pop(loaded.version, None)
        if waiting is not None:
            waiting.keep(loaded.state)


StateVersion.model_rebuild()
