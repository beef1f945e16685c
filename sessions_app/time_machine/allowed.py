"""What a person may do with a session now, and in plain words why not."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.actions import may_undo_freeze
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE


@dataclass(frozen=True, slots=True)
class Allowed:
    """Each field is empty where the act is allowed, else the reason why it is not."""

    rollback_off: str
    fork_off: str
    freeze_off: str
    resume_off: str
    may_undo_freeze: bool


def allowed(by: Actor, agent_session: AgentSession) -> Allowed:
    """The same rules as the actions', asked beforehand; the actions are what decides."""
    reads_only = "" if by.may(SESSIONS_WRITE) else "Your role only reads; an engineer of the project may."
    no_thaw = ""
    if not (by.may(SESSIONS_WRITE) and by.may(INCIDENT_MANAGE)):
        no_thaw = "The session is frozen; a responder of the project may."
    is_frozen = agent_session.is_frozen
    return Allowed(
        rollback_off=no_thaw if is_frozen else reads_only,
        fork_off=reads_only,
        freeze_off=reads_only or ("The session is frozen already." if is_frozen else ""),
        resume_off=no_thaw,
        may_undo_freeze=may_undo_freeze(agent_session, by),
    )
