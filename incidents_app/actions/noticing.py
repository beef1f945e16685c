"""Telling in an incident what happened outside it, for whoever is about to look, and for the worker."""

from __future__ import annotations

from incidents_app.actions._noticing import has_news
from incidents_app.actions._work import Work, locked_incident
from incidents_app.models import Incident
from sessions_app.actions import action
from statebase_site.access.actor import Actor, system_actor


def take_notice(incident: Incident) -> bool:
    """Tell in the incident what happened outside it since; returns whether there was anything to look at.

    Writes nothing where none of its sessions has changed.
    """
    if not incident.is_active or not has_news(incident):
        return False
    settle(incident)
    return True


def settle(incident: Incident) -> None:
    """Tell what happened outside, if anything did, and let the status follow the facts."""
    _settle(reference=incident.reference, by=system_actor(incident.project))


@action
def _settle(*, reference: str, by: Actor) -> None:
    work = Work(locked_incident(by, reference), by)
    if work.incident.is_active:
        work.finish()
