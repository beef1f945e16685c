"""How long sessions live, what is deleted, and how it comes back."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from sessions_app import actions, queries
from sessions_app.errors import SessionNotFound
from sessions_app.tables import DeletedSessionTable
from statebase_site.access.current import actor_for
from statebase_site.access.scopes import SESSIONS_DELETE
from statebase_site.web.listing import list_page
from statebase_site.web.wording import count_noun


@require_safe
def retention(request: HttpRequest) -> HttpResponse:
    """The settings of expiry and purge, what waits for its purge, and the deleted sessions."""
    by = actor_for(request)
    page = list_page(request, queries.deleted_sessions(by), moment="deleted_at")
    context = {
        "nav_current": "settings",
        "settings_current": "retention",
        "life": _in_words(settings.DEFAULT_TTL_SECONDS),
        "deleted_days": settings.PURGE_DELETED_AFTER_DAYS,
        "expired_days": settings.PURGE_EXPIRED_AFTER_DAYS,
        "waiting": queries.waiting_for_purge(by),
        "page": page,
        "may_restore": by.may(SESSIONS_DELETE),
        "table": DeletedSessionTable(page.rows, deletions=queries.deletions(page.rows)),
    }
    return render(request, "sessions_app/retention.html", context)


def _in_words(seconds: int) -> str:
    """A life in the largest unit that tells it exactly; empty for 0, which is for ever."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("second", 1)):
        if seconds and seconds % length == 0:
            return count_noun(seconds // length, unit)
    return ""


@require_POST
def restore(request: HttpRequest, session_id: str) -> HttpResponse:
    """Bring a deleted session back; sent twice, it says so."""
    by = actor_for(request)
    try:
        restored = actions.restore_deleted_session(session_id=session_id, by=by)
    except SessionNotFound:
        found = queries.session_for(by, session_id)
        messages.info(request, f"The session {found.public_id} is there already.")
    else:
        messages.success(request, f"The session {restored.public_id} is back, with everything in it.")
    return redirect("sessions:retention")
