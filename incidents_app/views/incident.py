"""The incident page, and what is new on it while it is open."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents_app import actions, queries
from incidents_app.models import AffectedSession, Incident
from incidents_app.presenting.freezing import freezing
from incidents_app.presenting.page import IncidentPage
from incidents_app.views.scope import person_and_incident
from statebase_site.access.actor import Actor


@require_safe
def incident(request: HttpRequest, reference: str) -> HttpResponse:
    """One incident: what is true of it now, and what comes next."""
    by, found = _with_news(request, reference)
    page = IncidentPage(queries.assess(found), by, request.GET)
    context = {"nav_current": "incidents", "incident": found, "page": page, "allowed": page.allowed}
    return render(request, "incidents_app/incident.html", context)


@require_safe
def live(request: HttpRequest, reference: str) -> HttpResponse:
    """What is new since the page was made (`after`, `waiting`, `status`): 204 for nothing."""
    _, found = _with_news(request, reference)
    rows = AffectedSession.objects.filter(
        episode__incident=found, episode__number=found.episode_number
    ).order_by("pk")
    progress = freezing(list(rows)) if found.is_active else None
    waiting = progress.waiting if progress else 0
    seen = (request.GET.get("after"), request.GET.get("waiting"))
    if seen == (str(found.event_count), str(waiting)):
        return HttpResponse(status=204)
    context = {
        "incident": found,
        "freezing": progress,
        "waiting": waiting,
        "new_events": max(0, found.event_count - _number(seen[0])),
        "status_changed": request.GET.get("status") != found.status,
    }
    return render(request, "incidents_app/_live.html", context)


def _with_news(request: HttpRequest, reference: str) -> tuple[Actor, Incident]:
    """The incident after what happened outside it was told in it."""
    by, found = person_and_incident(request, reference)
    if actions.take_notice(found):
        by, found = person_and_incident(request, reference)
    return by, found


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0
