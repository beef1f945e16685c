"""Failure-injection scenarios: the state decides whether a run is red or green (contract 16)."""

import pytest

from incidents_app import actions, queries
from incidents_app.actions.scenarios import OutcomeContradicted, RunWaiting
from incidents_app.enums import EventKind, Step, StepState
from incidents_app.errors import IncidentEnded, SessionNotAffected
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.errors import VersionNotFound
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def filed(damaged, maria):
    made = run.file(maria, damaged)
    run.diverged(made, damaged, maria)
    return made


@pytest.fixture
def incident(filed, db):
    return make.fresh(filed)


def state(session_id, by):
    found = session_queries.session_for(by, session_id)
    return session_queries.document_at(found, found.head_version).value


def report(made, session_id, by, **fields):
    fields.setdefault("agent_version", "bot@2")
    return actions.report_run(scenario_id=made.scenario.public_id, session_id=session_id, by=by, **fields).run


def test_a_scenario_forks_before_the_divergence_with_the_fault_in_it(incident, session, agent, maria):
    made = run.scenario(incident, session, maria)
    assert state(made.run.session_id, agent) == {"booked": False, "seats": 2}
    fork = session_queries.session_for(agent, made.run.session_id)
    assert (fork.forked_from, fork.forked_version, fork.is_frozen) == (session.public_id, 0, False)
    assert made.run.outcome is None
    assert [each.pk for each in queries.scenarios_for(agent, waiting=True)] == [made.scenario.pk]
    assert made.scenario.good_state_text == '{"booked":true,"seats":2}'
    assert made.scenario.bad_state_text == '{"booked":false,"seats":2}'


@pytest.mark.parametrize(
    "kind", ["tool_error", "tool_empty", "tool_garbage", "repeat_output", "deny_permission"]
)
def test_a_fault_that_is_no_part_of_the_state_leaves_the_fork_as_it_was(
    incident, session, agent, maria, kind
):
    made = run.scenario(incident, session, maria, fault={"kind": kind, "tool": "cancel_booking"})
    assert state(made.run.session_id, agent) == run.GOOD
    assert made.scenario.fault["kind"] == kind


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("fault", {}, "fault.kind"),
        ("fault", {"kind": "gremlins"}, "fault.kind"),
        ("fault", {"kind": "state_patch"}, "fault.patch"),
        ("fault", {"kind": "state_patch", "patch": []}, "fault.patch"),
        ("fault", {"kind": "tool_error"}, "fault.tool"),
        ("fault", {"kind": "repeat_output", "tool": 1}, "fault.tool"),
        ("fault", {"kind": "repeat_output", "extra": 1}, "fault.extra"),
        ("fault", {"kind": "repeat_output", "value": "x" * 70000}, "fault"),
        ("predicate", "", "predicate"),
        ("predicate", "a ==", "predicate"),
        ("predicate", "nosuch(a)", "predicate"),
        ("predicate", "'\x00'", "predicate"),
        ("predicate", "a" * 1001, "predicate"),
        ("name", " ", "name"),
        ("fork_version", 1, "fork_version"),
        ("fork_version", -1, "fork_version"),
    ],
)
def test_what_is_no_scenario(incident, session, maria, field, value, param):
    before = make.fresh(session).chain_length
    with pytest.raises(InvalidInput) as refused:
        run.scenario(incident, session, maria, **{field: value})
    assert refused.value.param == param
    assert make.fresh(session).chain_length == before
    assert not queries.scenarios_for(maria).exists()


def test_a_scenario_is_of_a_version_and_session_that_the_incident_has(incident, session, agent, maria, edda):
    with pytest.raises(VersionNotFound):
        run.scenario(incident, session, maria, fork_version=99)
    with pytest.raises(SessionNotAffected):
        run.scenario(incident, run.damaged(agent), maria)
    for by in (edda, agent):
        with pytest.raises(PermissionRefused):
            run.scenario(incident, session, by)


