"""Freezing, more sessions, where traffic goes, severity, exemptions."""

from __future__ import annotations

from typing import Any

from incidents_app import actions
from incidents_app.forms.base import ActForm
from incidents_app.forms.securing import AddSessionForm, ExemptForm, FreezeForm, SeverityForm, TrafficForm
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import SESSIONS_WRITE


class Freeze(Press):
    """Freeze one session, or all, at once."""

    form_class = FreezeForm
    done, part, needs = "Frozen.", "runbook", SESSIONS_WRITE

    def act(self, form: ActForm) -> None:
        actions.freeze(**self.said, **form.given)


class AddSession(Act):
    """One more affected session."""

    form_class = AddSessionForm
    title, button, icon = "Add a session", "Add", "plus"
    needs, part = SESSIONS_WRITE, "runbook"
    done = "The session is added, and held as evidence."

    def act(self, form: ActForm) -> None:
        actions.add_session(**self.said, **form.given)


class Traffic(Act):
    """Say where new traffic goes."""

    form_class = TrafficForm
    title, button = "Where new traffic goes", "Save"
    needs, part = SESSIONS_WRITE, "runbook"
    done = "Saved: every agent whose write is refused is told."

    def initial(self) -> dict[str, Any]:
        incident = self.about.incident
        return {"traffic": incident.traffic, "traffic_note": incident.traffic_note}

    def act(self, form: ActForm) -> None:
        actions.direct_traffic(**self.said, **form.given)


class Severity(Act):
    """Raise or lower the severity."""

    form_class = SeverityForm
    title, button = "Severity", "Change severity"
    needs = SESSIONS_WRITE

    def initial(self) -> dict[str, Any]:
        return {"severity": self.about.incident.severity} | super().initial()

    def act(self, form: ActForm) -> None:
        actions.change_severity(**self.said, **form.given)


class Exempt(Act):
    """Let a session do without a step."""

    form_class = ExemptForm
    title, button = "Exempt a session from a step", "Exempt"
    commands, part = True, "runbook"
    done = "Exempt; the reason is shown with the step."

    def act(self, form: ActForm) -> None:
        actions.exempt(**self.said, **form.given)
