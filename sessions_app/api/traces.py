"""The audit trail: list, read, and notes of clients (contract 6.6)."""

from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Router

from sessions_app import actions, queries
from sessions_app.api._shared import MOST, SESSION, reads_traces, routes, writes_sessions, written
from sessions_app.models import Trace
from sessions_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.api import bad_cursor, list_envelope
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Moment, Order, PlainText, limit_up_to

router = Router(tags=["traces"])


@router.get("/traces", auth=reads_traces, response=answers.List[answers.Trace], summary="List traces")
def list_traces(
    request: ApiRequest,
    session_id: PlainText | None = None,
    user_id: PlainText | None = None,
    action: PlainText | None = None,
    resource_type: PlainText | None = None,
    resource_id: PlainText | None = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    start_time: Moment | None = None,
    end_time: Moment | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    found = queries.traces_for(
        request.actor,
        session_id=session_id,
        user_id=user_id,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        created_after=created_after or start_time,
        created_before=created_before or end_time,
    )
    return _page(request, found, limit=limit, starting_after=starting_after, order=order)


@router.post(
    "/traces", auth=writes_sessions, response={201: answers.Trace}, summary="Add a note of one's own"
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
    user_id: PlainText | None = None,
    action: PlainText | None = None,
    resource_type: PlainText | None = None,
    resource_id: PlainText | None = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    start_time: Moment | None = None,
    end_time: Moment | None = None,
    limit: limit_up_to(MOST) = 50,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    queries.session_for(request.actor, session_id)
    return list_traces(
        request,
        session_id=session_id,
        user_id=user_id,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        created_after=created_after,
        created_before=created_before,
        start_time=start_time,
        end_time=end_time,
        limit=limit,
        starting_after=starting_after,
        order=order,
    )


@router.get("/traces/{trace_id}", auth=reads_traces, response=answers.Trace, summary="Read a trace")
def read(request: ApiRequest, trace_id: str) -> HttpResponse:
    trace = queries.trace_for(request.actor, trace_id)
    return json_answer(objects.trace(trace, queries.trace_details([trace])[trace.pk], listed=False))


def _page(
    request: ApiRequest, found: QuerySet[Trace], *, limit: int, starting_after: str | None, order: str
) -> HttpResponse:
    after = None
    if starting_after is not None:
        after = queries.traces_for(request.actor).filter(public_id=starting_after).first()
        if after is None:
            raise bad_cursor(starting_after)
    page = queries.keyset_page(found, descending=order == "desc", after=after, limit=limit)
    details = queries.trace_details(page.rows)
    data = [objects.trace(each, details[each.pk], listed=True) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))
