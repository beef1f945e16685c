"""Failure-injection scenarios and their runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from incidents_app import actions, queries
from incidents_app.errors import ScenarioNotFound
from incidents_app.forms.base import ActForm
from incidents_app.forms.preventing import ReportForm, ScenarioForm
from incidents_app.models import Scenario
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import SESSIONS_WRITE


class ScenarioNew(Act):
    """Make a scenario of the incident."""

    form_class = ScenarioForm
    title, button, icon = "New scenario", "Make the scenario", "plus"
    part = "scenarios"

    def act(self, form: ActForm) -> None:
        actions.create_scenario(**self.said, **form.given)


class OfScenario(Act):
    """An act on a scenario of the incident. Raises `ScenarioNotFound`."""

    needs, part, on_ended = SESSIONS_WRITE, "scenarios", True

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.scenario: Scenario = queries.scenario_for(self.about.by, kwargs["scenario_id"])
        if self.scenario.incident_id != self.about.incident.pk:
            raise ScenarioNotFound(kwargs["scenario_id"])

    @property
    def said(self) -> dict[str, Any]:
        return {"scenario_id": self.scenario.public_id, "by": self.about.by}


class RunRequest(OfScenario, Press):
    """Ask for a run."""

    def act(self, form: ActForm) -> None:
        actions.request_run(**self.said)


class RunReport(OfScenario):
    """Report a run."""

    form_class = ReportForm
    title, button = "Report a run", "Judge the run"

    def act(self, form: ActForm) -> None:
        actions.report_run(**self.said, **form.given)
