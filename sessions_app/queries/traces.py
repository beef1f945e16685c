"""The audit trail, with the content that its rows only name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.enums import OLDER_ACTION_NAMES, Action, TraceSource
from sessions_app.errors import TraceNotFound
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace, Turn
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base.ids import findable


def traces_for(
    by: Actor,
    *,
    session_id: str | None = None,
    user_id: str | None = None,
    action: str | None = None,
    resource_type: str | None = None,
    resource_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[Trace]:
    """A project's traces, newest first, narrowed by what is given; those of a deleted session are gone."""
    traces = Trace.objects.filter(project=by.project).filter(
        Q(agent_session=None) | Q(agent_session__deleted_at=None) | Q(action=Action.SESSION_DELETED)
    )
    given = {
        "user_id": user_id,
        "action": OLDER_ACTION_NAMES.get(action, action) if action else None,
        "resource_type": resource_type,
        "resource_id": resource_id,
        "created_at__gte": created_after,
        "created_at__lte": created_before,
    }
    if session_id is not None:
        traces = traces.filter(_of_session(by, findable(session_id)))
    traces = traces.filter(**{name: value for name, value in given.items() if value is not None})
    return traces.order_by("-created_at", "-pk")


def _of_session(by: Actor, session_id: str) -> Q:
    """By the session's key, so that the index of its traces serves; a purged one left a tombstone."""
    session_pk = (
        AgentSession.objects.filter(project=by.project, public_id=session_id).values_list("pk").first()
    )
    if session_pk:
        return Q(agent_session=session_pk[0])
    return Q(agent_session=None, action=Action.SESSION_DELETED, session_public_id=session_id)


def trace_for(by: Actor, trace_id: str) -> Trace:
    """One trace. Raises `TraceNotFound`, also for one of another project."""
    trace = traces_for(by).filter(public_id=findable(trace_id)).first()
    if trace is None:
        raise TraceNotFound(trace_id)
    return trace


def trace_of_projects(trace_id: str, projects: Iterable[Project]) -> Trace:
    """One trace in any of `projects`: how a page finds out whose it is. Raises `TraceNotFound`."""
    trace = (
        Trace.objects.filter(public_id=findable(trace_id), project__in=list(projects))
        .exclude(agent_session__deleted_at__isnull=False)
        .select_related("agent_session__project")
        .first()
    )
    if trace is None:
        raise TraceNotFound(trace_id)
    return trace


def with_reasoning(traces: QuerySet[Trace], text: str) -> QuerySet[Trace]:
    """Traces of a version, turn or refused write whose reasoning holds `text`, in any case."""
    found = [
        model.objects.filter(trace_id=OuterRef("public_id"), reasoning__icontains=text, **owner)
        for model, owner in (
            (StateVersion, {"agent_session": OuterRef("agent_session")}),
            (Turn, {"agent_session": OuterRef("agent_session")}),
            (RefusedWrite, {}),
        )
    ]
    return traces.filter(Exists(found[0]) | Exists(found[1]) | Exists(found[2]))


def reasonings(traces: Iterable[Trace]) -> dict[str, str]:
    """The reasonings behind traces, by the traces' ids: three queries whatever their number."""
    rows = list(traces)
    ids = [trace.public_id for trace in rows]
    sessions = {trace.agent_session_id for trace in rows if trace.agent_session_id}
    found: dict[str, str] = {}
    for model in (StateVersion, Turn, RefusedWrite):
        reasoned = model.objects.filter(agent_session__in=sessions, trace_id__in=ids)
        found |= {trace: text for trace, text in reasoned.values_list("trace_id", "reasoning") if text}
    return found


def version_made(trace: Trace) -> int | None:
    """The version that a trace of the server tells of; None where there is none."""
    if trace.source != TraceSource.SYSTEM:
        return None
    details = trace.details
    number = details.get("new_version", details.get("version", details.get("fork_version")))
    return number if isinstance(number, int) else None
