"""Failure-injection scenarios and their runs (contract 16)."""

from typing import Any, Literal

from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Router

from incidents_app import actions, queries
from incidents_app.api._shared import (
    INCIDENT,
    MOST,
    manages_incidents,
    reads_incidents,
    reports_incidents,
)
from incidents_app.models import Scenario
from incidents_app.payloads import answers, objects, requests
from statebase_site.access.authentication import ApiRequest
from statebase_site.base.paging import keyset_page
from statebase_site.web.api import list_envelope, row_after, written
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import Order, PlainText, limit_up_to

router = Router(tags=["scenarios"])

SCENARIO = "/scenarios/{scenario_id}"


@router.post(
    f"{INCIDENT}/scenarios",
    auth=manages_incidents,
    response={201: answers.Scenario},
    summary="Make a failure-injection scenario",
)
def create(request: ApiRequest, incident_id: str, body: requests.CreateScenario) -> HttpResponse:
    outcome = actions.create_scenario(
        reference=incident_id,
        name=body.name,
        session_id=body.session_id,
        fork_version=body.fork_version,
        fault=body.fault,
        predicate=body.predicate,
        by=request.actor,
    )
    return written(outcome, _scenario(request, outcome.scenario.public_id), 201)


@router.get(
    f"{INCIDENT}/scenarios",
    auth=reads_incidents,
    response=answers.List[answers.Scenario],
    summary="List the scenarios of an incident",
)
def list_of_incident(
    request: ApiRequest,
    incident_id: str,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    incident = queries.incident_for(request.actor, incident_id)
    found = queries.scenarios_for(request.actor).filter(incident=incident)
    return _page(request, found, limit=limit, starting_after=starting_after, order=order)


@router.get(
    "/scenarios",
    auth=reads_incidents,
    response=answers.List[answers.Scenario],
    summary="List scenarios; those that wait for an agent, or the others",
)
def list_scenarios(
    request: ApiRequest,
    status: Literal["waiting", "done"] | None = None,
    limit: limit_up_to(MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
    order: Order = "desc",
) -> HttpResponse:
    found = queries.scenarios_for(request.actor, waiting=None if status is None else status == "waiting")
    return _page(request, found, limit=limit, starting_after=starting_after, order=order)


@router.get(SCENARIO, auth=reads_incidents, response=answers.Scenario, summary="Read a scenario")
def read(request: ApiRequest, scenario_id: str) -> HttpResponse:
    return json_answer(_scenario(request, scenario_id))


@router.post(
    f"{SCENARIO}/fork",
    auth=reports_incidents,
    response={201: answers.ScenarioRun},
    summary="Ask for a run: a fresh fork with the fault in it, for an agent to run on",
)
def request_run(request: ApiRequest, scenario_id: str, body: requests.Nothing) -> HttpResponse:
    outcome = actions.request_run(scenario_id=scenario_id, by=request.actor)
    return written(outcome, objects.run(outcome.run, scenario_id), 201)


@router.post(
    f"{SCENARIO}/runs",
    auth=reports_incidents,
    response={201: answers.ScenarioRun},
    summary="Report how an agent did; the state of its session decides",
)
def report_run(request: ApiRequest, scenario_id: str, body: requests.ReportRun) -> HttpResponse:
    outcome = actions.report_run(
        scenario_id=scenario_id,
        session_id=body.session_id,
        agent_version=body.agent_version,
        outcome=body.outcome,
        by=request.actor,
    )
    return written(outcome, objects.run(outcome.run, scenario_id), 201)


def _scenario(request: ApiRequest, scenario_id: str) -> dict[str, Any]:
    return objects.scenario(queries.scenario_for(request.actor, scenario_id))


def _page(
    request: ApiRequest, found: QuerySet[Scenario], *, limit: int, starting_after: str | None, order: str
) -> HttpResponse:
    after = row_after(queries.scenarios_for(request.actor), starting_after)
    page = keyset_page(found, descending=order == "desc", after=after, limit=limit)
    data = [objects.scenario(each) for each in page.rows]
    return json_answer(list_envelope(data, has_more=page.has_later_page))
