"""Step 1: freezing each session, now or by the worker, and never losing one (design "Severity matrix")."""

import pytest
from django.db import DatabaseError

from incidents_app import actions, queries
from incidents_app.actions import maintenance, securing
from incidents_app.enums import EventKind, Status, Step, StepState
from incidents_app.errors import IncidentEnded, SessionNotAffected
from sessions_app import actions as sessions
from sessions_app import store
from sessions_app.errors import SessionFrozen, SessionHeld
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture
def broken(monkeypatch):
    """Sessions that the database refuses to lock, by id; taken out again, they are well."""
    refused = set()
    lock = store.lock

    def locked(project_pk, session_id):
        if session_id in refused:
            raise DatabaseError("this row can't be read")
        return lock(project_pk, session_id)

    monkeypatch.setattr(store, "lock", locked)
    return refused


def test_many_sessions_of_an_s1_are_frozen_by_request_and_worker(agent, maria, monkeypatch, broken):
    many = [make.session(agent, {"n": number}) for number in range(12)]
    broken |= {many[0].public_id, many[6].public_id}
    run.without_time_to_freeze(monkeypatch)
    incident = run.file(maria, *many, severity="S1")
    # The request tried one, which failed; it is committed all the same, and the rest waits.
    assert incident.status == Status.OPEN
    assert sum(make.fresh(each).is_frozen for each in many) == 0
    first = next(row for row in run.look(incident).affected if row.session_id == many[0].public_id)
    assert first.failure
    assert first.freeze_wanted
    assert queries.assess(incident).step(first, Step.FREEZE).why == first.failure

    assert maintenance.run_once()
    seen = run.look(incident)
    frozen = [row.session_id for row in seen.affected if seen.step(row, Step.FREEZE).state == StepState.DONE]
    assert len(frozen) == 10
    assert (seen.status, incident.status) == (Status.OPEN, Status.OPEN)
    named = run.events(incident, EventKind.FREEZE_FAILED)
    assert {each.session_id for each in named} == broken
    assert all(each.is_alarm for each in named)
    maintenance.run_once()
    assert len(run.events(incident, EventKind.FREEZE_FAILED)) == 2  # the same failure is told once

    broken.clear()
    maintenance.run_once()
    assert run.status(incident) == Status.CONTAINED
    assert all(make.fresh(each).head_version == 1 for each in many)
    assert not any(row.failure or row.freeze_wanted for row in run.look(incident).affected)
    assert len(run.events(incident, EventKind.FROZEN)) == 12
    assert maintenance.run_once() == 0


