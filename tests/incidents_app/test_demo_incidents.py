"""The demo's incidents: one of each severity at its stage, with times that fit those of the sessions."""

from datetime import UTC, datetime, timedelta

import pytest

from incidents_app import queries
from incidents_app.demo import load_incidents
from incidents_app.enums import Status, Step, StepState
from incidents_app.models import Incident
from sessions_app import queries as session_queries
from sessions_app.demo import go_on, load_demo
from sessions_app.models import AgentSession
from statebase_site.base import clock
from tests import factories as make

NOW = datetime(2026, 11, 29, 0, 3, tzinfo=UTC)  # a moment after midnight, where days are easily mistaken


@pytest.fixture(scope="module")
def demo(module_db):
    """The project with both demos."""
    project = make.project("Demo of incidents")
    for name, role in (("maria", "responder"), ("ingrid", "responder"), ("jon", "engineer")):
        make.membership(project, role, name)
    with clock.at(NOW):
        load_demo(project)
        load_incidents(project, go_on)
    return project


@pytest.fixture
def seen(demo):
    """What each incident comes to at that moment, by severity."""
    with clock.at(NOW):
        return {each.severity: queries.assess(each) for each in Incident.objects.filter(project=demo)}


def session_of(found):
    (session,) = found.sessions.values()
    return session


def state(session, number):
    return session_queries.document_at(session, number).value


def test_there_is_one_of_each_severity_at_another_stage(seen):
    assert {severity: found.status for severity, found in seen.items()} == {
        "S1": Status.CONTAINED,
        "S2": Status.CLOSED,
        "S3": Status.RESOLVED,
        "S4": Status.RECOVERED,
    }
    assert {found.incident.reference for found in seen.values()} == {f"INCIDENT-{n}" for n in range(1, 5)}


def test_the_travel_agent_is_frozen_and_its_divergence_comes_next(seen):
    found = seen["S1"]
    (row,) = found.affected
    states = {step: found.step(row, step).state for step in Step}
    assert states == {
        Step.FREEZE: StepState.DONE,
        Step.RECONSTRUCT: StepState.DONE,
        Step.DIVERGENCE: StepState.PENDING,
        Step.ROLLBACK: StepState.PENDING,
        Step.PREVENT: StepState.PENDING,
        Step.RESUME: StepState.PENDING,
    }
    session = session_of(found)
    assert (session.agent_id, session.is_frozen, session.open_holds) == ("travel-agent", True, 1)
    assert state(session, 5)["user_request"] == "cancel everything"
    kinds = list(found.incident.events.values_list("kind", flat=True))
    assert "write_refused" in kinds
    assert found.incident.commander.username == "maria"


def test_the_wrong_payment_went_through_the_whole_runbook(seen):
    found = seen["S2"]
    (row,) = found.affected
    assert {found.step(row, step).state for step in Step} == {StepState.DONE}
    metrics = queries.metrics_of(found.episode, found.affected)
    assert (metrics.bad_versions, metrics.tool_calls) == (3, 3)
    assert 30 < metrics.time_to_freeze_s < 90
    runs = [run.outcome for scenario in found.incident.scenarios.all() for run in scenario.runs.all()]
    assert runs == ["red", "green"]
    episode = found.episode
    assert (episode.approved_by, episode.approved_alone) == ("user:ingrid", False)
    assert episode.lessons
    assert {each.disposition for each in row.effects.all()} == {"accepted", "reversed", "compensated"}
    assert [each.done_at is not None for each in found.incident.follow_ups.all()] == [True, True, False]


def test_after_the_resume_the_right_amount_is_paid(seen):
    session = session_of(seen["S2"])
    (row,) = seen["S2"].affected
    assert not session.is_frozen
    assert session.open_holds == 0
    assert state(session, row.rollback_version)["paid_total"] == 318.45
    final = {each["id"]: each for each in state(session, session.head_version)["invoices"]}
    assert (final["INV-20417"]["amount"], final["INV-20417"]["payment"]) == (1240.0, "pay_70029")
    assert state(session, session.head_version)["paid_total"] == 1558.45


def test_the_loop_was_reported_by_its_agent_and_corrected(seen):
    incident = seen["S3"].incident
    assert (incident.count, incident.filed_by, incident.failure_mode) == (3, "sb_T4mWd", "infinite_loop")
    assert seen["S3"].facts.review_missing == ["the lessons"]
    (row,) = seen["S3"].affected
    assert row.correction
    assert not session_of(seen["S3"]).is_frozen


def test_the_cosmetic_one_waits_for_the_next_deploy(seen):
    (follow_up,) = seen["S4"].incident.follow_ups.all()
    assert (follow_up.kind, follow_up.owner, follow_up.done_at) == ("deploy", "jon", None)
    assert seen["S4"].unmet(Status.RESOLVED) == []


def test_nothing_lies_in_the_future_or_before_its_session(demo, seen):
    for found in seen.values():
        began = session_of(found).created_at
        for event in found.incident.events.all():
            assert began <= event.occurred_at <= event.created_at <= NOW
            assert not event.is_backdated
    assert NOW - seen["S1"].incident.updated_at < timedelta(minutes=5)


def test_histories_still_fit_and_nothing_expires(demo):
    for session in AgentSession.objects.filter(project=demo):
        assert session_queries.verify_session(session).first_bad is None, session
        assert session.expires_at is None
