"""The audit trail: list, read, and notes of clients (contract 6.6)."""

from django.http import HttpResponse
from ninja import Query, Router

from sessions_app import actions, queries
from sessions_app.api._shared import MOST, SESSION, reads_traces, routes, writes_sessions
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.answers import Problem
from statebase_site.web.api import list_envelope, row_after, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Order, PlainText, limit_up_to

router = Router(tags=["traces"])


@router.get("/traces", auth=reads_traces, response=answers.List[answers.Trace], summary="List traces")
def list_traces(
    request: ApiRequest,
    filters: Query[requests.TraceFilter],
    session_id: PlainText | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    return _page(request, session_id, filters, limit=limit, starting_after=starting_after, order=order)


@router.post(
    "/traces",
    auth=writes_sessions,
    response={201: answers.Trace, 404: Problem},
    summary="Add a note of one's own",
)
def create(request: ApiRequest, body: requests.CreateTrace) -> HttpResponse:
    outcome = actions.create_trace(
        action=body.action,
        session_id=body.session_id,
        details=body.details,
        metadata=body.metadata,
        by=request.actor,
    )
    return written(outcome, objects.trace(outcome.trace, outcome.trace.details, listed=False), 201)


@routes(
    router.get,
    f"{SESSION}/traces",
    "/traces/sessions/{session_id}/traces",
    auth=reads_traces,
    response=answers.List[answers.Trace],
    summary="List the traces of a session",
)
def list_traces_of_session(
    request: ApiRequest,
    session_id: str,
    filters: Query[requests.TraceFilter],
    limit: limit_up_to(MOST) = 50,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    queries.session_for(request.actor, session_id)
    return _page(request, session_id, filters, limit=limit, starting_after=starting_after, order=order)


@router.get("/traces/{trace_id}", auth=reads_traces, response=answers.Trace, summary="Read a trace")
def read(request: ApiRequest, trace_id: str) -> HttpResponse:
    trace = queries.trace_for(request.actor, trace_id)
    return json_answer(objects.trace(trace, queries.trace_details([trace])[trace.pk], listed=False))


def _page(
    request: ApiRequest,
    session_id: str | None,
    filters: requests.TraceFilter,
    *,
    limit: int,
    starting_after: str | None,
    order: str,
) -> HttpResponse:
    found = queries.traces_for(
        request.actor,
        session_id=session_id,
        user_id=filters.user_id,
        action=filters.action,
        resource_type=filters.resource_type,
        resource_id=filters.resource_id,
        created_after=filters.created_after or filters.start_time,
        created_before=filters.created_before or filters.end_time,
    )
    after = row_after(queries.traces_for(request.actor), starting_after)
    page = queries.keyset_page(found, descending=order == "desc", after=after, limit=limit)
    details = queries.trace_details(page.rows)
    data = [objects.trace(each, details[each.pk], listed=True) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))
