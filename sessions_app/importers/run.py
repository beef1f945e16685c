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

    `state_after` is the whole state that the turn left behind, where it is known and changed.
    """

    input: JsonObject
    output: JsonObject
    reasoning: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    state_after: JsonObject | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A whole state that no turn of the record made."""

    state: JsonObject
    reasoning: str | None = None
    at: datetime | None = None


Step: TypeAlias = RecordedTurn | RecordedState


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run, to become one session; `steps` are in the order in which they happened.

    `name` (its file) and `fingerprint` (hex SHA-256 of what was read) are filled in by `read_file`.
    """

    agent_id: str
    user_id: str | None
    metadata: JsonObject
    initial_state: JsonObject
    steps: tuple[Step, ...]
    started_at: datetime | None = None
    name: str = ""
    fingerprint: str = ""


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


def tool_response(text: str) -> JsonObject:
    """Its output: the text that came back, and as `output` what that text holds where it is JSON."""
    return {"type": "tool_response", "content": text, "output": unpacked(text)}


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
