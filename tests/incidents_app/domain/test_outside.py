"""What is done to a session elsewhere is noticed in the incident, and by whom (design "The six steps")."""

from datetime import timedelta

import pytest

from incidents_app import actions
from incidents_app.actions import maintenance
from incidents_app.enums import EventKind, Status, Step, StepState
from sessions_app import actions as sessions
from statebase_site.base import clock
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def key(acme):
    """Some key that may do all, outside of any incident."""
    return make.full_key(acme)


@pytest.fixture(scope="module")
def filed(damaged, maria):
    return run.file(maria, damaged, severity="S1")


@pytest.fixture
def incident(filed, db):
    """An S1 whose session is frozen at v3."""
    return make.fresh(filed)


def test_a_resume_elsewhere_is_a_red_step_with_who_did_it(incident, session, key):
    sessions.resume(session_id=session.public_id, by=key)
    assert run.status(incident) == Status.OPEN
    seen = run.view(incident, session, Step.FREEZE)
    assert (seen.state, seen.why) == (StepState.REGRESSED, f"v4 resumed by {key.label}")
    told = run.events(incident, EventKind.OUTSIDE)[0]
    assert (told.version, told.is_alarm, told.actor_label) == (4, True, key.label)
    assert "step 1 no longer holds" in told.text
    lost = run.events(incident, EventKind.STATUS)[-1]
    assert (lost.details["from"], lost.details["to"], lost.is_alarm) == ("contained", "open", True)


def test_it_is_told_once_at_the_time_it_happened_whoever_looks(incident, session, key):
    sessions.resume(session_id=session.public_id, by=key)
    at = make.fresh(session).updated_at
    with clock.at(at + timedelta(hours=1)):
        assert actions.take_notice(incident)
        assert not actions.take_notice(incident)
        assert maintenance.run_once() == 0
    told = run.events(incident, EventKind.OUTSIDE)
    assert [each.occurred_at for each in told] == [at]


def test_the_worker_notices_without_anybody_looking(incident, session, key):
    sessions.resume(session_id=session.public_id, by=key)
    assert maintenance.run_once() == 1
    incident.refresh_from_db()
    assert incident.status == Status.OPEN


def test_an_act_on_the_incident_notices_as_well(incident, session, key, maria):
    sessions.resume(session_id=session.public_id, by=key)
    actions.add_note(reference=incident.reference, text="Just looking", by=maria)
    incident.refresh_from_db()
    assert incident.status == Status.OPEN


def test_freezing_again_here_makes_it_whole(incident, session, key, agent, maria):
    sessions.resume(session_id=session.public_id, by=key)
    make.update(session, {"attempts": 2}, by=agent)
    run.frozen(incident, session, maria)
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE
    assert run.status(incident) == Status.CONTAINED
    assert "again" in run.events(incident, EventKind.FROZEN)[-1].text
    assert run.row_of(incident, session).freeze_version == 3  # the time to freeze counts the first


def test_frozen_again_elsewhere_is_still_red_as_somebody_wrote_in_between(
    incident, session, key, agent, maria
):
    sessions.resume(session_id=session.public_id, by=key)
    make.update(session, {"attempts": 2}, by=agent)
    make.freeze(session, by=key)
    assert run.step(incident, session, Step.FREEZE) == StepState.REGRESSED
    assert run.status(incident) == Status.OPEN
    run.frozen(incident, session, maria)
    assert run.status(incident) == Status.CONTAINED


def test_another_freeze_elsewhere_harms_nothing(incident, session, key):
    make.freeze(session, by=key)
    assert run.status(incident) == Status.CONTAINED
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE


def test_a_freeze_elsewhere_is_what_step_1_asks_for(stray, key, maria):
    incident = run.file(maria, stray, severity="S2")
    make.freeze(stray, by=key)
    assert run.status(incident) == Status.CONTAINED
    row = run.row_of(incident, stray)
    assert (row.freeze_version, row.frozen_by) == (3, key.label)
    told = run.events(incident, EventKind.OUTSIDE)[0]
    assert (told.is_alarm, told.version) == (False, 3)


