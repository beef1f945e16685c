"""A turn as the why column shows it. Asks nothing of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.models import Turn
from sessions_app.queries import Effect, effect_of
from statebase_site.base import json

TEXT_SHOWN = 1_200  # characters; the rest stands on the page of turns


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn with its texts cut to what fits, and the tool call it is, if it is one."""

    turn: Turn
    here: bool  # it ended at the version shown, not before
    said: str
    said_more: int
    answered: str
    answered_more: int
    tool: Effect | None
    arguments: str


def shown_turns(turns: Sequence[Turn], number: int) -> list[ShownTurn]:
    """Turns beside version `number`."""
    return [_shown(turn, turn.state_version == number) for turn in turns]


def _shown(turn: Turn, here: bool) -> ShownTurn:
    said, answered = content(turn.input), content(turn.output)
    tool = effect_of(turn)
    return ShownTurn(
        turn=turn,
        here=here,
        said=said[:TEXT_SHOWN],
        said_more=max(0, len(said) - TEXT_SHOWN),
        answered=answered[:TEXT_SHOWN],
        answered_more=max(0, len(answered) - TEXT_SHOWN),
        tool=tool,
        arguments=json.dumps(tool.arguments)[:TEXT_SHOWN] if tool and tool.arguments is not None else "",
    )


def content(given: json.JsonObject) -> str:
    """What a person reads of an input or output: its `content`, else its `output`, as text."""
    value = given.get("content") or given.get("output", "")
    return value if isinstance(value, str) else json.dumps(value)
