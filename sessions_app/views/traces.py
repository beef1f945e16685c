"""The trace explorer: of the project, of one session, and one trace."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.enums import Action
from sessions_app.filters import TraceFilter
from sessions_app.models import AgentSession, Trace
from sessions_app.payloads.trace_csv import csv_lines
from sessions_app.tables import SessionTraceTable, TraceTable
from sessions_app.views.scope import person_and_session
from statebase_site.access.current import actor_for, memberships
from statebase_site.base import json
from statebase_site.web.listing import address, list_answer, list_page
from statebase_site.web.times import ViewerTimes
from statebase_site.web.wording import count_noun

_DETAILS_SHOWN = 100_000  # characters


@require_safe
def all_traces(request: HttpRequest) -> HttpResponseBase:
    """Every trace of the project."""
    by = actor_for(request)
    return _explorer(request, queries.traces_for(by), None)


@require_safe
def session_traces(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """The traces of one session."""
    by, agent_session = person_and_session(request, session_id)
    return _explorer(request, queries.traces_for(by, session_id=session_id), agent_session)


@require_safe
def trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """One trace with its full details."""
    found = queries.trace_of_projects(trace_id, [each.project for each in memberships(request)])
    text = json.pretty(queries.trace_details([found])[found.pk])
    context = {
        "nav_current": "traces",
        "trace": found,
        "details": text[:_DETAILS_SHOWN],
        "details_cut": max(0, len(text) - _DETAILS_SHOWN),
        "metadata": found.metadata_text if found.metadata_text != "{}" else None,
        "number": queries.version_made(found),
    }
    return render(request, "sessions_app/trace.html", context)


def _explorer(
    request: HttpRequest, traces: QuerySet[Trace], agent_session: AgentSession | None
) -> HttpResponseBase:
    found = TraceFilter(request.GET, traces)
    understood = found.is_valid()
    if understood and request.GET.get("format") == "csv":
        return _csv(request, found.qs, agent_session)
    page = list_page(request, found.qs if understood else traces.none())
    table_class = SessionTraceTable if agent_session else TraceTable
    context = {
        "nav_current": "sessions" if agent_session else "traces",
        "agent_session": agent_session,
        "tab": "traces",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page,
        "table": table_class(page.rows, reasonings=queries.reasonings(page.rows)),
        "note": count_noun(len(page.rows), "trace"),
        "actions": Action.values,
        "csv_url": address(request, format="csv", after=None, before=None),
    }
    return list_answer(request, "sessions_app", "traces", context)


def _csv(
    request: HttpRequest, traces: QuerySet[Trace], agent_session: AgentSession | None
) -> StreamingHttpResponse:
    name = agent_session.public_id if agent_session else "all"
    return StreamingHttpResponse(
        csv_lines(traces, ViewerTimes.of(request).iso),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="traces-{name}.csv"',
            "Cache-Control": "no-store",
        },
    )
