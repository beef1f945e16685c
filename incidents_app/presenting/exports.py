"""What is saved of an incident as a file, from a page or over the API."""

from __future__ import annotations

from django.http import HttpResponse

from incidents_app.models import Incident, Scenario
from incidents_app.payloads.bundle import bundle, written
from incidents_app.payloads.postmortem import postmortem
from incidents_app.payloads.scenario_file import file_name, scenario_file
from incidents_app.queries import record_of
from statebase_site.web.downloads import download


def postmortem_answer(incident: Incident) -> HttpResponse:
    """The post-mortem in Markdown."""
    return download(
        postmortem(record_of(incident)),
        name=f"{incident.reference}-postmortem.md",
        content_type="text/markdown",
    )


def bundle_answer(incident: Incident) -> HttpResponse:
    """The evidence bundle in JSON."""
    return download(
        written(bundle(record_of(incident))),
        name=f"{incident.reference}-bundle.json",
        content_type="application/json",
    )


def scenario_answer(scenario: Scenario) -> HttpResponse:
    """The scenario as a test for pytest."""
    return download(scenario_file(scenario), name=file_name(scenario), content_type="text/x-python")
