"""Who leads, and what need not be done (contract 16)."""

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions
from incidents_app.api._shared import INCIDENT, acted, manages_incidents
from incidents_app.payloads import answers, requests
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import FULL

router = Router(tags=["incidents"])


@router.post(
    f"{INCIDENT}/commander",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Take command, or hand it over",
)
def set_commander(request: ApiRequest, incident_id: str, body: requests.SetCommander) -> HttpResponse:
    return acted(request, actions.set_commander(reference=incident_id, name=body.name, by=request.actor))


@router.post(
    f"{INCIDENT}/exempt",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Let a session do without a step",
)
def exempt(request: ApiRequest, incident_id: str, body: requests.ExemptSession) -> HttpResponse:
    outcome = actions.exempt(
        reference=incident_id,
        session_id=body.session_id,
        step=body.step,
        reason=body.reason,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/override",
    auth=needs(FULL, to="override a gate"),
    response=answers.IncidentInFull,
    summary="Pass over a condition that is not met",
)
def override(request: ApiRequest, incident_id: str, body: requests.OverrideGate) -> HttpResponse:
    outcome = actions.override(reference=incident_id, gate=body.gate, reason=body.reason, by=request.actor)
    return acted(request, outcome)
