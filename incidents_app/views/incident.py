"""The incident page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents_app.views.scope import person_and_incident


@require_safe
def incident(request: HttpRequest, reference: str) -> HttpResponse:
    """One incident: what is true of it now, and what comes next."""
    _, found = person_and_incident(request, reference)
    return render(request, "incidents_app/incident.html", {"nav_current": "incidents", "incident": found})
