"""What a reader makes of a recorded run: the same for every format."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One exchange or one tool call; `at` is None where the format records no time.

    `state_after` is the whole state that the turn left behind, where it is known and changed. `version` is
    the number that the record gives to the version in force after it.
    """

    input: JsonObject
    output: JsonObject
    reasoning: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    state_after: JsonObject | None = None
    at: datetime | None = None
    state_before: JsonObject | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A whole state that no turn of the record made.

    Where the record says: whether changes were `merged` into the state before or replaced it, which version a
    rollback `restored`, and the number of the version itself.
    """

    state: JsonObject
    reasoning: str | None = None
    at: datetime | None = None
    merged: bool = False
    restored: int | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedMemory:
    """A memory bound to the session."""

    content: str
    type: str
    user_id: str | None
    agent_id: str | None
    tags: tuple[str, ...]
    metadata: JsonObject
    embed: bool
    revision: int
    at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class RecordedEntity:
    """A thing that the session knows of."""

    entity_type: str
    entity_id: str
    attributes: JsonObject
    revision: int
    at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class RecordedNote:
    """A trace that a client wrote."""

    action: str
    details: JsonObject
    metadata: JsonObject
    at: datetime


Step: TypeAlias = RecordedTurn | RecordedState | RecordedMemory | RecordedEntity | RecordedNote


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a run that left another one, to become a fork of that one's session.

    It left line `of` (0: the run's own steps, n: its branch n - 1, always an earlier one) when `after` of
    that line's steps had happened, and starts with the state that they left behind.
    """

    of: int
    after: int
    steps: tuple[Step, ...]
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run, to become one session; `steps` are in the order in which they happened.

    `branches` become its forks. `skipped` are the parts of the record that can't be read while the others
    can. `name` (its file) and `fingerprint` (hex SHA-256 of what was read) are filled in by `read_file`.
    `from_export`: it was a session of StateBase, whose freezes, rollbacks and numbers stay what they were.
    """

    agent_id: str
    user_id: str | None
    metadata: JsonObject
    initial_state: JsonObject
    steps: tuple[Step, ...]
    started_at: datetime | None = None
    branches: tuple[Branch, ...] = ()
    skipped: tuple[RecordingFault, ...] = ()
    name: str = ""
    fingerprint: str = ""
    from_export: bool = False
    first_reasoning: str = "Initial state"


class RecordingFault(ValueError):
    """A recording that can't be read; `pointer` is the JSON Pointer of the fault in it.

    With `in_states`, the fault is in the file of states beside it.
    """

    def __init__(self, reason: str, pointer: str = "", *, in_states: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.pointer = pointer
        self.in_states = in_states


# A turn's input and output in the official SDK's shapes (contract 5.4) ----------------------------------


def said(text: str) -> JsonObject:
    """What somebody said."""
    return {"type": "text", "content": text}


def nothing() -> JsonObject:
    """The side of an exchange that the record does not have."""
    return {"type": "none", "content": ""}


def tool_call(name: str, arguments: JsonValue, call_id: str | None) -> JsonObject:
    """The input of a turn that is a tool call."""
    return {
        "type": "tool_call",
        "content": f"Call tool {name} with {json.dumps(arguments)}",
        "tool_metadata": {"name": name, "arguments": arguments, "id": call_id},
    }


def tool_response(result: JsonValue) -> JsonObject:
    """Its output: what came back as text, and as `output` the value, or what the text holds as JSON."""
    if isinstance(result, str):
        return {"type": "tool_response", "content": result, "output": unpacked(result)}
    return {"type": "tool_response", "content": json.dumps(result), "output": result}


def unpacked(text: str) -> JsonValue:
    """The object or list that a text holds as JSON; any other text as it is."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.parse(text)
    except json.JsonFault:
        return text


def name_from(value: JsonValue) -> str | None:
    """`value` where it can be an `agent_id` or `user_id` (contract 4.3), else None."""
    if isinstance(value, str) and value.strip() and len(value) <= 255 and "\x00" not in value:
        return value
    return None
