"""The write path: two implementations that write the same rows, and few statements whatever the size."""

import re
from itertools import count

import pytest
from django.db import connection, transaction

from sessions_app import actions, queries, store
from sessions_app.errors import SessionFrozen
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace, Turn
from statebase_site.access.actor import RequestFacts
from statebase_site.base import clock
from statebase_site.webhooks.models import Delivery
from tests import factories as make

MODELS = (AgentSession, StateVersion, Turn, Trace, RefusedWrite, Delivery)
# Numbers that the database hands out, different in each run.
HANDED_OUT = {"id", "agent_session_id", "webhook_id"}


@pytest.fixture
def key(db):
    return make.full_key(make.project())


@pytest.fixture
def same_ids_and_times(monkeypatch):
    """Starts counting anew: two runs of one story get the same ids, and no time passes."""

    def start():
        numbers = count(1)
        monkeypatch.setattr(
            "statebase_site.base.ids.os.urandom", lambda size: next(numbers).to_bytes(size, "big")
        )
        monkeypatch.setattr(RequestFacts, "latency_ms", lambda request: 1.5)

    return start


def story(key, agent):
    """Every way to write to a session."""
    make.webhook(key)
    make.webhook(key, "session.updated", "turn.added")
    made = make.session(key, {"z": 1.0, "nul\x00": None, "items": [{"id": 1}]}, user_id="u1")
    for number in range(5):
        make.update(
            made, {"n": number, "items": [{"id": number}] * number}, by=key, reasoning=f"Step {number}"
        )
    make.update(made, {"big": 10**30}, by=key, mode=actions.REPLACE)
    make.turn(made, by=key)
    make.turn(made, by=key, reasoning="A turn", state_before={"x": 1}, state_after={"n": -0.0})
    make.rollback(made, 2, by=key, reason="Back")
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/", by=key)
    make.freeze(made, by=agent)
    with pytest.raises(SessionFrozen):
        make.update(made, {"n": 9}, by=make.asking(agent, body={"state": {"n": 9}}))
    make.rollback(made, -1, by=key)
    actions.resume(session_id=made.public_id, by=key)
    actions.release(session_id=made.public_id, label="INCIDENT-1", by=key)
    actions.update_session(session_id=made.public_id, metadata={"a": 1}, ttl_seconds=60, by=key)
    actions.fork(session_id=made.public_id, version=1, by=key)
    actions.delete_session(session_id=made.public_id, by=key)


def rows_written():
    found = {}
    for model in MODELS:
        columns = [field.attname for field in model._meta.concrete_fields if field.attname not in HANDED_OUT]
        found[model.__name__] = sorted(
            repr([bytes(each) if isinstance(each, memoryview) else each for each in row])
            for row in model._base_manager.values_list(*columns)
        )
    return found


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one write path only")
def test_both_write_paths_write_the_same_rows(key, monkeypatch, same_ids_and_times):
    agent = make.agent(key.project)
    written = []
    moment = clock.now()
    for path in (store._write_sql, store._write_orm):
        same_ids_and_times()
        with transaction.atomic(), clock.at(moment), monkeypatch.context() as patched:
            patched.setattr(store, "_write_sql", path)
            story(key, agent)
            for session in AgentSession.objects.all():
                assert queries.verify_session(session).ok
            written.append(rows_written())
            transaction.set_rollback(True)
    sql, orm = written
    assert len(sql["StateVersion"]) == 13
    assert len(sql["Delivery"]) > len(sql["Trace"])
    for model in reversed(sql):  # a session's chain differs where any of its rows does: those first
        assert sql[model] == orm[model], model


def statements(call):
    """What the statements that run do to which tables, also where one of them does it all."""
    ran = []

    def note(execute, sql, params, many, context):
        plain = IN_PASSING.sub("", sql.replace('"', ""))
        ran.extend(f"{what} {table}" for what, table in TOUCHES.findall(plain))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        call()
    return ran


