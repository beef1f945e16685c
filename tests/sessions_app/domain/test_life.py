"""The life of a session: expiry, holds, deletion, restoring, purge (contract 6.2, 8.3; domain rule 6)."""

from datetime import timedelta

import pytest

from sessions_app import actions, queries
from sessions_app.actions import maintenance
from sessions_app.actions.create import NEVER
from sessions_app.errors import (
    InvalidInput,
    PermissionRefused,
    SessionFrozen,
    SessionHeld,
    SessionNotFound,
    TraceNotFound,
)
from sessions_app.models import (
    AgentSession,
    EvidenceHold,
    RefusedWrite,
    SessionMetadataPair,
    SessionPath,
    StateVersion,
    Trace,
    Turn,
)
from statebase_site.base import clock
from tests import factories as make

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def after(session, delay):
    return clock.at(session.created_at + delay)


@pytest.fixture
def brief(key):
    """A session that lives for an hour."""
    made = make.session(key, {"a": 1}, ttl_seconds=3600)
    make.update(made, {"a": 2}, by=key)
    return make.fresh(made)


# Expiry -------------------------------------------------------------------------------------------------


def test_an_expired_session_is_gone_for_agents_and_there_for_people(key, brief, responder):
    turn = make.turn(brief, by=key)
    with after(brief, HOUR - timedelta(microseconds=1)):
        assert queries.session_for(key, brief.public_id) == brief
    with after(brief, HOUR):
        for call in (
            lambda: queries.session_for(key, brief.public_id),
            lambda: make.update(brief, {"a": 3}, by=key),
            lambda: make.turn(brief, by=key),
            lambda: make.rollback(brief, 0, by=key),
            lambda: actions.fork(session_id=brief.public_id, by=key),
            lambda: actions.update_session(session_id=brief.public_id, ttl_seconds=9, by=key),
            lambda: actions.delete_session(session_id=brief.public_id, by=key),
            lambda: actions.create_trace(action="note", session_id=brief.public_id, by=key),
        ):
            with pytest.raises(SessionNotFound):
                call()
        assert not queries.sessions_for(key).filter(pk=brief.pk).exists()
        with pytest.raises(Exception, match="turn"):
            queries.turn_for(key, turn.public_id)
        assert queries.session_for(responder, brief.public_id) == brief
        assert queries.turn_for(responder, turn.public_id) == turn
        actions.fork(session_id=brief.public_id, by=responder)
        make.freeze(brief, by=responder)


def test_writing_does_not_extend_its_life(key, brief):
    with after(brief, HOUR / 2):
        make.update(brief, {"a": 3}, by=key)
        make.turn(brief, by=key, state_after={"b": 1})
        make.rollback(brief, 0, by=key)
    assert make.fresh(brief).expires_at == brief.expires_at


def test_a_new_ttl_counts_from_now(key, brief):
    with after(brief, HOUR / 2):
        actions.update_session(session_id=brief.public_id, ttl_seconds=3600, by=key)
    assert make.fresh(brief).expires_at == brief.created_at + HOUR * 1.5


def test_without_a_ttl_it_is_the_default_and_never_is_never(key, settings):
    settings.DEFAULT_TTL_SECONDS = 120
    assert make.session(key).ttl_seconds == 120
    settings.DEFAULT_TTL_SECONDS = 0
    assert make.session(key).expires_at is None
    settings.DEFAULT_TTL_SECONDS = 120
    endless = make.session(key, ttl_seconds=NEVER)
    assert (endless.ttl_seconds, endless.expires_at) == (None, None)


def test_the_worker_traces_an_expiry_once(key, brief):
    with after(brief, HOUR - timedelta(microseconds=1)):
        assert maintenance.expire_due() == 0
    with after(brief, HOUR):
        assert maintenance.expire_due() == 1
        assert maintenance.expire_due() == 0
    trace = Trace.objects.get(action="session.expired")
    assert trace.details == {"ttl_seconds": 3600, "last_activity": clock.isoformat(brief.updated_at)}
    assert trace.actor_label == "system"
    assert queries.verify_session(make.fresh(brief)).ok


