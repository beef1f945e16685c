"""The time machine: a session at one version, its state as it was, and what is new while it is open."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from sessions_app import queries
from sessions_app.diff import resolve
from sessions_app.models import AgentSession
from sessions_app.time_machine.address import Address, version_number
from sessions_app.time_machine.allowed import allowed
from sessions_app.time_machine.page import TimeMachine
from sessions_app.views.scope import person_and_session
from statebase_site.access.actor import Actor
from statebase_site.base import json
from statebase_site.base.errors import NotFound
from statebase_site.web.requests import for_htmx


@require_safe
def time_machine(request: HttpRequest, session_id: str) -> HttpResponse:
    """A session at its current version, or at `?v=` (what the slider and the field for a number send)."""
    by, agent_session = person_and_session(request, session_id)
    address = Address.read(session_id, version_number(request.GET.get("v")), request.GET)
    if address.number is not None:
        return redirect(address.with_(list_at=None, follow=False))
    return _page(request, by, TimeMachine(agent_session, address))


@require_safe
def version(request: HttpRequest, session_id: str, number: int) -> HttpResponse:
    """A session at version `number`, for ever. Raises `VersionNotFound`, naming the range there is."""
    by, agent_session = person_and_session(request, session_id)
    return _page(request, by, TimeMachine(agent_session, Address.read(session_id, number, request.GET)))


def _page(request: HttpRequest, by: Actor, machine: TimeMachine) -> HttpResponse:
    is_part = for_htmx(request)
    done = _done(machine.session, version_number(request.GET.get("did")))
    state_api = request.build_absolute_uri(f"/v1/sessions/{machine.session.public_id}/state")
    context = {
        "nav_current": "sessions",
        "tab": "time-machine",
        "is_part": is_part,
        "agent_session": machine.session,
        "machine": machine,
        "address": machine.address,
        "base": machine.address.base,
        "keep": machine.address.keep,
        "allowed": allowed(by, machine.session),
        "done": done,
        "undo_to": done.number - 1 if done else None,
        "curl": f'curl -H "X-API-Key: $STATEBASE_API_KEY" "{state_api}?version={machine.number}"',
    }
    template = "sessions_app/_machine.html" if is_part else "sessions_app/time_machine.html"
    return render(request, template, context)


def _done(agent_session: AgentSession, number: int | None):
    """The rollback that `?did=` names: the line that says what was done, with its undo."""
    if number is None or number > agent_session.head_version:
        return None
    row = queries.version_row(agent_session, number)
    return row if row.restored_from is not None else None


@require_safe
def state(request: HttpRequest, session_id: str, number: int) -> HttpResponse:
    """The state at a version as JSON, to the byte; with `?path=` the value at that JSON Pointer."""
    _, agent_session = person_and_session(request, session_id)
    document = queries.document_at(agent_session, number)
    path = request.GET.get("path")
    text = document.text
    if path:
        try:
            text = json.dumps(resolve(document.value, path)).encode()
        except (LookupError, ValueError):
            raise NotFound(f"Nothing stands at {path[:200]} in version {number}.", param="path") from None
    return HttpResponse(text, content_type="application/json", headers={"Cache-Control": "no-store"})


@require_safe
def live(request: HttpRequest, session_id: str) -> HttpResponse:
    """What is new since the page was made: 204 for nothing. One row is read."""
    _, agent_session = person_and_session(request, session_id)
    seen = [version_number(request.GET.get(name)) or 0 for name in ("after", "turns", "frozen")]
    now = [agent_session.head_version, agent_session.turn_count, agent_session.frozen_version or 0]
    if seen == now:
        return HttpResponse(status=204)
    context = {
        "agent_session": agent_session,
        "new_versions": max(0, now[0] - seen[0]),
        "new_turns": max(0, now[1] - seen[1]),
        "freeze_changed": seen[2] != now[2],
    }
    return render(request, "sessions_app/_live.html", context)
