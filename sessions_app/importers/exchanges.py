"""From the messages of a conversation to turns: the same for every format that is one.

One question and everything up to the next one is one exchange: its tool calls become turns of their own, in
order, and the exchange itself a turn that ends it. A reader tells what happened, each with its place (a
number that grows along the run) and the time, where there is one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from sessions_app.importers.run import RecordedTurn, nothing, tool_call
from sessions_app.importers.values import joined
from statebase_site.base.json import JsonObject, JsonValue

PlacedTurn: TypeAlias = tuple[int, RecordedTurn]


@dataclass(slots=True)
class _Call:
    """A tool call that waits for its result."""

    name: str
    arguments: JsonValue
    call_id: str | None
    key: str | None
    reasoning: str | None
    begins: int
    at: datetime | None
    state_after: JsonObject | None = None
    about: JsonObject = field(default_factory=dict)
    is_thought: bool = False
    is_answered: bool = False


@dataclass(slots=True)
class _Exchange:
    """One question and what follows it, while it is being read."""

    number: int
    begins: int
    ends: int
    asked: JsonObject
    at: datetime | None
    about: JsonObject
    state_after: JsonObject | None = None
    thoughts: list[str] = field(default_factory=list)
    answers: list[JsonObject] = field(default_factory=list)
    answer_thoughts: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    waiting: dict[tuple[str, str], deque[_Call]] = field(default_factory=dict)

    def add(self, call: _Call) -> None:
        """Let a call wait for its result, which may name its key or only its tool."""
        self.calls.append(call)
        for place in _places_of(call.key, call.name):
            self.waiting.setdefault(place, deque()).append(call)

    def answer_to(self, key: str | None, name: str | None) -> _Call | None:
        """The call that a result answers. A key can come twice in one run: it is the one that still waits."""
        for place in _places_of(key, name)[:1]:
            queue = self.waiting.get(place, deque())
            while queue:
                call = queue.popleft()
                if not call.is_answered:
                    call.is_answered = True
                    return call
        return None


def _places_of(key: str | None, name: str | None) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value in (("key", key), ("name", name)) if value]


class Exchanges:
    """Collects turns, each with the place at which it ends; `places` is what their metadata calls those."""

    def __init__(self, places: str) -> None:
        self.turns: list[PlacedTurn] = []
        self._places = places
        self._exchange: _Exchange | None = None
        self._asked = 0
        self._left_at: int | None = None

    def ask(
        self, place: int, content: JsonObject, at: datetime | None = None, about: JsonObject | None = None
    ) -> None:
        """Begin an exchange with what somebody asks; `about` goes into its turn's metadata."""
        self.end()
        self._asked += 1
        self._exchange = _Exchange(self._asked, place, place, content, at, about or {})

    def think(
        self,
        place: int,
        thought: str,
        at: datetime | None = None,
        *,
        tool: str | None = None,
        key: str | None = None,
    ) -> None:
        """A thought: the reasoning of the call or answer after it; a `tool` for it will give a result."""
        exchange = self._under_way(place, at)
        exchange.thoughts.append(thought)
        if tool:
            exchange.add(_Call(tool, None, key, key, None, place, at, is_thought=True))

    def answer(
        self,
        place: int,
        content: JsonObject,
        at: datetime | None = None,
        state_after: JsonObject | None = None,
    ) -> None:
        """Something said to who asked; the last one is the exchange's answer."""
        exchange = self._under_way(place, at)
        exchange.answers.append(content)
        exchange.answer_thoughts += exchange.thoughts
        exchange.thoughts = []
        if state_after is not None:
            exchange.state_after = state_after

    def call(
        self,
        place: int,
        name: str,
        arguments: JsonValue,
        *,
        call_id: str | None = None,
        key: str | None = None,
        at: datetime | None = None,
        state_after: JsonObject | None = None,
        about: JsonObject | None = None,
    ) -> None:
        """A tool call; its result names `key` (default: `call_id`). `state_after` holds once it succeeds."""
        exchange = self._under_way(place, at)
        reasoning = joined(*exchange.thoughts)
        exchange.thoughts = []
        exchange.add(
            _Call(name, arguments, call_id, key or call_id, reasoning, place, at, state_after, about or {})
        )

    def result(
        self,
        place: int,
        response: JsonObject,
        *,
        key: str | None,
        name: str | None = None,
        at: datetime | None = None,
        failed: bool = False,
        about: JsonObject | None = None,
    ) -> None:
        """What a tool gave back, found by the call's key, or where the record has none by the tool's name."""
        exchange = self._under_way(place, at)
        call = exchange.answer_to(key, name)
        if call is None:
            reasoning = joined(*exchange.thoughts)
            exchange.thoughts = []
            call = _Call(name or "unknown", {}, key, key, reasoning, place, at)
            call.about = {"call_recorded": False}
        elif call.is_thought:  # a thought is the reasoning of what follows, not an act
            return
        if failed:
            call.state_after = None
        self._add_call(exchange, replace(call, about=call.about | (about or {})), place, at, response)

    def end(self) -> None:
        """Close the exchange: calls without a result first, then the turn of the exchange itself."""
        exchange = self._exchange
        if exchange is None:
            return
        self._exchange = None
        for call in exchange.calls:
            if not call.is_answered and not call.is_thought:
                self._add_call(exchange, call, exchange.ends, exchange.at, None)
        answered = bool(exchange.answers)
        output = dict(exchange.answers[-1]) if answered else nothing()
        if len(exchange.answers) > 1:
            output["earlier"] = list(exchange.answers[:-1])
        metadata = self._metadata(exchange, exchange.begins, exchange.ends, answered)
        self._add(
            exchange.ends,
            RecordedTurn(
                exchange.asked,
                output,
                joined(*exchange.answer_thoughts, *exchange.thoughts),
                metadata | exchange.about,
                exchange.state_after,
                exchange.at,
            ),
        )

    def branch(self, place: int) -> Exchanges:
        """Another line that begins after `place`: it has what is open there, but not the turns before."""
        branch = Exchanges(self._places)
        branch._asked = self._asked
        branch._left_at = place
        if exchange := self._exchange:
            branch._exchange = copy = replace(
                exchange,
                thoughts=list(exchange.thoughts),
                answers=list(exchange.answers),
                answer_thoughts=list(exchange.answer_thoughts),
                calls=[],
                waiting={},
            )
            for call in exchange.calls:
                if not call.is_answered:
                    copy.add(replace(call))
        return branch

    def _under_way(self, place: int, at: datetime | None) -> _Exchange:
        """The exchange under way; what an agent says before anybody asked opens one without a question."""
        if self._exchange is None:
            self._exchange = _Exchange(self._asked, place, place, nothing(), at, {})
        self._exchange.ends = place
        self._exchange.at = at or self._exchange.at
        return self._exchange

    def _add_call(
        self, exchange: _Exchange, call: _Call, ends: int, at: datetime | None, response: JsonObject | None
    ) -> None:
        turn = RecordedTurn(
            input=tool_call(call.name, call.arguments, call.call_id),
            output=nothing() if response is None else response,
            reasoning=call.reasoning,
            metadata=self._metadata(exchange, call.begins, ends, response is not None) | call.about,
            state_after=call.state_after,
            at=at or call.at,
        )
        self._add(ends, turn)

    def _metadata(self, exchange: _Exchange, begins: int, ends: int, answered: bool) -> JsonObject:
        metadata: JsonObject = {"exchange": exchange.number, self._places: [begins, ends]}
        if not answered:
            metadata["answered"] = False
        return metadata

    def _add(self, ends: int, turn: RecordedTurn) -> None:
        # What had ended before this line began is a turn of the line that it left.
        if self._left_at is None or ends > self._left_at:
            self.turns.append((ends, turn))
