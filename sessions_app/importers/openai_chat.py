"""OpenAI-style chat logs: a list of messages with `role`, `content` and `tool_calls`.

The list stands alone, under `messages`, or under `traj` as tau-bench writes it, with the run's task and
reward around it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sessions_app.importers import states
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, tool_response, unpacked
from sessions_app.importers.values import an_object, content_of, joined, plain, text, text_of_parts, without
from statebase_site.base.json import JsonObject, JsonValue

NAME = "openai-chat"

_LISTS = ("traj", "messages")
_INSTRUCTIONS = ("system", "developer")
_ROLES = frozenset((*_INSTRUCTIONS, "user", "assistant", "tool", "function"))
_THINKING_TOOL = "think"


def recognises(document: JsonValue) -> bool:
    """Whether the document is a chat log: its first message has one of the roles.

    With a `history` beside its messages it is another tool's record, whose messages are only a part.
    """
    _, messages = _messages_of(document)
    if not isinstance(messages, list) or (isinstance(document, dict) and "history" in document):
        return False
    first = messages[0] if messages else None
    if isinstance(document, list) or first is not None:
        return isinstance(first, dict) and _role(first) is not None
    return True


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a chat log, with the versions of the states beside it. Raises RecordingFault."""
    pointer, messages = _messages_of(document)
    if not isinstance(messages, list) or not messages:
        raise RecordingFault("The chat has no messages.", pointer)
    exchanges = Exchanges("messages")
    for index, message in enumerate(messages):
        tell(exchanges, index, message, f"{pointer}/{index}")
    exchanges.end()
    versions = states.recorded_versions(states_beside, "after_message_index")
    initial_state, steps = states.placed(exchanges.turns, versions)
    around = document if isinstance(document, dict) else {}
    return Run(
        agent_id=_agent(around),
        user_id=_user(around),
        metadata=_metadata(around, messages, states_beside),
        initial_state=initial_state,
        steps=steps,
    )


def _messages_of(document: JsonValue) -> tuple[str, JsonValue]:
    if isinstance(document, dict):
        for key in _LISTS:
            if isinstance(document.get(key), list):
                return f"/{key}", document[key]
        return "", None
    return "", document


def _role(message: JsonObject) -> str | None:
    role = message.get("role")
    return role if isinstance(role, str) and role in _ROLES else None


def _agent(around: JsonObject) -> str:
    for key in ("agent_id", "agent", "model"):
        if name := name_from(around.get(key)):
            return name
    return "tau-bench" if "traj" in around and "task_id" in around else "chat"


def _user(around: JsonObject) -> str | None:
    info = around.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    named = task.get("user_id") if isinstance(task, dict) else None
    return name_from(around.get("user_id")) or name_from(named) or name_from(around.get("user"))


def _metadata(around: JsonObject, messages: list[JsonValue], states_beside: JsonValue) -> JsonObject:
    metadata = without(around, *_LISTS)
    if states_beside:
        metadata["states"] = states.about(states_beside)
    if prompt := instructions(messages):
        metadata["system_prompt"] = prompt
    return metadata


def instructions(messages: Iterable[JsonValue]) -> str | None:
    """What the system's messages among these say."""
    said = (message for message in messages if isinstance(message, dict) and _role(message) in _INSTRUCTIONS)
    return joined(*(text_of_parts(message.get("content")) for message in said))


def tell(
    exchanges: Exchanges, place: int, message: JsonValue, pointer: str, at: datetime | None = None
) -> None:
    """Tell the exchanges of a conversation what one of its messages says. Raises RecordingFault."""
    if not isinstance(message, dict):
        raise RecordingFault(f"Message {place} is not an object.", pointer)
    role = _role(message)
    if role is None:
        raise RecordingFault(
            f"Message {place} has no known `role`; roles are {', '.join(sorted(_ROLES))}.", pointer
        )
    content = content_of(message.get("content"), f"{pointer}/content")
    if role == "user":
        exchanges.ask(place, content, at)
    elif role == "assistant":
        _assistant(exchanges, place, message, content, pointer, at)
    elif role not in _INSTRUCTIONS:
        key, name = name_from(message.get("tool_call_id")), name_from(message.get("name"))
        response = {**content, **tool_response(text(content["content"]))}
        exchanges.result(place, response, key=key, name=name, at=at)


def _assistant(
    exchanges: Exchanges,
    place: int,
    message: JsonObject,
    content: JsonObject,
    pointer: str,
    at: datetime | None,
) -> None:
    calls = _calls(message, place, pointer)
    for key in ("reasoning_content", "reasoning"):
        if isinstance(thought := message.get(key), str) and thought:
            exchanges.think(place, thought, at)
    if not calls:
        if content["content"] or content.get("parts"):
            exchanges.answer(place, content, at)
        return
    if content["content"]:
        exchanges.think(place, text(content["content"]), at)
    for name, arguments, call_id in calls:
        if name == _THINKING_TOOL and (thought := an_object(arguments).get("thought")) and plain(thought):
            exchanges.think(place, text(thought), at, tool=name, key=call_id)
        else:
            exchanges.call(place, name, arguments, call_id=call_id, at=at)


def _calls(message: JsonObject, index: int, pointer: str) -> list[tuple[str, JsonValue, str | None]]:
    listed = message.get("tool_calls")
    if listed is None:
        listed = []
    if not isinstance(listed, list):
        raise RecordingFault(f"`tool_calls` of message {index} is no list.", f"{pointer}/tool_calls")
    functions = [
        (item.get("function"), item.get("id")) if isinstance(item, dict) else (None, None) for item in listed
    ]
    if message.get("function_call") is not None:  # as it was before there were `tool_calls`
        functions.append((message["function_call"], None))
    calls: list[tuple[str, JsonValue, str | None]] = []
    for place, (function, call_id) in enumerate(functions):
        name = name_from(function.get("name")) if isinstance(function, dict) else None
        if not isinstance(function, dict) or name is None:
            raise RecordingFault(
                f"Tool call {place} of message {index} names no function.", f"{pointer}/tool_calls/{place}"
            )
        arguments = function.get("arguments", {})
        if isinstance(arguments, str):
            arguments = unpacked(arguments) if arguments.strip() else {}
        calls.append((name, arguments, name_from(call_id)))
    return calls
