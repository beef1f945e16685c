"""Sessions: create, read, list, change, delete, fork, context (contract 6.2)."""

from typing import Any, Literal

from django.http import HttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.api._shared import (
    MOST,
    SESSION,
    WITH_REASON_HEADER,
    reads_sessions,
    reason_header,
    session_payload,
    turn_payloads,
    writes_sessions,
)
from sessions_app.models import AgentSession
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import MEMORY_READ, SESSIONS_DELETE
from statebase_site.base import json
from statebase_site.base.errors import InvalidInput
from statebase_site.web.answers import Problem
from statebase_site.web.api import bad_cursor, list_envelope, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Count, JsonObjectText, Moment, Order, PlainText, limit_up_to

router = Router(tags=["sessions"])

# Of a context.
MOST_TURNS = 50
MOST_MEMORIES = 20


@router.post("/sessions", auth=writes_sessions, response={201: answers.Session}, summary="Create a session")
def create(request: ApiRequest, body: requests.CreateSession) -> HttpResponse:
    outcome = actions.create_session(
        agent_id=body.agent_id,
        user_id=body.user_id,
        initial_state=body.initial_state,
        metadata=body.metadata,
        ttl_seconds=body.ttl_seconds,
        by=request.actor,
    )
    return written(outcome, session_payload(outcome.agent_session), 201)


@router.get("/sessions", auth=reads_sessions, response=answers.List[answers.Session], summary="List sessions")
def list_sessions(
    request: ApiRequest,
    agent_id: PlainText | None = None,
    user_id: PlainText | None = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    metadata: JsonObjectText | None = None,
    frozen: Literal["true", "false"] | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    found = queries.find_sessions(
        request.actor,
        agent_id=agent_id,
        user_id=user_id,
        created_after=created_after,
        created_before=created_before,
        frozen=None if frozen is None else frozen == "true",
        metadata=_metadata_filter(metadata),
    )
    after = _cursor(request, starting_after)
    page = queries.keyset_page(found, descending=order == "desc", after=after, limit=limit)
    states = queries.current_texts(page.rows)
    data = [objects.session(each, states[each.pk]) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))


@router.get(SESSION, auth=reads_sessions, response=answers.Session, summary="Read a session")
def read(request: ApiRequest, session_id: str) -> HttpResponse:
    return json_answer(session_payload(queries.session_for(request.actor, session_id)))


@router.patch(
    SESSION,
    auth=writes_sessions,
    response={200: answers.Session, 423: Problem},
    summary="Change a session's metadata or life",
)
def change(request: ApiRequest, session_id: str, body: requests.ChangeSession) -> HttpResponse:
    outcome = actions.update_session(
        session_id=session_id, metadata=body.metadata, ttl_seconds=body.ttl_seconds, by=request.actor
    )
    return written(outcome, session_payload(outcome.agent_session))


@router.delete(
    SESSION,
    auth=needs(SESSIONS_DELETE, to="delete sessions"),
    response={204: None, 409: Problem, 423: Problem},
    openapi_extra=WITH_REASON_HEADER,
    summary="Delete a session",
)
def delete(request: ApiRequest, session_id: str) -> HttpResponse:
    actions.delete_session(session_id=session_id, reason=reason_header(request), by=request.actor)
    return HttpResponse(status=204)


@router.post(
    f"{SESSION}/fork",
    auth=writes_sessions,
    response={201: answers.ForkedSession},
    summary="Fork a session from one of its versions",
)
def fork(request: ApiRequest, session_id: str, body: requests.Fork) -> HttpResponse:
    outcome = actions.fork(
        session_id=session_id, version=body.version, new_agent_id=body.new_agent_id, by=request.actor
    )
    made = outcome.agent_session
    return written(outcome, session_payload(made) | {"new_session_id": made.public_id}, 201)


@router.post(
    f"{SESSION}/context",
    auth=reads_sessions,
    response=answers.Context,
    summary="What an agent needs for its next step",
)
def context(request: ApiRequest, session_id: str, body: requests.ReadContext) -> HttpResponse:
    return json_answer(
        _context(
            request,
            session_id,
            query=body.query,
            memories=body.memory_limit,
            turns=body.turn_limit,
        )
    )


@router.get(
    f"{SESSION}/context",
    auth=reads_sessions,
    response=answers.Context,
    summary="What an agent needs for its next step, by address",
)
def context_by_get(
    request: ApiRequest,
    session_id: str,
    query: PlainText | None = None,
    memory_limit: Count = 5,
    turn_limit: Count | None = None,
    max_turns: Count | None = None,
    include_memories: bool = True,
    include_turns: bool = True,
) -> HttpResponse:
    wanted = next((each for each in (turn_limit, max_turns) if each is not None), 10)
    return json_answer(
        _context(
            request,
            session_id,
            query=query,
            memories=memory_limit if include_memories else 0,
            turns=wanted if include_turns else 0,
        )
    )


def _context(
    request: ApiRequest, session_id: str, *, query: str | None, memories: int, turns: int
) -> dict[str, Any]:
    agent_session = queries.session_for(request.actor, session_id)
    state = queries.text_at(agent_session, agent_session.head_version)
    newest = queries.numbered_page(
        queries.turns_of(agent_session), descending=True, limit=min(turns, MOST_TURNS)
    ).rows
    return objects.context(
        agent_session,
        state,
        turn_payloads(agent_session, newest, listed=True),
        _remembered(request, agent_session, query, min(memories, MOST_MEMORIES)),
        asked=bool(query and query.strip()),
    )


def _remembered(
    request: ApiRequest, agent_session: AgentSession, query: str | None, most: int
) -> list[dict[str, Any]]:
    """The memories that the session may know: best first for a query, else the newest, with score 0."""
    if not most or not request.actor.may(MEMORY_READ):
        return []
    memories = queries.visible_to(queries.memories_for(request.actor), agent_session)
    if query and query.strip():
        found = queries.search_memories(memories, query, limit=most)
        return [objects.found_memory(each.memory, each.score) for each in found]
    return [objects.found_memory(each, 0.0) for each in memories[:most]]


def _metadata_filter(text: str | None) -> json.JsonObject:
    if text is None:
        return {}
    try:
        wanted = json.parse(text)
    except json.JsonFault as fault:
        raise InvalidInput(f"metadata: {fault.message}", param="metadata") from fault
    if not isinstance(wanted, dict):
        raise InvalidInput('metadata must be a JSON object such as {"team": "a"}.', param="metadata")
    return wanted


def _cursor(request: ApiRequest, starting_after: str | None) -> AgentSession | None:
    if starting_after is None:
        return None
    found = queries.session_once_listed(request.actor, starting_after)
    if found is None:
        raise bad_cursor(starting_after)
    return found
