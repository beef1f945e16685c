"""Filing: what is written at once, what is grouped, and who may (contract 16, design "Filing")."""

from datetime import timedelta

import pytest

from incidents_app import actions, queries
from incidents_app.enums import EventKind, Status
from incidents_app.errors import IncidentNotFound
from incidents_app.models import Incident
from sessions_app import actions as sessions
from sessions_app.errors import SessionNotFound
from statebase_site.access.idempotency import IdempotencyConflict
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput, PermissionRefused, TooLarge
from tests import factories as make
from tests.incidents_app import runbook as run


def test_an_s1_freezes_every_session_in_the_same_call(agent, maria):
    three = [run.damaged(agent) for _ in range(3)]
    filed = actions.file(
        title="Deleted the orders", severity="S1", session_ids=[each.public_id for each in three], by=maria
    )
    assert filed.is_new
    assert (filed.incident.reference, filed.incident.status) == ("INCIDENT-1", Status.CONTAINED)
    for each in map(make.fresh, three):
        assert (each.is_frozen, each.frozen_by, each.head_version) == (True, "user:maria", 3)
        assert run.open_holds(each) == ["INCIDENT-1"]
    frozen = run.events(filed.incident, EventKind.FROZEN)
    assert {each.session_id for each in frozen} == {each.public_id for each in three}
    assert {each.version for each in frozen} == {3}


@pytest.mark.parametrize(
    ("severity", "status"),
    [("S2", Status.OPEN), ("S3", Status.CONTAINED), ("S4", Status.RECOVERED), (None, Status.TRIAGE)],
)
def test_other_severities_hold_the_sessions_and_let_them_run(session, maria, severity, status):
    incident = run.file(maria, session, severity=severity)
    assert incident.status == status
    assert not make.fresh(session).is_frozen
    assert run.open_holds(session) == ["INCIDENT-1"]
    assert not run.row_of(incident, session).freeze_wanted


def test_an_agent_files_and_freezes_itself(session, agent):
    incident = run.file(agent, session, severity="S1")
    assert make.fresh(session).is_frozen
    assert (incident.commander, incident.filed_by) == (None, agent.label)


def test_who_files_and_may_lead_leads(session, maria, edda, jon):
    assert run.file(maria, session).commander.username == "maria"
    assert run.file(jon, session).commander.username == "jon"
    assert run.file(edda, session).commander is None


def test_a_viewer_may_not_file(acme, session):
    with pytest.raises(PermissionRefused, match="file an incident"):
        run.file(make.person(acme, "viewer", "vera"), session)
    assert not Incident.objects.exists()


def test_a_key_for_incidents_alone_may_file_and_freeze(acme, session):
    key = make.key_with(acme, "incident:manage")
    run.file(key, session, severity="S1")
    assert make.fresh(session).is_frozen


def test_no_session_needs_a_reason_from_a_person_only(acme, agent, maria):
    with pytest.raises(InvalidInput, match="say why there are none") as refused:
        run.file(maria)
    assert refused.value.param == "sessions"
    incident = run.file(maria, no_session_reason="Seen in the bank's logs")
    assert incident.no_session_reason == "Seen in the bank's logs"
    assert run.file(agent).no_session_reason == ""


@pytest.mark.parametrize("severity", ["S1", "S2"])
def test_an_unknown_session_files_nothing(session, agent, maria, severity):
    foreign = make.session(make.full_key(make.project("Other")))
    deleted = make.session(agent)
    sessions.delete_session(session_id=deleted.public_id, by=make.full_key(maria.project))
    for unknown in ("sess_nowhere", "nul\x00", foreign.public_id, deleted.public_id):
        with pytest.raises(SessionNotFound):
            actions.file(title="x", severity=severity, session_ids=[session.public_id, unknown], by=maria)
    assert not Incident.objects.exists()
    assert not make.fresh(session).is_frozen
    assert run.file(maria, session).number == 1  # no number is lost


