"""Rule 9: two projects never see each other, through nothing."""

import pytest

from sessions_app import actions, queries
from sessions_app.actions import maintenance
from sessions_app.errors import SessionFrozen, SessionNotFound, TraceNotFound, TurnNotFound
from statebase_site.access.errors import KeyNotFound
from tests import factories as make


@pytest.fixture(scope="module")
def theirs_as_it_was(key):
    """A session of Acme with everything."""
    made = make.session(key, {"secret": 1}, user_id="u1", metadata={"team": "red"})
    make.turn(made, by=key, state_after={"secret": 2})
    actions.create_trace(action="note", session_id=made.public_id, by=key)
    make.freeze(made, by=key)
    with pytest.raises(SessionFrozen):
        make.update(made, {"secret": 3}, by=key)
    actions.resume(session_id=made.public_id, by=key)
    return made


@pytest.fixture
def theirs(theirs_as_it_was):
    return make.fresh(theirs_as_it_was)


@pytest.fixture(scope="module", params=["key", "person", "system"])
def stranger(request, module_db):
    other = make.project(f"Other {request.param}")
    return {"key": make.full_key, "person": make.person, "system": make.system}[request.param](other)


ATTEMPTS = {
    "read": lambda s, by: queries.session_for(by, s.public_id),
    "merge": lambda s, by: make.update(s, {"a": 1}, by=by),
    "freeze": lambda s, by: make.freeze(s, by=by),
    "resume": lambda s, by: actions.resume(session_id=s.public_id, by=by),
    "turn": lambda s, by: make.turn(s, by=by),
    "rollback": lambda s, by: make.rollback(s, 0, by=by),
    "fork": lambda s, by: actions.fork(session_id=s.public_id, by=by),
    "metadata": lambda s, by: actions.update_session(session_id=s.public_id, metadata={"m": 2}, by=by),
    "note": lambda s, by: actions.create_trace(action="note", session_id=s.public_id, by=by),
    "hold": lambda s, by: actions.hold(session_id=s.public_id, label="x", url="/", by=by),
    "release": lambda s, by: actions.release(session_id=s.public_id, label="x", by=by),
    "delete": lambda s, by: actions.delete_session(session_id=s.public_id, by=by),
    "restore": lambda s, by: actions.restore_deleted_session(session_id=s.public_id, by=by),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_foreign_session_is_answered_as_one_that_does_not_exist(theirs, stranger, name):
    with pytest.raises(SessionNotFound) as foreign:
        ATTEMPTS[name](theirs, stranger)
    unknown = make.session(stranger)
    unknown.public_id = "sess_unknown"
    with pytest.raises(SessionNotFound) as missing:
        ATTEMPTS[name](unknown, stranger)
    told = foreign.value
    assert told.message.replace(theirs.public_id, "sess_unknown") == missing.value.message
    assert (told.code, told.param, told.extras) == (
        missing.value.code,
        missing.value.param,
        missing.value.extras,
    )
    after = make.fresh(theirs)
    assert (after.head_version, after.chain_length, after.open_holds, after.deleted_at) == (
        theirs.head_version,
        theirs.chain_length,
        0,
        None,
    )


def test_a_frozen_foreign_session_says_not_found_and_keeps_no_evidence(key, theirs, stranger):
    make.freeze(theirs, by=key)
    before = make.fresh(theirs).chain_length
    with pytest.raises(SessionNotFound):
        make.update(theirs, {"a": 1}, by=stranger)
    assert make.fresh(theirs).chain_length == before


def test_lists_filters_and_counts_hold_nothing_foreign(theirs, stranger):
    mine = make.session(stranger, user_id="u1", metadata={"team": "red"})
    assert list(queries.sessions_for(stranger)) == [mine]
    assert list(queries.with_metadata(queries.sessions_for(stranger), {"team": "red"})) == [mine]
    traces = queries.traces_for(stranger)
    assert {trace.project_id for trace in traces} == {stranger.project.pk}
    assert not queries.traces_for(stranger, session_id=theirs.public_id).exists()
    for filters in (
        {"user_id": "u1"},
        {"action": "state.updated"},
        {"action": "write.refused"},
        {"resource_type": "state"},
        {"resource_id": theirs.public_id},
    ):
        found = queries.traces_for(stranger, **filters)
        assert not found.exclude(project=stranger.project).exists()


def test_turns_and_traces_are_not_found_by_their_ids(key, theirs, stranger):
    turn = queries.turns_of(theirs)[0]
    with pytest.raises(TurnNotFound):
        queries.turn_for(stranger, turn.public_id)
    with pytest.raises(TurnNotFound):
        queries.turn_for(stranger, turn.public_id, make.session(stranger))
    for trace in queries.traces_for(key):
        with pytest.raises(TraceNotFound):
            queries.trace_for(stranger, trace.public_id)


def test_the_tombstone_of_a_foreign_session_is_not_seen(key, theirs, stranger, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    actions.delete_session(session_id=theirs.public_id, by=key)
    assert not queries.traces_for(stranger, session_id=theirs.public_id).exists()
    maintenance.purge_due()
    assert not queries.traces_for(stranger, session_id=theirs.public_id).exists()
    assert queries.traces_for(key, session_id=theirs.public_id).count() == 1


def test_an_idempotency_key_of_another_project_is_not_known(key, stranger):
    mine = make.session(make.asking(stranger, method="POST", key="once"), {"a": 1})
    other = make.session(make.asking(key, method="POST", key="once"), {"a": 1})
    assert other.project_id != mine.project_id
    assert other.pk != mine.pk


def test_a_person_of_two_projects_has_two_memories_of_requests(acme):
    here, there = make.person(acme, "admin", "ada"), make.person(make.project("Second"), "admin", "ada")
    first = make.session(make.asking(here, method="POST", key="once"), {"a": 1})
    second = make.session(make.asking(there, method="POST", key="once"), {"a": 1})
    assert first.project_id == acme.pk
    assert second.project_id == there.project.pk


def test_the_rehearsal_shows_no_foreign_fork(key, theirs, stranger):
    preview = queries.rollback_preview(theirs, 0)
    mine = make.session(stranger)
    type(mine).objects.filter(pk=mine.pk).update(
        forked_from=theirs.public_id, forked_version=1, lineage_depth=1
    )
    assert queries.rollback_preview(theirs, 0).forks == preview.forks == []


def test_a_foreign_key_is_not_revoked(acme, stranger):
    theirs, _ = make.api_key(acme)
    with pytest.raises(KeyNotFound):
        actions.revoke_key(key=theirs, by=stranger)


def test_a_run_can_be_imported_by_both(key, stranger):
    mine = make.session(stranger, imported_from="fingerprint")
    assert make.session(key, imported_from="fingerprint").pk != mine.pk
