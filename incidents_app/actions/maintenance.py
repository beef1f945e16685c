"""What the worker does for incidents, and how a whole project's are removed."""

from __future__ import annotations

from incidents_app.actions.noticing import take_notice_of_all
from incidents_app.actions.securing import secure_waiting
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Helper,
    Incident,
    IncidentCounter,
    Override,
    Pin,
    Scenario,
    ScenarioRun,
    TimelineEvent,
)
from sessions_app.actions import action
from statebase_site.access.models import Project
from statebase_site.base.jobs import do_all


def run_once() -> int:
    """Hold and freeze what waits, and tell what happened outside; returns how much was done."""
    return do_all((secure_waiting, lambda: take_notice_of_all(Incident.objects.all())))


@action
def remove_project_incidents(*, project: Project) -> None:
    """Remove all incidents of a project: `demo --reset`, for the demo project only, before its sessions."""
    Project.objects.filter(pk=project.pk).update(purging=True)
    of_incident = {"incident__project": project}
    of_row = {"affected__episode__incident__project": project}
    for model, owner in (
        (Pin, of_row),
        (Effect, of_row),
        (Exemption, of_row),
        (TimelineEvent, of_incident),
        (ScenarioRun, {"scenario__project": project}),
        (Override, {"episode__incident__project": project}),
        (AffectedSession, {"episode__incident__project": project}),
        (Episode, of_incident),
        (Scenario, {"project": project}),
        (FollowUp, of_incident),
        (Helper, of_incident),
        (Incident, {"project": project}),
        (IncidentCounter, {"project": project}),
    ):
        rows = model._base_manager.filter(
            pk__in=list(model._base_manager.filter(**owner).values_list("pk", flat=True))
        )
        rows._raw_delete(rows.db)
    Project.objects.filter(pk=project.pk).update(purging=False)
