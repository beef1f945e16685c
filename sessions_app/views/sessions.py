"""The sessions table."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.filters import MORE_FILTERS, SessionFilter
from sessions_app.tables import SessionTable, sort_column
from statebase_site.access.current import actor_for
from statebase_site.web.listing import list_answer, list_page
from statebase_site.web.wording import count_noun


@require_safe
def session_list(request: HttpRequest) -> HttpResponse:
    """Sessions of the project, filtered and sorted by the address."""
    by = actor_for(request)
    every = queries.sessions_for(by)
    found = SessionFilter(request.GET, every)
    column, descending = sort_column(request.GET.get("sort"))
    page = list_page(
        request, found.qs if found.is_valid() else every.none(), moment=column, descending=descending
    )
    table = SessionTable(page.rows, order_by=f"{'-' if descending else ''}{column}")
    order = (
        f"{'latest' if descending else 'earliest'} {'started' if column == 'created_at' else 'active'} first"
    )
    table.caption = f"Sessions, {order}"
    context = {
        "nav_current": "sessions",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "more_filters": any(request.GET.get(name) for name in MORE_FILTERS),
        "page": page,
        "table": table,
        "note": f"{count_noun(len(page.rows), 'session')}, {order}",
        "any_at_all": bool(page.rows) or every.exists(),
    }
    return list_answer(request, "sessions_app", "sessions", context)