def test_a_life_that_was_given_again_ends_with_a_trace_again(key, brief, responder):
    with after(brief, HOUR):
        maintenance.expire_due()
        actions.update_session(session_id=brief.public_id, ttl_seconds=3600, by=responder)
        assert queries.session_for(key, brief.public_id) == brief
        assert maintenance.expire_due() == 0
    with after(brief, HOUR * 2):
        assert maintenance.expire_due() == 1
    assert Trace.objects.filter(action="session.expired").count() == 2


def test_a_frozen_session_does_not_expire_and_lives_on_by_the_time_it_was_frozen(key, brief):
    with after(brief, HOUR / 2):
        make.freeze(brief, by=key)
    with after(brief, HOUR * 5):
        assert maintenance.expire_due() == 0
        assert queries.session_for(key, brief.public_id).is_frozen
        with pytest.raises(SessionFrozen):
            make.update(brief, {"a": 3}, by=key)
        actions.resume(session_id=brief.public_id, by=key)
    assert make.fresh(brief).expires_at == brief.expires_at + HOUR * 4.5
    with after(brief, HOUR * 5.5 - timedelta(microseconds=1)):
        assert queries.session_for(key, brief.public_id)
    with after(brief, HOUR * 5.5):
        assert maintenance.expire_due() == 1


def test_a_held_session_does_not_expire_and_lives_on_by_the_time_it_was_held(key, brief):
    with after(brief, HOUR / 2):
        actions.hold(session_id=brief.public_id, label="INCIDENT-1", url="/i/1", by=key)
    with after(brief, HOUR * 2):
        make.freeze(brief, by=key)
    with after(brief, HOUR * 3):
        actions.release(session_id=brief.public_id, label="INCIDENT-1", by=key)
        assert maintenance.expire_due() == 0
    with after(brief, HOUR * 4):
        actions.resume(session_id=brief.public_id, by=key)
    assert make.fresh(brief).expires_at == brief.expires_at + HOUR * 3.5  # counted once


def test_one_that_never_expires_is_not_given_an_end_by_a_freeze(key):
    endless = make.session(key, ttl_seconds=NEVER)
    make.freeze(endless, by=key)
    actions.resume(session_id=endless.public_id, by=key)
    assert make.fresh(endless).expires_at is None


def test_an_expired_session_that_a_person_freezes_and_resumes_is_expired_as_before(key, brief, responder):
    with after(brief, HOUR * 2):
        maintenance.expire_due()
        make.freeze(brief, by=responder)
        actions.resume(session_id=brief.public_id, by=responder)
        assert make.fresh(brief).is_expired
        with pytest.raises(SessionNotFound):
            queries.session_for(key, brief.public_id)


def test_status_says_what_a_person_sees(key, brief):
    assert brief.status == "running"
    with after(brief, HOUR):
        assert brief.status == "expired"
    make.freeze(brief, by=key)
    with after(brief, HOUR):
        assert make.fresh(brief).status == "frozen"
    actions.resume(session_id=brief.public_id, by=key)
    actions.delete_session(session_id=brief.public_id, by=key)
    assert make.fresh(brief).status == "deleted"


# Metadata -----------------------------------------------------------------------------------------------


def test_metadata_is_merged_by_top_level_key_and_makes_no_version(key):
    made = make.session(key, {"a": 1}, metadata={"kept": {"x": 1}, "changed": 1, "emptied": 2})
    actions.update_session(
        session_id=made.public_id, metadata={"changed": 1.0, "emptied": None, "new": []}, by=key
    )
    session = make.fresh(made)
    assert session.metadata_text == '{"kept":{"x":1},"changed":1.0,"emptied":null,"new":[]}'
    assert session.head_version == 0
    trace = queries.traces_for(key, action="session.updated").get()
    assert trace.details["ttl_seconds"] is None
    assert trace.details["metadata_diff"]["added"] == {"new": []}
    assert list(queries.with_metadata(queries.sessions_for(key), {"new": [], "changed": 1.0})) == [session]
    assert not queries.with_metadata(queries.sessions_for(key), {"changed": 1}).exists()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, True),
        ({"team": "red"}, True),
        ({"team": "red", "tier": 1}, True),
        ({"tier": 1.0}, False),
        ({"tier": True}, False),
        ({"nested": {"b": 2, "a": 1}}, True),
        ({"nothing": None}, True),
        ({"missing": None}, False),
        ({"team": "blue"}, False),
        ({"x" * 300: 1}, True),
    ],
)
def test_sessions_are_found_by_pairs_of_their_metadata(key, wanted, found):
    made = make.session(
        key,
        metadata={
            "team": "red",
            "tier": 1,
            "nested": {"a": 1, "b": 2},
            "nothing": None,
            "x" * 300: 1,
            "\x00": "\x00",
        },
    )
    make.session(key, metadata={"team": "green"})
    sessions = queries.with_metadata(queries.sessions_for(key), wanted)
    assert sessions.filter(pk=made.pk).exists() is found


