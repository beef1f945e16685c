"""The numbers of incidents as a sheet: one row an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from incidents_app.queries.numbers import MEASURES, Measured

_COLUMNS = ("incident", "episode", "title", "severity", "failure mode", "status", "opened")


def numbers_rows(rows: Iterable[Measured], written: Callable[[datetime], str]) -> Iterator[list[str]]:
    """A heading, then each episode; times in seconds, and words where nothing was recorded."""
    yield [*_COLUMNS, *(f"{each.label.lower()}{', s' if each.is_time else ''}" for each in MEASURES)]
    for row in rows:
        incident, episode = row.incident, row.episode
        found = [getattr(row.metrics, each.field) for each in MEASURES]
        yield [
            incident.reference,
            str(episode.number),
            incident.title,
            incident.severity or "triage",
            incident.failure_mode or "",
            incident.status,
            written(episode.opened_at),
            *("not recorded" if value is None else f"{value:g}" for value in found),
        ]
