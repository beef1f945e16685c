"""The geometry of the rail: where each mark, line, arc and band of the timeline's picture stands.

Pure: it measures in pixels of a picture that is never scaled, and knows neither addresses nor colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sessions_app.time_machine.arcs import LABEL_CHARACTER, Arc, Span, arcs
from sessions_app.time_machine.entries import Entry, silence_in_words

WIDTH = 1330
"""Pixels that the rail fills where its marks allow: the page at 1440 less its margins."""

_PITCH_LEAST, _PITCH_MOST = 30.0, 118.0
_MARGIN = 34.0
_GROUP, _GAP, _REFUSED = 1.5, 0.75, 1.0  # widths in pitches; a version takes 1
_REFUSED_DRAWN = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Versions `first` to `last` that are too many to be drawn one by one."""

    first: int
    last: int
    rollbacks: int = 0

    @property
    def middle(self) -> int:
        return (self.first + self.last) // 2

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Refused:
    """Writes that a freeze refused, drawn behind version `after`."""

    after: int
    count: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Forks that began at version `number`."""

    number: int
    fork_ids: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.fork_ids[0] if len(self.fork_ids) == 1 else f"{len(self.fork_ids)} forks"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the rail shows: entries in full between groups of those before and after them, oldest first."""

    entries: Sequence[Entry]
    selected: int
    head: int
    before: Sequence[Group] = ()
    after: Sequence[Group] = ()
    targets: Mapping[int, int] = field(default_factory=dict)  # by rollback
    branches: Sequence[Branch] = ()
    refused: Sequence[Refused] = ()
    turns: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # first turn and count, by version
    frozen_before: bool = False  # at the version before the first entry
    has_rollbacks: bool = False
    has_forks: bool = False
    has_turns: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    entry: Entry
    x: float
    hit_x: float
    labelled: bool
    turns: tuple[tuple[float, float, int], ...]  # x and width of each bar, and its turn

    @property
    def square_x(self) -> float:
        return self.x - 6


@dataclass(frozen=True, slots=True)
class GroupMark:
    group: Group
    x: float
    bar_x: float
    width: float


@dataclass(frozen=True, slots=True)
class Line:
    x1: float
    x2: float
    undone: bool = False

    @property
    def width(self) -> float:
        return round(self.x2 - self.x1, 1)


@dataclass(frozen=True, slots=True)
class BranchMark:
    branch: Branch
    path: str
    x: float
    y: float
    label_x: float
    labelled: bool


@dataclass(frozen=True, slots=True)
class Cross:
    count: int
    xs: tuple[float, ...]
    label_x: float


@dataclass(frozen=True, slots=True)
class Pause:
    """A folded silence; its words are left out where a version's label needs the room."""

    x: float
    words: str
    labelled: bool


@dataclass(frozen=True, slots=True)
class Rail:
    """The picture; y positions are lanes that all its parts share."""

    width: float
    height: float
    line_y: float
    label_y: float
    turns_y: float
    pitch: float
    marks: list[Mark]
    groups: list[GroupMark]
    lines: list[Line]
    arcs: list[Arc]
    bands: list[Line]
    branches: list[BranchMark]
    crosses: list[Cross]
    pauses: list[Pause]
    cursor_x: float | None

    @property
    def band_y(self) -> float:
        return self.line_y - 34

    @property
    def group_y(self) -> float:
        return self.line_y - 6

    @property
    def square_y(self) -> float:
        return self.line_y - 6

    @property
    def hit_y(self) -> float:
        return self.line_y - 24

    @property
    def hit_height(self) -> float:
        return 54.0


def draw(scene: Scene) -> Rail:
    """Lay the scene out from left to right."""
    return _Layout(scene).rail()


