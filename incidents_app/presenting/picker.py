"""A session's versions to choose from, on a rail and in a list: a window of them, however many there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.forms import BoundField

from incidents_app.enums import PinKind
from incidents_app.models import AffectedSession
from sessions_app import queries as sessions
from sessions_app.models import AgentSession, StateVersion

WINDOW = 40
"""Versions shown at once."""

_PITCH, _MARGIN = 26, 22
_APART = 1.5  # pitches between versions that do not follow each other


@dataclass(frozen=True, slots=True)
class Column:
    """What may be chosen of a version: a field of the form, and the key that chooses it.

    `below`: the field that the version before is chosen for where nothing good is chosen yet.
    """

    name: str
    words: str
    key: str
    chosen: Collection[int]
    several: bool = False
    below: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A box of one version."""

    column: Column
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One version, with what is known of it."""

    version: StateVersion
    x: float
    is_undone: bool
    is_far: bool
    """Whether versions between this and the one above are not shown."""
    notes: tuple[str, ...]
    boxes: tuple[Box, ...]

    @property
    def number(self) -> int:
        return self.version.number

    @property
    def hit_x(self) -> float:
        """Where the place that may be pressed begins."""
        return self.x - _PITCH / 2

    @property
    def shape(self) -> str:
        """The class of its mark."""
        return "undone" if self.is_undone else self.version.kind


@dataclass(frozen=True, slots=True)
class Picker:
    """The window, newest first; `newer_at` and `older_at` are where the neighbouring windows are."""

    agent_session: AgentSession
    columns: Sequence[Column]
    rows: Sequence[Row]
    at: int
    newer_at: int | None
    older_at: int | None
    width: float

    @property
    def first(self) -> int:
        """The oldest version of the window."""
        return min((row.number for row in self.rows), default=0)

    @property
    def last(self) -> int:
        return max((row.number for row in self.rows), default=0)


def picker(
    agent_session: AgentSession, row: AffectedSession, columns: Sequence[Column], *, at: int | None
) -> Picker:
    """Versions round `at`, else what is chosen, what looked wrong, or the newest; and whatever is chosen."""
    head = agent_session.head_version
    chosen = {number for column in columns for number in column.chosen if 0 <= number <= head}
    middle = next(
        number
        for number in (at, max(chosen, default=None), row.divergence_version, row.suspect_version, head)
        if number is not None
    )
    first = max(0, min(middle - WINDOW // 2, head - WINDOW + 1))
    last = min(head, first + WINDOW - 1)
    wanted = sorted(chosen | set(range(first, last + 1)))
    found = sessions.versions_of(agent_session).filter(number__in=wanted).defer("changes_text")
    versions = list(found)
    places = _places([version.number for version in versions])
    ranges = sessions.live_ranges(agent_session)
    notes = _notes(agent_session, row)
    rows = [
        Row(
            version=version,
            x=places[version.number],
            is_undone=not sessions.is_live(version.number, ranges),
            is_far=version.number + 1 not in places and version.number != max(places),
            notes=tuple(notes.get(version.number, ())),
            boxes=tuple(Box(column, version.number in column.chosen) for column in columns),
        )
        for version in reversed(versions)
    ]
    return Picker(
        agent_session=agent_session,
        columns=columns,
        rows=rows,
        at=middle,
        newer_at=min(head, last + WINDOW // 2) if last < head else None,
        older_at=max(0, first - WINDOW // 2) if first else None,
        width=max(places.values(), default=0) + _MARGIN,
    )


def _places(numbers: Sequence[int]) -> dict[int, float]:
    """Where each mark stands on the rail, from left to right."""
    if not numbers:
        return {}
    places: dict[int, float] = {numbers[0]: _MARGIN}
    for before, number in pairwise(numbers):
        places[number] = places[before] + _PITCH * (1 if number == before + 1 else _APART)
    return places


def _notes(agent_session: AgentSession, row: AffectedSession) -> dict[int, list[str]]:
    """What the incident knows of versions, in words."""
    found: dict[int, list[str]] = {}
    pinned = row.pins.filter(kind=PinKind.VERSION).values_list("target", flat=True)
    for number, words in (
        *((int(target), "pinned") for target in pinned),
        (agent_session.head_version, "current"),
        (row.suspect_version, "looked wrong when filed"),
        (row.freeze_version, "frozen"),
        (row.rollback_version, "rolled back"),
        (row.resume_version, "resumed"),
    ):
        if number is not None:
            found.setdefault(number, []).append(words)
    return found


def numbers_in(field: BoundField) -> list[int]:
    """The version numbers that a field holds, whether typed, sent or set; nothing for what is none."""
    value = field.value()
    found = [str(each).removeprefix("v") for each in (value if isinstance(value, (list, tuple)) else [value])]
    return [int(each) for each in found if each.isascii() and each.isdigit() and len(each) <= 9]
