"""Telling in an incident what happened outside it, for whoever is about to look, and for the worker."""

from __future__ import annotations

from functools import partial

from django.db.models import QuerySet

from incidents_app.actions._noticing import with_news
from incidents_app.actions._work import Work, locked_incident
from incidents_app.models import Incident
from sessions_app.actions import action
from statebase_site.access.actor import Actor, system_actor
from statebase_site.base.jobs import do_all


def take_notice(incident: Incident) -> bool:
    """Tell in the incident what happened outside it since; returns whether there was anything to look at.

    Writes nothing where none of its sessions has changed.
    """
    return incident.is_active and take_notice_of_all(Incident.objects.filter(pk=incident.pk)) > 0


def take_notice_of_all(incidents: QuerySet[Incident]) -> int:
    """The same for many, as before they are chosen by their status; returns how many had news."""
    return do_all(partial(settle, incident) for incident in with_news(incidents).select_related("project"))


def settle(incident: Incident) -> int:
    """Tell what happened outside, if anything did, and let the status follow the facts. Returns 1."""
    _settle(reference=incident.reference, by=system_actor(incident.project))
    return 1


@action
def _settle(*, reference: str, by: Actor) -> None:
    work = Work(locked_incident(by, reference), by)
    if work.incident.is_active:
        work.finish()
