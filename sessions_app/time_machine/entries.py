"""The versions of a window as the timeline shows them. Asks nothing of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sessions_app.control_keys import FROZEN, INCIDENT
from sessions_app.models import StateVersion
from sessions_app.queries import LiveRange
from sessions_app.queries.windows import undone_by

IDLE_AFTER = timedelta(minutes=5)
"""A silence longer than this is folded and named (domain, "Timeline")."""

_CONTROL_PATHS = frozenset((f"/{FROZEN}", f"/{INCIDENT}"))
_FREEZE, _RESUME = "freeze", "resume"
_WORDS = {
    "create": "Created",
    "update": "Update",
    "replace": "Replacement",
    "turn": "Turn",
    "rollback": "Rollback",
    "fork": "Fork",
    _FREEZE: "Freeze",
    _RESUME: "Resume",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One version in the timeline.

    `mark` is what it is drawn as: its kind, or `freeze` / `resume` where it switched the freeze.
    `undone_by` is the rollback that took it back; `idle` the silence before it, where that was long.
    """

    version: StateVersion
    mark: str
    undone_by: int | None
    idle: timedelta | None

    @property
    def number(self) -> int:
        return self.version.number

    @property
    def undone(self) -> bool:
        return self.undone_by is not None

    @property
    def words(self) -> str:
        """The mark in words."""
        return _WORDS[self.mark]

    @property
    def first_paths(self) -> list[str]:
        return self.version.first_paths


def entries(versions: Sequence[StateVersion], ranges: Sequence[LiveRange]) -> list[Entry]:
    """Consecutive versions, oldest first, as entries.

    What switched the freeze and what came after a silence is told against the version before: of the first
    it is not known unless that is version 0, so pass one row more than is shown, and drop it.
    """
    found = []
    before: StateVersion | None = None
    for version in versions:
        mark = _mark(version, before)
        found.append(Entry(version, mark, _undone_by(version, mark, ranges), _idle(version, before)))
        before = version
    return found


def _mark(version: StateVersion, before: StateVersion | None) -> str:
    if before is None and version.number > 0:
        return version.kind
    was_frozen = before is not None and before.frozen
    if version.frozen and not was_frozen:
        return _FREEZE
    if was_frozen and not version.frozen:
        return _RESUME
    return version.kind


def _undone_by(version: StateVersion, mark: str, ranges: Sequence[LiveRange]) -> int | None:
    # A rollback never changes the freeze (contract 8.4), so a mere freeze or resume still holds after it.
    if mark in (_FREEZE, _RESUME) and _CONTROL_PATHS.issuperset(version.first_paths):
        return None
    return undone_by(version.number, ranges)


def _idle(version: StateVersion, before: StateVersion | None) -> timedelta | None:
    silence = version.created_at - before.created_at if before else timedelta()
    return silence if silence > IDLE_AFTER else None


def spans(numbers: Sequence[int]) -> str:
    """Version numbers in words: `v4, v6–v9`; empty for none."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"v{a}" if a == b else f"v{a}, v{b}" if b == a + 1 else f"v{a}–v{b}" for a, b in runs)


def silence_in_words(silence: timedelta) -> str:
    """`7 min`, `3 h 20 min`, `2 d 4 h`."""
    minutes = int(silence.total_seconds() // 60)
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count and not (days and unit == "min"))
