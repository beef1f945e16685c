"""The incident list."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from incidents_app import actions, queries
from incidents_app.filters import ME, MORE_FILTERS, IncidentFilter
from incidents_app.tables import IncidentTable
from statebase_site.access.current import actor_for
from statebase_site.web.listing import list_answer, list_page
from statebase_site.web.wording import count_noun

_NAMED: tuple[tuple[str, dict[str, str]], ...] = (
    ("All", {}),
    ("Open", {"status": "active"}),
    ("Triage", {"status": "triage"}),
    ("Mine", {"status": "active", "commander": ME}),
    ("Overdue reviews", {"overdue": "review"}),
    ("Overdue follow-ups", {"overdue": "follow-up"}),
    ("Closed", {"status": "closed"}),
)
_PAGING = ("before", "after", "project")


@dataclass(frozen=True, slots=True)
class NamedFilter:
    """A selection with a name, as a link."""

    label: str
    url: str
    is_current: bool


@require_safe
def incident_list(request: HttpRequest) -> HttpResponse:
    """Incidents of the project, newest first, filtered by the address."""
    by = actor_for(request)
    actions.take_notice_of_all(queries.find_incidents(by))
    every = queries.incidents_of(by)
    found = IncidentFilter(request.GET, every, request=request)
    page = list_page(request, queries.with_row(found.qs) if found.is_valid() else every.none(), key="number")
    context = {
        "nav_current": "incidents",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "more_filters": any(request.GET.get(name) for name in MORE_FILTERS),
        "named": _named(request),
        "page": page,
        "table": IncidentTable(page.rows),
        "note": f"{count_noun(len(page.rows), 'incident')}, newest first",
        "any_at_all": bool(page.rows) or every.exists(),
    }
    return list_answer(request, "incidents_app", "incidents", context)


def _named(request: HttpRequest) -> list[NamedFilter]:
    asked = {name: text for name, text in request.GET.items() if text and name not in _PAGING}
    return [
        NamedFilter(label, f"{request.path}?{urlencode(wanted)}" if wanted else request.path, asked == wanted)
        for label, wanted in _NAMED
    ]
