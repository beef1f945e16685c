"""The arcs of the rail: from each rollback over the line to the version it restored. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

LABEL_CHARACTER = 6.7
"""Pixels of a character of the rail's font."""

_LABEL_HEIGHT = 11.0
_ALONG = (0.5, 0.38, 0.62, 0.28, 0.72)
"""Where along its arc a label may stand, best first."""

_RAISED = (-4.0, 13.0)
"""How far under the arc its line of writing may stand: above it, or below."""


@dataclass(frozen=True, slots=True)
class Span:
    """A rollback and the version it restored, with where they stand; `wanted` if it is to be labelled."""

    number: int
    target: int
    start: float
    end: float
    wanted: bool


@dataclass(frozen=True, slots=True)
class Arc:
    """A curve with its arrow head; it has no label where that would run into another, or into an arc."""

    number: int
    target: int
    path: str
    head: str
    label_x: float
    label_y: float
    labelled: bool


@dataclass(frozen=True, slots=True)
class _Curve:
    """The cubic of one span."""

    span: Span
    top: float

    @property
    def _width(self) -> float:
        return abs(self.span.start - self.span.end)

    @property
    def _xs(self) -> tuple[float, float, float, float]:
        bend = min(70.0, self._width / 3)
        bend = bend if self.span.start > self.span.end else -bend
        return self.span.start, self.span.start - bend, self.span.end + bend, self.span.end

    @property
    def _peak(self) -> float:
        return self.top - 18 - min(42.0, self._width / 16)

    @property
    def label(self) -> str:
        return f"restores v{self.span.target}"

    @property
    def label_width(self) -> float:
        return len(self.label) * LABEL_CHARACTER

    @property
    def roomy(self) -> bool:
        return self._width > self.label_width

    @property
    def path(self) -> str:
        first, second, third, last = self._xs
        return (
            f"M{first} {self.top} C{second:.1f} {self._peak:.1f} {third:.1f} {self._peak:.1f} "
            f"{last} {self.top - 1:.1f}"
        )

    def at(self, along: float) -> tuple[float, float]:
        """The point at `along`, 0 at the rollback and 1 at what it restored."""
        weights = ((1 - along) ** 3, 3 * along * (1 - along) ** 2, 3 * along**2 * (1 - along), along**3)
        ys = (self.top, self._peak, self._peak, self.top - 1)
        return (
            sum(weight * x for weight, x in zip(weights, self._xs, strict=True)),
            sum(weight * y for weight, y in zip(weights, ys, strict=True)),
        )


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def arcs(spans: Sequence[Span], line_y: float) -> list[Arc]:
    """The arcs in the order of `spans`. Short ones choose the place of their label first."""
    curves = [_Curve(span, line_y - 11) for span in spans]
    places: dict[int, tuple[float, float]] = {}
    taken: list[_Box] = []
    for curve in sorted(curves, key=lambda curve: abs(curve.span.start - curve.span.end)):
        if not (curve.span.wanted and curve.roomy):
            continue
        others = [box for other in curves if other is not curve for box in _boxes(other)]
        for (x, y), raised in product(map(curve.at, _ALONG), _RAISED):
            half = curve.label_width / 2
            box = _Box(x - half, y + raised - _LABEL_HEIGHT, x + half, y + raised + 2)
            if box.top >= 0 and not _any_meets(box, [*taken, *others]):
                taken.append(box)
                places[curve.span.number] = (x, y + raised)
                break
    return [_arc(curve, line_y, places.get(curve.span.number)) for curve in curves]


def _boxes(curve: _Curve) -> list[_Box]:
    points = [curve.at(step / 40) for step in range(41)]
    return [
        _Box(min(x, to_x), min(y, to_y) - 1, max(x, to_x), max(y, to_y) + 1)
        for (x, y), (to_x, to_y) in pairwise(points)
    ]


def _any_meets(box: _Box, others: Sequence[_Box]) -> bool:
    return any(box.meets(other) for other in others)


def _arc(curve: _Curve, line_y: float, place: tuple[float, float] | None) -> Arc:
    span = curve.span
    x, y = place or curve.at(_ALONG[0])
    return Arc(
        number=span.number,
        target=span.target,
        path=curve.path,
        head=f"M{span.end} {line_y - 9:.1f}l-4.5 -8.5h9z",
        label_x=round(x, 1),
        label_y=round(y, 1),
        labelled=place is not None,
    )
