"""Time travel: differences between versions, and the rehearsal of a rollback (contract section 15)."""

from typing import Any

from django.http import HttpResponse
from ninja import Router

from sessions_app import queries
from sessions_app.api._shared import MOST, SESSION, reads_sessions, turn_payloads
from sessions_app.diff import compare
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.payloads import answers, objects, time_travel
from sessions_app.payloads.objects import state_version, trace
from statebase_site.access.authentication import ApiRequest
from statebase_site.access.scopes import MEMORY_READ, TRACES_READ
from statebase_site.base.clock import isoformat
from statebase_site.base.errors import InvalidInput
from statebase_site.web.answers import Problem
from statebase_site.web.api import bad_cursor, list_envelope
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import PlainText, WholeNumber, limit_up_to, read_whole_number

router = Router(tags=["time travel"])


@router.get(
    f"{SESSION}/diff",
    auth=reads_sessions,
    response=answers.Difference,
    summary="How two versions of a session differ",
)
def diff(
    request: ApiRequest, session_id: str, left: WholeNumber | None = None, right: WholeNumber | None = None
) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    newer = queries.absolute_version(agent_session, agent_session.head_version if right is None else right)
    older = (
        _one_before(agent_session, newer) if left is None else queries.absolute_version(agent_session, left)
    )
    return _difference((agent_session, older), (agent_session, newer))


@router.get(
    "/diff",
    auth=reads_sessions,
    response={200: answers.Difference, 404: Problem},
    summary="How versions of two sessions differ",
)
def diff_of_sessions(request: ApiRequest, left: PlainText, right: PlainText) -> HttpResponse:
    return _difference(_side(request, left, "left"), _side(request, right, "right"))


@router.get(
    f"{SESSION}/rollback/preview",
    auth=reads_sessions,
    response=answers.RollbackPreview,
    summary="What a rollback would do",
)
def rollback_preview(request: ApiRequest, session_id: str, version: WholeNumber) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    preview = queries.rollback_preview(agent_session, version)
    versions = [state_version(session_id, row, None, listed=True) for row in preview.undone_versions]
    turns = turn_payloads(agent_session, preview.turns, listed=True)
    sees_memories = request.actor.may(MEMORY_READ)
    payload = time_travel.rollback_preview(session_id, preview, versions, turns, with_memories=sees_memories)
    return json_answer(payload)


@router.get(
    f"{SESSION}/lineage", auth=reads_sessions, response=answers.Lineage, summary="The family of a session"
)
def lineage(request: ApiRequest, session_id: str) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    members = queries.lineage(agent_session)
    return json_answer(objects.lineage(members, agent_session.lineage_root))


@router.get(
    f"{SESSION}/verify",
    auth=reads_sessions,
    response=answers.Verification,
    summary="Check a session's hash chain",
)
def verify(request: ApiRequest, session_id: str) -> HttpResponse:
    found = queries.verify_session(queries.session_for(request.actor, session_id))
    return json_answer(time_travel.verification(found))


@router.get(
    f"{SESSION}/history",
    auth=reads_sessions,
    response=answers.List[answers.HistoryItem],
    summary="Versions, turns and traces of a session in the order of time",
)
def history(
    request: ApiRequest,
    session_id: str,
    limit: limit_up_to(MOST) = 50,  # type: ignore[valid-type]
    include_state: bool = True,
    include_traces: bool = True,
    starting_after: PlainText | None = None,
) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    items, has_more = queries.history(
        agent_session,
        after=_cursor(agent_session, starting_after),
        limit=limit,
        with_states=include_state,
        with_traces=include_traces and request.actor.may(TRACES_READ),
    )
    rows = _rows(agent_session, items)
    data = [
        {
            "object": "history_item",
            "type": item.kind,
            "id": item.public_id,
            "timestamp": isoformat(item.created_at),
            "item": row,
        }
        for item, row in zip(items, rows, strict=True)
    ]
    return json_answer(list_envelope(data, has_more=has_more))


def _cursor(agent_session: AgentSession, starting_after: str | None) -> queries.HistoryItem | None:
    if starting_after is None:
        return None
    found = queries.history_item(agent_session, starting_after)
    if found is None:
        raise bad_cursor(starting_after)
    return found


def _rows(agent_session: AgentSession, items: list[queries.HistoryItem]) -> list[dict[str, Any]]:
    """What each of the items is on its own route, read together."""
    turns = [item.row for item in items if isinstance(item.row, Turn)]
    traces = [item.row for item in items if isinstance(item.row, Trace)]
    versions = [item.row for item in items if isinstance(item.row, StateVersion)]
    states = dict(queries.texts_at(agent_session, [version.number for version in versions]))
    details = queries.trace_details(traces)
    session_id = agent_session.public_id
    made: dict[tuple[str, str], dict[str, Any]] = {
        ("turn", payload["id"]): payload for payload in turn_payloads(agent_session, turns, listed=True)
    }
    made |= {("trace", each.public_id): trace(each, details[each.pk], listed=True) for each in traces}
    made |= {
        ("state", str(each.number)): state_version(session_id, each, states[each.number], listed=True)
        for each in versions
    }
    return [made[item.kind, item.public_id] for item in items]


def _one_before(agent_session: AgentSession, number: int) -> int:
    if number == 0:
        raise InvalidInput("There is no version before version 0.", param="left")
    return number - 1


def _side(request: ApiRequest, text: str, param: str) -> tuple[AgentSession, int]:
    """A version of any session, named as `sess_a:3`."""
    session_id, colon, number = text.rpartition(":")
    try:
        requested = read_whole_number(number)
    except ValueError:
        requested = None
    if not colon or requested is None:
        raise InvalidInput(f"{param} must be a session and a version, such as sess_a:3.", param=param)
    agent_session = queries.session_for(request.actor, session_id)
    return agent_session, queries.absolute_version(agent_session, requested)


def _difference(left: tuple[AgentSession, int], right: tuple[AgentSession, int]) -> HttpResponse:
    older, newer = queries.documents_of(left, right)
    sides = [{"session_id": session.public_id, "version": number} for session, number in (left, right)]
    return json_answer(time_travel.difference(sides[0], sides[1], compare(older.value, newer.value)))
