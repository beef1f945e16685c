"""Errors of incidents; codes are those of contract section 16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from statebase_site.base.errors import Conflict, InvalidInput, NotFound, PermissionRefused

if TYPE_CHECKING:
    from incidents_app.rules import Unmet

__all__ = [
    "CommandRefused",
    "EditConflict",
    "FollowUpNotFound",
    "GateUnmet",
    "IncidentEnded",
    "IncidentNotFound",
    "InvalidInput",
    "ScenarioNotFound",
    "SessionNotAffected",
]


class IncidentNotFound(NotFound):
    """No such incident, or not for this actor."""

    code = "incident_not_found"

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"There is no incident {reference!r}.",
            param="incident_id",
            suggestion="Incidents are named INCIDENT-1, INCIDENT-2 and so on, each project its own.",
        )


class SessionNotAffected(NotFound):
    """The session is none of the incident's."""

    code = "session_not_found"

    def __init__(self, session_id: str, reference: str) -> None:
        super().__init__(
            f"{reference} does not affect a session {session_id!r}.",
            param="session_id",
            suggestion=f"Add it first: POST /v1/incidents/{reference}/sessions.",
        )


class FollowUpNotFound(NotFound):
    """The incident has no follow-up with this number."""

    code = "followup_not_found"

    def __init__(self, number: int, reference: str) -> None:
        super().__init__(f"{reference} has no follow-up {number}.", param="n")


class ScenarioNotFound(NotFound):
    """No such scenario, or not for this actor."""

    code = "scenario_not_found"

    def __init__(self, scenario_id: str) -> None:
        super().__init__(f"There is no scenario {scenario_id!r}.", param="scenario_id")


class GateUnmet(Conflict):
    """A step is not allowed yet; extra `unmet` lists exactly what is missing."""

    code = "gate_unmet"

    def __init__(self, attempt: str, unmet: Sequence[Unmet]) -> None:
        missing = " ".join(each.message for each in unmet)
        super().__init__(
            f"{attempt}: {missing}",
            unmet=[
                {"code": each.code, "session_id": each.session_id, "message": each.message} for each in unmet
            ],
        )
        self.attempt = attempt
        self.unmet = list(unmet)


class IncidentEnded(Conflict):
    """The incident is closed, declined or a duplicate: it is read only until it is reopened."""

    code = "incident_ended"

    def __init__(self, reference: str, status: str) -> None:
        super().__init__(
            f"{reference} is {status}: nothing about it can be changed.",
            suggestion="Reopen it first, which starts a new episode."
            if status != "duplicate"
            else "Go on in the incident that it was merged into.",
        )


class EditConflict(Conflict):
    """Somebody else changed the text meanwhile; extras `current` and `current_revision`."""

    code = "edit_conflict"

    def __init__(self, field: str, *, current: str, edited_by: str, revision: int | None = None) -> None:
        super().__init__(
            f"{edited_by.removeprefix('user:')} has changed the {field} meanwhile.",
            param=field,
            suggestion="Read their text, put both together, and save again.",
            current=current,
            current_revision=revision,
        )
        self.current = current
        self.revision = revision


class CommandRefused(PermissionRefused):
    """Only the incident's commander, or an admin, may do this."""

    def __init__(self, message: str, *, suggestion: str) -> None:
        super().__init__(message, suggestion=suggestion, required_scope="incident:manage")