def test_expired_sessions_can_be_filed_and_live_on_as_evidence(agent):
    gone = run.damaged(agent, ttl_seconds=60)
    with clock.at(gone.expires_at + timedelta(seconds=1)):
        incident = run.file(agent, gone, severity="S1")
        assert make.fresh(gone).is_frozen
        assert not make.fresh(gone).is_expired
        assert incident.status == Status.CONTAINED


def test_a_session_named_twice_is_affected_once(session, maria):
    incident = run.file(maria, session, session)
    assert [row.session_id for row in run.look(incident).affected] == [session.public_id]


def test_the_failing_point_is_kept(session, maria):
    incident = run.file(maria, session, suspects={session.public_id: 1})
    assert run.row_of(incident, session).suspect_version == 1


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("title", "", InvalidInput),
        ("title", " \n ", InvalidInput),
        ("title", "x" * 201, InvalidInput),
        ("title", "nul\x00", InvalidInput),
        ("severity", "S5", InvalidInput),
        ("severity", "", InvalidInput),
        ("failure_mode", "gremlins", InvalidInput),
        ("summary", "ä" * 9000, TooLarge),
        ("dedup_key", "x" * 256, InvalidInput),
        ("session_ids", [f"sess_{number}" for number in range(1001)], InvalidInput),
    ],
)
def test_what_cannot_be_filed_names_the_field(acme, maria, field, value, error):
    given = {"title": "A title", "no_session_reason": "none", field: value}
    with pytest.raises(error) as refused:
        actions.file(**given, by=maria)
    assert refused.value.param == {"session_ids": "sessions"}.get(field, field)
    assert not Incident.objects.exists()


def test_numbers_run_in_each_project_for_itself(session, maria):
    other = make.project("Other")
    olga = make.person(other, "responder", "olga")
    theirs = run.file(olga, make.session(make.agent(other)))
    mine = [run.file(maria, session) for _ in range(3)]
    assert [each.reference for each in (theirs, *mine)] == [
        "INCIDENT-1",
        "INCIDENT-1",
        "INCIDENT-2",
        "INCIDENT-3",
    ]
    assert queries.incident_for(olga, "incident-1").pk == theirs.pk
    with pytest.raises(IncidentNotFound):
        queries.incident_for(olga, "INCIDENT-2")


@pytest.mark.parametrize(
    "reference", ["", "INCIDENT-", "INCIDENT-x", "INCIDENT-²", "12345678901", "-1", "\x00"]
)
def test_what_is_no_reference_is_not_found(acme, maria, reference):
    with pytest.raises(IncidentNotFound):
        queries.incident_for(maria, reference)


# Filed again ---------------------------------------------------------------------------------------------


def test_the_same_dedup_key_is_counted_up(session, agent, maria):
    more = run.damaged(agent)
    first = run.file(maria, session, severity="S3", dedup_key="orders")
    again = actions.file(
        title="Once more",
        severity="S4",
        session_ids=[session.public_id, more.public_id],
        dedup_key=" orders ",
        by=maria,
    )
    assert (again.is_new, again.incident.pk, again.incident.count) == (False, first.pk, 2)
    assert again.incident.severity == "S3"  # a lesser one does not lower it
    assert {row.session_id for row in run.look(first).affected} == {session.public_id, more.public_id}
    assert run.open_holds(more) == ["INCIDENT-1"]
    assert run.texts(first, EventKind.FILED_AGAIN) == ["Filed again (2 times): Once more"]


def test_filing_again_as_worse_raises_and_freezes_all(session, agent, maria):
    more = run.damaged(agent)
    first = run.file(maria, session, severity="S3", dedup_key="orders")
    run.file(agent, more, severity="S1", dedup_key="orders")
    first.refresh_from_db()
    assert (first.severity, first.peak_severity) == ("S1", "S1")
    assert make.fresh(session).is_frozen
    assert make.fresh(more).is_frozen


