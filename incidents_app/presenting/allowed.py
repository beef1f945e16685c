"""What the person at the incident page may do now, and in plain words why not."""

from __future__ import annotations

from dataclasses import dataclass

from incidents_app.enums import Status
from incidents_app.models import Incident
from incidents_app.presenting.why_not import why_not
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import FULL, INCIDENT_MANAGE, SESSIONS_WRITE

_REOPENS = (Status.RESOLVED, Status.CLOSED, Status.DECLINED)


@dataclass(frozen=True, slots=True)
class Allowed:
    """Each `…_off` is empty where such acts are allowed, else the reason why they are not."""

    write_off: str
    manage_off: str
    command_off: str
    override_off: str
    reopen_off: str
    take_off: str
    """For taking command: of nobody, or from somebody."""
    later_off: str
    """For what goes on after the end: follow-ups."""
    run_off: str
    """For runs of scenarios, which go on after the end, too."""
    is_commander: bool

    def off(self, needs: str) -> str:
        """Why an act that needs `read`, `write`, `manage` or `command` is not allowed."""
        reasons = {"write": self.write_off, "manage": self.manage_off, "command": self.command_off}
        return reasons.get(needs, "")


def allowed(by: Actor, incident: Incident) -> Allowed:
    """The same rules as the actions', asked beforehand."""
    manage_off = why_not(by, incident, needs=INCIDENT_MANAGE)
    command_off = why_not(by, incident, needs=INCIDENT_MANAGE, commands=True)
    later_off = why_not(by, incident, needs=INCIDENT_MANAGE, on_ended=True)
    reopens = incident.status in _REOPENS
    return Allowed(
        write_off=why_not(by, incident, needs=SESSIONS_WRITE),
        manage_off=manage_off,
        command_off=command_off,
        override_off=why_not(by, incident, needs=FULL),
        reopen_off=later_off or ("" if reopens else "Only what is resolved, closed or declined is reopened."),
        take_off=manage_off if incident.commander_id is None else command_off,
        later_off=later_off,
        run_off=why_not(by, incident, needs=SESSIONS_WRITE, on_ended=True),
        is_commander=incident.commander_id is not None and by.id == f"user:{incident.commander_id}",
    )
