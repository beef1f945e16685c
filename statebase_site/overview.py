"""The home page: what needs somebody now, and how the project fares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from incidents_app import queries as incidents
from sessions_app import queries
from sessions_app.queries import overview as numbers
from sessions_app.queries.overview import Span
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for
from statebase_site.page_context import open_incidents
from statebase_site.web.times import ViewerTimes
from statebase_site.web.wording import count_noun

_ROWS = 6
_DAYS, _HOURS = 14, 24
_WIDTH, _HEIGHT = 240, 40
_LIMITS = (0.05, 0.10)  # of the rollback rate: warning, critical
_LOWEST_TOP = 0.12  # of the picture of rates: both limits are always in it


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a small picture, in its own units."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Bars over time from the same base line; `highest` says the largest in words, and when it was."""

    bars: list[Bar]
    highest: str
    limits: list[float]


@login_required
def overview(request: HttpRequest) -> HttpResponse:
    """Open incidents, frozen sessions, refused writes, and the rollback rate against 2 / 5 / 10 %."""
    by = actor_for(request)
    recent = queries.keyset_page(queries.sessions_for(by), moment="updated_at", limit=_ROWS).rows
    context: dict[str, object] = {"nav_current": "overview", "recent": recent}
    if recent:
        context |= _numbers(by, ViewerTimes.of(request)) | _incidents(by, request)
    return render(request, "overview.html", context)


def _numbers(by: Actor, times: ViewerTimes) -> dict[str, object]:
    frozen, frozen_count = numbers.frozen_sessions(by, _ROWS)
    days = numbers.days(by, _DAYS, times.zone)
    hours = numbers.hours(by, _HOURS, times.zone)
    return {
        "frozen": frozen,
        "frozen_count": frozen_count,
        "refused_count": numbers.refusal_count(by, timedelta(hours=24)),
        "refusals": numbers.latest_refusals(by, _ROWS),
        "rollbacks": numbers.latest_rollbacks(by, _ROWS),
        "day": numbers.rollback_rate(by, timedelta(hours=24)),
        "week": numbers.rollback_rate(by, timedelta(days=7)),
        "rates": _picture(days, lambda span: span.rate.share, _rate_in_words, _LOWEST_TOP, _LIMITS),
        "writes": _picture(hours, lambda span: span.writes, _writes_in_words, 1),
        "write_count": sum(span.writes for span in hours),
        "zone_name": times.zone_name,
    }


def _incidents(by: Actor, request: HttpRequest) -> dict[str, object]:
    now = open_incidents(request)
    return {
        "now": now,
        "urgent": incidents.most_urgent(by, _ROWS) if now and now.count else [],
        "overdue_follow_ups": incidents.overdue_follow_ups(by).count(),
    }


def _rate_in_words(span: Span) -> str:
    share = f"{span.rate.rollbacks} in {count_noun(span.rate.sessions, 'session')}"
    return f"{span.rate.percent:.0f} % on {span.start.day} {span.start:%b}, {share}"


def _writes_in_words(span: Span) -> str:
    return f"{count_noun(span.writes, 'write')} from {span.start:%H:%M}"


def _picture(
    spans: list[Span],
    value: Callable[[Span], float],
    words: Callable[[Span], str],
    lowest_top: float,
    limits: tuple[float, ...] = (),
) -> Picture:
    """A picture whose top is the largest value, or `lowest_top`; of 0, where anything was, a line."""
    highest = max(spans, key=value)
    top = max(lowest_top, value(highest))
    step = _WIDTH / len(spans)
    bars = []
    for place, span in enumerate(spans):
        height = max(_HEIGHT * value(span) / top, 1.0 if span.writes else 0.0)
        bars.append(
            Bar(
                round(place * step + 1, 1),
                round(_HEIGHT - height, 1),
                round(step - 2, 1),
                round(height, 1),
                words(span),
            )
        )
    return Picture(
        bars,
        words(highest) if value(highest) else "",
        [round(_HEIGHT * (1 - limit / top), 1) for limit in limits],
    )
