"""Why a person may not do an act now, in plain words. The actions are what decides."""

from __future__ import annotations

from incidents_app.enums import ENDED, Status
from incidents_app.models import Incident
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import FULL, INCIDENT_MANAGE, SESSIONS_WRITE

_TAKES = {
    SESSIONS_WRITE: "Your role only reads; an engineer of the project may.",
    INCIDENT_MANAGE: "This takes the role responder or admin.",
    FULL: "Only an admin of the project may.",
}


def why_not(
    by: Actor, incident: Incident, *, needs: str, commands: bool = False, on_ended: bool = False
) -> str:
    """Why `by` may not do what takes the scope `needs`; empty where they may.

    `commands`: it takes the command, too. `on_ended`: also for an incident that has ended.
    """
    if incident.status in ENDED and not on_ended:
        merged = incident.status == Status.DUPLICATE
        more = "It goes on where it was merged into." if merged else "Reopen it first."
        return f"{incident.reference} is {incident.status}. {more}"
    if not by.may(needs) and not (needs == SESSIONS_WRITE and by.may(INCIDENT_MANAGE)):
        return _TAKES[needs]
    if not commands or by.may(FULL) or by.id == f"user:{incident.commander_id}":
        return ""
    if incident.commander is None:
        return f"{incident.reference} has no commander, and only its commander may. Take command first."
    return f"Only the commander, {incident.commander.get_username()}, may."
