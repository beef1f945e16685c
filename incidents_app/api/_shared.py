"""What the routes share: who may, which incident, and the answer after an act."""

from __future__ import annotations

from typing import Any, Protocol

from django.http import HttpResponse

from incidents_app import queries
from incidents_app.actions import take_notice
from incidents_app.models import Incident
from incidents_app.payloads import objects
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_READ, SESSIONS_WRITE
from statebase_site.web.api import written

INCIDENT = "/incidents/{incident_id}"
MOST = 100  # rows of a page

reads_incidents = needs(SESSIONS_READ, instead=INCIDENT_MANAGE, to="read incidents")
reports_incidents = needs(SESSIONS_WRITE, instead=INCIDENT_MANAGE, to="report on incidents")
manages_incidents = needs(INCIDENT_MANAGE, to="manage incidents")


class _Outcome(Protocol):
    @property
    def incident(self) -> Incident: ...

    @property
    def replayed(self) -> bool: ...


def incident_now(request: ApiRequest, incident_id: str) -> Incident:
    """The incident, with what happened outside it told in it. Raises `IncidentNotFound`."""
    incident = queries.incident_for(request.actor, incident_id)
    if take_notice(incident):
        incident = queries.incident_for(request.actor, incident_id)
    return incident


def in_full(incident: Incident) -> dict[str, Any]:
    """The incident with everything that is known of it, as it is now."""
    found = queries.assess(incident)
    return objects.incident_in_full(found, queries.details_of(found))


def acted(request: ApiRequest, outcome: _Outcome, status: int = 200) -> HttpResponse:
    """The answer to every act: the incident as it is afterwards."""
    incident = queries.incident_for(request.actor, outcome.incident.reference)
    return written(outcome, in_full(incident), status)
