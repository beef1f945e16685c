"""The second seed's runbook through the actions, from filing to closing."""

from __future__ import annotations

import pytest

from incidents_app import actions, queries
from incidents_app.enums import Severity, Status, Step, StepState
from incidents_app.errors import GateUnmet
from sessions_app import actions as sessions
from statebase_site.base import json
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return factories.project()


def states(incident, session):
    found = queries.assess(incident)
    row = next(each for each in found.affected if each.session_id == session.public_id)
    return {step: view.state for step, view in found.steps_of(row).items()}


def test_an_s1_from_filing_to_closing(project):
    agent = factories.agent(project)
    maria = factories.person(project, "responder", "maria")
    jon = factories.person(project, "admin", "jon")
    session = factories.session(agent, {"destination": "Lisbon", "booked": True})
    factories.tool_call(session, "cancel_booking", by=agent, id="UA123")
    factories.update(session, {"destination": None, "booked": False}, by=agent)
    factories.update(session, {"attempts": 1}, by=agent)

    incident = actions.file(
        title="Cancelled a booking nobody asked to cancel",
        severity="S1",
        session_ids=[session.public_id],
        by=maria,
    ).incident
    ref = incident.reference
    assert ref == "INCIDENT-1"
    assert factories.fresh(session).is_frozen
    assert incident.status == Status.CONTAINED
    assert states(incident, session)[Step.FREEZE] == StepState.DONE

    actions.pin(reference=ref, session_id=session.public_id, versions=[1, 0], by=maria)
    actions.record_divergence(
        reference=ref, session_id=session.public_id, divergence_version=1, last_good_version=0, by=maria
    )
    actions.rollback(reference=ref, session_id=session.public_id, by=maria)
    incident.refresh_from_db()
    assert incident.status == Status.RECOVERED
    with pytest.raises(GateUnmet) as refused:
        actions.resolve(reference=ref, by=maria)
    assert [each.code for each in refused.value.unmet] == [
        "effect_undecided",
        "session_frozen",
        "prevention",
        "followup_missing",
        "scenario",
    ]
    effect = queries.affected_by_session(incident, session.public_id).effects.get()
    actions.decide_effect(
        reference=ref,
        session_id=session.public_id,
        turn_id=effect.turn_id,
        disposition="compensated",
        by=maria,
    )
    actions.answer_causes(reference=ref, text="No confirmation", missing_checkpoint=True, by=maria)
    actions.add_follow_up(reference=ref, text="Checkpoint before cancel_booking", by=maria)
    made = actions.create_scenario(
        reference=ref,
        name="Cancel",
        session_id=session.public_id,
        fork_version=0,
        fault={"kind": "state_patch", "patch": {"destination": None}},
        predicate="destination != null",
        by=maria,
    )
    first = actions.report_run(
        scenario_id=made.scenario.public_id,
        session_id=made.run.session_id,
        agent_version="travel@2.8.1",
        by=agent,
    )
    assert first.run.outcome == "red"
    again = actions.request_run(scenario_id=made.scenario.public_id, by=maria)
    sessions.update_state(session_id=again.run.session_id, changes={"destination": "Lisbon"}, by=agent)
    second = actions.report_run(
        scenario_id=made.scenario.public_id,
        session_id=again.run.session_id,
        agent_version="travel@2.8.2",
        outcome="green",
        by=agent,
    )
    assert second.run.outcome == "green"
    actions.resume(reference=ref, session_id=session.public_id, by=maria)
    assert not factories.fresh(session).is_frozen
    factories.update(session, {"attempts": 2}, by=agent)
    actions.resolve(reference=ref, by=maria)
    incident.refresh_from_db()
    assert incident.status == Status.RESOLVED

    with pytest.raises(GateUnmet) as refused:
        actions.close(reference=ref, by=maria)
    assert [each.code for each in refused.value.unmet] == [
        "review",
        "review_approval",
        "followup_owner",
        "watch_window",
    ]
    actions.write_review(
        reference=ref,
        failure_mode="hallucination_corruption",
        checkpoint=(session.public_id, 0),
        lessons="Ask before cancelling.",
        scenario_id=made.scenario.public_id,
        by=maria,
    )
    actions.approve_review(reference=ref, by=jon)
    actions.finish_follow_up(reference=ref, number=1, by=maria)
    actions.override(reference=ref, gate="watch_window", reason="Watched by hand", by=jon)
    actions.close(reference=ref, by=maria)
    incident.refresh_from_db()
    assert incident.status == Status.CLOSED
    assert factories.fresh(session).open_holds == 0
    assert set(states(incident, session).values()) == {StepState.DONE}
    metrics = queries.metrics_of(incident.episodes.get(), list(incident.episodes.get().affected.all()))
    assert (metrics.bad_versions, metrics.tool_calls) == (2, 1)
    assert Severity(incident.peak_severity) == Severity.S1
    assert json.parse_stored(incident.episodes.get().affected.get().pins.first().content)["version"] == 1
