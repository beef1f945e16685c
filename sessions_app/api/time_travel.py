"""Time travel: differences between versions, and the rehearsal of a rollback (contract section 15)."""

from django.http import HttpResponse
from ninja import Router

from sessions_app import queries
from sessions_app.api._shared import SESSION, reads_sessions, turn_payloads
from sessions_app.diff import compare
from sessions_app.models import AgentSession
from sessions_app.payloads import answers, time_travel
from sessions_app.payloads.objects import state_version
from statebase_site.access.authentication import ApiRequest
from statebase_site.access.scopes import MEMORY_READ
from statebase_site.base.errors import InvalidInput
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import PlainText, WholeNumber, read_whole_number

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
    response=answers.Difference,
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
