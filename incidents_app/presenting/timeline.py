"""The timeline as it is read: newest first, in pages, with what corrects what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.http import QueryDict

from incidents_app.enums import EventKind
from incidents_app.models import Incident, TimelineEvent
from statebase_site.access.actor import ActorKind

ROWS_A_PAGE = 40
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
    """A row, and the sequence numbers of the rows that correct it."""

    event: TimelineEvent
    corrected_by: list[int]

    @property
    def who(self) -> str:
        """Whose doing it was, as people say it."""
        label = self.event.actor_label
        if self.event.actor_kind == ActorKind.SYSTEM:
            return "the server"
        return f"key {label}" if self.event.actor_kind == ActorKind.KEY else label.removeprefix("user:")

    @property
    def is_late(self) -> bool:
        """Whether it was written down well after it happened."""
        return self.event.created_at - self.event.occurred_at > LATE_AFTER


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of the timeline; addresses are query strings of the incident page."""

    lines: list[Line]
    kind: str
    page: int
    total: int
    corrects: int | None

    @property
    def has_newer(self) -> bool:
        return self.page > 1

    @property
    def has_older(self) -> bool:
        return self.page * ROWS_A_PAGE < self.total

    @property
    def older_count(self) -> int:
        """How many rows are on later pages."""
        return self.total - self.page * ROWS_A_PAGE

    @property
    def filters(self) -> Mapping[str, str]:
        """The filters with their words."""
        return FILTERS


def timeline(incident: Incident, asked: QueryDict) -> Timeline:
    """The page that the address asks for: `events` (a filter) and `page`; `corrects` fills the note form."""
    kind = asked.get("events", "all")
    if kind not in FILTERS:
        kind = "all"
    rows = incident.events.all()
    if kind in _KINDS:
        rows = rows.filter(kind__in=_KINDS[kind])
    total = rows.count()
    page = min(_number(asked.get("page")) or 1, max(1, -(-total // ROWS_A_PAGE)))
    first = (page - 1) * ROWS_A_PAGE
    shown = list(rows.order_by("-occurred_at", "-sequence")[first : first + ROWS_A_PAGE])
    corrections = _corrections(incident.events.all(), shown)
    lines = [Line(each, corrections.get(each.sequence, [])) for each in shown]
    return Timeline(lines, kind, page, total, _number(asked.get("corrects")))


def _corrections(rows: QuerySet[TimelineEvent], shown: list[TimelineEvent]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    pairs = rows.filter(supersedes__in=[each.sequence for each in shown]).order_by("sequence")
    for old, new in pairs.values_list("supersedes", "sequence"):
        if old is not None:
            found.setdefault(old, []).append(new)
    return found


def _number(text: str | None) -> int | None:
    """A whole number from 1, as an address may hold it."""
    return (
        int(text) if text and text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text) else None
    )
