"""Steps 2 to 4 and 6: evidence, divergence, rollback, and resuming (design "The six steps")."""

from datetime import timedelta

import pytest

from incidents_app import actions, queries
from incidents_app.actions.recovering import EffectNotFound, NothingToRollBackTo
from incidents_app.enums import EventKind, Status, Step, StepState
from incidents_app.errors import CommandRefused, GateUnmet, SessionNotAffected
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.errors import VersionConflict, VersionNotFound
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def filed(damaged, maria):
    made = run.file(maria, damaged)
    run.frozen(made, damaged, maria)
    return made


@pytest.fixture
def incident(filed, db):
    """INCIDENT-1, an S2 whose session is frozen at v3."""
    return make.fresh(filed)


def state(session):
    found = make.fresh(session)
    return session_queries.document_at(found, found.head_version).value


# Divergence ----------------------------------------------------------------------------------------------


def test_a_divergence_lies_between_versions_that_exist_and_differ(incident, session, maria):
    for divergence, good, param in (
        (4, 0, "divergence_version"),  # v3 is the last
        (1, 1, "last_good_version"),
        (1, 2, "last_good_version"),
        (1, -1, "last_good_version"),
        (0, -1, "last_good_version"),
        (10**30, 0, "divergence_version"),
        (3, 2, "divergence_version"),  # the freeze alone: nothing went wrong in it
    ):
        with pytest.raises(InvalidInput) as refused:
            run.diverged(incident, session, maria, divergence, good)
        assert refused.value.param == param
    assert run.step(incident, session, Step.DIVERGENCE) == StepState.PENDING


def test_a_divergence_says_how_it_was_found_and_counts_the_damage(incident, session, maria, edda):
    with pytest.raises(PermissionRefused):
        run.diverged(incident, session, edda)
    run.diverged(incident, session, maria, 1, 0)
    row = run.row_of(incident, session)
    assert (row.divergence_version, row.last_good_version, row.found_how) == (1, 0, "bisection")
    assert row.tool_calls == 1
    metrics = queries.metrics_of(incident.episodes.get(), [row])
    assert (metrics.bad_versions, metrics.tool_calls) == (2, 1)
    assert metrics.time_to_freeze_s is not None
    assert metrics.time_to_rollback_s is metrics.time_to_resume_s is metrics.time_to_close_s is None
    run.diverged(incident, session, maria, 1, 0)  # once more says nothing new
    run.diverged(incident, session, maria, 2, 0)
    first, moved = run.events(incident, EventKind.DIVERGENCE)
    assert (first.details["to"], moved.details["from"], moved.details["to"]) == ([1, 0], [1, 0], [2, 0])
    assert run.row_of(incident, session).diverged_at == row.diverged_at  # the clock counts the first


def test_another_projects_session_is_none_of_it(incident, session, maria, agent):
    strange = run.damaged(agent)
    for act in (
        lambda: run.diverged(incident, strange, maria),
        lambda: actions.rollback(**run.about(incident, strange, maria)),
        lambda: actions.resume(**run.about(incident, strange, maria)),
        lambda: actions.correct(**run.about(incident, strange, maria), text="x"),
        lambda: actions.pin(**run.about(incident, strange, maria), versions=[0]),
        lambda: actions.exempt(**run.about(incident, strange, maria), step="freeze", reason="x"),
    ):
        with pytest.raises(SessionNotAffected):
            act()


# Rollback ------------------------------------------------------------------------------------------------


def test_a_rollback_restores_the_last_good_state_and_stays_frozen(incident, session, maria):
    run.diverged(incident, session, maria)
    actions.rollback(**run.about(incident, session, maria))
    assert state(session) == {**run.GOOD, "frozen": True, "incident": True}
    version = session_queries.version_row(make.fresh(session), 4)
    assert (version.reasoning, version.actor_label) == ("INCIDENT-1: rollback to v0", "user:maria")
    assert run.status(incident) == Status.RECOVERED
    assert run.events(incident, EventKind.ROLLED_BACK)[0].version == 4


def test_a_double_click_on_rollback_makes_one_version(incident, session, maria):
    run.diverged(incident, session, maria)
    by = make.asking(maria, key="click", method="POST")
    first = actions.rollback(**{**run.about(incident, session, maria), "by": by})
    second = actions.rollback(**{**run.about(incident, session, maria), "by": by})
    third = actions.rollback(**run.about(incident, session, maria))  # without a key
    assert (first.replayed, second.replayed, third.replayed) == (False, True, False)
    assert make.fresh(session).head_version == 4
    assert len(run.events(incident, EventKind.ROLLED_BACK)) == 1


