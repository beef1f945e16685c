"""Files of an incident: its post-mortem, its evidence, its scenarios as tests."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from incidents_app import queries
from incidents_app.actions import take_notice
from incidents_app.errors import ScenarioNotFound
from incidents_app.models import Incident
from incidents_app.presenting.exports import bundle_answer, postmortem_answer, scenario_answer
from incidents_app.views.scope import person_and_incident


@require_safe
def postmortem(request: HttpRequest, reference: str) -> HttpResponse:
    """The post-mortem in Markdown."""
    return postmortem_answer(_up_to_date(request, reference))


@require_safe
def bundle(request: HttpRequest, reference: str) -> HttpResponse:
    """The evidence bundle in JSON."""
    return bundle_answer(_up_to_date(request, reference))


@require_safe
def scenario_test(request: HttpRequest, reference: str, scenario_id: str) -> HttpResponse:
    """A scenario as a test for pytest."""
    by, incident = person_and_incident(request, reference)
    scenario = queries.scenario_for(by, scenario_id)
    if scenario.incident_id != incident.pk:
        raise ScenarioNotFound(scenario_id)
    return scenario_answer(scenario)


def _up_to_date(request: HttpRequest, reference: str) -> Incident:
    """The incident, with what happened outside it told in it."""
    _, incident = person_and_incident(request, reference)
    if take_notice(incident):
        _, incident = person_and_incident(request, reference)
    return incident
