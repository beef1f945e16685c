"""The timeline as it is read: newest first, in pages, with what corrects what, and many alike as one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import QuerySet
from django.http import QueryDict

from incidents_app.enums import EventKind
from incidents_app.models import Incident, TimelineEvent
from incidents_app.presenting.words import who

LINES_A_PAGE = 40
ROWS_READ = 1200
ALIKE_LEAST = 4
"""So many freezes in a row, of an incident with many sessions, are one line."""
LATE_AFTER = timedelta(minutes=2)

FILTERS = {"all": "All", "evidence": "Evidence", "notes": "Notes"}
_KINDS = {
    "evidence": (
        EventKind.FROZEN,
        EventKind.FREEZE_FAILED,
        EventKind.PINNED,
        EventKind.DIVERGENCE,
        EventKind.ROLLED_BACK,
        EventKind.EFFECT,
        EventKind.CORRECTED,
        EventKind.SCENARIO_RUN,
        EventKind.RESUMED,
        EventKind.OUTSIDE,
        EventKind.WRITE_REFUSED,
    ),
    "notes": (EventKind.NOTE,),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A row, the numbers of the rows that correct it, and older rows that say the same of other sessions."""

    event: TimelineEvent
    corrected_by: list[int]
    alike: list[TimelineEvent] = field(default_factory=list)

    @property
    def who(self) -> str:
        """Whose doing it was, as people say it."""
        return who(self.event.actor_label)

    @property
    def is_late(self) -> bool:
        """Whether it was written down well after it happened."""
        return self.event.created_at - self.event.occurred_at > LATE_AFTER

    @property
    def rows(self) -> list[TimelineEvent]:
        """All rows of the line, oldest first."""
        return [*reversed(self.alike), self.event]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of the timeline that begins after `skipped` rows."""

    lines: list[Line]
    kind: str
    skipped: int
    total: int
    corrects: int | None

    @property
    def shown_to(self) -> int:
        """How many rows this page and those before it hold."""
        return self.skipped + sum(1 + len(line.alike) for line in self.lines)

    @property
    def older_count(self) -> int:
        """How many rows are on later pages."""
        return self.total - self.shown_to

    @property
    def filters(self) -> Mapping[str, str]:
        """The filters with their words."""
        return FILTERS


def timeline(incident: Incident, asked: QueryDict) -> Timeline:
    """The page that the address asks for: `events` (a filter) and `skip`; `corrects` fills the note form."""
    kind = asked.get("events", "all")
    if kind not in FILTERS:
        kind = "all"
    rows = incident.events.all()
    if kind in _KINDS:
        rows = rows.filter(kind__in=_KINDS[kind])
    skipped = _number(asked.get("skip")) or 0
    read = rows.order_by("-occurred_at", "-sequence").defer("details_text")[skipped : skipped + ROWS_READ]
    lines = _lines(read)[:LINES_A_PAGE]
    corrections = _corrections(incident.events.all(), [line.event.sequence for line in lines])
    return Timeline(
        [Line(line.event, corrections.get(line.event.sequence, []), line.alike) for line in lines],
        kind,
        skipped,
        rows.count(),
        _number(asked.get("corrects")),
    )


def _lines(rows: Iterable[TimelineEvent]) -> list[Line]:
    """Newest first; freezes in a row by the same hand are one line."""
    runs: list[list[TimelineEvent]] = []
    for row in rows:
        last = runs[-1][0] if runs else None
        if last is not None and _are_alike(last, row):
            runs[-1].append(row)
        else:
            runs.append([row])
    lines = []
    for run in runs:
        if len(run) >= ALIKE_LEAST:
            lines.append(Line(run[0], [], run[1:]))
        else:
            lines += [Line(row, []) for row in run]
    return lines


def _are_alike(one: TimelineEvent, other: TimelineEvent) -> bool:
    return (
        one.kind == other.kind == EventKind.FROZEN
        and one.actor_label == other.actor_label
        and one.episode_number == other.episode_number
        and not (one.is_alarm or other.is_alarm)
    )


def _corrections(rows: QuerySet[TimelineEvent], shown: list[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    pairs = rows.filter(supersedes__in=shown).order_by("sequence")
    for old, new in pairs.values_list("supersedes", "sequence"):
        if old is not None:
            found.setdefault(old, []).append(new)
    return found


def _number(text: str | None) -> int | None:
    """A whole number from 1, as an address may hold it."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 and int(text) else None
