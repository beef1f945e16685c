"""Resolving, closing, declining and reopening: what is missing, and what is let go (design "Status")."""

from datetime import date, timedelta

import pytest

from incidents_app import actions, queries
from incidents_app.actions.ending import CannotReopen
from incidents_app.enums import EventKind, Status, Step, StepState
from incidents_app.errors import CommandRefused, GateUnmet, IncidentEnded
from sessions_app import actions as sessions
from sessions_app.actions import maintenance
from sessions_app.models import AgentSession
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def filed(damaged, maria):
    return run.file(maria, damaged, severity="S1")


@pytest.fixture
def incident(filed, db):
    """INCIDENT-1, an S1 whose session is frozen at v3."""
    return make.fresh(filed)


@pytest.fixture(scope="module")
def all_six_steps(agent, maria):
    session = run.damaged(agent)
    incident = run.file(maria, session, severity="S1")
    return incident, session, run.resolved(incident, session, maria)


@pytest.fixture
def resolved(all_six_steps, db):
    """An S1 that is resolved, its session and its scenario."""
    incident, session, scenario = all_six_steps
    return make.fresh(incident), session, scenario


def resolve(incident, by):
    return actions.resolve(reference=incident.reference, by=by)


def close(incident, by):
    return actions.close(reference=incident.reference, by=by)


def reopen(incident, by, reason="It happened again"):
    return actions.reopen(reference=incident.reference, reason=reason, by=by).incident


# Resolving -----------------------------------------------------------------------------------------------


def test_a_refused_resolve_lists_exactly_what_is_missing_until_nothing_is(incident, session, maria):
    def missing():
        with pytest.raises(GateUnmet) as refused:
            resolve(incident, maria)
        assert all(each.message for each in refused.value.unmet)
        assert refused.value.extras["unmet"][0].keys() == {"code", "session_id", "message"}
        return run.unmet(refused)

    everything = ["reconstruct", "divergence", "rollback", "session_frozen", "prevention", "followup_missing"]
    assert missing() == [*everything, "scenario"]
    actions.pin(**run.about(incident, session, maria), versions=[1])
    assert missing()[0] == "divergence"
    run.diverged(incident, session, maria)
    assert missing()[0] == "rollback"
    actions.rollback(**run.about(incident, session, maria))
    assert missing()[:2] == ["effect_undecided", "session_frozen"]
    run.effects_decided(incident, session, maria)
    actions.answer_causes(reference=incident.reference, text="Nobody asked", by=maria)
    actions.add_follow_up(reference=incident.reference, text="Ask first", blocks=True, by=maria)
    assert missing() == ["session_frozen", "scenario", "followup_open"]
    run.proven(incident, session, maria)
    actions.finish_follow_up(reference=incident.reference, number=1, by=maria)
    assert missing() == ["session_frozen"]
    run.resumed(incident, session, maria)
    resolve(incident, maria)
    assert run.status(incident) == Status.RESOLVED
    assert incident.resolved_at == incident.episodes.get().resolved_at
    assert incident.review_due == incident.resolved_at + timedelta(days=3)
    before = incident.event_count
    resolve(incident, maria)  # again changes nothing
    incident.refresh_from_db()
    assert incident.event_count == before


def test_only_who_commands_resolves_and_closes(incident, session, agent, maria, rosa, edda, jon):
    for by, error in ((agent, PermissionRefused), (edda, PermissionRefused), (rosa, CommandRefused)):
        with pytest.raises(error):
            resolve(incident, by)
        with pytest.raises(error):
            close(incident, by)
    with pytest.raises(GateUnmet):
        resolve(incident, jon)


def test_resolving_without_a_severity_asks_for_one(stray, maria):
    incident = run.file(maria, stray, severity=None)
    with pytest.raises(GateUnmet) as refused:
        resolve(incident, maria)
    assert run.unmet(refused) == ["severity"]


def test_an_s4_asks_for_the_next_deploy_only(stray, maria):
    incident = run.file(maria, stray, severity="S4")
    reference = incident.reference
    assert run.status(incident) == Status.RECOVERED
    actions.add_follow_up(reference=reference, text="Fix the typo", kind="other", by=maria)
    with pytest.raises(GateUnmet) as refused:
        resolve(incident, maria)
    assert run.unmet(refused) == ["followup_missing"]
    actions.finish_follow_up(reference=reference, number=1, by=maria)
    actions.add_follow_up(reference=reference, text="Deploy it", kind="deploy", by=maria)
    resolve(incident, maria)
    with pytest.raises(GateUnmet) as refused:
        close(incident, maria)
    assert run.unmet(refused) == ["followup_owner"]
    actions.assign_follow_up(reference=reference, number=2, owner="edda", due=date(2031, 1, 2), by=maria)
    close(incident, maria)
    assert run.status(incident) == Status.CLOSED


