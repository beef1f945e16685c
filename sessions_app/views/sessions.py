"""The sessions table."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from sessions_app import queries
from sessions_app.filters import SessionFilter
from sessions_app.tables import SessionTable, sort_column
from sessions_app.views.listing import list_page
from statebase_site.access.current import actor_for


@require_safe
@vary_on_headers("HX-Request")
def session_list(request: HttpRequest) -> HttpResponse:
    """Sessions of the project, filtered and sorted by the address."""
    by = actor_for(request)
    every = queries.sessions_for(by)
    found = SessionFilter(request.GET, every)
    column, descending = sort_column(request.GET.get("sort"))
    sessions = found.qs if found.is_valid() else every.none()
    page = list_page(request, sessions, moment=column, descending=descending)
    table = SessionTable(page.rows, order_by=f"{'-' if descending else ''}{column}", orderable=True)
    what = "started" if column == "created_at" else "active"
    table.caption = f"Sessions, {'latest' if descending else 'earliest'} {what} first"
    context = {
        "nav_current": "sessions",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "more_filters": any(request.GET.get(name) for name in ("since", "rolled_back", "path", "metadata")),
        "page": page,
        "table": table,
        "any_at_all": bool(page.rows) or every.exists(),
    }
    return render(
        request, "sessions_app/_sessions.html" if request.htmx else "sessions_app/sessions.html", context
    )
