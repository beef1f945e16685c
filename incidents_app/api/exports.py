"""Incidents as files: the post-mortem, the evidence bundle, and scenarios as tests (contract 16)."""

from typing import Any

from django.http import HttpResponse
from ninja import Router

from incidents_app import queries
from incidents_app.api._shared import INCIDENT, incident_now, reads_incidents
from incidents_app.presenting.exports import bundle_answer, postmortem_answer, scenario_answer
from statebase_site.access.authentication import ApiRequest

router = Router(tags=["incidents"])


def _answers(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What the OpenAPI document says of a route that answers with a file."""
    content = {media_type: {"schema": schema}}
    return {"responses": {200: {"description": "OK", "content": content}}}


@router.get(
    f"{INCIDENT}/postmortem.md",
    auth=reads_incidents,
    openapi_extra=_answers("text/markdown", {"type": "string"}),
    summary="The post-mortem of an incident in Markdown",
)
def postmortem(request: ApiRequest, incident_id: str) -> HttpResponse:
    return postmortem_answer(incident_now(request, incident_id))


@router.get(
    f"{INCIDENT}/bundle.json",
    auth=reads_incidents,
    openapi_extra=_answers("application/json", {"type": "object", "additionalProperties": True}),
    summary="Everything about an incident, with its evidence",
)
def bundle(request: ApiRequest, incident_id: str) -> HttpResponse:
    return bundle_answer(incident_now(request, incident_id))


@router.get(
    "/scenarios/{scenario_id}/test.py",
    auth=reads_incidents,
    openapi_extra=_answers("text/x-python", {"type": "string"}),
    summary="A scenario as a test for pytest",
)
def scenario_test(request: ApiRequest, scenario_id: str) -> HttpResponse:
    return scenario_answer(queries.scenario_for(request.actor, scenario_id))
