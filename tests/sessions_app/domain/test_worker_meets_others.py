"""The worker, while others write, index, delete and purge the same sessions."""

import pytest
from django.db import DatabaseError

from sessions_app import actions, store
from sessions_app.actions import maintenance
from sessions_app.diff import Changes
from sessions_app.models import AgentSession, SessionPath
from sessions_app.store import write_transaction
from statebase_site.base import clock
from tests import factories as make


@pytest.fixture
def while_versions_are_read(monkeypatch):
    """Let `happens` run once, after a worker has read a session's versions and before it notes anything."""

    def arrange(happens):
        read = Changes.from_text

        def interrupted(text):
            monkeypatch.setattr(Changes, "from_text", read)
            happens()
            return read(text)

        monkeypatch.setattr(Changes, "from_text", interrupted)

    return arrange


def test_the_slower_of_two_workers_does_not_undo_what_the_faster_noted(key, while_versions_are_read):
    made = make.session(key, {"a": 1})

    def another_worker():
        make.update(made, {"a": 2}, by=key)
        assert maintenance.index_changed_paths() == 1

    while_versions_are_read(another_worker)
    assert maintenance.index_changed_paths() == 0
    assert SessionPath.objects.get(agent_session=made).last_version == 1
    assert make.fresh(made).paths_indexed_to == 1


def test_a_session_purged_meanwhile_gets_no_paths(key, while_versions_are_read):
    made = make.session(key, {"a": 1})

    def purge():
        with write_transaction():
            maintenance.remove_sessions(AgentSession.objects.filter(pk=made.pk))

    while_versions_are_read(purge)
    assert maintenance.index_changed_paths() == 0
    assert not SessionPath.objects.exists()


def test_a_session_deleted_meanwhile_does_not_expire_as_well(acme, key, monkeypatch):
    made = make.session(key, ttl_seconds=60)
    admin = make.person(acme, "admin", "ada")
    lock = store.lock

    def deleted_before_it_is_locked(project_pk, session_id):
        monkeypatch.setattr(store, "lock", lock)
        actions.delete_session(session_id=session_id, by=admin)
        return lock(project_pk, session_id)

    monkeypatch.setattr(store, "lock", deleted_before_it_is_locked)
    with clock.at(made.expires_at):
        assert maintenance.expire_due() == 0
    assert make.fresh(made).expired_at is None


def test_a_session_that_fails_keeps_nothing_else_from_being_done(key, monkeypatch):
    broken, good = make.session(key, {"a": 1}, ttl_seconds=60), make.session(key, {"a": 1}, ttl_seconds=60)
    lock = store.lock

    def not_the_broken_one(project_pk, session_id):
        if session_id == broken.public_id:
            raise DatabaseError("this row can't be read")
        return lock(project_pk, session_id)

    monkeypatch.setattr(store, "lock", not_the_broken_one)
    with clock.at(good.expires_at), pytest.raises(ExceptionGroup) as failed:
        maintenance.run_once()
    assert failed.group_contains(DatabaseError, match="can't be read")
    assert make.fresh(good).expired_at == good.expires_at
    assert make.fresh(broken).expired_at is None
    assert SessionPath.objects.count() == 2
