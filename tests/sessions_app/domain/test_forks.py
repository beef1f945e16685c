"""Rule 4: a fork shares nothing mutable with its source and keeps its lineage (contract 6.2, 8.4)."""

import pytest

from sessions_app import actions, queries
from sessions_app.actions import create, maintenance
from sessions_app.errors import InvalidInput, SessionNotFound, VersionNotFound
from statebase_site.base import clock
from tests import factories as make
from tests.documents import typed


def fork(of, *, by, **fields):
    return actions.fork(session_id=of.public_id, by=by, **fields).agent_session


def test_a_fork_begins_with_the_state_of_the_version(key):
    made = make.session(key, {"z": 1.0, "a": {"b": [True, 1]}}, user_id="u1", metadata={"team": "red"})
    make.update(made, {"later": 1}, by=key)
    made_fork = fork(made, by=key, version=0)
    assert typed(queries.document_at(made_fork, 0).value) == typed({"z": 1.0, "a": {"b": [True, 1]}})
    version = queries.version_row(made_fork, 0)
    assert (version.kind, version.reasoning) == ("fork", f"Forked from version 0 of {made.public_id}")
    assert made_fork.public_id != made.public_id
    assert (made_fork.agent_id, made_fork.user_id) == (made.agent_id, "u1")
    assert (made_fork.turn_count, made_fork.head_version) == (0, 0)
    assert made_fork.metadata == {"forked_from": made.public_id, "forked_version": 0}
    assert list(queries.with_metadata(queries.sessions_for(key), {"forked_version": 0})) == [made_fork]


def test_without_a_version_it_is_the_current_one_and_negative_ones_count_back(key):
    made = make.session_with_versions(key, 5)
    assert fork(made, by=key).forked_version == 5
    assert fork(made, by=key, version=-2).forked_version == 3
    assert fork(made, by=key, version=0).forked_version == 0
    for missing in (6, -6):
        with pytest.raises(VersionNotFound):
            fork(made, by=key, version=missing)


def test_the_source_is_not_touched_but_for_a_trace(key):
    made = make.session_with_versions(key, 2)
    made_fork = fork(made, by=key, version=1)
    after = make.fresh(made)
    unchanged = ("head_version", "updated_at", "turn_count", "memory_count", "rollback_count", "expires_at")
    assert [getattr(after, name) for name in unchanged] == [getattr(made, name) for name in unchanged]
    trace = queries.traces_for(key, session_id=made.public_id).first()
    assert queries.trace_details([trace])[trace.pk] == {
        "source_session_id": made.public_id,
        "source_session": made.public_id,
        "fork_version": 1,
        "new_session_id": made_fork.public_id,
    }


def test_fork_and_source_go_their_own_ways(key):
    made = make.session_with_versions(key, 2)
    made_fork = fork(made, by=key)
    make.update(made, {"step": "source"}, by=key)
    make.update(made_fork, {"step": "fork"}, by=key)
    make.rollback(made, 0, by=key)
    make.freeze(made, by=key)
    made, made_fork = make.fresh(made), make.fresh(made_fork)
    assert queries.document_at(made_fork, 1).value["step"] == "fork"
    assert queries.document_at(made, 3).value["step"] == "source"
    assert (made_fork.head_version, made_fork.is_frozen) == (1, False)
    assert queries.verify_session(made).ok
    assert queries.verify_session(made_fork).ok


def test_a_fork_of_a_fork_keeps_the_whole_lineage_also_when_its_source_is_gone(key, settings):
    root = make.session_with_versions(key, 3)
    child = fork(root, by=key, version=2)
    make.update(child, {"step": "child"}, by=key)
    grandchild = fork(child, by=key, version=1, new_agent_id="heir")
    assert (child.lineage_root, child.lineage_depth) == (root.public_id, 1)
    assert grandchild.agent_id == "heir"
    settings.PURGE_DELETED_AFTER_DAYS = 0
    actions.delete_session(session_id=child.public_id, by=key)
    actions.delete_session(session_id=root.public_id, by=key)
    assert maintenance.purge_due() == 2
    kept = make.fresh(grandchild)
    assert (kept.lineage_root, kept.lineage_depth) == (root.public_id, 2)
    assert (kept.forked_from, kept.forked_version) == (child.public_id, 1)
    assert queries.document_at(kept, 0).value["step"] == "child"
    assert queries.verify_session(kept).ok


def test_its_life_is_counted_from_now(key):
    made = make.session(key, ttl_seconds=1_000)
    with clock.at(made.created_at.replace(microsecond=0)):
        started = clock.now()
        made_fork = fork(made, by=key)
    assert made_fork.ttl_seconds == 1_000
    assert (made_fork.expires_at - started).total_seconds() == 1_000
    endless = make.session(key, ttl_seconds=create.NEVER)
    assert fork(endless, by=key).expires_at is None


@pytest.mark.parametrize(
    ("snapshot", "forked"),
    [
        ({"a": 1, "frozen": True, "incident": True}, {"a": 1, "frozen": False, "incident": False}),
        ({"frozen": True, "incident": "a text", "a": 1}, {"frozen": False, "incident": "a text", "a": 1}),
        ({"frozen": True}, {"frozen": False}),
        ({"incident": True, "a": 1}, {"incident": True, "a": 1}),
        ({"frozen": 1}, {"frozen": 1}),
        ({"frozen": "true", "incident": True}, {"frozen": "true", "incident": True}),
    ],
)
def test_a_fork_always_starts_running(key, snapshot, forked):
    made = make.session(key, snapshot)
    made_fork = fork(made, by=key)
    assert not made_fork.is_frozen
    assert typed(queries.document_at(made_fork, 0).value) == typed(forked)
    assert not queries.version_row(made_fork, 0).frozen
    assert make.update(made_fork, {"b": 2}, by=key).number == 1


def test_an_agent_may_fork_a_frozen_session_which_stays_frozen(acme, agent):
    made = make.session(agent, {"a": 1})
    make.freeze(made, by=agent)
    assert not fork(made, by=agent).is_frozen
    after = make.fresh(made)
    assert after.is_frozen
    assert after.head_version == 1


def test_bad_names_and_unknown_sessions_are_refused(key):
    made = make.session(key)
    for name in ("", " ", "x" * 256):
        with pytest.raises(InvalidInput):
            fork(made, by=key, new_agent_id=name)
    with pytest.raises(SessionNotFound):
        actions.fork(session_id="sess_missing", by=key)
