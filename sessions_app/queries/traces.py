"""The audit trail, with the content that its rows only name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.diff import state_diff
from sessions_app.enums import OLDER_ACTION_NAMES, Action
from sessions_app.errors import TraceNotFound
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace, Turn
from sessions_app.queries.versions import document_at, documents_at
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base import json
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
        "session_public_id": session_id,
        "user_id": user_id,
        "action": OLDER_ACTION_NAMES.get(action, action) if action else None,
        "resource_type": resource_type,
        "resource_id": resource_id,
        "created_at__gte": created_after,
        "created_at__lte": created_before,
    }
    if session_id is not None:
        # By the key, so that the index of the session's traces serves.
        session_pk = AgentSession.objects.filter(project=by.project, public_id=session_id).values_list(
            "pk", flat=True
        )
        traces = traces.filter(Q(agent_session__in=list(session_pk)))
        del given["session_public_id"]
    traces = traces.filter(**{name: value for name, value in given.items() if value is not None})
    return traces.order_by("-created_at", "-pk")


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
        .select_related("agent_session")
        .first()
    )
    if trace is None:
        raise TraceNotFound(trace_id)
    return trace


def trace_details(traces: Iterable[Trace]) -> dict[int, json.JsonObject]:
    """Full details of traces (contract section 10), by the trace's key.

    What they show of states, turns and attempts comes from the rows they name: null once those are gone.
    """
    by_session: dict[int | None, list[Trace]] = {}
    for trace in traces:
        by_session.setdefault(trace.agent_session_id if trace.source == "system" else None, []).append(trace)
    details: dict[int, json.JsonObject] = {trace.pk: trace.details for trace in by_session.pop(None, [])}
    sessions = AgentSession.objects.in_bulk([pk for pk in by_session if pk is not None])
    for session_pk, rows in by_session.items():
        if session_pk is not None:
            details |= _details_of_session(sessions[session_pk], rows)
    return details


def _details_of_session(agent_session: AgentSession, traces: list[Trace]) -> dict[int, json.JsonObject]:
    made_by_trace: dict[int, int] = {}
    stored = {trace.pk: trace.details for trace in traces}
    for trace in traces:
        number = stored[trace.pk].get("new_version", stored[trace.pk].get("version"))
        if isinstance(number, int):
            made_by_trace[trace.pk] = number
    numbers = set(made_by_trace.values())
    versions = {
        version.number: version
        for version in StateVersion.objects.filter(agent_session=agent_session, number__in=numbers).defer(
            "body"
        )
    }
    diffs = _state_diffs(
        agent_session,
        {
            made_by_trace[trace.pk]
            for trace in traces
            if trace.pk in made_by_trace and trace.action in _WITH_DIFF
        },
    )
    turns = {
        turn.trace_id: turn
        for turn in Turn.objects.filter(
            agent_session=agent_session,
            public_id__in=[trace.resource_id for trace in traces if trace.action == Action.TURN_ADDED],
        )
    }
    attempts = {
        attempt.trace_id: attempt
        for attempt in RefusedWrite.objects.filter(
            trace_id__in=[trace.public_id for trace in traces if trace.action == Action.WRITE_REFUSED]
        )
    }

    def filled(trace: Trace) -> json.JsonObject:
        details = stored[trace.pk]
        number = made_by_trace.get(trace.pk)
        version = versions.get(number) if number is not None else None
        reasoning = version.reasoning if version else None
        match trace.action:
            case Action.SESSION_CREATED:
                return {
                    "agent_id": agent_session.agent_id,
                    "user_id": agent_session.user_id,
                    "initial_state": document_at(agent_session, 0).value,
                    **details,
                    "reasoning": reasoning,
                }
            case Action.SESSION_FORKED:
                source = agent_session.public_id
                return {"source_session_id": source, "source_session": source, **details}
            case Action.SESSION_FROZEN | Action.SESSION_UNFROZEN:
                return {**details, "reasoning": reasoning}
            case Action.STATE_UPDATED:
                return {"reasoning": reasoning, **details, "state_diff": diffs.get(number)}
            case Action.STATE_ROLLED_BACK:
                return {
                    **details,
                    "reason": reasoning,
                    "reasoning": reasoning,
                    "state_diff": diffs.get(number),
                }
            case Action.TURN_ADDED:
                return _turn_details(details, turns.get(trace.public_id), diffs.get(number))
            case Action.WRITE_REFUSED:
                return _refusal_details(details, attempts.get(trace.public_id))
        return details

    return {trace.pk: filled(trace) for trace in traces}


_WITH_DIFF = (Action.STATE_UPDATED, Action.STATE_ROLLED_BACK, Action.TURN_ADDED)


def _state_diffs(agent_session: AgentSession, numbers: set[int]) -> dict[int | None, json.JsonObject]:
    """What some versions changed, by their number; never more than two states are in memory."""
    found: dict[int | None, json.JsonObject] = {}
    before: tuple[int, json.JsonObject] | None = None
    for number, document in documents_at(agent_session, numbers | {number - 1 for number in numbers}):
        if number in numbers and before and before[0] == number - 1:
            found[number] = state_diff(before[1], document.value)
        before = number, document.value
    return found


def _turn_details(details: json.JsonObject, turn: Turn | None, diff: json.JsonValue) -> json.JsonObject:
    content: json.JsonObject = {
        "input_type": turn.input.get("type") if turn else None,
        "output_type": turn.output.get("type") if turn else None,
        "input": turn.input if turn else None,
        "output": turn.output if turn else None,
        "reasoning": turn.reasoning if turn else None,
        "metadata": turn.metadata if turn else None,
    }
    return {**details, **content, "state_diff": diff}


def _refusal_details(details: json.JsonObject, attempt: RefusedWrite | None) -> json.JsonObject:
    attempted: json.JsonValue = attempt.attempted if attempt else None
    if attempt and attempt.attempted is not None and not attempt.attempted_truncated:
        try:
            attempted = json.parse(attempt.attempted)
        except ValueError:
            attempted = attempt.attempted
    return {**details, "attempted": attempted, "reasoning": attempt.reasoning if attempt else None}


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
    for model in (StateVersion, Turn):
        found |= dict(
            model.objects.filter(agent_session__in=sessions, trace_id__in=ids)
            .exclude(reasoning=None)
            .values_list("trace_id", "reasoning")
        )
    found |= dict(
        RefusedWrite.objects.filter(trace_id__in=ids)
        .exclude(reasoning=None)
        .values_list("trace_id", "reasoning")
    )
    return found