def test_the_request_goes_on_until_its_time_is_over(agent, maria, monkeypatch):
    five = [make.session(agent) for _ in range(5)]
    seconds = iter([0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    monkeypatch.setattr(securing.time, "monotonic", lambda: next(seconds))
    run.file(maria, *five, severity="S1")
    assert [make.fresh(each).is_frozen for each in five] == [True, True, True, False, False]


def test_a_freeze_that_fails_leaves_the_incident_filed_and_is_tried_by_the_next_act(
    session, agent, maria, broken
):
    broken.add(session.public_id)
    incident = run.file(maria, session, severity="S1")
    assert incident.reference == "INCIDENT-1"
    assert run.step(incident, session, Step.FREEZE) == StepState.PENDING
    make_sure = {"reference": incident.reference, "by": maria}
    broken.clear()
    actions.freeze(**make_sure)
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE
    assert run.row_of(incident, session).failure == ""


def test_a_session_that_is_gone_does_not_keep_the_others_from_being_frozen(acme, agent, maria, monkeypatch):
    gone, good = make.session(agent), make.session(agent)
    run.without_time_to_freeze(monkeypatch)
    secured = securing._try
    monkeypatch.setattr(securing, "_try", lambda *args, **kwargs: False)  # the server died after the commit
    incident = run.file(maria, gone, good, severity="S1")
    sessions.delete_session(session_id=gone.public_id, by=make.full_key(acme))
    monkeypatch.setattr(securing, "_try", secured)
    maintenance.run_once()
    assert make.fresh(good).is_frozen
    assert "no session" in run.row_of(incident, gone).failure
    assert run.status(incident) == Status.OPEN


def test_two_people_freezing_make_one_version_and_are_both_named(session, maria, edda):
    incident = run.file(maria, session)
    actions.freeze(**run.about(incident, session, maria))
    actions.freeze(**run.about(incident, session, edda), reason="It goes on")
    assert make.fresh(session).head_version == 3
    first, second = run.events(incident, EventKind.FROZEN)
    assert (first.actor_label, first.version) == ("user:maria", 3)
    assert (second.actor_label, second.version) == ("user:edda", None)
    assert "already, at v3 by user:maria" in second.text
    assert run.texts(incident, EventKind.NOTE) == ["Freeze: It goes on"]
    row = run.row_of(incident, session)
    assert (row.freeze_version, row.frozen_by) == (3, "user:maria")


def test_freezing_all_freezes_all_and_only_those_that_run(agent, maria):
    one, other = run.damaged(agent), run.damaged(agent)
    incident = run.file(maria, one, other)
    run.frozen(incident, one, maria)
    actions.freeze(reference=incident.reference, by=maria)
    assert [make.fresh(each).head_version for each in (one, other)] == [3, 3]
    assert run.status(incident) == Status.CONTAINED


def test_a_session_frozen_before_it_was_filed_counts_as_stopped(session, agent, maria):
    make.freeze(session, by=agent)
    incident = run.file(maria, session, severity="S2")
    assert run.status(incident) == Status.CONTAINED
    assert run.step(incident, session, Step.FREEZE) == StepState.DONE
    row = run.row_of(incident, session)
    assert (row.freeze_version, row.frozen_by) == (3, agent.label)
    assert row.frozen_at >= incident.created_at  # not before the clock of the incident began
    assert make.fresh(session).head_version == 3


def test_freezing_what_is_frozen_and_rolled_back_changes_nothing(session, maria):
    incident = run.file(maria, session)
    run.recovered(incident, session, maria)
    head = make.fresh(session).head_version
    actions.freeze(reference=incident.reference, by=maria)
    assert make.fresh(session).head_version == head
    assert run.status(incident) == Status.RECOVERED


def test_a_frozen_session_taken_as_it_is_contains_the_incident(session, agent, maria):
    """Also where nothing about the session itself changes by it."""
    first = run.file(maria, session)
    run.frozen(first, session, maria)
    second = run.file(maria, session, severity="S4")
    actions.change_severity(reference=second.reference, severity="S2", by=maria)
    actions.freeze(reference=second.reference, by=maria)
    second.refresh_from_db()
    assert second.status == Status.CONTAINED


def test_frozen_means_that_the_agent_is_stopped_and_told_why(session, agent, maria):
    incident = run.file(maria, session, severity="S1")
    actions.direct_traffic(
        reference=incident.reference, traffic="human_queue", traffic_note="Call 4711.", by=maria
    )
    with pytest.raises(SessionFrozen) as refused:
        make.update(session, {"a": 1}, by=agent)
    assert "INCIDENT-1: Cancelled a booking. New traffic goes to the human queue. Call 4711." in str(
        refused.value
    )
    run.look(incident)
    assert run.texts(incident, EventKind.WRITE_REFUSED) == [
        f"A write was refused on {session.public_id}; what was tried is kept."
    ]
    assert run.status(incident) == Status.CONTAINED
    for _ in range(2):
        with pytest.raises(SessionFrozen):
            make.update(session, {"a": 1}, by=agent)
    run.look(incident)
    assert run.texts(incident, EventKind.WRITE_REFUSED)[-1].startswith("2 writes were refused")


def test_traffic_is_told_once_and_checked(session, maria, edda):
    incident = run.file(maria, session)
    for _ in range(2):
        actions.direct_traffic(reference=incident.reference, traffic="safe_version", by=edda)
    assert len(run.events(incident, EventKind.TRAFFIC)) == 1
    assert run.open_holds(session) == ["INCIDENT-1"]
    with pytest.raises(InvalidInput, match="human_queue"):
        actions.direct_traffic(reference=incident.reference, traffic="bin", by=edda)
    with pytest.raises(InvalidInput):
        actions.direct_traffic(
            reference=incident.reference, traffic="reject", traffic_note="x" * 301, by=edda
        )


def test_freezing_asks_for_the_scope_the_session_and_an_open_incident(acme, session, agent, maria):
    incident = run.file(maria, session)
    with pytest.raises(PermissionRefused):
        actions.freeze(reference=incident.reference, by=make.person(acme, "viewer", "vera"))
    with pytest.raises(SessionNotAffected):
        actions.freeze(reference=incident.reference, session_id=run.damaged(agent).public_id, by=maria)
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    with pytest.raises(IncidentEnded, match="nothing about it can be changed"):
        actions.freeze(reference=incident.reference, by=maria)
    assert not make.fresh(session).is_frozen


def test_a_linked_session_cannot_be_deleted_and_the_refusal_names_the_incidents(acme, session, maria):
    run.file(maria, session)
    run.file(maria, session)
    with pytest.raises(SessionHeld, match="INCIDENT-1, INCIDENT-2") as refused:
        sessions.delete_session(session_id=session.public_id, by=make.full_key(acme))
    assert [hold["url"] for hold in refused.value.extras["holds"]] == [
        "/incidents/INCIDENT-1/",
        "/incidents/INCIDENT-2/",
    ]


def test_what_waits_when_the_incident_ends_is_not_frozen_any_more(agent, maria, monkeypatch):
    one, other = run.damaged(agent), run.damaged(agent)
    run.without_time_to_freeze(monkeypatch)
    incident = run.file(maria, one, other, severity="S1")
    actions.decline(reference=incident.reference, reason="A test", resume_sessions=True, by=maria)
    maintenance.run_once()
    assert [make.fresh(each).is_frozen for each in (one, other)] == [False, False]
    assert run.open_holds(one) == run.open_holds(other) == []


def test_the_worker_goes_on_past_sessions_that_fail(agent, maria, monkeypatch, broken):
    monkeypatch.setattr(securing, "_BATCH", 3)
    many = [make.session(agent) for _ in range(5)]
    run.without_time_to_freeze(monkeypatch)
    broken |= {each.public_id for each in many[:3]}
    run.file(maria, *many, severity="S1")
    for _ in range(3):
        maintenance.run_once()
    assert [make.fresh(each).is_frozen for each in many] == [False, False, False, True, True]
