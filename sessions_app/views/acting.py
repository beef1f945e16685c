"""What people do in the time machine: roll back, fork, freeze, resume. Each form acts once."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app import actions, queries
from sessions_app.errors import InvalidInput, VersionConflict
from sessions_app.forms import ForkForm, FreezeForm, ResumeForm, RollbackForm
from sessions_app.models import AgentSession
from sessions_app.time_machine.address import Address, version_number
from sessions_app.time_machine.allowed import allowed
from sessions_app.time_machine.rehearsal import moved_on, rehearsal
from sessions_app.views.scope import person_and_session
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import SESSIONS_WRITE


@require_POST
def rollback(request: HttpRequest, session_id: str) -> HttpResponse:
    """Roll back, if the session is still where the person saw it; else 409 with what changed since."""
    by, agent_session = person_and_session(request, session_id)
    form = RollbackForm(request.POST, reason_required=agent_session.open_holds > 0)
    if not form.is_valid():
        return _rehearsal_page(request, by, agent_session, form, status=422)
    try:
        written = actions.rollback(session_id=session_id, by=by, **form.cleaned_data)
    except VersionConflict as conflict:
        return _moved_on_page(request, by, session_id, form, conflict)
    return redirect(f"{reverse('sessions:time-machine', args=[session_id])}?did={written.version.number}")


@require_safe
def rehearse(request: HttpRequest, session_id: str) -> HttpResponse:
    """What a rollback to `?version=` would bring back and undo, and what it cannot undo. Changes nothing."""
    by, agent_session = person_and_session(request, session_id)
    return _rehearsal_page(request, by, agent_session, None)


def _rehearsal_page(
    request: HttpRequest,
    by: Actor,
    agent_session: AgentSession,
    form: RollbackForm | None,
    *,
    status: int = 200,
) -> HttpResponse:
    asked = request.POST.get("version") if form else request.GET.get("version")
    number = version_number(asked)
    found = rehearsal(agent_session, max(0, agent_session.head_version - 1) if number is None else number)
    context = _context(by, agent_session) | {"rehearsal": found, "form": form or found.form()}
    return render(request, "sessions_app/rehearsal.html", context, status=status)


def _moved_on_page(
    request: HttpRequest, by: Actor, session_id: str, form: RollbackForm, conflict: VersionConflict
) -> HttpResponse:
    agent_session = queries.session_for(by, session_id)
    since = moved_on(agent_session, form.cleaned_data)
    context = _context(by, agent_session) | {"since": since, "form": since.form(), "conflict": conflict}
    return render(request, "sessions_app/moved_on.html", context, status=409)


@require_POST
def fork(request: HttpRequest, session_id: str) -> HttpResponse:
    """Fork from a version and open the fork. Raises `InvalidInput` where the form names none."""
    by, _ = person_and_session(request, session_id)
    form = ForkForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Nothing was forked: the form names no version.", param="version")
    made = actions.fork(session_id=session_id, version=form.cleaned_data["version"], by=by).agent_session
    messages.success(request, f"Forked from v{made.forked_version} of {session_id}. You are in the fork now.")
    return redirect(made)


@require_POST
def freeze(request: HttpRequest, session_id: str) -> HttpResponse:
    """Freeze at once; nothing is asked."""
    by, agent_session = person_and_session(request, session_id)
    form = FreezeForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    written = actions.freeze(session_id=session_id, reason=reason or "Frozen from the dashboard", by=by)
    messages.success(request, f"Frozen at v{written.version.number}: nothing changes it until it is resumed.")
    return redirect(agent_session)


@require_POST
def undo_freeze(request: HttpRequest, session_id: str) -> HttpResponse:
    """Take a freeze back that the same person made less than a minute ago; later `resume` asks why."""
    by, agent_session = person_and_session(request, session_id)
    if _runs(by, agent_session):
        return _running_already(request, agent_session)
    may = allowed(by, agent_session)
    if not may.may_undo_freeze and not may.resume_off:
        messages.info(request, "It is too late to undo this freeze: say why the session may go on.")
        return redirect("sessions:resume", session_id)
    written = actions.resume(session_id=session_id, reason="Freeze undone by who froze it", by=by)
    messages.success(request, f"The freeze is undone: the session goes on as v{written.version.number}.")
    return redirect(agent_session)


@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, session_id: str) -> HttpResponse:
    """Ask why, then let the session go on."""
    by, agent_session = person_and_session(request, session_id)
    if request.method == "POST" and _runs(by, agent_session):
        return _running_already(request, agent_session)
    form = ResumeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        written = actions.resume(session_id=session_id, reason=form.cleaned_data["reason"], by=by)
        messages.success(request, f"Resumed: the session goes on as v{written.version.number}.")
        return redirect(agent_session)
    context = _context(by, agent_session) | {"form": form}
    return render(request, "sessions_app/resume.html", context, status=422 if form.is_bound else 200)


def _runs(by: Actor, agent_session: AgentSession) -> bool:
    """Whether there is nothing to resume for a person who may write; others are refused by the action."""
    return by.may(SESSIONS_WRITE) and not agent_session.is_frozen


def _running_already(request: HttpRequest, agent_session: AgentSession) -> HttpResponse:
    """For a page left open while another person let the session go on."""
    messages.info(request, "The session is running already: nothing was changed.")
    return redirect(agent_session)


def _context(by: Actor, agent_session: AgentSession) -> dict[str, object]:
    address = Address(agent_session.public_id)
    return {
        "nav_current": "sessions",
        "agent_session": agent_session,
        "address": address,
        "base": address.base,
        "allowed": allowed(by, agent_session),
    }