def test_a_rollback_elsewhere_is_red_even_where_it_goes_to_the_right_version(incident, session, key, maria):
    run.diverged(incident, session, maria)
    make.rollback(session, 0, by=key)
    assert run.steps(incident, session)["freeze"] == "regressed"
    assert run.steps(incident, session)["rollback"] == "done"  # the state is that of the last good one
    assert f"rolled back by {key.label}" in run.view(incident, session, Step.FREEZE).why
    told = run.events(incident, EventKind.OUTSIDE)[-1]
    assert (told.is_alarm, told.version) == (True, 4)
    run.frozen(incident, session, maria)
    assert run.status(incident) == Status.RECOVERED


def test_an_agent_that_mends_the_state_itself_recovers_an_s2(stray, agent, maria):
    incident = run.file(maria, stray, severity="S2")
    run.diverged(incident, stray, maria)
    make.update(stray, run.GOOD, by=agent)
    make.rollback(stray, 0, by=agent)
    run.frozen(incident, stray, maria)
    assert run.status(incident) == Status.RECOVERED


def test_after_the_resume_here_sessions_go_on_without_a_word(incident, session, key, agent, maria):
    run.recovered(incident, session, maria)
    run.resumed(incident, session, maria)
    make.update(session, {"attempts": 9}, by=agent)
    make.rollback(session, -1, by=agent)
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE
    assert run.status(incident) == Status.RECOVERED


def test_a_freeze_elsewhere_after_the_resume_shows_and_has_to_be_resumed(incident, session, key, maria):
    run.recovered(incident, session, maria)
    run.resumed(incident, session, maria)
    make.freeze(session, by=key)
    assert run.step(incident, session, Step.RESUME) == StepState.REGRESSED
    assert key.label in run.view(incident, session, Step.RESUME).why
    assert run.events(incident, EventKind.OUTSIDE)[-1].is_alarm
    codes = [each.code for each in run.look(incident).unmet(Status.RESOLVED)]
    assert "session_frozen" in codes
    run.resumed(incident, session, maria)
    assert run.step(incident, session, Step.RESUME) == StepState.DONE


def test_ordinary_writes_before_the_freeze_are_no_news(stray, agent, maria):
    incident = run.file(maria, stray, severity="S2")
    before = len(run.events(incident))
    make.update(stray, {"attempts": 2}, by=agent)
    make.turn(stray, by=agent)
    assert run.status(incident) == Status.OPEN
    assert len(run.events(incident)) == before


def test_what_happened_before_it_was_linked_is_not_told(stray, key, maria):
    make.freeze(stray, by=key)
    sessions.resume(session_id=stray.public_id, by=key)
    incident = run.file(maria, stray, severity="S2")
    run.look(incident)
    assert run.events(incident, EventKind.OUTSIDE) == []


def test_an_ended_incident_no_longer_looks(incident, session, key, maria):
    actions.decline(reference=incident.reference, reason="A test", resume_sessions=True, by=maria)
    before = len(run.events(incident))
    make.freeze(session, by=key)
    incident.refresh_from_db()
    assert not actions.take_notice(incident)
    maintenance.run_once()
    assert len(run.events(incident)) == before
    assert run.status(incident) == Status.DECLINED


def test_a_session_held_as_evidence_does_not_expire_and_lives_on_by_as_much(agent, maria):
    made = run.damaged(agent, ttl_seconds=3600)
    incident = run.file(maria, made, severity="S3")
    begun, due = make.fresh(made).life_stopped_at, make.fresh(made).expires_at
    with clock.at(due + timedelta(days=1)):
        assert not make.fresh(made).is_expired
        make.update(made, {"a": 1}, by=agent)
        actions.decline(reference=incident.reference, reason="A test", by=maria)
        assert make.fresh(made).expires_at == due + (clock.now() - begun)
        assert run.open_holds(made) == []
