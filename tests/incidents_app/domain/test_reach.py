"""How far an incident reaches, and what of it others may see."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app import actions, queries
from incidents_app.errors import IncidentNotFound, ScenarioNotFound, SessionNotAffected
from sessions_app import actions as sessions
from statebase_site.base import clock
from statebase_site.base.errors import DomainError
from tests import factories as make
from tests.incidents_app import runbook as run


def fork(of, version, by):
    return sessions.fork(session_id=of.public_id, version=version, by=by).agent_session


def contaminated(incident):
    seen = run.look(incident)
    return {
        (each.agent_session.public_id, each.source_id, each.source_version)
        for each in queries.contaminated_forks(incident, seen.affected)
    }


def named(child, source, version):
    return (child.public_id, source.public_id, version)


def test_forks_at_or_after_the_divergence_and_their_forks_are_contaminated(acme, session, agent, maria):
    before = fork(session, 0, agent)
    fork(before, 0, agent)
    at, after = fork(session, 1, agent), fork(session, 2, agent)
    grandchild = fork(at, 0, agent)
    great = fork(grandchild, 0, agent)
    gone = fork(session, 2, agent)
    sessions.delete_session(session_id=gone.public_id, by=make.full_key(acme))
    incident = run.file(maria, session)
    assert contaminated(incident) == set()  # nobody knows yet since when
    run.diverged(incident, session, maria, bad=1, good=0)
    assert contaminated(incident) == {
        named(at, session, 1),
        named(after, session, 2),
        named(grandchild, at, 0),
        named(great, grandchild, 0),
    }
    actions.add_session(**run.about(incident, at, maria))
    assert contaminated(incident) == {
        named(after, session, 2),
        named(grandchild, at, 0),
        named(great, grandchild, 0),
    }


def test_forks_of_the_state_that_was_rolled_back_to_are_clean(session, agent, maria):
    incident = run.file(maria, session)
    run.recovered(incident, session, maria)
    bad, clean = fork(session, 3, agent), fork(session, 4, agent)
    assert contaminated(incident) == {named(bad, session, 3)}
    run.resumed(incident, session, maria)
    make.update(session, {"seats": 3}, by=agent)
    fork(session, 6, agent)
    fork(clean, 0, agent)
    assert contaminated(incident) == {named(bad, session, 3)}


def test_runs_of_scenarios_are_not_contaminated(session, agent, maria):
    incident = run.file(maria, session)
    run.diverged(incident, session, maria)
    run.scenario(incident, session, maria)
    assert contaminated(incident) == set()


def test_other_projects_see_and_touch_nothing(session, maria, jon):
    incident = run.file(maria, session, dedup_key="k")
    made = run.scenario(incident, session, maria)
    other = make.project("Other")
    stranger = make.full_key(other)
    assert not queries.find_incidents(stranger).exists()
    assert not queries.scenarios_for(stranger).exists()
    reference, about = incident.reference, {"reference": incident.reference, "session_id": session.public_id}
    scenario_id = made.scenario.public_id
    for act, given in (
        (actions.freeze, {"reference": reference}),
        (actions.resume, {"reference": reference}),
        (actions.resume, about),
        (actions.add_session, about),
        (actions.add_note, {"reference": reference, "text": "x"}),
        (actions.pin, {**about, "versions": [0]}),
        (actions.record_divergence, {**about, "divergence_version": 1, "last_good_version": 0}),
        (actions.rollback, about),
        (actions.change_severity, {"reference": reference, "severity": "S1"}),
        (actions.resolve, {"reference": reference}),
        (actions.close, {"reference": reference}),
        (actions.decline, {"reference": reference, "reason": "x"}),
        (actions.reopen, {"reference": reference, "reason": "x"}),
        (actions.override, {"reference": reference, "gate": "x", "reason": "x"}),
        (
            actions.create_scenario,
            {**about, "name": "x", "fork_version": 0, "fault": {"kind": "deny_permission"}, "predicate": "a"},
        ),
    ):
        with pytest.raises(IncidentNotFound):
            act(**given, by=stranger)
    for act, given in (
        (actions.request_run, {}),
        (actions.report_run, {"session_id": made.run.session_id, "agent_version": "1"}),
    ):
        with pytest.raises(ScenarioNotFound):
            act(scenario_id=scenario_id, **given, by=stranger)
    assert not make.fresh(session).is_frozen


def test_incidents_are_found_by_what_they_are(session, agent, maria):
    other = run.damaged(agent)
    with clock.at(clock.now() - timedelta(days=2)):
        old = run.file(maria, no_session_reason="x", severity="S4", failure_mode="state_drift")
    one, two = run.file(maria, session, severity="S1"), run.file(maria, other, session, severity="S3")

    def found(**given):
        return [each.number for each in queries.find_incidents(maria, **given)]

    assert found() == [3, 2, 1]
    assert found(severity="S1") == [one.number]
    assert found(status="recovered") == [old.number]
    assert found(failure_mode="state_drift") == [old.number]
    assert found(session_id=session.public_id) == [two.number, one.number]
    assert found(session_id="sess_\x00") == []
    assert found(created_after=clock.now() - timedelta(days=1)) == [3, 2]
    assert found(created_before=clock.now() - timedelta(days=1)) == [1]


def test_a_suggestion_names_the_failing_point_and_guesses_the_severity(session, agent):
    suggested = queries.suggested_for(session, 1)
    assert (suggested.version, suggested.severity) == (1, "S3")
    assert "support-bot" in suggested.title
    make.freeze(session, by=agent)
    assert (queries.suggested_for(make.fresh(session), None).version) == 3
    assert queries.suggested_for(make.fresh(session), None).severity == "S2"


def test_looking_costs_no_more_for_more_sessions(agent, maria):
    few = run.file(maria, *[make.session(agent) for _ in range(2)], severity="S1")
    many = run.file(maria, *[make.session(agent) for _ in range(6)], severity="S1")

    def queries_for(incident):
        with CaptureQueriesContext(connection) as captured:
            queries.assess(incident)
        return len(captured)

    assert queries_for(many) == queries_for(few)


def test_a_sessions_row_is_found_in_the_present_episode_only(session, maria):
    incident = run.file(maria, session)
    with pytest.raises(SessionNotAffected):
        queries.affected_by_session(incident, "sess_\x00")
    for number in (0, 2**31, 2**70):
        with pytest.raises(DomainError):
            queries.follow_up_of(incident, number)
