"""Turns as a conversation: who said what, which tool was called with what, and what came back."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.models import Turn
from sessions_app.queries import Effect, effect_of
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

SHOWN = 1_200  # characters of a text; the rest is folded
FOLDED = 10_000  # of that rest; what is longer still stands in the turn's JSON

_ONE_LINE = 100  # characters


@dataclass(frozen=True, slots=True)
class Text:
    """A text in the parts in which it is shown; `cut` characters of it are not. `is_data`: it is JSON."""

    shown: str
    folded: str = ""
    cut: int = 0
    is_data: bool = False

    @classmethod
    def of(cls, text: str, *, is_data: bool = False) -> Text:
        end = SHOWN + FOLDED
        return cls(text[:SHOWN], text[SHOWN:end], max(0, len(text) - end), is_data)

    @classmethod
    def of_value(cls, value: JsonValue) -> Text:
        """A string as it is, anything else as JSON: on one line where it is short."""
        if isinstance(value, str):
            return cls.of(value)
        line = json.dumps(value)
        return cls.of(line if len(line) <= _ONE_LINE else json.pretty(value), is_data=True)


@dataclass(frozen=True, slots=True)
class Said:
    """One side of a turn: who, what kind it is where it is not plain text, and the further keys sent."""

    who: str
    kind: str
    text: Text
    rest: Text | None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn; `effect` is its tool call with `arguments`, where it is one. `made_version`: it brought one."""

    turn: Turn
    asked: Said
    answered: Said
    effect: Effect | None
    arguments: Text | None
    reasoning: Text | None
    metadata: Text | None
    made_version: bool


def shown_turn(turn: Turn, *, made_version: bool) -> ShownTurn:
    """A turn as the page shows it."""
    effect = effect_of(turn)
    return ShownTurn(
        turn=turn,
        asked=_said(turn.input, "User"),
        answered=_answer_of_tool(turn.output) if effect else _said(turn.output, "Agent"),
        effect=effect,
        arguments=Text.of_value(effect.arguments) if effect and effect.arguments is not None else None,
        reasoning=Text.of(turn.reasoning) if turn.reasoning else None,
        metadata=Text.of_value(turn.metadata) if turn.metadata else None,
        made_version=made_version,
    )


def _said(given: JsonObject, who: str) -> Said:
    rest = {name: value for name, value in given.items() if name not in ("type", "content")}
    kind = str(given.get("type"))
    return Said(
        who=who,
        kind="" if kind == "text" else kind,
        text=Text.of_value(given.get("content", "")),
        rest=Text.of_value(rest) if rest else None,
    )


def _answer_of_tool(given: JsonObject) -> Said:
    """What a tool gave back: its `output`; its `content` too where that says something else."""
    said = _said(given, "Tool")
    if "output" not in given:
        return said
    output, content = given["output"], given.get("content")
    repeats = content in (output, json.dumps(output), "")
    known = ("type", "output", "content") if repeats else ("type", "output")
    rest = {name: value for name, value in given.items() if name not in known}
    return Said(
        who="Tool",
        kind="" if said.kind == "tool_response" else said.kind,
        text=Text.of_value(output),
        rest=Text.of_value(rest) if rest else None,
    )
