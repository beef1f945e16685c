"""Traces of spans: what Langfuse exports and OpenTelemetry's GenAI attributes have in common.

A trace is one exchange: what was asked and answered at its root, its tool spans as turns, and the output of
each node of a LangGraph as a state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.langchain_messages import as_openai
from sessions_app.importers.run import name_from, said, tool_response, unpacked
from sessions_app.importers.states import RecordedVersion
from sessions_app.importers.values import an_object, objects, plain, text
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

GENERATION, TOOL, OTHER = "generation", "tool", "other"
_UNPACKINGS = 3
_THINKING = ("thinking", "reasoning")
_CALLS = ("tool_use", "tool_call", "function_call")


@dataclass(slots=True)
class Span:
    """One span; `node` is the LangGraph node whose whole work it is, `call_id` that of a tool's call."""

    kind: str
    name: str
    input: JsonValue
    output: JsonValue
    starts: datetime | None
    ends: datetime | None
    node: str | None = None
    call_id: str | None = None
    about: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """What a model's message says, thinks and calls: name, arguments and id of each call."""

    role: str | None
    text: str
    thoughts: tuple[str, ...]
    calls: tuple[tuple[str, JsonValue, str | None], ...]


class Telling:
    """Tells the exchanges of a conversation what the spans of its traces hold."""

    def __init__(self) -> None:
        self.exchanges = Exchanges("spans")
        self.versions = [RecordedVersion({}, -1)]
        self._place = 0

    def trace(
        self, asked: JsonValue, answered: JsonValue, spans: Iterable[Span], starts: datetime | None
    ) -> None:
        """One trace: spans in the order in which they ended, between what was asked and answered."""
        ordered = [*in_order(spans)]
        generations = [span for span in ordered if span.kind == GENERATION]
        if asked is None and generations:
            asked = generations[0].input
        self.exchanges.ask(self._place, said(question(asked)), starts)
        called = [call for span in generations for each in messages(span.output) for call in each.calls]
        ids = _Ids(called)
        names = {name for name, _, _ in called}
        last = ""
        for span in ordered:
            self._place += 1
            if span.kind == GENERATION:
                last = self._generation(span) or last
            elif span.kind == TOOL or (span.name in names and span.node is None):
                self._tool(span, ids)
            elif span.node is not None and isinstance(output := _whole(span.output), dict):
                reason = f"Output of node {span.node}"
                self.versions.append(RecordedVersion(output, self._place, reason, span.ends))
        final = answer(answered)
        if final and final != last:
            ends = next((span.ends for span in reversed(ordered) if span.ends), None)
            self.exchanges.answer(self._place, said(final), ends)
        self._place += 1

    def _generation(self, span: Span) -> str:
        written = ""
        for each in messages(span.output):
            for thought in each.thoughts:
                self.exchanges.think(self._place, thought, span.ends)
            if each.text:
                written = each.text
                self.exchanges.answer(self._place, said(written), span.ends)
        return written

    def _tool(self, span: Span, ids: _Ids) -> None:
        arguments = _whole(span.input)
        if isinstance(arguments, dict) and arguments.keys() == {"input"}:
            arguments = _whole(arguments["input"])
        call_id = ids.take(span.name, arguments, span.call_id)
        key = str(self._place)
        name = name_from(span.name) or "unknown"
        self.exchanges.call(
            self._place, name, arguments, call_id=call_id, key=key, at=span.starts, about=span.about
        )
        if span.output is not None:
            output = _whole(span.output)
            shown = _words(output)
            response = tool_response(output) if shown is None else {**tool_response(output), "content": shown}
            self.exchanges.result(self._place, response, key=key, at=span.ends)


def in_order(spans: Iterable[Span]) -> list[Span]:
    """The spans as they ended; those that end at the same time as they began, then as they stand."""

    def when(span: Span) -> tuple[float, float]:
        ends, starts = span.ends or span.starts, span.starts or span.ends
        return ends.timestamp() if ends else 0.0, starts.timestamp() if starts else 0.0

    return sorted(spans, key=when)


