"""From a tree of what happened to lines: the run's own, and those that left it, which become forks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sessions_app.importers.exchanges import Exchanges, PlacedTurn
from sessions_app.importers.run import Branch, Step
from statebase_site.base.json import JsonObject

Node = TypeVar("Node", bound=Hashable)


@dataclass(slots=True)
class Line(Generic[Node]):
    """Nodes one after the other, each with its place in the record; the first line left no other."""

    of: int
    left_at: int
    nodes: list[tuple[int, Node]] = field(default_factory=list)


class Tree(Generic[Node]):
    """Puts nodes on lines, in the order in which they happened: a node that follows the last one of a line
    goes on with it, one that follows an earlier node begins a line of its own."""

    def __init__(self) -> None:
        self.lines: list[Line[Node]] = []
        self._where: dict[Node, tuple[int, int]] = {}

    def __contains__(self, node: Node) -> bool:
        return node in self._where

    def add(self, place: int, node: Node, after: Node | None, *, apart: bool = False) -> None:
        """Put a node after another that is there (None: at the very beginning); `apart` on a new line."""
        if after is None:
            line, left_at = 0, -1
            follows_last = not self.lines
        else:
            line, left_at = self._where[after]
            follows_last = self.lines[line].nodes[-1][1] == after
        if apart or not follows_last:
            self.lines.append(Line(line, left_at))
            line = len(self.lines) - 1
        elif not self.lines:
            self.lines.append(Line(0, -1))
        self.append(line, place, node)

    def append(self, line: int, place: int, node: Node) -> None:
        """Put a node at the end of a line, whatever it follows."""
        self.lines[line].nodes.append((place, node))
        self._where[node] = line, place

    def where(self, node: Node) -> tuple[int, int]:
        """The line and the place of a node."""
        return self._where[node]


def turns_of(
    lines: Sequence[Line[Node]], exchanges: Exchanges, take: Callable[[Exchanges, int, Node], None]
) -> Iterator[list[PlacedTurn]]:
    """The turns of each line; `take` tells the exchanges of a line what a node of it holds."""
    leaving: dict[tuple[int, int], list[int]] = {}
    for number, line in enumerate(lines[1:], start=1):
        leaving.setdefault((line.of, line.left_at), []).append(number)
    begun = {0: exchanges}
    for number in leaving.get((0, -1), ()):
        begun[number] = exchanges.branch(-1)
    for number, line in enumerate(lines):
        collected = begun.pop(number)
        for place, node in line.nodes:
            take(collected, place, node)
            for branch in leaving.get((number, place), ()):
                begun[branch] = collected.branch(place)
        collected.end()
        yield collected.turns


def branches_of(
    lines: Sequence[Line[Node]],
    steps: Sequence[Iterable[tuple[int, Step]]],
    about: Callable[[Line[Node]], JsonObject],
) -> tuple[Branch, ...]:
    """The lines after the first, with their placed steps, as branches."""
    placed = [list(each) for each in steps]
    places = [[place for place, _ in each] for each in placed]
    return tuple(
        Branch(
            of=line.of,
            after=bisect_right(places[line.of], line.left_at),
            steps=tuple(step for _, step in placed[number]),
            metadata=about(line),
        )
        for number, line in enumerate(lines)
        if number
    )
