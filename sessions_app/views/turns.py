"""The turns of a session as a conversation."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.conversation import shown_turn
from sessions_app.errors import TurnNotFound
from sessions_app.views.scope import person_and_session
from statebase_site.base import json

TURNS_A_PAGE = 50


@require_safe
def session_turns(request: HttpRequest, session_id: str) -> HttpResponse:
    """Turns from `?from=` (a turn's number) on, in the order in which they happened."""
    _, agent_session = person_and_session(request, session_id)
    first = _first(request.GET.get("from", ""), agent_session.turn_count)
    turns = list(queries.turns_of(agent_session).filter(number__gte=first)[:TURNS_A_PAGE])
    made = queries.turns_that_made_versions(agent_session, turns)
    last = turns[-1].number if turns else 0
    context = {
        "nav_current": "sessions",
        "tab": "turns",
        "agent_session": agent_session,
        "rows": [shown_turn(turn, made_version=turn.public_id in made) for turn in turns],
        "first": turns[0].number if turns else 0,
        "last": last,
        "earlier": max(1, first - TURNS_A_PAGE) if first > 1 else None,
        "later": last + 1 if last < agent_session.turn_count else None,
    }
    return render(request, "sessions_app/turns.html", context)


@require_safe
def turn_json(request: HttpRequest, session_id: str, number: int) -> HttpResponse:
    """One turn as it was logged, whole. Raises `TurnNotFound`."""
    _, agent_session = person_and_session(request, session_id)
    turn = queries.turns_of(agent_session).filter(number=min(number, agent_session.turn_count + 1)).first()
    if turn is None:
        raise TurnNotFound(str(number))
    whole: json.JsonObject = {
        "turn_id": turn.public_id,
        "turn_number": turn.number,
        "input": turn.input,
        "output": turn.output,
        "reasoning": turn.reasoning,
        "metadata": turn.metadata,
    }
    return HttpResponse(
        json.dumps(whole), content_type="application/json", headers={"Cache-Control": "no-store"}
    )


def _first(asked: str, count: int) -> int:
    """The number of a turn that there is, whatever was asked for."""
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else 1
    return max(1, min(number, count))