def test_filing_again_gives_a_severity_to_what_waits_in_triage(session, maria):
    first = run.file(maria, session, severity=None, dedup_key="orders")
    run.file(maria, session, severity="S2", dedup_key="orders")
    first.refresh_from_db()
    assert (first.severity, first.status) == ("S2", Status.OPEN)


def test_an_agent_filing_in_a_loop_makes_one_incident(session, agent):
    for number in range(5):
        run.file(agent, session, severity="S3" if number < 4 else "S1", title=f"Help {number}")
    incident = Incident.objects.get()
    assert (incident.count, incident.severity) == (5, "S1")
    assert make.fresh(session).head_version == 3  # frozen once
    assert [each.sequence for each in run.events(incident)] == list(range(1, incident.event_count + 1))


def test_what_agents_file_about_other_sessions_or_as_others_is_not_grouped(acme, session, agent):
    run.file(agent, session)
    run.file(agent, run.damaged(agent))
    run.file(make.agent(acme), session)
    run.file(agent, title="No session")
    run.file(agent, title="No session either")
    assert run.file(agent, title="No session").count == 2
    assert Incident.objects.count() == 5


def test_people_filing_twice_mean_two(session, maria):
    run.file(maria, session)
    run.file(maria, session)
    assert Incident.objects.count() == 2


def test_a_closed_incident_is_not_counted_up(session, agent, maria):
    first = run.file(agent, session)
    actions.decline(reference=first.reference, reason="A test", by=maria)
    again = actions.file(title="Again", session_ids=[session.public_id], by=agent)
    assert again.is_new
    assert again.incident.number == 2


def test_keys_group_within_a_project_only(session, maria):
    other = make.project("Other")
    olga = make.person(other, "responder", "olga")
    run.file(maria, session, dedup_key="orders")
    assert run.file(olga, make.session(make.agent(other)), dedup_key="orders").count == 1


def test_filing_is_idempotent(session, maria):
    by = make.asking(maria, key="once", path="/v1/incidents", method="POST")
    given = {"title": "Twice", "severity": "S1", "session_ids": [session.public_id], "by": by}
    first, second = actions.file(**given), actions.file(**given)
    assert (first.replayed, second.replayed) == (False, True)
    assert (first.is_new, second.is_new) == (True, True)
    assert first.incident.pk == second.incident.pk
    assert make.fresh(session).head_version == 3
    other = make.asking(maria, key="once", path="/v1/incidents", method="POST", body=b"[]")
    with pytest.raises(IdempotencyConflict):
        actions.file(**{**given, "by": other})
    assert Incident.objects.get().count == 1


# One more session ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("severity", "frozen"), [("S1", True), ("S2", False)])
def test_a_session_added_later_is_held_and_frozen_as_severity_asks(
    session, agent, maria, edda, severity, frozen
):
    incident = run.file(maria, session, severity=severity)
    more = run.damaged(agent)
    actions.add_session(**run.about(incident, more, edda), suspect_version=2)
    assert make.fresh(more).is_frozen == frozen
    assert run.open_holds(more) == ["INCIDENT-1"]
    assert run.row_of(incident, more).suspect_version == 2
    before = len(run.events(incident))
    actions.add_session(**run.about(incident, more, edda))
    assert len(run.events(incident)) == before
    assert len(run.look(incident).affected) == 2
    with pytest.raises(SessionNotFound):
        actions.add_session(reference=incident.reference, session_id="sess_nowhere", by=edda)


def test_a_session_added_to_a_contained_incident_opens_it_again(session, agent, maria):
    incident = run.file(maria, session, severity="S2")
    run.frozen(incident, session, maria)
    assert run.status(incident) == Status.CONTAINED
    more = run.damaged(agent)
    actions.add_session(**run.about(incident, more, maria))
    assert run.status(incident) == Status.OPEN
    assert any(more.public_id in text for text in run.texts(incident, EventKind.STATUS))
