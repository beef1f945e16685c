"""OpenAI-style chat logs: a list of messages with `role`, `content` and `tool_calls`.

The list stands alone, under `messages`, or under `traj` as tau-bench writes it, with the run's task and
reward around it. One user message and everything up to the next one is one exchange: its tool calls become
turns of their own, in order, and the exchange itself a turn that ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions_app.importers import states
from sessions_app.importers.run import (
    RecordedTurn,
    RecordingFault,
    Run,
    name_from,
    nothing,
    said,
    tool_call,
    tool_response,
    unpacked,
)
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
    chat = _Chat(pointer)
    for index, message in enumerate(messages):
        chat.take(index, message)
    chat.end_exchange()
    versions = states.recorded_versions(states_beside, "after_message_index") if states_beside else []
    initial_state, steps = states.placed(chat.turns, versions)
    around = document if isinstance(document, dict) else {}
    return Run(
        agent_id=_agent(around),
        user_id=_user(around),
        metadata=_metadata(around, chat.instructions, states_beside),
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


def _metadata(around: JsonObject, instructions: list[str], states_beside: JsonValue) -> JsonObject:
    metadata: JsonObject = {key: value for key, value in around.items() if key not in _LISTS}
    if states_beside:
        metadata["states"] = states.about(states_beside)
    if instructions:
        metadata["system_prompt"] = "\n\n".join(instructions)
    return metadata


@dataclass(slots=True)
class _Call:
    """A tool call that waits for its result."""

    name: str
    arguments: JsonValue
    call_id: str | None
    reasoning: str | None
    begins: int
    is_thought: bool = False


@dataclass(slots=True)
class _Exchange:
    """One user message and what follows it, while it is being read."""

    number: int
    begins: int
    ends: int
    asked: JsonObject
    thoughts: list[str] = field(default_factory=list)
    answers: list[JsonObject] = field(default_factory=list)
    answer_thoughts: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)


class _Chat:
    """Collects turns, each with the index of the message that ends it."""

    def __init__(self, pointer: str) -> None:
        self.pointer = pointer
        self.instructions: list[str] = []
        self.turns: list[tuple[int, RecordedTurn]] = []
        self._exchange: _Exchange | None = None
        self._users = 0

    def take(self, index: int, message: JsonValue) -> None:
        pointer = f"{self.pointer}/{index}"
        if not isinstance(message, dict):
            raise RecordingFault(f"Message {index} is not an object.", pointer)
        role = _role(message)
        if role is None:
            raise RecordingFault(
                f"Message {index} has no known `role`; roles are {', '.join(sorted(_ROLES))}.", pointer
            )
        content = _content(message.get("content"), f"{pointer}/content")
        if role in _INSTRUCTIONS:
            self.instructions.append(_text(content))
        elif role == "user":
            self.end_exchange()
            self._users += 1
            self._exchange = _Exchange(self._users, index, index, content)
        elif role == "assistant":
            self._assistant(index, message, content, pointer)
        else:
            self._result(index, message, content)

    def end_exchange(self) -> None:
        """Close the exchange: calls without a result first, then the turn of the exchange itself."""
        exchange = self._exchange
        if exchange is None:
            return
        self._exchange = None
        for call in exchange.calls:
            self._add_call(exchange, call, exchange.ends, None)
        answered = bool(exchange.answers)
        output = dict(exchange.answers[-1]) if answered else nothing()
        if len(exchange.answers) > 1:
            output["earlier"] = list(exchange.answers[:-1])
        metadata: JsonObject = {"exchange": exchange.number, "messages": [exchange.begins, exchange.ends]}
        if not answered:
            metadata["answered"] = False
        reasoning = _joined(exchange.answer_thoughts + exchange.thoughts)
        self.turns.append((exchange.ends, RecordedTurn(exchange.asked, output, reasoning, metadata)))

    def _open_exchange(self, index: int) -> _Exchange:
        """The exchange under way; what an agent says before anybody asked opens one without a question."""
        if self._exchange is None:
            self._exchange = _Exchange(self._users, index, index, nothing())
        self._exchange.ends = index
        return self._exchange

    def _assistant(self, index: int, message: JsonObject, content: JsonObject, pointer: str) -> None:
        exchange = self._open_exchange(index)
        text = _text(content)
        calls = _calls(message, index, pointer)
        for key in ("reasoning_content", "reasoning"):
            if isinstance(thought := message.get(key), str) and thought:
                exchange.thoughts.append(thought)
        if not calls:
            if text or content.get("parts"):
                exchange.answers.append(content)
                exchange.answer_thoughts += exchange.thoughts
                exchange.thoughts = []
            return
        if text:
            exchange.thoughts.append(text)
        for call in calls:
            if call.name == _THINKING_TOOL and (thought := _thought(call.arguments)):
                exchange.thoughts.append(thought)
                call.is_thought = True
            else:
                call.reasoning = _joined(exchange.thoughts)
                exchange.thoughts = []
            exchange.calls.append(call)

    def _result(self, index: int, message: JsonObject, content: JsonObject) -> None:
        exchange = self._open_exchange(index)
        call_id = name_from(message.get("tool_call_id"))
        name = name_from(message.get("name"))
        # An id can come twice in one run: the result belongs to the call that still waits.
        waiting = [
            call for call in exchange.calls if (call.call_id == call_id if call_id else call.name == name)
        ]
        if waiting:
            exchange.calls.remove(waiting[0])
            self._add_call(exchange, waiting[0], index, content)
            return
        unknown = _Call(name or "unknown", {}, call_id, _joined(exchange.thoughts), index)
        exchange.thoughts = []
        self._add_call(exchange, unknown, index, content, call_recorded=False)

    def _add_call(
        self,
        exchange: _Exchange,
        call: _Call,
        ends: int,
        result: JsonObject | None,
        *,
        call_recorded: bool = True,
    ) -> None:
        if call.is_thought:  # a thought is the reasoning of what follows, not an act
            return
        metadata: JsonObject = {"exchange": exchange.number, "messages": [call.begins, ends]}
        if result is None:
            metadata["answered"] = False
        if not call_recorded:
            metadata["call_recorded"] = False
        turn = RecordedTurn(
            input=tool_call(call.name, call.arguments, call.call_id),
            output=nothing() if result is None else {**result, **tool_response(_text(result))},
            reasoning=call.reasoning,
            metadata=metadata,
        )
        self.turns.append((ends, turn))


def _calls(message: JsonObject, index: int, pointer: str) -> list[_Call]:
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
    calls = []
    for place, (function, call_id) in enumerate(functions):
        name = name_from(function.get("name")) if isinstance(function, dict) else None
        if not isinstance(function, dict) or name is None:
            raise RecordingFault(
                f"Tool call {place} of message {index} names no function.", f"{pointer}/tool_calls/{place}"
            )
        arguments = function.get("arguments", {})
        if isinstance(arguments, str):
            arguments = unpacked(arguments) if arguments.strip() else {}
        calls.append(_Call(name, arguments, name_from(call_id), None, index))
    return calls


def _content(content: JsonValue, pointer: str) -> JsonObject:
    """A message's content: text, or a list of parts whose text is joined and which are kept beside it."""
    if content is None:
        return said("")
    if isinstance(content, str):
        return said(content)
    if not isinstance(content, list):
        raise RecordingFault("The content of a message is text or a list of parts.", pointer)
    texts: list[str] = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            texts.append(text)
    return {**said("\n".join(texts)), "parts": content}


def _text(content: JsonObject) -> str:
    return str(content["content"])


def _thought(arguments: JsonValue) -> str | None:
    thought = arguments.get("thought") if isinstance(arguments, dict) else None
    return thought if isinstance(thought, str) and thought.strip() else None


def _joined(thoughts: list[str]) -> str | None:
    return "\n\n".join(thoughts) or None
