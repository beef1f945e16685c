"""The line of stages an incident goes along, when it reached each, and which it has lost again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incidents_app.enums import EventKind, Status
from incidents_app.matrix import MATRIX, Need
from incidents_app.models import TimelineEvent
from incidents_app.queries import Assessed

_ORDER = (Status.OPEN, Status.CONTAINED, Status.RECOVERED, Status.RESOLVED, Status.CLOSED)


@dataclass(frozen=True, slots=True)
class Stage:
    """`state` is done, lost, now (what is worked towards), ahead, or skipped where nobody asks for it."""

    name: str
    state: str
    at: datetime | None = None
    lost_at: datetime | None = None
    note: str = ""


def stages(found: Assessed, events: Sequence[TimelineEvent]) -> list[Stage]:
    """From filing to closing. `events` are the changes of status in this episode, oldest first."""
    episode, incident = found.episode, found.incident
    first = Stage("reopened" if episode.number > 1 else "filed", "done", episode.opened_at)
    if incident.status in (Status.DECLINED, Status.DUPLICATE):
        into = incident.duplicate_of
        note = f"into {into.reference}" if into is not None else ""
        name = "merged" if incident.status == Status.DUPLICATE else "declined"
        return [first, Stage(name, "done", episode.closed_at, note=note)]
    if found.status == Status.TRIAGE:
        first = Stage("filed for triage", "done", episode.opened_at)
    reached = [
        _derived("contained", Status.CONTAINED, episode.contained_at, found, events),
        _derived("recovered", Status.RECOVERED, episode.recovered_at, found, events),
        _pressed("resolved", episode.resolved_at),
        _review(found),
        _pressed("closed", episode.closed_at),
    ]
    return [first, *_with_next(reached)]


def _derived(
    name: str, status: Status, at: datetime | None, found: Assessed, events: Sequence[TimelineEvent]
) -> Stage:
    """One that comes from the facts, and may be lost again."""
    if at is None:
        return Stage(name, "ahead")
    rank = _ORDER.index(status)
    if found.status in _ORDER and _ORDER.index(found.status) >= rank:
        return Stage(name, "done", at)
    losses = [
        each.occurred_at
        for each in events
        if each.kind == EventKind.STATUS and each.is_alarm and _falls_below(each, rank)
    ]
    return Stage(name, "lost", at, lost_at=losses[-1] if losses else None)


def _falls_below(event: TimelineEvent, rank: int) -> bool:
    to = event.details.get("to")
    return to in _ORDER and _ORDER.index(Status(str(to))) < rank


def _pressed(name: str, at: datetime | None) -> Stage:
    return Stage(name, "done" if at else "ahead", at)


def _review(found: Assessed) -> Stage:
    episode = found.episode
    if episode.approved_at:
        return Stage("review", "done", episode.approved_at)
    peak = found.facts.peak_severity
    if peak is not None and MATRIX[peak].review != Need.REQUIRED:
        return Stage("review", "skipped", note="not asked for")
    due = found.incident.review_due
    return Stage("review", "ahead", note="overdue" if due and due < found.facts.now else "")


def _with_next(reached: list[Stage]) -> list[Stage]:
    """The first that is still ahead is what is worked towards, unless one was lost before it."""
    if any(each.state == "lost" for each in reached):
        return reached
    for at, each in enumerate(reached):
        if each.state == "ahead":
            reached[at] = Stage(each.name, "now", each.at, note=each.note)
            break
    return reached
