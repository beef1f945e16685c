"""What an agent's key may do as well: freeze, pin, note, add a session, raise the severity (contract 16)."""

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions
from incidents_app.api._shared import INCIDENT, acted, reports_incidents
from incidents_app.payloads import answers, requests
from statebase_site.access.authentication import ApiRequest

router = Router(tags=["incidents"])


@router.post(
    f"{INCIDENT}/freeze",
    auth=reports_incidents,
    response=answers.IncidentInFull,
    summary="Freeze the sessions of an incident, or one",
)
def freeze(request: ApiRequest, incident_id: str, body: requests.FreezeIncident) -> HttpResponse:
    outcome = actions.freeze(
        reference=incident_id,
        session_id=body.session_id,
        reason=body.reason,
        traffic=body.traffic,
        traffic_note=body.traffic_note,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/pin",
    auth=reports_incidents,
    response=answers.IncidentInFull,
    summary="Pin versions and traces as evidence",
)
def pin(request: ApiRequest, incident_id: str, body: requests.PinEvidence) -> HttpResponse:
    outcome = actions.pin(
        reference=incident_id,
        session_id=body.session_id,
        versions=body.versions,
        traces=body.traces,
        note=body.note,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/note",
    auth=reports_incidents,
    response=answers.IncidentInFull,
    summary="Add a note to the timeline",
)
def note(request: ApiRequest, incident_id: str, body: requests.AddNote) -> HttpResponse:
    outcome = actions.add_note(
        reference=incident_id,
        text=body.text,
        occurred_at=body.occurred_at,
        session_id=body.session_id,
        supersedes=body.supersedes,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/sessions",
    auth=reports_incidents,
    response=answers.IncidentInFull,
    summary="Add an affected session",
)
def add_session(request: ApiRequest, incident_id: str, body: requests.AddIncidentSession) -> HttpResponse:
    outcome = actions.add_session(reference=incident_id, session_id=body.session_id, by=request.actor)
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/severity",
    auth=reports_incidents,
    response=answers.IncidentInFull,
    summary="Raise the severity, or lower it",
)
def change_severity(request: ApiRequest, incident_id: str, body: requests.ChangeSeverity) -> HttpResponse:
    outcome = actions.change_severity(
        reference=incident_id,
        severity=body.severity,
        reason=body.reason,
        waived={(each.session_id, each.step): each.reason for each in body.waived},
        by=request.actor,
    )
    return acted(request, outcome)
