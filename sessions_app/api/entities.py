"""Entities: things that sessions know of (contract 6.7)."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.api._shared import MOST, reads_sessions, writes_sessions
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.answers import Problem
from statebase_site.web.api import list_envelope, row_after, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import PlainText, limit_up_to

router = Router(tags=["entities"])

ENTITY = "/entities/{entity_id}"


@router.post(
    "/entities",
    auth=writes_sessions,
    response={201: answers.Entity, 404: Problem, 423: Problem},
    summary="Add an entity",
)
def create(request: ApiRequest, body: requests.CreateEntity) -> HttpResponse:
    outcome = actions.create_entity(
        session_id=body.session_id,
        entity_type=body.entity_type,
        entity_id=body.entity_id,
        attributes=body.attributes,
        by=request.actor,
    )
    return written(outcome, objects.entity(outcome.entity), 201)


@router.get("/entities", auth=reads_sessions, response=answers.List[answers.Entity], summary="List entities")
def list_entities(
    request: ApiRequest,
    session_id: PlainText | None = None,
    entity_type: PlainText | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
) -> HttpResponse:
    found = queries.entities_for(request.actor, session_id=session_id, entity_type=entity_type)
    after = row_after(queries.entities_for(request.actor), starting_after)
    page = queries.keyset_page(found, after=after, limit=limit)
    return json_answer(
        list_envelope([objects.entity(each) for each in page.rows], has_more=page.has_later_page)
    )


@router.get(ENTITY, auth=reads_sessions, response=answers.Entity, summary="Read an entity")
def read(request: ApiRequest, entity_id: str) -> HttpResponse:
    return json_answer(objects.entity(queries.entity_for(request.actor, entity_id)))


@router.put(
    ENTITY,
    auth=writes_sessions,
    response={200: answers.Entity, 423: Problem},
    summary="Merge attributes into an entity",
)
def change(request: ApiRequest, entity_id: str, body: requests.ChangeEntity) -> HttpResponse:
    outcome = actions.update_entity(entity_id=entity_id, attributes=body.attributes, by=request.actor)
    return written(outcome, objects.entity(outcome.entity))


@router.delete(ENTITY, auth=writes_sessions, response={204: None, 423: Problem}, summary="Delete an entity")
def delete(request: ApiRequest, entity_id: str) -> HttpResponse:
    actions.delete_entity(entity_id=entity_id, by=request.actor)
    return HttpResponse(status=204)
