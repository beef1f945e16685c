"""The trace explorer: of the project, of one session, and one trace."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from sessions_app import queries
from sessions_app.enums import Action
from sessions_app.filters import TraceFilter
from sessions_app.models import AgentSession, Trace
from sessions_app.tables import SessionTraceTable, TraceTable
from sessions_app.views.listing import address, list_page
from sessions_app.views.scope import person_and_session
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for, memberships
from statebase_site.base import json
from statebase_site.base.clock import isoformat

_CSV_COLUMNS = (
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
# A cell that begins so is a formula to a spreadsheet, whoever wrote it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_CSV_BATCH = 100


@require_safe
@vary_on_headers("HX-Request")
def all_traces(request: HttpRequest) -> HttpResponse:
    """Every trace of the project."""
    by = actor_for(request)
    return _explorer(request, queries.traces_for(by), by, None)


@require_safe
@vary_on_headers("HX-Request")
def session_traces(request: HttpRequest, session_id: str) -> HttpResponse:
    """The traces of one session."""
    by, agent_session = person_and_session(request, session_id)
    return _explorer(request, queries.traces_for(by, session_id=session_id), by, agent_session)


@require_safe
def trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """One trace with its full details."""
    found = queries.trace_of_projects(trace_id, [each.project for each in memberships(request)])
    details = queries.trace_details([found])[found.pk]
    context = {
        "nav_current": "traces",
        "trace": found,
        "details": json.pretty(details),
        "metadata": found.metadata_text if found.metadata_text != "{}" else None,
        "number": details.get("new_version", details.get("version")),
    }
    return render(request, "sessions_app/trace.html", context)


def _explorer(
    request: HttpRequest, traces: QuerySet[Trace], by: Actor, agent_session: AgentSession | None
) -> HttpResponse:
    found = TraceFilter(request.GET, traces)
    selected = found.qs if found.is_valid() else traces.none()
    if request.GET.get("format") == "csv":
        return _csv(selected, agent_session)
    page = list_page(request, selected)
    table_class = SessionTraceTable if agent_session else TraceTable
    context: dict[str, Any] = {
        "nav_current": "sessions" if agent_session else "traces",
        "agent_session": agent_session,
        "tab": "traces",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page,
        "table": table_class(page.rows, reasonings=queries.reasonings(page.rows)),
        "actions": Action.values,
        "csv_url": address(request, format="csv", after=None, before=None),
    }
    return render(
        request, "sessions_app/_traces.html" if request.htmx else "sessions_app/traces.html", context
    )


def _csv(traces: QuerySet[Trace], agent_session: AgentSession | None) -> StreamingHttpResponse:
    name = agent_session.public_id if agent_session else "all"
    return StreamingHttpResponse(
        _csv_lines(traces),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="traces-{name}.csv"'},
    )


class _Line:
    """A file for the csv module that hands each line straight on."""

    def write(self, line: str) -> str:
        return line


def _csv_lines(traces: QuerySet[Trace]) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(_CSV_COLUMNS)
    batch: list[Trace] = []
    for each in traces.iterator(_CSV_BATCH):
        batch.append(each)
        if len(batch) == _CSV_BATCH:
            yield from _csv_rows(writer, batch)
            batch = []
    yield from _csv_rows(writer, batch)


def _csv_rows(writer: Any, traces: list[Trace]) -> Iterator[str]:
    reasonings = queries.reasonings(traces)
    for each in traces:
        cells = (
            isoformat(each.created_at),
            each.public_id,
            each.session_public_id or "",
            each.action,
            each.source,
            each.actor_label,
            f"{each.resource_type or ''} {each.resource_id or ''}".strip(),
            each.request_id,
            reasonings.get(each.public_id, ""),
            each.details_text,
        )
        yield writer.writerow([_cell(cell) for cell in cells])


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