class _Ids:
    """Finds the id of a tool's call among those that the models made."""

    def __init__(self, calls: list[tuple[str, JsonValue, str | None]]) -> None:
        self._waiting: dict[tuple[str, str], deque[str]] = {}
        self._taken: set[str] = set()
        for name, arguments, call_id in calls:
            if call_id:
                for key in ((name, json.canonical(arguments)), (name, "")):
                    self._waiting.setdefault(key, deque()).append(call_id)

    def take(self, name: str, arguments: JsonValue, own: str | None) -> str | None:
        """The span's own id, or that of the first call of this tool with these arguments, else of any."""
        if own:
            self._taken.add(own)
            return own
        for key in ((name, json.canonical(arguments)), (name, "")):
            waiting = self._waiting.get(key, deque())
            while waiting:
                call_id = waiting.popleft()
                if call_id not in self._taken:
                    self._taken.add(call_id)
                    return call_id
        return None


# What is said in the messages of many a library -----------------------------------------------------------


def question(value: JsonValue) -> str:
    """The words of what a trace was asked: the last message of the user's, a prompt, or all of it."""
    value = _whole(value)
    asked = [each.text for each in messages(value) if each.role == "user" and each.text]
    if asked:
        return asked[-1]
    for key in ("prompt", "question", "query", "input"):
        if words := plain(an_object(value).get(key)):
            return words
    return text(value)


def answer(value: JsonValue) -> str:
    """The words of what it answered: the last message that is not the user's, or all of it."""
    value = _whole(value)
    found = list(messages(value))
    if found:
        return next((each.text for each in reversed(found) if each.role != "user" and each.text), "")
    return text(value)


def messages(value: JsonValue) -> Iterator[Said]:
    """The messages in a value: a list of them, one, or an object that holds them."""
    value = _whole(value)
    if isinstance(value, dict):
        for key in ("messages", "output", "choices"):
            if isinstance(held := value.get(key), list):
                value = held
                break
    for item in value if isinstance(value, list) else [value]:
        fields = an_object(item)
        fields = an_object(fields["message"]) if isinstance(fields.get("message"), dict) else fields
        if found := _said(fields):
            yield found


def _said(fields: JsonObject) -> Said | None:
    known = as_openai(fields)
    message = known or fields
    # A model's item that is no message of its own: a call, or a thought.
    alone = fields.get("type") in (*_CALLS, *_THINKING)
    if known is None and not alone and "content" not in fields and "parts" not in fields:
        return None
    content: JsonValue = [fields] if alone else message.get("parts", message.get("content"))
    parts: list[JsonObject] = [*objects(content)]
    if isinstance(content, str):
        parts = [{"type": "text", "text": content}]
    texts: list[str] = []
    thoughts: list[str] = []
    calls = [_called(each) for each in objects(message.get("tool_calls"))]
    for part in parts:
        kind = part.get("type")
        written = plain(part.get("text")) or plain(part.get("content")) or plain(part.get("thinking"))
        if kind in _CALLS:
            calls.append(_called(part))
        elif kind in _THINKING:
            summary = (plain(each.get("text")) for each in objects(part.get("summary")))
            thoughts += [written] if written else [each for each in summary if each]
        elif written and kind in (None, "text", "output_text", "input_text"):
            texts.append(written)
    role = message.get("role")
    return Said(
        role if isinstance(role, str) else None, "\n".join(texts), tuple(thoughts), tuple(filter(None, calls))
    )


def _called(call: JsonObject) -> tuple[str, JsonValue, str | None] | None:
    function = an_object(call["function"]) if "function" in call else call
    name = name_from(function.get("name"))
    if name is None:
        return None
    arguments = _whole(function.get("arguments", function.get("input", function.get("args", {}))))
    return name, arguments, name_from(call.get("call_id")) or name_from(call.get("id"))


def _words(output: JsonValue) -> str | None:
    """The text of a tool's output that is parts of text, or a message of LangChain's."""
    found = [each.text for each in messages(output) if each.text] if isinstance(output, dict) else []
    return "\n".join(found) or None


def _whole(value: JsonValue) -> JsonValue:
    """The value that a text holds as JSON, which a trace may have packed more than once."""
    for _ in range(_UNPACKINGS):
        if not isinstance(value, str):
            break
        if value.startswith('"') and value.endswith('"'):
            try:
                value = json.parse(value)
            except json.JsonFault:
                break
        elif (found := unpacked(value)) is value:
            break
        else:
            value = found
    return value
