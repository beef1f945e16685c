"""An incident with something in every part of an export, each time with the same facts at the same times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from incidents_app import actions
from incidents_app.models import Incident, Scenario
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base import clock
from tests import factories as make
from tests.incidents_app import runbook

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SECRET = "hunter2-and-more"


@dataclass(frozen=True)
class Told:
    """What the tests look for in exports."""

    incident: Incident
    session: AgentSession
    scenario: Scenario
    project: Project
    maria: Actor
    jon: Actor


def told() -> Told:
    """Filed, walked through to its close, and reopened once."""
    project = make.project("Acme")
    agent = make.agent(project)
    maria = make.person(project, "responder", "maria")
    jon = make.person(project, "admin", "jon")
    with clock.at(NOON - timedelta(minutes=5)):
        session = make.session(agent, {"booked": True, "db_password": SECRET})
        make.tool_call(session, "cancel_booking", by=agent, id="UA123", api_key=SECRET)
        make.update(session, {"booked": False, "note": "line <1>\n# line 2"}, by=agent)
    with clock.at(NOON):
        incident = runbook.file(
            maria,
            session,
            severity="S1",
            title="Cancelled a booking | nobody asked",
            summary=f"The agent cancelled *UA123*.\n# See https://evil.example, password={SECRET}",
        )
    reference = incident.reference
    with clock.at(NOON + timedelta(minutes=2)):
        actions.add_note(
            reference=reference,
            text="The airline called <b>earlier</b>",
            occurred_at=NOON - timedelta(hours=1),
            by=maria,
        )
        actions.add_note(
            reference=reference,
            text="They called at 11:10.\n- And again:\n# at 11:30",
            supersedes=2,
            by=maria,
        )
        actions.join(reference=reference, by=jon)
    with clock.at(NOON + timedelta(minutes=9)):
        scenario = runbook.resolved(incident, session, maria)
        runbook.reviewed(incident, session, maria, scenario)
    with clock.at(NOON + timedelta(hours=3)):
        actions.approve_review(reference=reference, by=jon)
        actions.assign_follow_up(reference=reference, number=1, owner="jon", due=date(2026, 12, 3), by=maria)
        actions.override(reference=reference, gate="watch_window", reason="Watched by hand", by=jon)
        actions.close(reference=reference, by=maria)
    with clock.at(NOON + timedelta(days=1)):
        actions.reopen(reference=reference, reason="It happened again", by=maria)
        actions.exempt(
            reference=reference,
            session_id=session.public_id,
            step="rollback",
            reason="The data is right already",
            by=maria,
        )
    incident.refresh_from_db()
    return Told(incident, session, scenario, project, maria, jon)