# Holds --------------------------------------------------------------------------------------------------


def test_a_held_session_is_not_deleted(key):
    made = make.session(key)
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/incidents/1", by=key)
    actions.hold(session_id=made.public_id, label="INCIDENT-2", url="/incidents/2", by=key)
    with pytest.raises(SessionHeld) as refused:
        actions.delete_session(session_id=made.public_id, by=key)
    assert refused.value.code == "session_held"
    assert refused.value.extras["holds"] == [
        {"label": "INCIDENT-1", "url": "/incidents/1"},
        {"label": "INCIDENT-2", "url": "/incidents/2"},
    ]
    actions.release(session_id=made.public_id, label="INCIDENT-1", by=key)
    with pytest.raises(SessionHeld) as refused:
        actions.delete_session(session_id=made.public_id, by=key)
    assert [hold["label"] for hold in refused.value.extras["holds"]] == ["INCIDENT-2"]
    actions.release(session_id=made.public_id, label="INCIDENT-2", by=key)
    actions.delete_session(session_id=made.public_id, by=key)
    assert make.fresh(made).deleted_at


def test_one_label_is_held_once_and_can_be_held_again_later(key):
    made = make.session(key)
    hold = {"session_id": made.public_id, "label": "INCIDENT-1"}
    first = actions.hold(**hold, url="/1", by=key)
    assert actions.hold(**hold, url="/1", by=key) == first
    assert make.fresh(made).open_holds == 1
    released = actions.release(**hold, by=key)
    assert (released.released_by, make.fresh(made).open_holds) == (key.label, 0)
    with pytest.raises(InvalidInput):
        actions.release(**hold, by=key)
    actions.hold(**hold, url="/1", by=key)
    assert EvidenceHold.objects.filter(agent_session=made).count() == 2
    assert make.fresh(made).open_holds == 1
    made_traces = queries.traces_for(key, session_id=made.public_id)
    assert made_traces.filter(action="session.held").count() == 2


def test_an_open_hold_can_be_told_to_say_something_else(key):
    made = make.session(key)
    hold = {"session_id": made.public_id, "label": "INCIDENT-1"}
    actions.hold(**hold, url="/1", by=key)
    actions.hold(**hold, url="/2", notice="New traffic is rejected.", by=key)
    (opened,) = EvidenceHold.objects.filter(agent_session=made)
    assert (opened.url, opened.notice, make.fresh(made).open_holds) == ("/2", "New traffic is rejected.", 1)
    traces = queries.traces_for(key, session_id=made.public_id)
    assert traces.filter(action="session.held").count() == 2


def test_a_held_session_goes_on_working(key):
    made = make.session(key)
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/1", by=key)
    assert make.update(made, {"a": 1}, by=key).number == 1


# Deletion -----------------------------------------------------------------------------------------------


