"""The home page: what needs somebody now, and how the project fares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sessions_app import queries
from sessions_app.queries.overview import (
    Frozen,
    Rate,
    activity,
    frozen_sessions,
    latest_refusals,
    latest_rollbacks,
    rollback_rate,
)
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for

_ROWS = 6
_SPARK_WIDTH, _SPARK_HEIGHT = 240, 40


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a small picture, in its own units."""

    x: float
    y: float
    width: float
    height: float
    title: str


@login_required
def overview(request: HttpRequest) -> HttpResponse:
    """Frozen sessions, refused writes, latest rollbacks, and the rollback rate against 2 / 5 / 10 %."""
    by = actor_for(request)
    frozen: list[Frozen] = frozen_sessions(by)
    context = {
        "nav_current": "overview",
        "frozen": frozen,
        "refusals": latest_refusals(by, _ROWS),
        "rollbacks": latest_rollbacks(by, _ROWS),
        "day": rollback_rate(by, timedelta(hours=24)),
        "week": rollback_rate(by, timedelta(days=7)),
        **_trend(by),
        "recent": queries.keyset_page(queries.sessions_for(by), moment="updated_at", limit=_ROWS).rows,
    }
    return render(request, "overview.html", context)


def _trend(by: Actor) -> dict[str, object]:
    days = activity(by, days=14)
    rates = [Rate(day.rollbacks, day.sessions).share for day in days]
    return {
        "rate_bars": _bars(
            rates, [f"{day.date:%d %b}: {day.rollbacks} rollbacks, {day.sessions} sessions" for day in days], least=0.12
        ),
        "write_bars": _bars(
            [float(day.writes) for day in days],
            [f"{day.date:%d %b}: {day.writes} writes" for day in days],
        ),
        "writes_total": sum(day.writes for day in days),
        "limits": [_SPARK_HEIGHT * (1 - limit / max(0.12, *rates)) for limit in (0.05, 0.10)],
    }


def _bars(values: list[float], titles: list[str], *, least: float = 1.0) -> list[Bar]:
    """Bars as high as `values`, in a picture whose top is the largest of them, or `least`."""
    top = max(least, *values)
    step = _SPARK_WIDTH / len(values)
    return [
        Bar(
            round(n * step + 1, 1),
            round(_SPARK_HEIGHT * (1 - value / top), 1),
            round(step - 2, 1),
            round(_SPARK_HEIGHT * value / top, 1),
            title,
        )
        for n, (value, title) in enumerate(zip(values, titles, strict=True))
    ]
