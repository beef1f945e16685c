"""The picture of how long the steps took: a dot an incident, on one logarithmic scale of time.

Places across are in percent, so that the picture fits any width without its marks being bent; those down are
in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from incidents_app.enums import Severity
from incidents_app.presenting.words import span
from incidents_app.queries.numbers import TIMES, Measure, Measured, spread_of, values_of

DOTS_MOST = 500
_LANE, _HEAD, _GAP = 16, 24, 10
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_TICKS = {
    1: "1 s",
    10: "10 s",
    _MINUTE: "1 min",
    10 * _MINUTE: "10 min",
    _HOUR: "1 h",
    6 * _HOUR: "6 h",
    _DAY: "1 d",
    7 * _DAY: "7 d",
    30 * _DAY: "30 d",
    365 * _DAY: "1 y",
}


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the scale."""

    x: float
    words: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One incident's time."""

    x: float
    words: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The dots of one severity in a strip; `label` is `S1`, or `–` in triage."""

    y: int
    label: str
    dots: list[Dot]


@dataclass(frozen=True, slots=True)
class Strip:
    """One measure: its lanes, and where its median and 90th percentile are."""

    label: str
    words: str
    y: int
    top: int
    bottom: int
    lanes: list[Lane]
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class Picture:
    """The strips, the scale below them, and all of it in words."""

    strips: list[Strip]
    ticks: list[Tick]
    height: int
    words: str


def picture_of(rows: Sequence[Measured]) -> Picture | None:
    """The picture of the newest DOTS_MOST episodes; None where no time was recorded."""
    rows = rows[:DOTS_MOST]
    longest = max((value for measure in TIMES for value in values_of(rows, measure)), default=None)
    if longest is None:
        return None
    top = max(longest, _HOUR) * 1.2
    strips: list[Strip] = []
    y = 0
    for measure in TIMES:
        strips.append(_strip(rows, measure, y, top))
        y = strips[-1].bottom + _GAP
    ticks = [Tick(_place(seconds, top), words) for seconds, words in _TICKS.items() if seconds <= top]
    return Picture(strips, ticks, y + 18, "; ".join(f"{strip.label}: {strip.words}" for strip in strips))


def _strip(rows: Sequence[Measured], measure: Measure, y: int, top: float) -> Strip:
    lanes: list[Lane] = []
    for severity in (*Severity.values, None):
        dots = [
            Dot(_place(value, top), f"{row.incident.reference}, {severity or 'triage'}: {span(value)}")
            for row in rows
            if row.incident.severity == severity
            and (value := getattr(row.metrics, measure.field)) is not None
        ]
        if dots:
            lanes.append(Lane(y + _HEAD + _LANE * len(lanes) + _LANE // 2, severity or "–", dots))
    found = spread_of(values_of(rows, measure))
    return Strip(
        label=measure.label,
        words=f"median {span(found.median)}, p90 {span(found.p90)}, n {found.count}"
        if found
        else "not recorded",
        y=y + 14,
        top=y + _HEAD,
        bottom=y + _HEAD + _LANE * max(1, len(lanes)),
        lanes=lanes,
        median=_place(found.median, top) if found else None,
        p90=_place(found.p90, top) if found else None,
    )


def _place(seconds: float, top: float) -> float:
    """Percent of the width; what took less than a second lies at its left end."""
    return round(100 * math.log(max(1.0, seconds)) / math.log(top), 2)
