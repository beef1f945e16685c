"""A session's state: read, change, roll back, its versions, freeze and resume (contract 6.3)."""

from typing import Any

from django.http import HttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.actions import StateWritten
from sessions_app.api._shared import (
    MOST,
    SESSION,
    WITH_REASON_HEADER,
    reads_sessions,
    reason_header,
    routes,
    writes_sessions,
)
from sessions_app.models import AgentSession
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.base.errors import InvalidInput
from statebase_site.web.answers import Problem
from statebase_site.web.api import bad_cursor, list_envelope, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Order, WholeNumber, limit_up_to

router = Router(tags=["state"])

STATE = f"{SESSION}/state"
PAGE_BYTES = 8 * 1024 * 1024
"""States of one page of versions; it ends early where they pass this (contract 4.3)."""


@router.get(
    STATE,
    auth=reads_sessions,
    response=answers.State,
    summary="Read the state, the current one or an earlier one",
)
def read(request: ApiRequest, session_id: str, version: WholeNumber | None = None) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    number = agent_session.head_version if version is None else version
    row = queries.version_row(agent_session, queries.absolute_version(agent_session, number))
    text = queries.text_at(agent_session, row.number)
    return json_answer(objects.state_envelope(agent_session, row, text, with_data=True))


@router.patch(
    STATE,
    auth=writes_sessions,
    response={200: answers.WrittenState, 423: Problem},
    summary="Merge keys into the state",
)
def update(request: ApiRequest, session_id: str, body: requests.ChangeState) -> HttpResponse:
    return _change(request, session_id, body, actions.MERGE)


@router.api_operation(
    ["PUT", "POST"],
    STATE,
    auth=writes_sessions,
    response={200: answers.WrittenState, 423: Problem},
    summary="Replace the state",
)
def replace(request: ApiRequest, session_id: str, body: requests.ChangeState) -> HttpResponse:
    return _change(request, session_id, body, actions.REPLACE)


def _change(request: ApiRequest, session_id: str, body: requests.ChangeState, mode: str) -> HttpResponse:
    return _written(
        actions.update_state(
            session_id=session_id,
            changes=body.state,
            mode=mode,
            reasoning=body.reasoning,
            expected_version=body.expected_version,
            by=request.actor,
        )
    )


def _written(outcome: StateWritten) -> HttpResponse:
    payload = objects.written_state(outcome.agent_session, outcome.version, outcome.text)
    return written(outcome, payload)


@routes(
    router.post,
    f"{STATE}/rollback",
    f"{SESSION}/rollback",
    auth=writes_sessions,
    response={200: answers.RolledBackState, 423: Problem},
    openapi_extra=WITH_REASON_HEADER,
    summary="Make a new version out of an earlier one",
)
def rollback(request: ApiRequest, session_id: str, body: requests.Rollback) -> HttpResponse:
    outcome = actions.rollback(
        session_id=session_id,
        version=_target(request, session_id, body),
        reason=body.reason or reason_header(request),
        expected_version=body.expected_version,
        by=request.actor,
    )
    payload = objects.rolled_back_state(outcome.agent_session, outcome.version, outcome.text)
    return written(outcome, payload)


def _target(request: ApiRequest, session_id: str, body: requests.Rollback) -> int:
    """The version to restore, by whichever name the request gives it (contract 6.3)."""
    if body.version is not None:
        return body.version
    if body.count is not None:
        return -body.count
    if body.turn_id is not None:
        agent_session = queries.session_for(request.actor, session_id)
        return queries.turn_for(request.actor, body.turn_id, agent_session).state_version
    if body.turn_count is not None:
        agent_session = queries.session_for(request.actor, session_id)
        return queries.version_before_turns(agent_session, body.turn_count)
    raise InvalidInput(
        "version is required.", param="version", suggestion='Send {"version": -1} to undo the last change.'
    )


@router.post(
    f"{SESSION}/freeze", auth=writes_sessions, response=answers.WrittenState, summary="Freeze a session"
)
def freeze(request: ApiRequest, session_id: str, body: requests.Reason) -> HttpResponse:
    return _written(actions.freeze(session_id=session_id, reason=body.reason, by=request.actor))


@routes(
    router.post,
    f"{SESSION}/resume",
    f"{SESSION}/unfreeze",
    auth=writes_sessions,
    response=answers.WrittenState,
    summary="Let a frozen session go on",
)
def resume(request: ApiRequest, session_id: str, body: requests.Reason) -> HttpResponse:
    return _written(actions.resume(session_id=session_id, reason=body.reason, by=request.actor))


@routes(
    router.get,
    f"{SESSION}/versions",
    f"{STATE}/versions",
    f"{STATE}/history",
    auth=reads_sessions,
    response=answers.VersionList,
    summary="List the versions of the state",
)
def list_versions(
    request: ApiRequest,
    session_id: str,
    limit: limit_up_to(MOST) = 50,  # type: ignore[valid-type]
    order: Order = "asc",
    since_version: WholeNumber | None = None,
    starting_after: str | None = None,
    include_state: bool = True,
) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    versions = queries.versions_of(agent_session)
    if since_version is not None:
        versions = versions.filter(number__gt=since_version)
    after = _cursor(agent_session, starting_after)
    page = queries.numbered_page(versions, descending=order == "desc", after=after, limit=limit)
    rows, texts = page.rows, {}
    if include_state:
        rows = queries.fitting(rows, PAGE_BYTES)
        texts = dict(queries.texts_at(agent_session, [row.number for row in rows]))
    return json_answer(
        list_envelope(
            [_version(agent_session, row, texts.get(row.number), listed=True) for row in rows],
            has_more=page.has_later_page or len(rows) < len(page.rows),
            id_field="version",
            session_id=agent_session.public_id,
            current_version=agent_session.head_version,
        )
    )


@routes(
    router.get,
    f"{SESSION}/versions/{{number}}",
    f"{STATE}/versions/{{number}}",
    auth=reads_sessions,
    response=answers.StateVersion,
    summary="Read one version of the state",
)
def read_version(request: ApiRequest, session_id: str, number: WholeNumber) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    row = queries.version_row(agent_session, queries.absolute_version(agent_session, number))
    return json_answer(_version(agent_session, row, queries.text_at(agent_session, row.number), listed=False))


def _version(agent_session: AgentSession, row: Any, text: bytes | None, *, listed: bool) -> dict[str, Any]:
    return objects.state_version(agent_session.public_id, row, text, listed=listed)


def _cursor(agent_session: AgentSession, starting_after: str | None) -> int | None:
    if starting_after is None:
        return None
    if not starting_after.isascii() or not starting_after.isdecimal() or len(starting_after) > 10:
        raise bad_cursor(starting_after)
    if int(starting_after) > agent_session.head_version:
        raise bad_cursor(starting_after)
    return int(starting_after)