def test_a_deleted_session_does_not_exist_for_anyone_but_its_last_trace(key, responder):
    made = make.session(key, {"a": 1})
    turn = make.turn(made, by=key)
    created = queries.traces_for(key, session_id=made.public_id).get(action="session.created")
    with clock.at(made.created_at + HOUR):
        actions.delete_session(session_id=made.public_id, reason="Asked for", by=key)
    for by in (key, responder):
        for call in (
            lambda by=by: queries.session_for(by, made.public_id),
            lambda by=by: make.update(made, {"a": 2}, by=by),
            lambda by=by: make.turn(made, by=by),
            lambda by=by: make.rollback(made, 0, by=by),
            lambda by=by: make.freeze(made, by=by),
            lambda by=by: actions.fork(session_id=made.public_id, by=by),
            lambda by=by: actions.hold(session_id=made.public_id, label="x", url="/", by=by),
            lambda by=by: actions.create_trace(action="note", session_id=made.public_id, by=by),
        ):
            with pytest.raises(SessionNotFound):
                call()
        with pytest.raises(Exception, match="turn"):
            queries.turn_for(by, turn.public_id)
        with pytest.raises(TraceNotFound):
            queries.trace_for(by, created.public_id)
        (left,) = queries.traces_for(by, session_id=made.public_id)
        assert left.action == "session.deleted"
        assert left.details == {
            "session_id": made.public_id,
            "reason": "Asked for",
            "turn_count": 1,
            "memory_count": 0,
        }


def test_only_who_may_delete_deletes_and_restores(agent, engineer, key):
    made = make.session(agent)
    for by in (agent, engineer):
        with pytest.raises(PermissionRefused) as refused:
            actions.delete_session(session_id=made.public_id, by=by)
        assert refused.value.extras["required_scope"] == "sessions:delete"
    actions.delete_session(session_id=made.public_id, by=key)
    with pytest.raises(PermissionRefused):
        actions.restore_deleted_session(session_id=made.public_id, by=agent)


def test_a_deletion_is_undone_until_the_purge(key):
    made = make.session_with_versions(key, 3)
    actions.delete_session(session_id=made.public_id, by=key)
    actions.restore_deleted_session(session_id=made.public_id, by=key)
    session = queries.session_for(key, made.public_id)
    assert queries.document_at(session, 2).value["step"] == 2
    assert make.update(made, {"step": 4}, by=key).number == 4
    assert queries.verify_session(make.fresh(made)).ok
    with pytest.raises(SessionNotFound):
        actions.restore_deleted_session(session_id=made.public_id, by=key)  # it is not deleted
    with pytest.raises(SessionNotFound):
        actions.restore_deleted_session(session_id="sess_missing", by=key)


# Purge --------------------------------------------------------------------------------------------------


def full_session(key, **fields):
    """One with rows in every table, which are asserted to be there."""
    made = make.session(key, {"secret": "in the state"}, metadata={"secret": "metadata"}, **fields)
    make.turn(made, "secret question", by=key, state_after={"secret": 2})
    actions.create_trace(action="note", session_id=made.public_id, details={"secret": 1}, by=key)
    make.freeze(made, by=key)
    with pytest.raises(SessionFrozen):
        make.update(made, {"secret": 3}, by=key)
    actions.resume(session_id=made.public_id, by=key)
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/1", by=key)
    actions.release(session_id=made.public_id, label="INCIDENT-1", by=key)
    while maintenance.index_changed_paths():
        pass
    assert all(rows_of(made))
    return make.fresh(made)


def rows_of(session):
    tables = (StateVersion, Turn, Trace, RefusedWrite, SessionMetadataPair, SessionPath, EvidenceHold)
    return [model.objects.filter(agent_session_id=session.pk).count() for model in tables]


def test_seven_days_after_its_deletion_a_session_is_purged_to_one_tombstone(key):
    made, other = full_session(key), make.session_with_versions(key, 2)
    actions.delete_session(session_id=made.public_id, reason="secret reason", by=key)
    deleted_at = make.fresh(made).deleted_at
    with clock.at(deleted_at + DAY * 7 - timedelta(microseconds=1)):
        assert maintenance.purge_due() == 0
    with clock.at(deleted_at + DAY * 7):
        assert maintenance.purge_due() == 1
        assert maintenance.purge_due() == 0
    assert rows_of(made) == [0] * 7
    assert not AgentSession.objects.filter(pk=made.pk).exists()
    (tombstone,) = queries.traces_for(key, session_id=made.public_id)
    assert (tombstone.action, tombstone.resource_id) == ("session.deleted", made.public_id)
    assert tombstone.details == {
        "session_id": made.public_id,
        "reason": "purged after its deletion",
        "turn_count": 1,
        "memory_count": 0,
    }
    assert queries.trace_details([tombstone])[tombstone.pk] == tombstone.details
    assert "secret" not in tombstone.details_text
    assert queries.trace_for(key, tombstone.public_id) == tombstone
    assert queries.verify_session(make.fresh(other)).ok
    with pytest.raises(SessionNotFound):
        actions.restore_deleted_session(session_id=made.public_id, by=key)


