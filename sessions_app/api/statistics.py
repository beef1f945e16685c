"""Statistics of a project (contract 6.8)."""

from django.http import HttpResponse
from ninja import Router

from sessions_app import queries
from sessions_app.api._shared import reads_sessions
from sessions_app.payloads import answers, objects
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.errors import json_answer

router = Router(tags=["statistics"])


@router.get(
    "/dashboard/stats",
    auth=reads_sessions,
    response=answers.Statistics,
    summary="Read totals and the rollback rate",
)
def read(request: ApiRequest) -> HttpResponse:
    return json_answer(objects.statistics(queries.statistics(request.actor)))