TOUCHES = re.compile(
    r"(?<!DO )\b(SELECT|INSERT|UPDATE|DELETE) (?:.*? FROM |INTO |FROM )?(?:sessions_app_)?(\w+)"
)
# The lock looks whether a webhook listens.
IN_PASSING = re.compile(r"EXISTS\(SELECT .*?\)(?= (?:AS|FROM) )")
LOCK_AND_READ = ["SELECT agentsession", "SELECT stateversion"]
WRITE = ["INSERT stateversion", "INSERT trace", "UPDATE agentsession"]


@pytest.mark.django_db(transaction=True)
def test_an_update_takes_five_statements_whatever_the_history_and_size():
    key = make.full_key(make.project())
    small = make.session(key, {"a": 1})
    grown = make.session_with_versions(key, 70)
    large = make.session(key, {"items": [{"id": number, "text": "x" * 20} for number in range(2_000)]})
    for session in (small, grown, large):
        for changes in ({"b": 1}, {"frozen": True, "incident": True}, {"frozen": True}):
            ran = statements(lambda s=session, c=changes: make.update(s, c, by=key))
            assert ran == LOCK_AND_READ + WRITE


@pytest.mark.django_db(transaction=True)
def test_turns_and_rollbacks_take_few_statements():
    key = make.full_key(make.project())
    made = make.session_with_versions(key, 5)
    assert statements(lambda: make.turn(made, by=key)) == [
        "SELECT agentsession",
        "INSERT turn",
        "INSERT trace",
        "UPDATE agentsession",
    ]
    assert statements(lambda: make.turn(made, by=key, state_after={"b": 1})) == [
        *LOCK_AND_READ,
        "INSERT stateversion",
        "INSERT turn",
        "INSERT trace",
        "UPDATE agentsession",
    ]
    assert len(statements(lambda: make.rollback(made, 3, by=key))) <= len(LOCK_AND_READ + WRITE) + 2


@pytest.mark.django_db(transaction=True)
def test_an_idempotency_key_adds_two_statements():
    key = make.full_key(make.project())
    made = make.session(key)
    ran = statements(lambda: make.update(made, {"a": 1}, by=make.asking(key, key="once")))
    assert sorted(ran) == sorted(
        [*LOCK_AND_READ, *WRITE, "SELECT access_idempotentanswer", "INSERT access_idempotentanswer"]
    )


@pytest.mark.django_db(transaction=True)
def test_webhooks_that_listen_add_two_statements_however_many_they_are():
    key = make.full_key(make.project())
    made = make.session(key)
    for _ in range(2):
        make.webhook(key)
        ran = statements(lambda: make.update(made, {"a": 1}, by=key))
        assert sorted(ran) == sorted(
            [*LOCK_AND_READ, *WRITE, "SELECT webhooks_webhook", "INSERT webhooks_delivery"]
        )


@pytest.mark.django_db(transaction=True)
def test_a_write_touches_no_row_that_two_sessions_share():
    key = make.full_key(make.project())
    made, other = make.session(key), make.session(key)
    before = make.fresh(other)
    for call in (
        lambda: make.update(made, {"a": 1}, by=key),
        lambda: make.turn(made, by=key, state_after={"b": 1}),
        lambda: make.rollback(made, 0, by=key),
    ):
        assert [each for each in statements(call) if each.startswith("UPDATE")] == ["UPDATE agentsession"]
    after = make.fresh(other)
    assert (after.chain_length, after.updated_at) == (before.chain_length, before.updated_at)


def test_times_never_go_back_when_the_clock_does(key):
    made = make.session(key)
    version = make.update(made, {"a": 1}, by=key)
    with clock.at(made.created_at.replace(year=2020)):
        assert make.update(made, {"a": 2}, by=key).created_at == version.created_at
        assert make.turn(made, by=key).created_at == version.created_at


def test_a_row_that_was_written_knows_what_it_stored(key):
    made = make.session(key, {"a": 1})
    outcome = actions.update_state(session_id=made.public_id, changes={"b": 2.0}, by=key)
    assert outcome.text == queries.document_at(made, 1).text == b'{"a":1,"b":2.0}'
    assert outcome.agent_session.head_version == 1