def test_the_head_that_moved_since_the_rehearsal_refuses_the_rollback(incident, session, agent, maria):
    run.diverged(incident, session, maria)
    seen = make.fresh(session).head_version
    sessions.freeze(session_id=session.public_id, by=agent)  # a moment later
    with pytest.raises(VersionConflict) as refused:
        actions.rollback(**run.about(incident, session, maria), expected_version=seen)
    assert refused.value.extras["current_version"] == seen + 1
    assert run.step(incident, session, Step.ROLLBACK) == StepState.PENDING
    assert run.events(incident, EventKind.ROLLED_BACK) == []
    actions.rollback(**run.about(incident, session, maria), expected_version=seen + 1)
    assert run.status(incident) == Status.RECOVERED


def test_a_target_that_is_the_head_is_refused(incident, session, maria):
    with pytest.raises(NothingToRollBackTo, match="v3 is the current version") as refused:
        actions.rollback(**run.about(incident, session, maria), version=3)
    assert "divergence is probably wrong" in refused.value.suggestion
    with pytest.raises(VersionNotFound):
        actions.rollback(**run.about(incident, session, maria), version=4)
    assert make.fresh(session).head_version == 3


def test_without_a_last_good_version_the_target_has_to_be_named(incident, session, maria):
    with pytest.raises(NothingToRollBackTo, match="No last good version"):
        actions.rollback(**run.about(incident, session, maria))
    actions.rollback(**run.about(incident, session, maria), version=0)
    assert run.step(incident, session, Step.ROLLBACK) == StepState.PENDING  # nobody said that v0 is good
    run.diverged(incident, session, maria)
    assert run.step(incident, session, Step.ROLLBACK) == StepState.DONE


def test_the_last_good_version_may_be_0(incident, session, maria):
    run.diverged(incident, session, maria, bad=2, good=0)
    actions.rollback(**run.about(incident, session, maria))
    assert run.row_of(incident, session).rolled_back_to == 0
    assert run.step(incident, session, Step.ROLLBACK) == StepState.DONE


def test_undoing_the_rollback_turns_step_4_red_and_names_who_did_it(acme, incident, session, maria):
    run.diverged(incident, session, maria)
    actions.rollback(**run.about(incident, session, maria))
    assert run.status(incident) == Status.RECOVERED
    key = make.full_key(acme)
    make.rollback(session, -1, by=key)
    assert run.step(incident, session, Step.ROLLBACK) == StepState.REGRESSED
    assert run.step(incident, session, Step.FREEZE) == StepState.REGRESSED
    assert key.label in run.view(incident, session, Step.FREEZE).why
    assert run.status(incident) == Status.OPEN
    lost = run.events(incident, EventKind.STATUS)[-1]
    assert lost.is_alarm
    assert session.public_id in lost.text
    actions.freeze(**run.about(incident, session, maria))
    actions.rollback(**run.about(incident, session, maria))
    assert run.status(incident) == Status.RECOVERED


def test_moving_the_divergence_before_the_version_rolled_back_to_turns_step_4_red(agent, maria):
    made = make.session_with_versions(agent, 4)
    incident = run.file(maria, made, severity="S1")
    run.diverged(incident, made, maria, bad=4, good=3)
    actions.rollback(**run.about(incident, made, maria))
    assert run.status(incident) == Status.RECOVERED
    run.diverged(incident, made, maria, bad=2, good=1)
    assert run.step(incident, made, Step.ROLLBACK) == StepState.REGRESSED
    assert run.status(incident) == Status.CONTAINED
    assert "state is not that of v1" in run.view(incident, made, Step.ROLLBACK).why
    actions.rollback(**run.about(incident, made, maria))
    assert run.status(incident) == Status.RECOVERED
    assert run.row_of(incident, made).rolled_back_to == 1


def test_a_rollback_to_another_version_than_the_last_good_does_not_recover(incident, session, maria):
    run.diverged(incident, session, maria)
    actions.rollback(**run.about(incident, session, maria), version=1)
    assert run.step(incident, session, Step.ROLLBACK) == StepState.PENDING
    assert run.status(incident) == Status.CONTAINED


def test_no_good_version_is_answered_by_an_exemption_and_a_clean_fork(incident, session, agent, maria):
    for step in ("divergence", "rollback"):
        actions.exempt(**run.about(incident, session, maria), step=step, reason="It was never good")
    assert run.status(incident) == Status.RECOVERED
    clean = sessions.fork(session_id=session.public_id, version=0, by=maria).agent_session
    make.update(clean, {"seats": 3}, by=agent)  # it runs
    assert run.status(incident) == Status.RECOVERED
    assert not [each.code for each in run.look(incident).unmet(Status.RESOLVED) if each.code == "rollback"]


# What a rollback does not undo ---------------------------------------------------------------------------


