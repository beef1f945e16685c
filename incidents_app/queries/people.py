"""Who leads an incident, and who could."""

from __future__ import annotations

from django.contrib.auth.models import User

from incidents_app.models import Incident
from statebase_site.access import scopes
from statebase_site.access.models import Membership


def commander_is_away(incident: Incident) -> bool:
    """Whether the commander can't act: the account is disabled, or no longer a member who may."""
    if incident.commander_id is None:
        return False
    return all(user.pk != incident.commander_id for user in who_may_command(incident.project_id))


def people_of(project: int) -> list[str]:
    """The names of those who work in a project."""
    members = Membership.objects.filter(project=project, user__is_active=True)
    return list(members.order_by("user__username").values_list("user__username", flat=True))


def who_may_command(project: int) -> list[User]:
    """The people who can be made commander in a project: responders and admins, by name."""
    memberships = Membership.objects.filter(project=project, user__is_active=True)
    return [
        each.user
        for each in memberships.select_related("user").order_by("user__username")
        if scopes.allows(each.scopes, scopes.INCIDENT_MANAGE)
    ]
