"""Finding incidents, their sessions and scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from incidents_app.enums import ACTIVE
from incidents_app.errors import (
    FollowUpNotFound,
    IncidentNotFound,
    ScenarioNotFound,
    SessionNotAffected,
)
from incidents_app.models import AffectedSession, FollowUp, Incident, Scenario, ScenarioRun
from incidents_app.models.incident import REFERENCE_PREFIX
from statebase_site.access.actor import Actor
from statebase_site.base.ids import findable

_MOST_DIGITS = 9  # what a database column holds


def number_in(reference: str) -> int | None:
    """The number in `INCIDENT-12`, in any case; None where it is no reference."""
    digits = reference.strip().upper().removeprefix(REFERENCE_PREFIX)
    if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
        return int(digits)
    return None


def with_reference(incidents: QuerySet[Incident], reference: str) -> QuerySet[Incident]:
    """Those with that reference: one a project, or none."""
    number = number_in(reference)
    return incidents.none() if number is None else incidents.filter(number=number)


def incident_for(by: Actor, reference: str) -> Incident:
    """One incident. Raises `IncidentNotFound`, also for one of another project."""
    found = with_reference(Incident.objects.filter(project=by.project), reference)
    incident = found.select_related("commander", "duplicate_of", "project").first()
    if incident is None:
        raise IncidentNotFound(reference)
    return incident


def incident_of_projects(reference: str, projects: Iterable[int], preferred: int | None) -> Incident:
    """One incident in any of `projects` (their keys): numbers repeat among them, so `preferred` goes first.

    Raises `IncidentNotFound`.
    """
    found = with_reference(Incident.objects.filter(project__in=list(projects)), reference)
    rows = list(found.select_related("project", "commander", "duplicate_of").order_by("project_id"))
    if not rows:
        raise IncidentNotFound(reference)
    return next((row for row in rows if row.project_id == preferred), rows[0])


def find_incidents(
    by: Actor,
    *,
    status: str | None = None,
    severity: str | None = None,
    session_id: str | None = None,
    failure_mode: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[Incident]:
    """The actor's incidents, narrowed by what is given (contract 16)."""
    given = {
        "status": status,
        "severity": severity,
        "failure_mode": failure_mode,
        "created_at__gte": created_after,
        "created_at__lte": created_before,
    }
    incidents = Incident.objects.filter(project=by.project).select_related("commander", "duplicate_of")
    incidents = incidents.filter(**{name: value for name, value in given.items() if value is not None})
    if session_id is not None:
        incidents = affecting(incidents, session_id)
    return incidents


def affecting(incidents: QuerySet[Incident], session_id: str) -> QuerySet[Incident]:
    """Those that affect a session, in any of their episodes."""
    rows = AffectedSession.objects.filter(episode__incident=OuterRef("pk"), session_id=findable(session_id))
    return incidents.filter(Exists(rows))


def open_incidents_of(session_ids: Iterable[str], *, project: int) -> dict[str, list[Incident]]:
    """The active incidents that affect each session in their current episode, by session, oldest first."""
    rows = (
        AffectedSession.objects.filter(
            session_id__in=list(session_ids),
            episode__incident__project=project,
            episode__incident__status__in=ACTIVE,
            episode__closed_at=None,
        )
        .select_related("episode__incident")
        .order_by("episode__incident__number", "episode__number")
    )
    found: dict[str, list[Incident]] = {}
    for row in rows:
        incident = row.episode.incident
        if row.episode.number == incident.episode_number:
            found.setdefault(row.session_id, []).append(incident)
    return found


def affected_by_session(incident: Incident, session_id: str) -> AffectedSession:
    """The session's row in the current episode. Raises `SessionNotAffected`."""
    row = AffectedSession.objects.filter(
        episode__incident=incident,
        episode__number=incident.episode_number,
        session_id=findable(session_id),
    ).first()
    if row is None:
        raise SessionNotAffected(session_id, incident.reference)
    return row


def follow_up_of(incident: Incident, number: int) -> FollowUp:
    """One follow-up. Raises `FollowUpNotFound`."""
    found = FollowUp.objects.filter(incident=incident, number=number).first() if number < 2**31 else None
    if found is None:
        raise FollowUpNotFound(number, incident.reference)
    return found


def scenario_for(by: Actor, scenario_id: str) -> Scenario:
    """One scenario. Raises `ScenarioNotFound`."""
    found = scenarios_for(by).filter(public_id=findable(scenario_id)).first()
    if found is None:
        raise ScenarioNotFound(scenario_id)
    return found


def scenarios_for(by: Actor, *, waiting: bool | None = None) -> QuerySet[Scenario]:
    """The project's scenarios; `waiting`: those with, or without, a run that nobody picked up yet."""
    found = Scenario.objects.filter(project=by.project).select_related("incident").prefetch_related("runs")
    if waiting is None:
        return found
    has_waiting = Exists(ScenarioRun.objects.filter(scenario=OuterRef("pk"), outcome=None))
    return found.filter(has_waiting if waiting else ~Q(has_waiting))