def test_an_incident_without_sessions_is_resolved_by_prevention_alone(acme, maria):
    incident = run.file(maria, severity="S3", no_session_reason="Seen at the provider")
    with pytest.raises(GateUnmet) as refused:
        resolve(incident, maria)
    assert run.unmet(refused) == ["prevention", "followup_missing"]


def test_a_scenario_has_to_fail_before_it_passes(incident, session, maria):
    made = run.scenario(incident, session, maria, fault={"kind": "deny_permission"})
    report = {"scenario_id": made.scenario.public_id, "agent_version": "bot@1", "by": maria}
    green = actions.report_run(session_id=made.run.session_id, **report)
    assert green.run.outcome == "green"
    assert "scenario" in [each.code for each in run.look(incident).unmet(Status.RESOLVED)]
    run.proven(incident, session, maria)
    assert "scenario" not in [each.code for each in run.look(incident).unmet(Status.RESOLVED)]


# Closing -------------------------------------------------------------------------------------------------


def test_closing_waits_for_review_owners_and_watch(incident, resolved, maria, jon):
    with pytest.raises(GateUnmet) as refused:
        close(incident, maria)
    assert "not_resolved" in run.unmet(refused)
    incident, session, made = resolved
    with pytest.raises(GateUnmet) as refused:
        close(incident, maria)
    assert run.unmet(refused) == ["review", "review_approval", "followup_owner", "watch_window"]
    run.reviewed(incident, session, maria, made)
    actions.approve_review(reference=incident.reference, by=jon)
    actions.assign_follow_up(
        reference=incident.reference, number=1, owner="edda", due=date(2031, 1, 2), by=maria
    )
    with pytest.raises(GateUnmet) as refused:
        close(incident, maria)
    assert run.unmet(refused) == ["watch_window"]
    incident.refresh_from_db()
    with clock.at(incident.watch_until - timedelta(seconds=1)), pytest.raises(GateUnmet):
        close(incident, maria)
    with clock.at(incident.watch_until):
        close(incident, maria)
        close(incident, maria)
    assert run.status(incident) == Status.CLOSED
    assert incident.closed_at == incident.episodes.get().closed_at == incident.watch_until
    assert [each.details["to"] for each in run.events(incident, EventKind.STATUS)][-2:] == [
        "resolved",
        "closed",
    ]
    assert run.open_holds(session) == []


def test_closing_with_a_session_frozen_again_is_refused(resolved, agent, maria, jon):
    incident, session, made = resolved
    run.reviewed(incident, session, maria, made)
    actions.approve_review(reference=incident.reference, by=jon)
    actions.finish_follow_up(reference=incident.reference, number=1, by=maria)
    make.freeze(session, by=agent)
    with clock.at(clock.now() + timedelta(days=2)):
        with pytest.raises(GateUnmet) as refused:
            close(incident, maria)
        assert run.unmet(refused) == ["session_frozen"]
        assert session.public_id in refused.value.message
        run.resumed(incident, session, maria)
    with clock.at(clock.now() + timedelta(days=4)):
        close(incident, maria)
    assert run.status(incident) == Status.CLOSED


