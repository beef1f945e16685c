"""The states of a run, kept beside it in a file `NAME.states.json`.

Its `versions` are whole states in order; each says by `after_…` after which part of the run it holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from sessions_app.importers.run import RecordedState, RecordedTurn, RecordingFault, Step, nothing
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

_NOT_ABOUT = ("run", "versions", "expected_final_state")


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """A whole state, holding after the part `after` of the run (-1: from the beginning)."""

    state: JsonObject
    after: int
    reason: str | None = None
    at: datetime | None = None


def recorded_versions(
    states: JsonValue, place: str, listed: str = "versions", *, in_states: bool = True
) -> list[RecordedVersion]:
    """The versions in the list `listed` of a states file, placed by their field `place`.

    None where there is no such file. With `in_states` False, they are in the record itself. Raises
    RecordingFault.
    """
    if states is None:
        return []
    items = states.get(listed) if isinstance(states, dict) else None
    if not isinstance(items, list) or not items:
        where = "The file of states" if in_states else "The record"
        raise RecordingFault(f"{where} has no list `{listed}`.", in_states=in_states)
    versions: list[RecordedVersion] = []
    for index, item in enumerate(items):
        pointer = f"/{listed}/{index}"
        if not isinstance(item, dict):
            raise RecordingFault(f"Version {index} is not an object.", pointer, in_states=in_states)
        state, after, reason = item.get("state"), item.get(place), item.get("reason")
        if not isinstance(state, dict):
            raise RecordingFault(f"Version {index} has no object `state`.", pointer, in_states=in_states)
        if after is None and index == 0:
            after = -1
        if type(after) is not int:
            raise RecordingFault(f"Version {index} has no number `{place}`.", pointer, in_states=in_states)
        if versions and after < versions[-1].after:
            raise RecordingFault(
                f"Version {index} stands at {after}, before the version ahead of it.",
                pointer,
                in_states=in_states,
            )
        versions.append(RecordedVersion(state, after, reason if isinstance(reason, str) and reason else None))
    return versions


def where_changed(versions: Iterable[RecordedVersion]) -> list[RecordedVersion]:
    """Without those that have the state of the version before them."""
    kept: list[RecordedVersion] = []
    for version in versions:
        if not kept or not json.same(kept[-1].state, version.state):
            kept.append(version)
    return kept


def about(states: JsonValue) -> JsonObject:
    """What a states file says beside its states: how they were made, what was expected."""
    found = states if isinstance(states, dict) else {}
    return {key: value for key, value in found.items() if key not in _NOT_ABOUT}


def placed(
    turns: Iterable[tuple[int, RecordedTurn]], versions: list[RecordedVersion]
) -> tuple[JsonObject, tuple[Step, ...]]:
    """The initial state, which is the first version, and the turns with the others where they belong."""
    initial = versions[0].state if versions else {}
    return initial, tuple(step for _, step in steps_of(turns, versions[1:]))


def steps_of(
    turns: Iterable[tuple[int, RecordedTurn]], versions: Iterable[RecordedVersion]
) -> Iterator[tuple[int, Step]]:
    """The turns with each version where it belongs, all with their places.

    Each turn comes with the part of the run at which it ends, ascending. A version that holds after exactly
    that part is the `state_after` of the first turn with an output that ends there, or else of the last one;
    any other becomes a step of its own at its place.
    """
    waiting = deque(versions)
    for end, ended in groupby(turns, key=itemgetter(0)):
        together = [turn for _, turn in ended]
        while waiting and waiting[0].after < end:
            yield _alone(waiting.popleft())
        if waiting and waiting[0].after == end:
            version = waiting.popleft()
            last = len(together) - 1
            place = next((place for place, turn in enumerate(together) if turn.output != nothing()), last)
            turn = together[place]
            reasoning = turn.reasoning or version.reason
            together[place] = replace(turn, state_after=version.state, reasoning=reasoning)
        yield from ((end, turn) for turn in together)
    for version in waiting:
        yield _alone(version)


def _alone(version: RecordedVersion) -> tuple[int, RecordedState]:
    return version.after, RecordedState(version.state, version.reason, version.at)
