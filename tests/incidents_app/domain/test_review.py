"""The post-incident review, and who may approve it (design "Timeline, roles, review, numbers")."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model

from incidents_app import actions
from incidents_app.enums import EventKind, Status
from incidents_app.errors import CommandRefused, GateUnmet, ScenarioNotFound, SessionNotAffected
from sessions_app.errors import VersionNotFound
from statebase_site.base.errors import InvalidInput, PermissionRefused, TooLarge
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def filed(damaged, maria):
    return run.file(maria, damaged, severity="S2")


@pytest.fixture
def incident(filed, db):
    return make.fresh(filed)


def approve(incident, by):
    actions.approve_review(reference=incident.reference, by=by)
    incident.refresh_from_db()
    return incident.episodes.get(number=incident.episode_number)


def write(incident, by, **fields):
    actions.write_review(reference=incident.reference, by=by, **fields)


def test_what_the_review_lacks_is_named_until_it_is_whole(incident, session, maria, rosa):
    def lacks():
        with pytest.raises(GateUnmet) as refused:
            approve(incident, rosa)
        return [each.message for each in refused.value.unmet]

    assert lacks() == [
        "It lacks the failure mode.",
        "It lacks the lessons.",
        "It lacks where the missing checkpoint was.",
        "It lacks the scenario for the failure-injection tests.",
    ]
    write(incident, maria, failure_mode="state_drift", lessons="Ask first.")
    write(incident, maria, checkpoint=(session.public_id, -1))
    assert incident.episodes.get().checkpoint_after == 1
    assert len(lacks()) == 1
    made = run.scenario(incident, session, maria)
    write(incident, maria, scenario_id=made.scenario.public_id)
    approved = approve(incident, rosa)
    assert (approved.approved_by, approved.approved_alone) == ("user:rosa", False)
    assert run.texts(incident, EventKind.REVIEW)[-1] == "Approved the review."
    count = incident.event_count
    approve(incident, rosa)
    assert incident.event_count == count


def test_the_commander_does_not_approve_while_somebody_else_may(incident, session, maria, rosa):
    run.reviewed(incident, session, maria, run.scenario(incident, session, maria).scenario)
    with pytest.raises(CommandRefused, match="else than the commander"):
        approve(incident, maria)
    assert approve(incident, rosa).approved_by == "user:rosa"


def test_alone_the_commander_approves_and_it_is_marked(acme, incident, session, maria, edda):
    acme.memberships.exclude(user__username__in=["maria", "edda"]).delete()
    run.reviewed(incident, session, maria, run.scenario(incident, session, maria).scenario)
    with pytest.raises(PermissionRefused):
        approve(incident, edda)
    approved = approve(incident, maria)
    assert (approved.approved_by, approved.approved_alone) == ("user:maria", True)
    assert "nobody else may" in run.texts(incident, EventKind.REVIEW)[-1]


def test_a_disabled_account_is_nobody_else(incident, session, maria):
    run.reviewed(incident, session, maria, run.scenario(incident, session, maria).scenario)
    get_user_model().objects.exclude(username="maria").update(is_active=False)
    assert approve(incident, maria).approved_alone


def test_the_light_form_asks_for_less_and_the_commander_approves_it(stray, maria, rosa):
    incident = run.file(maria, stray, severity="S3")
    write(incident, maria, failure_mode="infinite_loop", lessons="Retry.")
    approved = approve(incident, maria)
    assert not approved.approved_alone


def test_a_change_takes_the_approval_back_and_no_change_does_not(incident, session, maria, rosa):
    made = run.scenario(incident, session, maria).scenario
    run.reviewed(incident, session, maria, made)
    approve(incident, rosa)
    run.reviewed(incident, session, maria, made)  # the same once more: a form sent twice
    assert incident.episodes.get().approved_by == "user:rosa"
    write(incident, maria, lessons="Ask twice.")
    assert incident.episodes.get().approved_at is None
    assert "approval is taken back" in run.texts(incident, EventKind.REVIEW)[-1]
    changed = run.events(incident, EventKind.REVIEW)[-1].details
    assert changed == {"lessons": ["Ask before cancelling.", "Ask twice."]}


def test_the_checkpoint_or_why_there_is_none(incident, session, agent, maria):
    write(incident, maria, checkpoint=(session.public_id, 1))
    write(incident, maria, no_checkpoint_why="It was the tool")
    episode = incident.episodes.get()
    assert (episode.checkpoint_session, episode.checkpoint_after) == (None, None)
    assert episode.no_checkpoint_why == "It was the tool"
    write(incident, maria, checkpoint=(session.public_id, 1))
    assert incident.episodes.get().no_checkpoint_why == ""
    with pytest.raises(VersionNotFound):
        write(incident, maria, checkpoint=(session.public_id, 99))
    with pytest.raises(SessionNotAffected):
        write(incident, maria, checkpoint=(run.damaged(agent).public_id, 0))


def test_what_is_no_review(incident, session, agent, maria, edda):
    for by in (agent, edda):
        with pytest.raises(PermissionRefused):
            write(incident, by, lessons="x")
    with pytest.raises(InvalidInput):
        write(incident, maria, failure_mode="gremlins")
    with pytest.raises(TooLarge):
        write(incident, maria, lessons="x" * 17000)
    strange = run.file(maria, session, severity="S3")
    theirs = run.scenario(strange, session, maria).scenario
    for scenario_id in (theirs.public_id, "scn_nowhere\x00"):
        with pytest.raises(ScenarioNotFound):
            write(incident, maria, scenario_id=scenario_id)
    before = len(run.events(incident))
    write(incident, maria)
    assert len(run.events(incident)) == before


def test_a_review_is_owed_from_the_resolving_until_its_approval(incident, session, maria, rosa):
    made = run.resolved(incident, session, maria)
    assert incident.review_due > incident.resolved_at + timedelta(days=4)
    run.reviewed(incident, session, maria, made)
    approve(incident, rosa)
    assert incident.review_due is None
    write(incident, maria, lessons="Ask twice.")
    incident.refresh_from_db()
    assert incident.review_due > incident.resolved_at + timedelta(days=4)
    assert "review_approval" in [each.code for each in run.look(incident).unmet(Status.CLOSED)]


def test_a_key_that_manages_incidents_is_somebody_else(acme, incident, session, maria):
    run.reviewed(incident, session, maria, run.scenario(incident, session, maria).scenario)
    key = make.key_with(acme, "incident:manage")
    assert not approve(incident, key).approved_alone
