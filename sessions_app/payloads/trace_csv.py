"""Traces as CSV for a spreadsheet, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice

from django.db.models import QuerySet

from sessions_app import queries
from sessions_app.models import Trace
from statebase_site.web.sheets import sheet_lines

_COLUMNS = (
    "time",
    "trace",
    "session",
    "action",
    "source",
    "actor",
    "resource",
    "request",
    "reasoning",
    "details",
)
_BATCH = 100


def csv_lines(traces: QuerySet[Trace], written: Callable[[datetime], str]) -> Iterator[str]:
    """A heading and one line a trace, with its moment as `written`; few traces are in memory at once."""
    return sheet_lines(_rows(traces, written))


def _rows(traces: QuerySet[Trace], written: Callable[[datetime], str]) -> Iterator[tuple[str, ...]]:
    yield _COLUMNS
    rows = traces.iterator(_BATCH)
    while batch := list(islice(rows, _BATCH)):
        reasonings = queries.reasonings(batch)
        for trace in batch:
            yield (written(trace.created_at), *_cells(trace, reasonings.get(trace.public_id, "")))


def _cells(trace: Trace, reasoning: str) -> tuple[str, ...]:
    return (
        trace.public_id,
        trace.session_public_id or "",
        trace.action,
        trace.source,
        trace.actor_label,
        f"{trace.resource_type or ''} {trace.resource_id or ''}".strip(),
        trace.request_id,
        reasoning,
        trace.details_text,
    )
