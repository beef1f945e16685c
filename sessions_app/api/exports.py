"""Whole sessions, and all data of a user: as one document each, and their erasure (contract 6.9, 15)."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.api._shared import SESSION, reads_sessions
from sessions_app.payloads import export
from sessions_app.payloads.export_answers import SessionExport, UserExport
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import MEMORY_READ, SESSIONS_DELETE, TRACES_READ
from statebase_site.web.answers import Problem
from statebase_site.web.downloads import in_pieces
from statebase_site.web.errors import JSON_TYPE

router = Router(tags=["exports"])

# An end user's id is the client's own word: it may hold slashes.
USER = "/users/{path:user_id}"


@router.get(
    f"{SESSION}/export",
    auth=reads_sessions,
    response=SessionExport,
    summary="Everything of a session as one document, which import_runs reads back",
)
def session_export(request: ApiRequest, session_id: str) -> StreamingHttpResponse:
    agent_session = queries.session_for(request.actor, session_id)
    pieces = export.session_export(agent_session, request.actor)
    return _document(pieces, f"{agent_session.public_id}.json")


@router.get(
    f"{USER}/export", auth=reads_sessions, response=UserExport, summary="All stored data of an end user"
)
def user_export(request: ApiRequest, user_id: str) -> StreamingHttpResponse:
    for scope in (MEMORY_READ, TRACES_READ):
        request.actor.require(scope, to="export all data of a user")
    return _document(export.user_export(user_id, request.actor), "user.json")


@router.delete(
    USER,
    auth=needs(SESSIONS_DELETE, to="erase a user"),
    response={204: None, 409: Problem, 423: Problem},
    summary="Erase all data of an end user, at once and for ever",
)
def erase_user(request: ApiRequest, user_id: str) -> HttpResponse:
    actions.erase_user(user_id=user_id, by=request.actor)
    return HttpResponse(status=204)


def _document(pieces: Iterator[bytes], name: str) -> StreamingHttpResponse:
    return in_pieces(pieces, name=name, content_type=JSON_TYPE)
