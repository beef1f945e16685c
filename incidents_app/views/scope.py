"""Whose page it is: an incident is looked for in all projects of the person, the one they work in first."""

from __future__ import annotations

from django.http import HttpRequest

from incidents_app import queries
from incidents_app.models import Incident
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for, current_membership, memberships


def person_and_incident(request: HttpRequest, reference: str) -> tuple[Actor, Incident]:
    """The signed-in person as an actor of the incident's project, and the incident.

    Raises `IncidentNotFound`.
    """
    current = current_membership(request)
    incident = queries.incident_of_projects(
        reference,
        [each.project_id for each in memberships(request)],
        current.project_id if current else None,
    )
    return actor_for(request, incident.project), incident