def test_the_state_decides_and_a_contradiction_is_refused(incident, session, agent, maria):
    made = run.scenario(incident, session, maria)
    with pytest.raises(OutcomeContradicted, match="does not hold") as refused:
        report(made, made.run.session_id, agent, outcome="green")
    assert refused.value.extras["holds"] is False
    with pytest.raises(InvalidInput):
        report(made, made.run.session_id, agent, outcome="amber")
    red = report(made, made.run.session_id, agent)
    assert (red.outcome, red.agent_version, red.judged_version, red.reported_by) == (
        "red",
        "bot@2",
        1,
        agent.label,
    )
    sessions.update_state(session_id=made.run.session_id, changes={"booked": True}, by=agent)
    again = report(made, made.run.session_id, agent, outcome="red")  # a verdict is for ever
    assert (again.pk, again.outcome, again.judged_version) == (red.pk, "red", 1)
    assert run.texts(incident, EventKind.SCENARIO_RUN) == ["“Cancels again” is red with bot@2."]


def test_one_run_waits_at_a_time(incident, session, agent, maria):
    made = run.scenario(incident, session, maria)
    with pytest.raises(RunWaiting) as refused:
        actions.request_run(scenario_id=made.scenario.public_id, by=agent)
    assert refused.value.extras["session_id"] == made.run.session_id
    report(made, made.run.session_id, agent)
    again = actions.request_run(scenario_id=made.scenario.public_id, by=agent)
    assert again.run.session_id != made.run.session_id
    sessions.update_state(session_id=again.run.session_id, changes={"booked": True}, by=agent)
    assert report(made, again.run.session_id, agent, outcome="green").outcome == "green"


def test_any_fork_from_the_same_version_can_be_reported_and_no_other(incident, session, agent, maria):
    made = run.scenario(incident, session, maria)
    own = sessions.fork(session_id=session.public_id, version=0, by=agent).agent_session
    assert report(made, own.public_id, agent).outcome == "green"
    later = sessions.fork(session_id=session.public_id, version=1, by=agent).agent_session
    for wrong in (session, later, run.damaged(agent)):
        with pytest.raises(InvalidInput, match="is no fork of"):
            report(made, wrong.public_id, agent)
    with pytest.raises(InvalidInput):
        report(made, made.run.session_id, agent, agent_version=" ")


def test_requests_are_idempotent(incident, session, agent, maria):
    once = make.asking(maria, key="make", method="POST")
    first, second = run.scenario(incident, session, once), run.scenario(incident, session, once)
    assert (first.scenario.pk, second.replayed) == (second.scenario.pk, True)
    told = make.asking(agent, key="report", method="POST")
    for expected in (False, True):
        found = actions.report_run(
            scenario_id=first.scenario.public_id,
            session_id=first.run.session_id,
            agent_version="bot@2",
            by=told,
        )
        assert found.replayed == expected
    asked = make.asking(agent, key="ask", method="POST")
    runs = [actions.request_run(scenario_id=first.scenario.public_id, by=asked).run.pk for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_scenario_stays_a_test_after_its_incident(incident, session, agent, maria):
    made = run.scenario(incident, session, maria)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    assert report(made, made.run.session_id, agent).outcome == "red"
    assert actions.request_run(scenario_id=made.scenario.public_id, by=agent).run.outcome is None
    with pytest.raises(IncidentEnded):
        run.scenario(incident, session, maria)


def test_step_5_is_done_by_answers_follow_up_and_scenario(incident, session, maria):
    assert run.view(incident, session, Step.PREVENT).why == "Answer what enabled the failure."
    run.prevented(incident, session, maria)
    assert run.step(incident, session, Step.PREVENT) == StepState.DONE
    told = run.texts(incident, EventKind.PREVENTION)[0]
    assert told == "Enabled by no validation: Nobody asked"
    actions.answer_causes(reference=incident.reference, text="None of it", by=maria)
    assert run.texts(incident, EventKind.PREVENTION)[-1] == "Enabled by none of the four: None of it"


def test_follow_ups_are_checked_and_done_once(incident, maria, edda):
    reference = incident.reference
    with pytest.raises(InvalidInput, match="deploy"):
        actions.add_follow_up(reference=reference, text="x", kind="wish", by=maria)
    with pytest.raises(PermissionRefused):
        actions.add_follow_up(reference=reference, text="x", by=edda)
    actions.add_follow_up(reference=reference, text="x", by=maria)
    for _ in range(2):
        actions.finish_follow_up(reference=reference, number=1, by=maria)
    assert run.texts(incident, EventKind.FOLLOW_UP) == [
        "Follow-up 1: x",
        "Follow-up 1 is done: x",
    ]
    assert incident.follow_ups.get().done_by == "user:maria"
