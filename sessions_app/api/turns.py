"""Turns: add, list, read (contract 6.4)."""

from django.http import HttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.api._shared import (
    MOST,
    SESSION,
    reads_sessions,
    turn_payloads,
    writes_sessions,
)
from sessions_app.payloads import answers, objects, requests
from sessions_app.payloads.turn_text import turn_text
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.answers import Problem
from statebase_site.web.api import bad_cursor, list_envelope, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Order, PlainText, limit_up_to

router = Router(tags=["turns"])


@router.post(
    f"{SESSION}/turns",
    auth=writes_sessions,
    response={201: answers.Turn, 423: Problem},
    summary="Add a turn",
)
def add(request: ApiRequest, session_id: str, body: requests.AddTurn) -> HttpResponse:
    outcome = actions.add_turn(
        session_id=session_id,
        input=turn_text(body.input, "input"),
        output=turn_text(body.output, "output"),
        reasoning=body.reasoning,
        metadata=body.metadata,
        state_before=body.state_before,
        state_after=body.state_after,
        expected_version=body.expected_version,
        by=request.actor,
    )
    # A request given again carries the same states: they need no reading.
    states = (body.state_before, body.state_after)
    return written(outcome, objects.turn(session_id, outcome.turn, states, listed=False), 201)


@router.get(
    f"{SESSION}/turns", auth=reads_sessions, response=answers.List[answers.Turn], summary="List turns"
)
def list_turns(
    request: ApiRequest,
    session_id: str,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    turns = queries.turns_of(agent_session)
    after = None
    if starting_after is not None:
        after = turns.filter(public_id=starting_after).values_list("number", flat=True).first()
        if after is None:
            raise bad_cursor(starting_after)
    page = queries.numbered_page(turns, descending=order == "desc", after=after, limit=limit)
    data = turn_payloads(agent_session, page.rows, listed=True)
    return json_answer(list_envelope(data, has_more=page.has_later_page))


@router.get(f"{SESSION}/turns/{{turn_id}}", auth=reads_sessions, response=answers.Turn, summary="Read a turn")
def read(request: ApiRequest, session_id: str, turn_id: str) -> HttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    turn = queries.turn_for(request.actor, turn_id, agent_session)
    return json_answer(turn_payloads(agent_session, [turn], listed=False)[0])


@router.get(
    "/turns/{turn_id}", auth=reads_sessions, response=answers.Turn, summary="Read a turn by its id alone"
)
def read_by_its_id(request: ApiRequest, turn_id: str) -> HttpResponse:
    turn = queries.turn_for(request.actor, turn_id)
    return json_answer(turn_payloads(turn.agent_session, [turn], listed=False)[0])