def test_what_has_ended_is_shown_as_it_was_and_cannot_be_changed(resolved, agent, maria, jon):
    incident, session, made = resolved
    run.closed_after(made, incident, session, maria, jon)
    before = run.steps(incident, session)
    assert set(before.values()) == {"done"}
    make.update(session, {"booked": False}, by=agent)
    make.freeze(session, by=agent)
    assert run.steps(incident, session) == before
    reference, about = incident.reference, run.about(incident, session, maria)
    for act in (
        lambda: actions.freeze(reference=reference, by=maria),
        lambda: actions.resume(**about),
        lambda: actions.resume(reference=reference, by=maria),
        lambda: actions.rollback(**about),
        lambda: run.diverged(incident, session, maria),
        lambda: actions.correct(**about, text="x"),
        lambda: actions.pin(**about, versions=[0]),
        lambda: actions.add_session(**about),
        lambda: actions.add_note(reference=reference, text="x", by=maria),
        lambda: actions.edit(reference=reference, title="x", by=maria),
        lambda: actions.change_severity(reference=reference, severity="S4", by=maria),
        lambda: actions.direct_traffic(reference=reference, traffic="reject", by=maria),
        lambda: actions.answer_causes(reference=reference, text="x", by=maria),
        lambda: actions.add_follow_up(reference=reference, text="x", by=maria),
        lambda: actions.write_review(reference=reference, lessons="x", by=maria),
        lambda: actions.approve_review(reference=reference, by=jon),
        lambda: actions.override(reference=reference, gate="review", reason="x", by=jon),
        lambda: actions.exempt(**about, step="freeze", reason="x"),
        lambda: actions.set_commander(reference=reference, name="jon", by=jon),
        lambda: actions.join(reference=reference, by=maria),
        lambda: actions.decline(reference=reference, reason="x", by=maria),
        lambda: resolve(incident, maria),
        lambda: run.scenario(incident, session, maria),
    ):
        with pytest.raises(IncidentEnded, match=f"{reference} is closed"):
            act()
    # Follow-ups outlive it.
    actions.assign_follow_up(reference=reference, number=1, owner="edda", due=date(2031, 1, 2), by=maria)


# Overriding ----------------------------------------------------------------------------------------------


def test_an_admin_passes_over_a_gate_and_it_shows(incident, session, maria, jon):
    with pytest.raises(PermissionRefused):
        actions.override(reference=incident.reference, gate="scenario", reason="No harness", by=maria)
    with pytest.raises(InvalidInput):
        actions.override(reference=incident.reference, gate="scenario", reason=" ", by=jon)
    with pytest.raises(InvalidInput, match="'weather' is unmet") as refused:
        actions.override(reference=incident.reference, gate="weather", reason="x", by=jon)
    assert "scenario" in refused.value.suggestion
    actions.override(reference=incident.reference, gate="scenario", reason="No harness", by=jon)
    assert "scenario" not in [each.code for each in run.look(incident).unmet(Status.RESOLVED)]
    told = run.events(incident, EventKind.OVERRIDDEN)[0]
    assert (told.is_alarm, told.actor_label) == (True, "user:jon")
    assert "No harness" in told.text
    kept = incident.episodes.get().overrides.get()
    assert (kept.code, kept.reason, kept.made_by) == ("scenario", "No harness", "user:jon")
    with pytest.raises(InvalidInput):  # it is not unmet any more
        actions.override(reference=incident.reference, gate="scenario", reason="Again", by=jon)


def test_an_override_is_of_one_gate_and_one_episode(stray, maria, jon):
    incident = run.file(maria, stray, severity="S4")
    actions.override(reference=incident.reference, gate="followup_missing", reason="None", by=jon)
    resolve(incident, maria)
    reopen(incident, maria)
    with pytest.raises(GateUnmet):
        resolve(incident, maria)


def test_passing_over_the_resolving_does_not_pass_over_the_review(incident, session, maria, jon):
    run.recovered(incident, session, maria)
    run.effects_decided(incident, session, maria)
    run.prevented(incident, session, maria)
    run.resumed(incident, session, maria)
    actions.override(reference=incident.reference, gate="not_resolved", reason="In a hurry", by=jon)
    with pytest.raises(GateUnmet) as refused:
        close(incident, jon)
    assert "review_approval" in run.unmet(refused)


# Declining -----------------------------------------------------------------------------------------------


def test_declining_needs_a_reason_and_lets_the_sessions_go(incident, session, agent, maria, edda):
    with pytest.raises(InvalidInput):
        actions.decline(reference=incident.reference, reason=" ", by=maria)
    for by in (agent, edda):
        with pytest.raises(PermissionRefused):
            actions.decline(reference=incident.reference, reason="x", by=by)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    assert run.status(incident) == Status.DECLINED
    assert run.open_holds(session) == []
    assert make.fresh(session).is_frozen  # unless it is asked for
    assert run.texts(incident, EventKind.STATUS)[-1] == "Declined: A test"


def test_declining_resumes_in_the_same_step_if_asked(incident, session, maria):
    by = make.asking(maria, key="once", method="POST")
    for _ in range(2):
        actions.decline(reference=incident.reference, reason="A test", resume_sessions=True, by=by)
    session = make.fresh(session)
    assert (session.is_frozen, session.head_version, run.open_holds(session)) == (False, 4, [])
    assert run.events(incident, EventKind.RESUMED)[0].text.startswith("Resumed")


