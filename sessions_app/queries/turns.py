"""Turns of a session."""

from __future__ import annotations

from django.db.models import QuerySet

from sessions_app import codec
from sessions_app.errors import TurnNotFound
from sessions_app.models import AgentSession, StateVersion, Turn
from sessions_app.queries.sessions import sessions_for
from sessions_app.queries.versions import documents_at
from statebase_site.access.actor import Actor
from statebase_site.base import json
from statebase_site.base.ids import findable


def turns_of(agent_session: AgentSession) -> QuerySet[Turn]:
    """A session's turns, oldest first."""
    return Turn.objects.filter(agent_session=agent_session).order_by("number")


def turn_for(by: Actor, turn_id: str, agent_session: AgentSession | None = None) -> Turn:
    """One turn, of `agent_session` or of any session of the actor. Raises `TurnNotFound`."""
    turns = Turn.objects.filter(public_id=findable(turn_id))
    if agent_session:
        turns = turns.filter(agent_session=agent_session)
    else:
        turns = turns.filter(agent_session__in=sessions_for(by))
    turn = turns.select_related("agent_session").first()
    if turn is None:
        raise TurnNotFound(turn_id)
    return turn


def version_before_turns(agent_session: AgentSession, count: int) -> int:
    """The version in force before the last `count` turns. Raises `TurnNotFound` where there are fewer."""
    turn = turns_of(agent_session).filter(number=agent_session.turn_count - count + 1).first()
    if turn is None:
        raise TurnNotFound(f"{count} turns back")
    return turn.state_version - len(turns_that_made_versions(agent_session, [turn]))


def states_of_turn(
    agent_session: AgentSession, turns: list[Turn]
) -> dict[int, tuple[json.JsonValue, json.JsonValue]]:
    """`state_before` and `state_after` of turns as they were given (None where not), by turn number."""
    numbers = {turn.state_before_version for turn in turns} | {turn.state_after_version for turn in turns}
    documents = dict(documents_at(agent_session, [number for number in numbers if number is not None]))

    def given(number: int | None, body: bytes | memoryview | None) -> json.JsonValue:
        if number is not None:
            return documents[number].value
        if body is not None:
            return json.parse_stored(codec.decode(codec.Encoding.KEYFRAME, bytes(body), None))
        return None

    return {
        turn.number: (
            given(turn.state_before_version, turn.state_before_body),
            given(turn.state_after_version, turn.state_after_body),
        )
        for turn in turns
    }


def turns_that_made_versions(agent_session: AgentSession, turns: list[Turn]) -> set[str]:
    """The ids of those turns that brought a version of their own."""
    made = StateVersion.objects.filter(
        agent_session=agent_session,
        number__in=[turn.state_version for turn in turns],
        turn_id__in=[turn.public_id for turn in turns],
    )
    return {turn_id for turn_id in made.values_list("turn_id", flat=True) if turn_id}
