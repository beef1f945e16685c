"""Filing an incident, from a session, a version, a trace, or from nothing."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from incidents_app import actions, queries
from incidents_app.actions import Filed
from incidents_app.forms.filing import FilingForm, sessions_named_in, wrong_version_field
from incidents_app.models import AffectedSession
from incidents_app.presenting.filing import session_choices, severity_choices, unknown_sessions
from incidents_app.queries.reaching import Suggestion
from sessions_app import queries as sessions
from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession, Trace
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for, memberships
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.base.errors import Conflict, InvalidInput, NotFound, TooLarge
from statebase_site.web.wording import count_noun

_RECENT = 6


@require_http_methods(["GET", "HEAD", "POST"])
def file(request: HttpRequest) -> HttpResponse:
    """The form, filled in from `?session=`, `?version=` and `?trace=`; filing leads to the incident."""
    if request.method != "POST":
        return _empty_form(request)
    known = _known(request, sessions_named_in(request.POST))
    by = _actor(request, known)
    form = FilingForm(request.POST, project=by.project, known=known)
    if form.is_valid():
        try:
            filed = actions.file(**form.given, by=by)
        except (InvalidInput, NotFound, TooLarge, Conflict) as refusal:
            form.add_error(refusal.param if refusal.param in form.fields else None, refusal.in_words)
        else:
            _say_what_was_done(request, filed)
            return redirect(filed.incident)
    return _page(request, by, form, None, status=422)


def _empty_form(request: HttpRequest) -> HttpResponse:
    """Filled in from where it was opened. Raises `SessionNotFound`, `TraceNotFound`."""
    trace = _trace(request)
    wanted = [each for each in request.GET.getlist("session") if each]
    if not wanted and trace and trace.session_public_id:
        wanted = [trace.session_public_id]
    known = _known(request, wanted)
    for session_id in wanted:
        if session_id not in known:
            raise SessionNotFound(session_id)
    by = _actor(request, known)
    initial: dict[str, object] = {"sessions": [*known]}
    suggestion = None
    if known:
        first = next(iter(known.values()))
        suggestion = queries.suggested_for(first, _version(request, trace, first))
        initial |= {
            "title": suggestion.title,
            "severity": suggestion.severity,
            wrong_version_field(suggestion.session_id): suggestion.version,
        }
    if trace:
        initial["summary"] = f"Seen in trace {trace.public_id}: {trace.action} by {trace.actor_label}."
    return _page(request, by, FilingForm(project=by.project, known=known, initial=initial), suggestion)


def _page(
    request: HttpRequest, by: Actor, form: FilingForm, suggestion: Suggestion | None, *, status: int = 200
) -> HttpResponse:
    may = by.may(SESSIONS_WRITE) or by.may(INCIDENT_MANAGE)
    choices = session_choices(form, queries.recently_active(by, but=form.known, limit=_RECENT) if may else [])
    context = {
        "nav_current": "incidents",
        "project": by.project,
        "form": form,
        "may_file": may,
        "severities": severity_choices(form, suggestion),
        "sessions": choices,
        "chosen_count": sum(each.is_chosen for each in choices),
        "typed_sessions": unknown_sessions(form),
    }
    return render(request, "incidents_app/file.html", context, status=status)


def _trace(request: HttpRequest) -> Trace | None:
    asked = request.GET.get("trace")
    projects = [each.project for each in memberships(request)]
    return sessions.trace_of_projects(asked, projects) if asked else None


def _known(request: HttpRequest, session_ids: list[str]) -> dict[str, AgentSession]:
    """The sessions with these ids in all projects of the person, in the order in which they are named."""
    if not session_ids:
        return {}
    found = queries.sessions_named(session_ids, [each.project_id for each in memberships(request)])
    return {each: found[each] for each in session_ids if each in found}


def _actor(request: HttpRequest, known: Mapping[str, AgentSession]) -> Actor:
    """The person in the project of the first session, or in the one they work in."""
    first = next(iter(known.values()), None)
    return actor_for(request, first.project if first else None)


def _version(request: HttpRequest, trace: Trace | None, agent_session: AgentSession) -> int | None:
    asked = request.GET.get("version", "")
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else None
    if number is None and trace:
        number = sessions.version_made(trace)
    return number if number is not None and number <= agent_session.head_version else None


def _say_what_was_done(request: HttpRequest, filed: Filed) -> None:
    incident = filed.incident
    if incident.severity is None:
        messages.success(
            request, f"Filed {incident.reference} for triage: somebody is to judge how bad it is."
        )
        return
    said = f"Filed {incident.reference} as {incident.severity}."
    rows = AffectedSession.objects.filter(episode__incident=incident, episode__number=incident.episode_number)
    frozen, waiting = rows.exclude(frozen_at=None).count(), rows.filter(freeze_wanted=True).count()
    if waiting:
        messages.warning(request, f"{said} {frozen} frozen, {count_noun(waiting, 'session')} still to be.")
    elif frozen:
        messages.success(request, f"{said} {count_noun(frozen, 'session')} frozen.")
    else:
        messages.success(request, said)