def test_declining_does_not_resume_what_another_incident_holds(incident, session, maria, rosa):
    other = run.file(rosa, session, severity="S1")
    with pytest.raises(GateUnmet) as refused:
        actions.decline(reference=incident.reference, reason="A test", resume_sessions=True, by=maria)
    assert run.unmet(refused) == ["shared_session"]
    assert run.status(incident) == Status.CONTAINED
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    assert make.fresh(session).is_frozen
    assert run.open_holds(session) == [other.reference]


# Reopening -----------------------------------------------------------------------------------------------


def test_reopening_begins_a_new_episode_and_keeps_the_old_one(resolved, maria, jon):
    incident, session, made = resolved
    run.closed_after(made, incident, session, maria, jon)
    first = incident.episodes.get()
    old_times = {
        name: getattr(first, name) for name in ("contained_at", "recovered_at", "resolved_at", "closed_at")
    }
    assert all(old_times.values())
    again = reopen(incident, maria)
    assert (again.status, again.episode_number) == (Status.CONTAINED, 2)
    assert (again.resolved_at, again.closed_at, again.review_due, again.watch_until) == (None,) * 4
    assert make.fresh(session).is_frozen  # it is an S1
    assert run.open_holds(session) == [incident.reference]
    first.refresh_from_db()
    assert {name: getattr(first, name) for name in old_times} == old_times
    assert (first.lessons, first.approved_by) == ("Ask before cancelling.", "user:jon")
    old = queries.assess_episode(again, first)
    assert old.status == Status.CLOSED
    assert old.step(old.affected[0], Step.ROLLBACK).state == StepState.DONE
    assert run.steps(incident, session)["rollback"] == "pending"
    missing = [each.code for each in run.look(incident).unmet(Status.CLOSED)]
    assert {"divergence", "rollback", "session_frozen", "prevention"} <= set(missing)


def test_reopening_needs_a_reason(incident, maria):
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    for reason in ("", "  "):
        with pytest.raises(InvalidInput):
            reopen(incident, maria, reason)


def test_only_what_has_ended_or_is_resolved_is_reopened(incident, session, maria, edda):
    with pytest.raises(CannotReopen, match="INCIDENT-1 is contained"):
        reopen(incident, maria)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    with pytest.raises(PermissionRefused):
        reopen(incident, edda)
    assert reopen(incident, maria).status == Status.CONTAINED
    assert run.open_holds(session) == ["INCIDENT-1"]


def test_reopening_a_resolved_one_keeps_its_holds_as_they_are(stray, maria):
    incident = run.file(maria, stray, severity="S2")
    run.resolved(incident, stray, maria)
    assert reopen(incident, maria).status == Status.OPEN
    assert run.open_holds(stray) == [incident.reference]
    assert make.fresh(stray).open_holds == 1
    assert incident.episodes.get(number=1).closed_at is not None


def test_reopening_triage_leads_back_to_triage(stray, maria):
    incident = run.file(maria, stray, severity=None)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    assert reopen(incident, maria).status == Status.TRIAGE


def test_reopening_beside_an_open_one_of_the_same_key_names_that(stray, agent, maria):
    first = run.file(agent, stray)
    actions.decline(reference=first.reference, reason="A test", by=maria)
    second = run.file(agent, stray)
    with pytest.raises(CannotReopen, match=second.reference):
        reopen(first, maria)
    assert run.status(first) == Status.DECLINED
    assert run.open_holds(stray) == [second.reference]


def test_a_session_purged_since_stays_named_and_is_left_out_of_the_reopening(acme, agent, maria, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    one, other = run.damaged(agent), run.damaged(agent)
    incident = run.file(maria, one, other, severity="S2")
    actions.pin(**run.about(incident, one, maria), versions=[1])
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    sessions.delete_session(session_id=one.public_id, by=make.full_key(acme))
    assert maintenance.purge_due() == 1
    assert not AgentSession.objects.filter(pk=one.pk).exists()
    seen = run.look(incident)
    assert [row.session_id for row in seen.affected] == [one.public_id, other.public_id]
    assert seen.affected[0].pins.get().target == "1"
    reopen(incident, maria)
    seen = run.look(incident)
    assert [row.session_id for row in seen.affected] == [other.public_id]
    old = queries.assess_episode(incident, incident.episodes.get(number=1))
    assert [row.session_id for row in old.affected] == [one.public_id, other.public_id]
    assert make.fresh(incident).is_active
