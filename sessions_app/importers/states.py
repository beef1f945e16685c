"""The states of a run, kept beside it in a file `NAME.states.json`.

Its `versions` are whole states in order; each says by `after_…` after which part of the run it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sessions_app.importers.run import RecordedState, RecordedTurn, RecordingFault, Step
from statebase_site.base.json import JsonObject, JsonValue

_NOT_ABOUT = ("run", "versions", "expected_final_state")


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """A whole state, holding after the part `after` of the run (-1: from the beginning)."""

    state: JsonObject
    after: int
    reason: str | None


def recorded_versions(states: JsonValue, place: str) -> list[RecordedVersion]:
    """The versions of a states file, placed by its field `place`. Raises RecordingFault."""
    listed = states.get("versions") if isinstance(states, dict) else None
    if not isinstance(listed, list) or not listed:
        raise RecordingFault("The file of states has no list `versions`.", in_states=True)
    versions: list[RecordedVersion] = []
    for index, item in enumerate(listed):
        pointer = f"/versions/{index}"
        if not isinstance(item, dict):
            raise RecordingFault(f"Version {index} is not an object.", pointer, in_states=True)
        state, after, reason = item.get("state"), item.get(place), item.get("reason")
        if not isinstance(state, dict):
            raise RecordingFault(f"Version {index} has no object `state`.", pointer, in_states=True)
        if after is None and index == 0:
            after = -1
        if type(after) is not int:
            raise RecordingFault(f"Version {index} has no number `{place}`.", pointer, in_states=True)
        if versions and after < versions[-1].after:
            raise RecordingFault(
                f"Version {index} stands at {after}, before the version ahead of it.", pointer, in_states=True
            )
        versions.append(RecordedVersion(state, after, reason if isinstance(reason, str) and reason else None))
    return versions


def about(states: JsonValue) -> JsonObject:
    """What a states file says beside its states: how they were made, what was expected."""
    found = states if isinstance(states, dict) else {}
    return {key: value for key, value in found.items() if key not in _NOT_ABOUT}


def placed(
    turns: Iterable[tuple[int, RecordedTurn]], versions: list[RecordedVersion]
) -> tuple[JsonObject, tuple[Step, ...]]:
    """The initial state, and the turns with each version where it belongs.

    Each turn comes with the part of the run at which it ends, ascending. A version that holds after exactly
    that part is the turn's `state_after`; any other becomes a step of its own at its place.
    """
    if not versions:
        return {}, tuple(turn for _, turn in turns)
    initial, *waiting = versions
    steps: list[Step] = []
    for end, turn in turns:
        while waiting and waiting[0].after < end:
            steps.append(_alone(waiting.pop(0)))
        if waiting and waiting[0].after == end:
            version = waiting.pop(0)
            turn = replace(turn, state_after=version.state, reasoning=turn.reasoning or version.reason)
        steps.append(turn)
    steps.extend(map(_alone, waiting))
    return initial.state, tuple(steps)


def _alone(version: RecordedVersion) -> RecordedState:
    return RecordedState(version.state, version.reason)
