"""Divergence, rollback, what that does not undo, correction, resume (contract 16)."""

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions
from incidents_app.api._shared import INCIDENT, acted, manages_incidents
from incidents_app.payloads import answers, requests
from statebase_site.access.authentication import ApiRequest

router = Router(tags=["incidents"])


@router.post(
    f"{INCIDENT}/divergence",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Record where the state went wrong",
)
def record_divergence(request: ApiRequest, incident_id: str, body: requests.RecordDivergence) -> HttpResponse:
    outcome = actions.record_divergence(
        reference=incident_id,
        session_id=body.session_id,
        divergence_version=body.divergence_version,
        last_good_version=body.last_good_version,
        found_how=body.found_how,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/rollback",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Roll a session back to its last good version",
)
def rollback(request: ApiRequest, incident_id: str, body: requests.RollBackIncident) -> HttpResponse:
    outcome = actions.rollback(
        reference=incident_id,
        session_id=body.session_id,
        version=body.version,
        expected_version=body.expected_version,
        confirm=body.confirm,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/effects",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Say what became of an effect that a rollback does not undo",
)
def decide_effect(request: ApiRequest, incident_id: str, body: requests.DecideEffect) -> HttpResponse:
    outcome = actions.decide_effect(
        reference=incident_id,
        session_id=body.session_id,
        turn_id=body.turn_id,
        disposition=body.disposition,
        note=body.note,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/correction",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Record what was corrected in place of a rollback",
)
def correct(request: ApiRequest, incident_id: str, body: requests.CorrectSession) -> HttpResponse:
    outcome = actions.correct(
        reference=incident_id,
        session_id=body.session_id,
        version=body.version,
        text=body.text,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/resume",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Let the sessions of an incident go on, or one",
)
def resume(request: ApiRequest, incident_id: str, body: requests.ResumeIncident) -> HttpResponse:
    outcome = actions.resume(
        reference=incident_id,
        session_id=body.session_id,
        reason=body.reason,
        confirm=body.confirm,
        by=request.actor,
    )
    return acted(request, outcome)
