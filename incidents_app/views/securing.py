"""Freezing, more sessions, where traffic goes, severity, exemptions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from incidents_app import actions, queries
from incidents_app.forms.base import ActForm
from incidents_app.forms.securing import AddSessionForm, ExemptForm, FreezeForm, SeverityForm, TrafficForm
from incidents_app.matrix import MATRIX
from incidents_app.models import Incident
from incidents_app.presenting.filing import severity_choices
from incidents_app.presenting.why_not import why_not
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.web.wording import count_noun

_NAMED_MOST = 3


def tell_frozen(request: HttpRequest, incident: Incident, session_id: str | None) -> None:
    """Say which sessions are frozen now, and which could not be."""
    found = queries.assess(incident)
    rows = [row for row in found.affected if session_id in (None, row.session_id)]
    frozen = [row.session_id for row in rows if found.facts_of(row).is_frozen]
    failed = [row for row in rows if row.failure]
    waiting = [row for row in rows if row.freeze_wanted and not row.failure]
    if frozen:
        more = f" and {len(frozen) - _NAMED_MOST} more" if len(frozen) > _NAMED_MOST else ""
        messages.success(request, f"Frozen: {', '.join(frozen[:_NAMED_MOST])}{more}.")
    if waiting:
        messages.info(
            request, f"{count_noun(len(waiting), 'session')} more: the server goes on freezing them."
        )
    for row in failed[:_NAMED_MOST]:
        messages.error(request, f"{row.session_id} could not be frozen: {row.failure} It is tried again.")


class Freeze(Press):
    """Freeze one session, or all, at once."""

    form_class = FreezeForm
    needs = SESSIONS_WRITE

    def act(self, form: ActForm) -> None:
        actions.freeze(**self.said, **form.given)

    def tell(self, form: ActForm) -> None:
        tell_frozen(self.request, self.about.incident, form.given["session_id"])


class AddSession(Act):
    """One more affected session."""

    form_class = AddSessionForm
    title, button, icon = "Add a session", "Add", "plus"
    needs = SESSIONS_WRITE
    done = "The session is added, and held as evidence."

    def act(self, form: ActForm) -> None:
        actions.add_session(**self.said, **form.given)


class Traffic(Act):
    """Say where new traffic goes."""

    form_class = TrafficForm
    title, button = "Where new traffic goes", "Save"
    needs = SESSIONS_WRITE
    done = "Saved: every agent whose write is refused is told."

    def initial(self) -> dict[str, Any]:
        incident = self.about.incident
        return {"traffic": incident.traffic, "traffic_note": incident.traffic_note}

    def act(self, form: ActForm) -> None:
        actions.direct_traffic(**self.said, **form.given)


class Severity(Act):
    """Raise or lower the severity."""

    form_class = SeverityForm
    template = "incidents_app/severity.html"
    title, button = "Severity", "Change severity"
    needs = SESSIONS_WRITE

    def initial(self) -> dict[str, Any]:
        return {"severity": self.about.incident.severity} | super().initial()

    def act(self, form: ActForm) -> None:
        actions.change_severity(**self.said, **form.given)

    def tell(self, form: ActForm) -> None:
        severity = form.given["severity"]
        messages.success(self.request, f"Severity {severity}.")
        if MATRIX[severity].freeze_at_once:
            tell_frozen(self.request, self.about.incident, None)

    def context(self, form: ActForm) -> dict[str, Any]:
        facts = self.about.assessed.facts
        return {
            "severities": severity_choices(form, None)[:-1],
            "to_freeze": [
                each.session_id
                for each in facts.sessions
                if not each.is_frozen and each.resume_version is None
            ],
            "can_lower": not why_not(
                self.about.by, self.about.incident, needs=INCIDENT_MANAGE, commands=True
            ),
        }


class Exempt(Act):
    """Let a session do without a step."""

    form_class = ExemptForm
    title, button = "Exempt a session from a step", "Exempt"
    commands = True
    done = "Exempt; the reason is shown with the step."

    def act(self, form: ActForm) -> None:
        actions.exempt(**self.said, **form.given)
