"""The incidents of one session, for the head of its pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from incidents_app import queries
from incidents_app.models import Incident
from statebase_site.access.current import memberships
from statebase_site.web.requests import for_htmx

_SHOWN = 3


@require_safe
def of_session(request: HttpRequest, session_id: str) -> HttpResponse:
    """Those that affect it, the active ones first; as a page of its own it is the list, filtered."""
    list_url = f"{reverse('incidents:list')}?{urlencode({'session': session_id})}"
    if not for_htmx(request):
        return redirect(list_url)
    projects = [each.project_id for each in memberships(request)]
    found = list(queries.affecting(Incident.objects.filter(project__in=projects), session_id))
    found.sort(key=lambda incident: not incident.is_active)
    context = {"incidents": found[:_SHOWN], "more": max(0, len(found) - _SHOWN), "list_url": list_url}
    return render(request, "incidents_app/_of_session.html", context)
