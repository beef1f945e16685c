"""Failure-injection scenarios and their runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from incidents_app import actions, queries
from incidents_app.enums import Outcome
from incidents_app.errors import ScenarioNotFound
from incidents_app.forms.base import ActForm
from incidents_app.forms.preventing import ReportForm, ScenarioForm
from incidents_app.models import Scenario
from incidents_app.presenting.predicates import tried
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import SESSIONS_WRITE


class ScenarioNew(Act):
    """Make a scenario of the incident."""

    form_class = ScenarioForm
    template = "incidents_app/scenario.html"
    title, button, icon = "New scenario", "Make the scenario", "plus"
    done = "The scenario is made. Its first run waits for an agent."

    def initial(self) -> dict[str, Any]:
        """Of the session with a divergence, forked at the last good version."""
        asked = super().initial()
        rows = self.about.rows
        found = [row for row in rows if row.session_id == asked.get("session_id")] or [
            row for row in rows if row.last_good_version is not None
        ]
        if not found:
            return asked
        row = found[0]
        return {"session_id": row.session_id, "fork_version": row.last_good_version or 0} | asked

    def act(self, form: ActForm) -> None:
        actions.create_scenario(**self.said, **form.given)

    def context(self, form: ActForm) -> dict[str, Any]:
        return {"tried": tried(self.about.by, self.about.rows, form)}


class OfScenario(Act):
    """An act on a scenario of the incident. Raises `ScenarioNotFound`."""

    needs, on_ended = SESSIONS_WRITE, True

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

    done = "A fresh fork with the fault in it waits for an agent."

    def act(self, form: ActForm) -> None:
        actions.request_run(**self.said)


class RunReport(OfScenario):
    """Report a run."""

    form_class = ReportForm
    template = "incidents_app/report.html"
    title, button = "Report a run", "Judge the run"
    lead = "Red or green is read from the state that the fork has now; nobody types it."

    def initial(self) -> dict[str, Any]:
        waiting = self.scenario.runs.filter(outcome=None).first()
        return {"session_id": waiting.session_id if waiting else ""} | super().initial()

    def act(self, form: ActForm) -> None:
        self.run = actions.report_run(**self.said, **form.given).run

    def tell(self, form: ActForm) -> None:
        words = (
            "Green: what must hold holds"
            if self.run.outcome == Outcome.GREEN
            else "Red: what must hold does not"
        )
        messages.success(self.request, f"{words} in v{self.run.judged_version} of {self.run.session_id}.")
