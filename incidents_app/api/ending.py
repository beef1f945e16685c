"""Resolving, closing, declining, merging, reopening (contract 16)."""

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions
from incidents_app.api._shared import INCIDENT, acted, manages_incidents
from incidents_app.payloads import answers, requests
from statebase_site.access.authentication import ApiRequest

router = Router(tags=["incidents"])


@router.post(
    f"{INCIDENT}/resolve",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Resolve an incident",
)
def resolve(request: ApiRequest, incident_id: str, body: requests.Nothing) -> HttpResponse:
    return acted(request, actions.resolve(reference=incident_id, by=request.actor))


@router.post(
    f"{INCIDENT}/close", auth=manages_incidents, response=answers.IncidentInFull, summary="Close an incident"
)
def close(request: ApiRequest, incident_id: str, body: requests.Nothing) -> HttpResponse:
    return acted(request, actions.close(reference=incident_id, by=request.actor))


@router.post(
    f"{INCIDENT}/reopen",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Reopen an incident, which begins a new episode",
)
def reopen(request: ApiRequest, incident_id: str, body: requests.ReopenIncident) -> HttpResponse:
    return acted(request, actions.reopen(reference=incident_id, reason=body.reason, by=request.actor))


@router.post(
    f"{INCIDENT}/decline",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Say that it is no incident",
)
def decline(request: ApiRequest, incident_id: str, body: requests.DeclineIncident) -> HttpResponse:
    outcome = actions.decline(
        reference=incident_id,
        reason=body.reason,
        resume_sessions=body.resume_sessions,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/merge",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Merge an incident into another",
)
def merge(request: ApiRequest, incident_id: str, body: requests.MergeIncident) -> HttpResponse:
    return acted(request, actions.merge(reference=incident_id, into=body.into, by=request.actor))