def test_thirty_days_after_its_expiry_a_session_is_purged(key):
    made = full_session(key, ttl_seconds=3600)
    with clock.at(made.expires_at + DAY * 30 - timedelta(microseconds=1)):
        maintenance.expire_due()
        assert maintenance.purge_due() == 0
    with clock.at(made.expires_at + DAY * 30):
        assert maintenance.purge_due() == 1
    assert rows_of(made) == [0] * 7
    (tombstone,) = queries.traces_for(key, session_id=made.public_id)
    assert tombstone.details["reason"] == "purged after its expiry"


def test_running_frozen_and_held_sessions_are_never_purged(key):
    endless = make.session(key, ttl_seconds=NEVER)
    frozen, held = make.session(key, ttl_seconds=60), make.session(key, ttl_seconds=60)
    make.freeze(frozen, by=key)
    actions.hold(session_id=held.public_id, label="INCIDENT-1", url="/1", by=key)
    with clock.at(endless.created_at + DAY * 4_000):
        assert maintenance.expire_due() == 0
        assert maintenance.purge_due() == 0
        assert make.update(endless, {"a": 1}, by=key).number == 1
        actions.release(session_id=held.public_id, label="INCIDENT-1", by=key)
        assert maintenance.purge_due() == 0  # its life goes on from here
    assert AgentSession.objects.count() == 3


def test_what_a_restored_session_kept_is_not_purged(key):
    made = make.session(key, ttl_seconds=NEVER)
    actions.delete_session(session_id=made.public_id, by=key)
    actions.restore_deleted_session(session_id=made.public_id, by=key)
    with clock.at(made.created_at + DAY * 100):
        assert maintenance.purge_due() == 0


def test_a_project_is_emptied_whole_and_the_others_are_not(acme, key):
    other = make.project("Other")
    other_key = make.full_key(other)
    kept = full_session(other_key)
    full_session(key)
    actions.create_trace(action="note", by=key)
    maintenance.remove_project_content(project=acme)
    assert not Trace.objects.filter(project=acme).exists()
    assert not AgentSession.objects.filter(project=acme).exists()
    assert all(rows_of(kept))
    acme.refresh_from_db()
    assert not acme.purging
    assert make.session(key)


# The worker's round -------------------------------------------------------------------------------------


def test_one_round_does_all_that_is_due_and_the_next_has_nothing_to_do(key):
    deleted = make.session(key, {"a": {"b": 1}})
    make.update(deleted, {"a": {"b": 2}}, by=key)
    expiring = make.session(key, ttl_seconds=60)
    actions.delete_session(session_id=deleted.public_id, by=key)
    with clock.at(expiring.created_at + DAY * 8):
        assert maintenance.run_once() == 3  # expired, purged, indexed
        assert maintenance.run_once() == 0


def test_the_index_of_changed_paths_follows_the_versions(key):
    made = make.session(key, {"a": {"b": 1, "c": [1]}})
    make.update(made, {"a": {"b": 2, "c": [1]}}, by=key)
    maintenance.index_changed_paths()
    make.update(made, {"a": {"b": 3, "c": [1]}, "new/key": 1}, by=key)
    make.update(made, {"nul\x00": 1, "x" * 300: 1}, by=key)
    assert maintenance.index_changed_paths() == 1
    assert maintenance.index_changed_paths() == 0
    paths = dict(SessionPath.objects.filter(agent_session=made).values_list("path", "last_version"))
    assert paths["/a"] == 0
    assert paths["/a/b"] == 2
    assert paths["/new~1key"] == 2
    assert paths["/nul"] == 3
    assert paths["/" + "x" * 254] == 3
    assert make.fresh(made).paths_indexed_to == 3