class _Layout:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.refused = {each.after: each for each in scene.refused}
        units = (
            len(scene.entries)
            + _GROUP * (len(scene.before) + len(scene.after))
            + _GAP * sum(entry.idle is not None for entry in scene.entries)
            + _REFUSED * sum(entry.number in self.refused for entry in scene.entries)
        )
        self.pitch = min(_PITCH_MOST, max(_PITCH_LEAST, (WIDTH - 2 * _MARGIN) / max(units - 1, 1)))
        self.line_y = 70.0 if scene.has_rollbacks else 34.0
        self.branch_y = self.line_y + 42
        self.turns_y = self.line_y + (64 if scene.has_forks else 34)
        self.x_of: dict[int, float] = {}
        self.groups: list[GroupMark] = []
        self.silences: list[tuple[float, str]] = []
        self.crosses: list[Cross] = []
        self.lines: list[Line] = []
        self.end = self._place()

    def rail(self) -> Rail:
        marks = self._marks()
        return Rail(
            width=round(self.end + _MARGIN, 1),
            height=self.turns_y + (14 if self.scene.has_turns else 4),
            line_y=self.line_y,
            label_y=self.line_y + 23,
            turns_y=self.turns_y,
            pitch=round(self.pitch, 1),
            marks=marks,
            groups=self.groups,
            lines=self.lines,
            arcs=self._arcs(),
            bands=self._bands(),
            branches=self._branches(),
            crosses=self.crosses,
            pauses=self._pauses(marks),
            cursor_x=self.x_of.get(self.scene.selected),
        )

    def _place(self) -> float:
        """Give every part its x; answers where the line ends."""
        x = _MARGIN
        last: tuple[float, bool] | None = None  # where the line has come to, and whether that is undone

        def go_on(to: float, undone: bool) -> None:
            nonlocal last
            if last is not None:
                self.lines.append(Line(round(last[0], 1), round(to, 1), last[1] or undone))
            last = (to, undone)

        def place_groups(groups: Sequence[Group]) -> None:
            nonlocal x
            width = _GROUP * self.pitch
            for group in groups:
                middle = x + width / 2 - self.pitch / 2
                self.groups.append(
                    GroupMark(
                        group,
                        round(middle, 1),
                        round(middle - width / 2 + 5, 1),
                        round(width - 10, 1),
                    )
                )
                go_on(middle, False)
                x += width

        place_groups(self.scene.before)
        for entry in self.scene.entries:
            if entry.idle:
                middle = x - self.pitch / 2 + _GAP * self.pitch / 2
                self.silences.append((round(middle, 1), silence_in_words(entry.idle)))
                x += _GAP * self.pitch
            self.x_of[entry.number] = round(x, 1)
            go_on(x, entry.undone)
            x += self.pitch
            if refused := self.refused.get(entry.number):
                self._cross(refused, x)
                go_on(x + (_REFUSED - 1) * self.pitch, False)
                x += _REFUSED * self.pitch
        place_groups(self.scene.after)
        return x - self.pitch

    def _cross(self, refused: Refused, x: float) -> None:
        drawn = min(refused.count, _REFUSED_DRAWN)
        step = min(20.0, self.pitch / 3.2)
        first = x - step * (drawn - 1) / 2
        xs = tuple(round(first + step * place, 1) for place in range(drawn))
        self.crosses.append(Cross(refused.count, xs, round(x, 1)))

    def _marks(self) -> list[Mark]:
        widest = max((len(f"v{entry.number}") for entry in self.scene.entries), default=2)
        every = int(widest * LABEL_CHARACTER // (self.pitch - 6)) + 1
        marks = []
        for entry in self.scene.entries:
            x = self.x_of[entry.number]
            selected = entry.number == self.scene.selected
            near_selected = abs(entry.number - self.scene.selected) < every
            labelled = selected or (entry.number % every == 0 and not near_selected)
            marks.append(Mark(entry, x, round(x - self.pitch / 2, 1), labelled, self._turns(entry.number, x)))
        return marks

    def _pauses(self, marks: Sequence[Mark]) -> list[Pause]:
        labels = [(mark.x, f"v{mark.entry.number}") for mark in marks if mark.labelled]
        labels += [(each.x, f"v{each.group.first}") for each in self.groups]
        labels += [(each.label_x, f"{each.count} refused") for each in self.crosses]

        def free(x: float, words: str) -> bool:
            return all(
                abs(x - taken) > (len(words) + len(label) + 1) * LABEL_CHARACTER / 2
                for taken, label in labels
            )

        return [Pause(x, words, free(x, words)) for x, words in self.silences]

    def _turns(self, number: int, x: float) -> tuple[tuple[float, float, int], ...]:
        if number not in self.scene.turns:
            return ()
        first, count = self.scene.turns[number]
        drawn = min(count, 4)
        width = (min(56.0, self.pitch * 0.55) - 3 * (drawn - 1)) / drawn
        left = x - min(56.0, self.pitch * 0.55) / 2
        return tuple(
            (round(left + place * (width + 3), 1), round(width, 1), first + place) for place in range(drawn)
        )

    def _arcs(self) -> list[Arc]:
        rollbacks = [entry for entry in self.scene.entries if entry.number in self.scene.targets]
        spans = []
        for entry in rollbacks:
            target = self.scene.targets[entry.number]
            wanted = len(rollbacks) <= 3 or self.scene.selected in (entry.number, target)
            spans.append(Span(entry.number, target, self.x_of[entry.number], self._x_near(target), wanted))
        return arcs(spans, self.line_y)

    def _x_near(self, number: int) -> float:
        """Where a version stands, or the group that holds it."""
        if number in self.x_of:
            return self.x_of[number]
        return next((each.x for each in self.groups if each.group.first <= number <= each.group.last), 0.0)

    def _bands(self) -> list[Line]:
        """From each freeze until its resume, or to the end."""
        bands = []
        half = self.pitch * 0.36
        start = _MARGIN - half if self.scene.frozen_before else None
        for entry in self.scene.entries:
            x = self.x_of[entry.number]
            if entry.version.frozen and start is None:
                start = x - half
            elif not entry.version.frozen and start is not None:
                bands.append(Line(round(start, 1), round(x - half, 1)))
                start = None
        if start is not None:
            last = self.end if not self.scene.after else self.x_of[self.scene.entries[-1].number]
            bands.append(Line(round(start, 1), round(last + half, 1)))
        return bands

    def _branches(self) -> list[BranchMark]:
        found: list[BranchMark] = []
        free_from = 0.0
        for branch in self.scene.branches:
            start = self.x_of[branch.number]
            x, y = round(start + min(44.0, self.pitch * 0.62), 1), self.branch_y
            labelled = x - 8 >= free_from
            if labelled:
                free_from = x + 14 + len(branch.label) * LABEL_CHARACTER
            # Past the number below the mark, then down.
            line_y = self.line_y
            path = f"M{start + 5:.1f} {line_y + 4} C{x} {line_y + 6} {x} {line_y + 14} {x} {y - 5}"
            found.append(BranchMark(branch, path, x, y, x + 10, labelled))
        return found


def groups(first: int, last: int, rollbacks: Sequence[int], most: int) -> list[Group]:
    """Versions `first` to `last` in at most `most` groups of about one size; none where there is none."""
    count = last - first + 1
    if count <= 0:
        return []
    parts = min(most, count)
    bounds = [first + count * part // parts for part in range(parts + 1)]
    return [
        Group(start, end - 1, sum(start <= number < end for number in rollbacks))
        for start, end in pairwise(bounds)
    ]
