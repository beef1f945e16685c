"""Memories: add, search, list, change, delete (contract 6.5); each path under both of its names (R18)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpResponse
from ninja import Query, Router

from sessions_app import actions, queries
from sessions_app.api._shared import SESSION, WITH_REASON_HEADER, reason_header, routes
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import MEMORY_READ, MEMORY_WRITE
from statebase_site.base.errors import InvalidInput
from statebase_site.web.answers import Problem
from statebase_site.web.api import list_envelope, row_after, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import PlainText

router = Router(tags=["memories"])

MEMORIES = ("/memories", "/memory")
MOST_FOUND = 50  # results of a search
DEFAULT_FOUND, DEFAULT_LISTED = 10, 20

reads = needs(MEMORY_READ, to="read memories")
writes = needs(MEMORY_WRITE, to="change memories")


def _both(add: Callable[..., Any], path: str = "", *more: str, **options: Any) -> Callable[[Any], Any]:
    """At a path under both names, and at `more` whole paths."""
    return routes(add, *(f"{memories}{path}" for memories in MEMORIES), *more, **options)


@_both(
    router.post,
    auth=writes,
    response={201: answers.Memory, 404: Problem, 423: Problem},
    summary="Add a memory",
)
def add(request: ApiRequest, body: requests.AddMemory) -> HttpResponse:
    return _add(request, body, body.session_id)


@router.post(
    f"{SESSION}/memories",
    auth=writes,
    response={201: answers.Memory, 423: Problem},
    summary="Add a memory of a session",
)
def add_to_session(request: ApiRequest, session_id: str, body: requests.AddMemory) -> HttpResponse:
    return _add(request, body, session_id)


def _add(request: ApiRequest, body: requests.AddMemory, session_id: str | None) -> HttpResponse:
    outcome = actions.add_memory(
        content=body.content,
        type=body.type,
        session_id=session_id,
        user_id=body.user_id,
        agent_id=body.agent_id,
        tags=body.tags,
        metadata=body.metadata,
        embed=body.embed,
        by=request.actor,
    )
    return written(outcome, objects.memory(outcome.memory), 201)


@_both(
    router.post,
    "/search",
    auth=reads,
    response={200: answers.MemorySearch, 404: Problem},
    summary="Search memories, best first",
)
def search(request: ApiRequest, body: requests.SearchMemories) -> HttpResponse:
    return _search(request, body, body.session_id)


@router.post(
    f"{SESSION}/memories/search",
    auth=reads,
    response=answers.MemorySearch,
    summary="Search the memories that a session may know",
)
def search_of_session(request: ApiRequest, session_id: str, body: requests.SearchMemories) -> HttpResponse:
    return _search(request, body, session_id)


@_both(
    router.get,
    "/search",
    auth=reads,
    response={200: answers.MemorySearch, 404: Problem},
    summary="Search memories by address",
)
def search_by_get(request: ApiRequest, asked: Query[requests.SearchMemoriesByAddress]) -> HttpResponse:
    body = asked.as_body(request.GET)
    return _search(request, body, body.session_id)


@_both(
    router.get,
    auth=reads,
    response={200: answers.MemoryList, 404: Problem},
    summary="List memories, newest first; with query, search them",
)
def list_or_search(
    request: ApiRequest,
    asked: Query[requests.ListOrSearchMemories],
    starting_after: PlainText | None = None,
) -> HttpResponse:
    body = asked.as_body(request.GET)
    if "query" in request.GET:
        return _search(request, body, body.session_id)
    return _list(request, body, body.session_id, starting_after)


@router.get(
    f"{SESSION}/memories",
    auth=reads,
    response=answers.List[answers.Memory],
    summary="List the memories bound to a session",
)
def list_of_session(
    request: ApiRequest,
    session_id: str,
    asked: Query[requests.FilterMemories],
    starting_after: PlainText | None = None,
) -> HttpResponse:
    return _list(request, asked.as_body(request.GET), session_id, starting_after)


@_both(router.get, "/{memory_id}", auth=reads, response=answers.Memory, summary="Read a memory")
def read(request: ApiRequest, memory_id: str) -> HttpResponse:
    return json_answer(objects.memory(queries.memory_for(request.actor, memory_id)))


@_both(
    partial(router.api_operation, ["PUT", "PATCH"]),
    "/{memory_id}",
    auth=writes,
    response={200: answers.Memory, 423: Problem},
    summary="Change a memory",
)
def change(request: ApiRequest, memory_id: str, body: requests.ChangeMemory) -> HttpResponse:
    outcome = actions.update_memory(
        memory_id=memory_id,
        content=body.content,
        type=body.type,
        tags=body.tags,
        metadata=body.metadata,
        by=request.actor,
    )
    return written(outcome, objects.memory(outcome.memory))


@_both(
    router.delete,
    "/{memory_id}",
    auth=writes,
    response={204: None, 423: Problem},
    openapi_extra=WITH_REASON_HEADER,
    summary="Delete a memory",
)
def delete(request: ApiRequest, memory_id: str) -> HttpResponse:
    actions.delete_memory(memory_id=memory_id, reason=reason_header(request), by=request.actor)
    return HttpResponse(status=204)


def _search(request: ApiRequest, body: requests.SearchMemories, session_id: str | None) -> HttpResponse:
    if not (body.query or "").strip():
        raise InvalidInput("query must not be empty.", param="query")
    memories = queries.memories_for(
        request.actor, user_id=body.user_id, agent_id=body.agent_id, types=body.all_types, tags=body.tags
    )
    if session_id is not None:
        agent_session = queries.session_for(request.actor, session_id)
        choose = queries.bound_to if body.scope == "session" else queries.visible_to
        memories = choose(memories, agent_session)
    found = queries.search_memories(
        memories,
        body.query or "",
        limit=min(body.limit or body.top_k or DEFAULT_FOUND, MOST_FOUND),
        threshold=body.threshold,
    )
    data = [objects.found_memory(each.memory, each.score) for each in found]
    return json_answer(list_envelope(data, has_more=False, query=body.query))


def _list(
    request: ApiRequest,
    body: requests.SearchMemories,
    session_id: str | None,
    starting_after: str | None,
) -> HttpResponse:
    memories = queries.memories_for(
        request.actor, user_id=body.user_id, agent_id=body.agent_id, types=body.all_types, tags=body.tags
    )
    if session_id is not None:
        memories = queries.bound_to(memories, queries.session_for(request.actor, session_id))
    page = queries.keyset_page(
        memories,
        after=row_after(queries.memories_for(request.actor), starting_after),
        limit=body.limit or DEFAULT_LISTED,
    )
    return json_answer(
        list_envelope([objects.memory(each) for each in page.rows], has_more=page.has_later_page)
    )