def test_each_effect_is_listed_once_and_has_to_be_decided(incident, session, maria):
    run.diverged(incident, session, maria)
    actions.rollback(**run.about(incident, session, maria))
    effect = run.row_of(incident, session).effects.get()
    assert (effect.tool, effect.arguments_text, effect.disposition) == (
        "cancel_booking",
        '{"id":"UA123"}',
        None,
    )
    assert "effect_undecided" in [each.code for each in run.look(incident).unmet(Status.RESOLVED)]
    decide = {**run.about(incident, session, maria), "turn_id": effect.turn_id}
    with pytest.raises(InvalidInput, match="irreversible"):
        actions.decide_effect(**decide, disposition="forgotten")
    with pytest.raises(EffectNotFound):
        actions.decide_effect(**{**decide, "turn_id": "turn_nowhere\x00"}, disposition="accepted")
    actions.decide_effect(**decide, disposition="compensated", note="Refunded by hand")
    assert "effect_undecided" not in [each.code for each in run.look(incident).unmet(Status.RESOLVED)]
    assert run.texts(incident, EventKind.EFFECT) == [
        "cancel_booking of turn 1: compensated. Refunded by hand"
    ]
    actions.decide_effect(**decide, disposition="irreversible")
    assert run.events(incident, EventKind.EFFECT)[-1].details["from"] == "compensated"
    actions.freeze(**run.about(incident, session, maria))
    actions.rollback(**run.about(incident, session, maria), version=1)
    assert run.row_of(incident, session).effects.count() == 1  # what is decided stays decided


# Correction ----------------------------------------------------------------------------------------------


def test_an_s3_is_recovered_by_a_correction(stray, agent, maria):
    incident = run.file(maria, stray, severity="S3")
    assert run.status(incident) == Status.CONTAINED
    make.update(stray, {"booked": True}, by=agent)
    with pytest.raises(VersionNotFound):
        actions.correct(**run.about(incident, stray, maria), text="Booked again", version=9)
    actions.correct(**run.about(incident, stray, maria), text="Booked again", version=-1)
    assert run.row_of(incident, stray).correction_version == 2
    assert run.status(incident) == Status.RECOVERED
    assert run.step(incident, stray, Step.DIVERGENCE) == StepState.NOT_REQUIRED


def test_a_correction_is_no_rollback_for_an_s2(incident, session, maria):
    actions.correct(**run.about(incident, session, maria), text="Booked again")
    assert run.step(incident, session, Step.ROLLBACK) == StepState.PENDING


def test_an_s3_may_be_rolled_back_as_well(stray, maria):
    incident = run.file(maria, stray, severity="S3")
    run.diverged(incident, stray, maria)
    actions.rollback(**run.about(incident, stray, maria))
    assert not make.fresh(stray).is_frozen
    assert run.status(incident) == Status.RECOVERED


# Resume --------------------------------------------------------------------------------------------------


def test_resuming_is_never_blocked_but_says_what_was_open(incident, session, agent, maria):
    run.resumed(incident, session, maria)
    assert not make.fresh(session).is_frozen
    told = run.events(incident, EventKind.RESUMED)[0]
    assert "Step 5 was still open" in told.text
    version = session_queries.version_row(make.fresh(session), 4)
    assert version.reasoning == "INCIDENT-1: agent resumed"
    make.update(session, {"a": 1}, by=agent)
    assert run.step(incident, session, Step.RESUME) == StepState.DONE
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE  # it was stopped as long as needed
    assert run.status(incident) == Status.CONTAINED


def test_after_the_resume_the_state_it_was_resumed_with_counts(incident, session, agent, maria):
    run.recovered(incident, session, maria)
    run.resumed(incident, session, maria)
    make.update(session, {"booked": False}, by=agent)
    assert run.step(incident, session, Step.ROLLBACK) == StepState.DONE
    assert run.status(incident) == Status.RECOVERED


def test_step_5_done_is_not_called_open(incident, session, maria):
    run.recovered(incident, session, maria)
    run.prevented(incident, session, maria)
    run.resumed(incident, session, maria, reason="Checked by two")
    assert "Step 5" not in run.texts(incident, EventKind.RESUMED)[0]
    version = session_queries.version_row(make.fresh(session), 5)
    assert version.reasoning == "INCIDENT-1: Checked by two"


def test_resuming_twice_makes_one_version_and_an_agent_may_not(incident, session, agent, edda, maria):
    for by in (agent, edda):
        with pytest.raises(PermissionRefused):
            run.resumed(incident, session, by)
    actions.resume(reference=incident.reference, by=maria)
    actions.resume(reference=incident.reference, by=maria)
    run.resumed(incident, session, maria)
    assert make.fresh(session).head_version == 4
    assert len(run.events(incident, EventKind.RESUMED)) == 1


def test_resuming_all_resumes_those_that_are_frozen(agent, maria):
    one, other, running = run.damaged(agent), run.damaged(agent), run.damaged(agent)
    incident = run.file(maria, one, other, running, severity="S3")
    for each in (one, other):
        run.frozen(incident, each, maria)
    actions.resume(reference=incident.reference, by=maria)
    assert [make.fresh(each).head_version for each in (one, other, running)] == [4, 4, 2]
    assert run.steps(incident, running)["resume"] == "not_required"


