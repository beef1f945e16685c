"""What traces tell (contract section 10): their ids and numbers, with the content of the rows they name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256

from sessions_app.diff import state_diff
from sessions_app.enums import Action, TraceSource
from sessions_app.models import AgentSession, Memory, RefusedWrite, StateVersion, Trace, Turn
from sessions_app.queries.versions import Place, among, texts_of
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

_OF_MEMORY = (Action.MEMORY_CREATED, Action.MEMORY_UPDATED, Action.MEMORY_DELETED)
_PREVIEW = 100  # characters
_WITH_DIFF = (Action.STATE_UPDATED, Action.STATE_ROLLED_BACK, Action.TURN_ADDED)


def trace_details(traces: Iterable[Trace]) -> dict[int, JsonObject]:
    """Full details of traces, by the trace's key; the number of queries does not grow with theirs.

    What they show of states, turns and attempts comes from the rows they name: null once those are gone.
    """
    rows = list(traces)
    named = _Named([trace for trace in rows if _names_rows(trace)])
    return {trace.pk: named.filled(trace) if _names_rows(trace) else trace.details for trace in rows}


def _names_rows(trace: Trace) -> bool:
    return trace.source == TraceSource.SYSTEM and (
        trace.agent_session_id is not None or trace.action in _OF_MEMORY
    )


class _Named:
    """The rows that some of the server's traces name, read all at once."""

    def __init__(self, traces: list[Trace]) -> None:
        self.sessions = AgentSession.objects.in_bulk(
            {trace.agent_session_id for trace in traces if trace.agent_session_id is not None}
        )
        self.places = {trace.pk: place for trace in traces if (place := _place_of(trace))}
        self.reasonings = _reasonings(set(self.places.values()))
        self.diffs = _state_diffs({self.places[pk] for pk in _pks(traces, *_WITH_DIFF) if pk in self.places})
        self.initial_states = _states({self.places[pk] for pk in _pks(traces, Action.SESSION_CREATED)})
        self.turns = {
            turn.trace_id: turn
            for turn in Turn.objects.filter(
                public_id__in=[trace.resource_id for trace in traces if trace.action == Action.TURN_ADDED]
            )
        }
        self.memories = {
            memory.public_id: memory
            for memory in Memory.objects.filter(
                public_id__in=[trace.resource_id for trace in traces if trace.action in _OF_MEMORY]
            )
        }
        self.attempts = {
            attempt.trace_id: attempt
            for attempt in RefusedWrite.objects.filter(
                trace_id__in=[trace.public_id for trace in traces if trace.action == Action.WRITE_REFUSED]
            )
        }

    def filled(self, trace: Trace) -> JsonObject:
        details = trace.details
        place = self.places.get(trace.pk)
        reasoning = self.reasonings.get(place)
        match trace.action:
            case Action.SESSION_CREATED:
                session = self.sessions[trace.agent_session_id]
                return {
                    "agent_id": session.agent_id,
                    "user_id": session.user_id,
                    "initial_state": self.initial_states.get(place),
                    **details,
                    "reasoning": reasoning,
                }
            case Action.SESSION_FORKED:
                source = trace.session_public_id
                return {"source_session_id": source, "source_session": source, **details}
            case Action.SESSION_FROZEN | Action.SESSION_UNFROZEN:
                return {**details, "reasoning": reasoning}
            case Action.STATE_UPDATED:
                return {"reasoning": reasoning, **details, "state_diff": self.diffs.get(place)}
            case Action.STATE_ROLLED_BACK:
                said: JsonObject = {"reason": reasoning, "reasoning": reasoning}
                return {**details, **said, "state_diff": self.diffs.get(place)}
            case Action.TURN_ADDED:
                turn = _turn_details(self.turns.get(trace.public_id))
                return {**details, **turn, "state_diff": self.diffs.get(place)}
            case Action.MEMORY_CREATED | Action.MEMORY_UPDATED | Action.MEMORY_DELETED:
                return {**_memory_details(trace, self.memories.get(trace.resource_id or "")), **details}
            case Action.WRITE_REFUSED:
                return {**details, **_attempt_details(self.attempts.get(trace.public_id))}
        return details


def _place_of(trace: Trace) -> Place | None:
    """Where the version is that a trace tells of."""
    details = trace.details
    number = details.get("new_version", details.get("version"))
    session_pk = trace.agent_session_id
    return (session_pk, number) if session_pk is not None and isinstance(number, int) else None


def _pks(traces: list[Trace], *actions: Action) -> list[int]:
    return [trace.pk for trace in traces if trace.action in actions]


def _reasonings(places: Collection[Place]) -> dict[Place | None, str | None]:
    if not places:
        return {}
    rows = StateVersion.objects.filter(among(places)).values_list("agent_session_id", "number", "reasoning")
    return {(session_pk, number): reasoning for session_pk, number, reasoning in rows}


def _states(places: Collection[Place]) -> dict[Place | None, JsonValue]:
    return {place: json.parse_stored(text) for place, text in texts_of(places)}


def _state_diffs(places: Collection[Place]) -> dict[Place | None, JsonObject]:
    """What some versions changed; no more than two states are in memory."""
    found: dict[Place | None, JsonObject] = {}
    previous: Place | None = None
    state_before: JsonObject = {}
    for place, text in texts_of({*places, *((session_pk, number - 1) for session_pk, number in places)}):
        state: JsonObject = json.parse_stored(text)  # type: ignore[assignment]
        if place in places and previous == (place[0], place[1] - 1):
            found[place] = state_diff(state_before, state)
        previous, state_before = place, state
    return found


def _turn_details(turn: Turn | None) -> JsonObject:
    return {
        "input_type": turn.input.get("type") if turn else None,
        "output_type": turn.output.get("type") if turn else None,
        "input": turn.input if turn else None,
        "output": turn.output if turn else None,
        "reasoning": turn.reasoning if turn else None,
        "metadata": turn.metadata if turn else None,
    }


def _memory_details(trace: Trace, memory: Memory | None) -> JsonObject:
    """Of the memory as the trace knew it: null once its content was changed or deleted."""
    is_same = (
        memory is not None
        and sha256(memory.content.encode(errors="surrogatepass")).hexdigest()
        == trace.details["content_sha256"]
    )
    content: JsonValue = memory.content if memory is not None and is_same else None
    preview: JsonValue = content[:_PREVIEW] if isinstance(content, str) else None
    match trace.action:
        case Action.MEMORY_CREATED:
            return {
                "content_preview": preview,
                "content": content,
                "type": memory.type if memory is not None and is_same else None,
                "tags": [*memory.tags] if memory is not None and is_same else None,
            }
        case Action.MEMORY_DELETED:
            return {"content_preview": preview}
    return {}


def _attempt_details(attempt: RefusedWrite | None) -> JsonObject:
    """A body that was kept in full is shown as JSON, else the text of its beginning."""
    attempted: JsonValue = attempt.attempted if attempt else None
    if attempt and attempt.attempted is not None and not attempt.attempted_truncated:
        try:
            attempted = json.parse(attempt.attempted)
        except json.JsonFault:
            attempted = attempt.attempted
    return {"attempted": attempted, "reasoning": attempt.reasoning if attempt else None}
