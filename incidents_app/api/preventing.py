"""What enabled it, follow-ups, and the post-incident review (contract 16)."""

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions
from incidents_app.api._shared import INCIDENT, acted, manages_incidents
from incidents_app.payloads import answers, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.web.fields import WholeNumber

router = Router(tags=["incidents"])

FOLLOW_UP = f"{INCIDENT}/followups/{{n}}"


@router.post(
    f"{INCIDENT}/prevention",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Answer what enabled the failure",
)
def answer_causes(request: ApiRequest, incident_id: str, body: requests.AnswerCauses) -> HttpResponse:
    outcome = actions.answer_causes(
        reference=incident_id,
        text=body.text,
        missing_checkpoint=body.missing_checkpoint,
        no_validation=body.no_validation,
        no_permission_check=body.no_permission_check,
        state_drift=body.state_drift,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/followups",
    auth=manages_incidents,
    response={201: answers.IncidentInFull},
    summary="Add a follow-up",
)
def add_follow_up(request: ApiRequest, incident_id: str, body: requests.AddFollowUp) -> HttpResponse:
    outcome = actions.add_follow_up(
        reference=incident_id,
        text=body.text,
        owner=body.owner,
        due=body.due,
        kind=body.kind,
        blocks=body.blocks,
        by=request.actor,
    )
    return acted(request, outcome, 201)


@router.patch(
    FOLLOW_UP,
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Give a follow-up an owner and a date",
)
def assign_follow_up(
    request: ApiRequest, incident_id: str, n: WholeNumber, body: requests.AssignFollowUp
) -> HttpResponse:
    outcome = actions.assign_follow_up(
        reference=incident_id, number=n, owner=body.owner, due=body.due, by=request.actor
    )
    return acted(request, outcome)


@router.post(
    f"{FOLLOW_UP}/done",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Mark a follow-up as done",
)
def finish_follow_up(
    request: ApiRequest, incident_id: str, n: WholeNumber, body: requests.Nothing
) -> HttpResponse:
    return acted(request, actions.finish_follow_up(reference=incident_id, number=n, by=request.actor))


@router.patch(
    f"{INCIDENT}/review",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Write the post-incident review",
)
def write_review(request: ApiRequest, incident_id: str, body: requests.ChangeReview) -> HttpResponse:
    checkpoint = body.missing_checkpoint
    outcome = actions.write_review(
        reference=incident_id,
        failure_mode=body.failure_mode,
        checkpoint=checkpoint.place if checkpoint else None,
        no_checkpoint_why=checkpoint.why if checkpoint and checkpoint.none else None,
        lessons=body.lessons,
        scenario_id=body.scenario,
        by=request.actor,
    )
    return acted(request, outcome)


@router.post(
    f"{INCIDENT}/review/approve",
    auth=manages_incidents,
    response=answers.IncidentInFull,
    summary="Approve the review",
)
def approve_review(request: ApiRequest, incident_id: str, body: requests.Nothing) -> HttpResponse:
    return acted(request, actions.approve_review(reference=incident_id, by=request.actor))
