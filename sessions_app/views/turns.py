"""The turns of a session as a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.models import Turn
from sessions_app.views.scope import person_and_session
from statebase_site.base import json

TURNS_A_PAGE = 50
# Longer texts are folded; the page stays quick and the rest is one click away.
_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Said:
    """One side of a turn: who, the words, and further keys that the client sent, as JSON."""

    who: str
    kind: str
    content: str
    rest: str | None

    @property
    def is_long(self) -> bool:
        return len(self.content) > _SHOWN_CHARACTERS

    @property
    def beginning(self) -> str:
        return self.content[:_SHOWN_CHARACTERS]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as it is shown; `effect` is its tool call, where it is one."""

    turn: Turn
    input: Said
    output: Said
    effect: queries.Effect | None
    arguments: str | None
    metadata: str | None
    made_version: bool


@require_safe
def session_turns(request: HttpRequest, session_id: str) -> HttpResponse:
    """Turns from `?from=` (a turn's number) on, in the order they happened."""
    _, agent_session = person_and_session(request, session_id)
    asked = request.GET.get("from", "")
    first = min(int(asked), agent_session.turn_count) if asked.isdecimal() and len(asked) < 10 else 1
    turns = list(queries.turns_of(agent_session).filter(number__gte=first)[:TURNS_A_PAGE])
    made = queries.turns_that_made_versions(agent_session, turns)
    last = turns[-1].number if turns else 0
    context = {
        "nav_current": "sessions",
        "tab": "turns",
        "agent_session": agent_session,
        "rows": [_row(turn, turn.public_id in made) for turn in turns],
        "first": turns[0].number if turns else 0,
        "last": last,
        "earlier": max(1, first - TURNS_A_PAGE) if first > 1 else None,
        "later": last + 1 if last < agent_session.turn_count else None,
    }
    return render(request, "sessions_app/turns.html", context)


def _row(turn: Turn, made_version: bool) -> TurnRow:
    effect = queries.effect_of(turn)
    return TurnRow(
        turn=turn,
        input=_said(turn.input, "Tool call" if effect else "User"),
        output=_said(turn.output, "Tool" if effect else "Agent"),
        effect=effect,
        arguments=json.pretty(effect.arguments) if effect and effect.arguments is not None else None,
        metadata=json.pretty(turn.metadata) if turn.metadata else None,
        made_version=made_version,
    )


def _said(document: json.JsonObject, who: str) -> Said:
    rest = {name: value for name, value in document.items() if name not in {"type", "content"}}
    return Said(
        who=who,
        kind=str(document.get("type")),
        content=str(document.get("content")),
        rest=json.pretty(rest) if rest else None,
    )
