"""The family of a session: a tree of forks, each with its distance from its parent."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.queries.lineage import LINEAGE_MOST
from sessions_app.views.scope import person_and_session


@require_safe
def lineage(request: HttpRequest, session_id: str) -> HttpResponse:
    """Every session of the lineage; one that was deleted is named where forks of it are left."""
    _, agent_session = person_and_session(request, session_id)
    members = queries.lineage(agent_session)
    context = {
        "nav_current": "sessions",
        "tab": "lineage",
        "agent_session": agent_session,
        "rows": queries.family_tree(members),
        "count": len(members),
        "is_cut": len(members) == LINEAGE_MOST,
    }
    return render(request, "sessions_app/lineage.html", context)
