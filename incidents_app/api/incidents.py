"""Incidents: file, list, read, and what they still lack and went through (contract 16)."""

from typing import Literal

from django.http import HttpResponse
from ninja import Router

from incidents_app import actions, queries
from incidents_app.api._shared import (
    INCIDENT,
    MOST,
    acted,
    in_full,
    incident_now,
    reads_incidents,
    reports_incidents,
)
from incidents_app.enums import Status
from incidents_app.models import Incident, TimelineEvent
from incidents_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.base.paging import keyset_page
from statebase_site.web.answers import Problem
from statebase_site.web.api import bad_cursor, list_envelope
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Moment, Order, PlainText, limit_up_to

router = Router(tags=["incidents"])


@router.post(
    "/incidents",
    auth=reports_incidents,
    response={200: answers.IncidentInFull, 201: answers.IncidentInFull, 404: Problem},
    summary="File an incident",
)
def file(request: ApiRequest, body: requests.FileIncident) -> HttpResponse:
    filed = actions.file(
        title=body.title,
        severity=body.severity,
        session_ids=body.sessions,
        summary=body.summary,
        failure_mode=body.failure_mode,
        dedup_key=body.dedup_key,
        no_session_reason=body.no_session_reason,
        by=request.actor,
    )
    return acted(request, filed, 201 if filed.is_new else 200)


@router.get(
    "/incidents", auth=reads_incidents, response=answers.List[answers.Incident], summary="List incidents"
)
def list_incidents(
    request: ApiRequest,
    status: answers.Status | None = None,
    severity: answers.Severity | None = None,
    session_id: PlainText | None = None,
    failure_mode: answers.FailureMode | None = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    if status is not None:
        actions.take_notice_of_all(queries.find_incidents(request.actor))
    found = queries.find_incidents(
        request.actor,
        status=status,
        severity=severity,
        session_id=session_id,
        failure_mode=failure_mode,
        created_after=created_after,
        created_before=created_before,
    )
    after = _cursor(request, starting_after)
    page = keyset_page(found, descending=order == "desc", after=after, limit=limit)
    assessed = queries.assess_all(page.rows)
    data = [objects.incident(assessed[each.pk]) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))


@router.get(INCIDENT, auth=reads_incidents, response=answers.IncidentInFull, summary="Read an incident")
def read(request: ApiRequest, incident_id: str) -> HttpResponse:
    return json_answer(in_full(incident_now(request, incident_id)))


@router.get(
    f"{INCIDENT}/gates",
    auth=reads_incidents,
    response=answers.Gates,
    summary="What is missing before an incident can be resolved or closed",
)
def gates(
    request: ApiRequest, incident_id: str, to: Literal["resolved", "closed"] = "closed"
) -> HttpResponse:
    found = queries.assess(incident_now(request, incident_id))
    return json_answer(objects.gates(found, Status(to)))


@router.get(
    f"{INCIDENT}/timeline",
    auth=reads_incidents,
    response=answers.List[answers.IncidentEvent],
    summary="What happened in an incident",
)
def timeline(
    request: ApiRequest,
    incident_id: str,
    limit: limit_up_to(MOST) = 50,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "asc",
) -> HttpResponse:
    incident = incident_now(request, incident_id)
    page = keyset_page(
        incident.events.all(),
        moment="occurred_at",
        descending=order == "desc",
        after=_event_cursor(incident, starting_after),
        limit=limit,
    )
    data = [objects.event(each, incident.reference) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))


def _cursor(request: ApiRequest, starting_after: str | None) -> Incident | None:
    if starting_after is None:
        return None
    found = queries.with_reference(Incident.objects.filter(project=request.actor.project), starting_after)
    incident = found.first()
    if incident is None:
        raise bad_cursor(starting_after)
    return incident


def _event_cursor(incident: Incident, starting_after: str | None) -> TimelineEvent | None:
    if starting_after is None:
        return None
    reference, _, sequence = starting_after.rpartition(":")
    found = None
    if reference.upper() == incident.reference and sequence.isascii() and sequence.isdigit():
        number = int(sequence) if len(sequence) < 10 else 0
        found = incident.events.filter(sequence=number).first()
    if found is None:
        raise bad_cursor(starting_after)
    return found
