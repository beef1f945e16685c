"""Traces as CSV for a spreadsheet, line by line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from sessions_app import queries
from sessions_app.models import Trace

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
# A cell that begins so is a formula to some spreadsheet, whoever wrote it (OWASP, "CSV Injection"); the wide
# forms are so in East Asian ones. Spaces before it are passed over.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_BATCH = 100


class _Line:
    """A file for the csv module that hands each line straight on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(traces: QuerySet[Trace], written: Callable[[datetime], str]) -> Iterator[str]:
    """A heading and one line a trace, with its moment as `written`; few traces are in memory at once."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
    yield writer.writerow(_COLUMNS)
    rows = traces.iterator(_BATCH)
    while batch := list(islice(rows, _BATCH)):
        reasonings = queries.reasonings(batch)
        for trace in batch:
            cells = (written(trace.created_at), *_cells(trace, reasonings.get(trace.public_id, "")))
            yield writer.writerow([harmless(cell) for cell in cells])


def _cells(trace: Trace, reasoning: str) -> tuple[Any, ...]:
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


def harmless(text: str) -> str:
    """The text as no spreadsheet calculates it: with an apostrophe before what would begin a formula."""
    return (
        f"'{text}" if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS) else text
    )