@pytest.fixture(scope="module")
def two(agent):
    return run.damaged(agent), run.damaged(agent)


@pytest.mark.parametrize(("severity", "hours"), [("S1", 24), ("S3", 4), (None, None)])
def test_the_watch_begins_with_the_last_resume(two, maria, severity, hours):
    one, other = two
    incident = run.file(maria, one, other, severity=severity)
    actions.freeze(reference=incident.reference, by=maria)
    run.resumed(incident, one, maria)
    later = clock.now() + timedelta(hours=1)
    with clock.at(later):
        run.resumed(incident, other, maria)
    incident.refresh_from_db()
    assert incident.watch_until == (hours and later + timedelta(hours=hours))


def test_a_freeze_after_the_resume_begins_the_step_anew(incident, session, maria):
    run.recovered(incident, session, maria)
    run.resumed(incident, session, maria)
    run.frozen(incident, session, maria)
    assert make.fresh(session).is_frozen
    assert run.steps(incident, session)["resume"] == "regressed"
    assert run.steps(incident, session)["freeze"] == "done"
    row = run.row_of(incident, session)
    assert (row.freeze_version, row.resume_version) == (3, None)  # time to freeze counts the first
    run.resumed(incident, session, maria)
    assert run.steps(incident, session)["resume"] == "done"
    assert run.status(incident) == Status.RECOVERED


# In two open incidents -----------------------------------------------------------------------------------


@pytest.fixture
def shared(incident, session, rosa):
    """Two open incidents, of maria and of rosa, and the session of both, frozen."""
    return incident, run.file(rosa, session)


def test_rolling_back_a_shared_session_has_to_be_confirmed_by_the_commander(shared, session, maria, rosa):
    first, second = shared
    run.diverged(first, session, maria)
    act = run.about(first, session, maria)
    with pytest.raises(GateUnmet) as refused:
        actions.rollback(**act)
    assert run.unmet(refused) == ["shared_session"]
    assert "INCIDENT-2" in refused.value.message
    with pytest.raises(CommandRefused):
        actions.rollback(**{**act, "by": rosa}, confirm=True)
    assert make.fresh(session).head_version == 3
    actions.rollback(**act, confirm=True)
    assert "Also affected by INCIDENT-2; confirmed" in run.texts(first, EventKind.ROLLED_BACK)[0]
    assert run.status(first) == Status.RECOVERED
    run.diverged(second, session, rosa)
    assert run.status(second) == Status.RECOVERED  # the same rollback serves both
    assert run.step(second, session, Step.FREEZE) == StepState.DONE


def test_resuming_a_shared_session_has_to_be_confirmed_and_shows_in_the_other(shared, session, maria, rosa):
    first, second = shared
    run.frozen(second, session, rosa)
    for given in ({"session_id": session.public_id}, {}):
        with pytest.raises(GateUnmet) as refused:
            actions.resume(reference=first.reference, by=maria, **given)
        assert run.unmet(refused) == ["shared_session"]
    assert make.fresh(session).is_frozen
    actions.resume(reference=first.reference, by=maria, confirm=True)
    assert run.step(first, session, Step.RESUME) == StepState.DONE
    assert run.step(second, session, Step.FREEZE) == StepState.REGRESSED
    told = run.events(second, EventKind.OUTSIDE)[-1]
    assert (told.is_alarm, told.actor_label) == (True, "user:maria")


def test_the_earliest_last_good_version_wins(agent, maria, rosa):
    made = make.session_with_versions(agent, 5)
    first, second = run.file(maria, made, severity="S1"), run.file(rosa, made, severity="S1")
    run.diverged(first, made, maria, bad=5, good=4)
    run.diverged(second, made, rosa, bad=3, good=2)
    actions.rollback(**run.about(first, made, maria), confirm=True)
    assert run.row_of(first, made).rolled_back_to == 2
    assert run.status(first) == run.status(second) == Status.RECOVERED
    third = run.file(maria, made, severity="S1")
    run.diverged(third, made, maria, bad=2, good=1)
    assert run.status(first) == run.status(second) == Status.CONTAINED
    actions.decline(reference=third.reference, reason="A mistake", by=maria)
    assert run.status(first) == run.status(second) == Status.RECOVERED


def test_what_has_ended_no_longer_shares(shared, session, maria, rosa):
    first, second = shared
    actions.decline(reference=second.reference, reason="The same", by=rosa)
    run.recovered(first, session, maria)
    run.resumed(first, session, maria)
    assert queries.open_incidents_of([session.public_id], project=first.project_id) == {
        session.public_id: [first]
    }
