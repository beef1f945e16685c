"""Incidents in numbers, and what is overdue."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents_app import queries
from incidents_app.filters import PeriodForm, begin_of
from incidents_app.payloads.numbers_sheet import numbers_rows
from incidents_app.presenting.pictures import picture_of
from incidents_app.presenting.words import span
from incidents_app.queries import numbers
from incidents_app.queries.numbers import MEASURES, Group, Measured, Spread
from statebase_site.access.current import actor_for
from statebase_site.base import clock
from statebase_site.web.listing import address
from statebase_site.web.sheets import sheet_lines
from statebase_site.web.times import ViewerTimes

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """A spread in words; all empty where nothing was recorded."""

    median: str = ""
    p90: str = ""
    count: int = 0


@require_safe
def numbers_page(request: HttpRequest) -> HttpResponseBase:
    """Times and damage per severity and failure mode, of the incidents opened in `?since=`."""
    by = actor_for(request)
    form = PeriodForm(request.GET)
    period = form.cleaned_data["since"] if form.is_valid() else ""
    rows = numbers.measured(by, since=begin_of(period) if period else None)
    if request.GET.get("format") == "csv":
        return _sheet(request, rows)
    late = list(queries.overdue_follow_ups(by)[: _SHOWN + 1])
    owed = list(queries.reviews_owed(by)[: _SHOWN + 1])
    context = {
        "nav_current": "incidents",
        "form": form,
        "period": period,
        "count": len(rows),
        "measures": MEASURES,
        "tables": [
            _table("by-severity", "By severity", rows, numbers.by_severity(rows)),
            _table("by-mode", "By failure mode", rows, numbers.by_failure_mode(rows)),
        ],
        "picture": picture_of(rows),
        "late": late[:_SHOWN],
        "more_late": len(late) > _SHOWN,
        "owed": owed[:_SHOWN],
        "more_owed": len(owed) > _SHOWN,
        "now": clock.now(),
        "any_at_all": bool(rows) or queries.incidents_of(by).exists(),
        "sheet_url": address(request, format="csv"),
    }
    return render(request, "incidents_app/numbers.html", context)


def _table(anchor: str, title: str, rows: list[Measured], groups: list[Group]) -> dict[str, object]:
    every = Group("all", "All", rows)
    return {
        "anchor": anchor,
        "title": title,
        "rows": [
            (group, [_cell(place, found) for place, found in enumerate(group.spreads)])
            for group in [*groups, every]
        ],
    }


def _cell(place: int, found: Spread | None) -> Cell:
    if found is None:
        return Cell()
    words = span if MEASURES[place].is_time else "{:g}".format
    return Cell(words(found.median), words(found.p90), found.count)


def _sheet(request: HttpRequest, rows: list[Measured]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        sheet_lines(numbers_rows(rows, ViewerTimes.of(request).iso)),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": 'attachment; filename="incidents.csv"',
            "Cache-Control": "no-store",
        },
    )
