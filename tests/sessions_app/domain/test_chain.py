"""Rule 7: one hash chain a session; whoever changes a row behind the triggers' back is found."""

import pytest
from django.db import connection

from sessions_app import actions, queries, triggers
from sessions_app.errors import SessionFrozen
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from statebase_site.base import json
from tests import factories as make


@pytest.fixture(scope="module")
def untouched(acme, key):
    """A session with every kind of row: v1 update, v2 turn, v3 freeze, v4 rollback, v5 resumed."""
    made = make.session(key, {"a": 1}, user_id="u1", metadata={"m": 1})
    make.update(made, {"a": 2}, by=key, reasoning="Two")
    make.turn(made, by=key, reasoning="Three", state_after={"a": 3})
    make.turn(made, by=key, state_before={"b": 1})
    actions.create_trace(action="note", session_id=made.public_id, details={"n": 1}, by=make.agent(acme))
    make.freeze(made, by=key)
    with pytest.raises(SessionFrozen):
        make.update(made, {"a": 4}, by=make.asking(key, body={"state": {"a": 4}}))
    make.rollback(made, 0, by=key)
    actions.resume(session_id=made.public_id, by=key)
    actions.fork(session_id=made.public_id, version=1, by=key)
    actions.update_session(session_id=made.public_id, metadata={"m": 2}, by=key)
    return made


@pytest.fixture
def history(untouched):
    return make.fresh(untouched)


def tamper(sql, *values):
    """Change rows as somebody with full access to the database could."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in triggers.names():
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for model in (StateVersion, Turn, Trace, AgentSession):
                cursor.execute(f"ALTER TABLE {model._meta.db_table} DISABLE TRIGGER USER")
        cursor.execute(sql, values)
        assert cursor.rowcount


def test_an_untouched_session_fits(key, history):
    result = queries.verify_session(history)
    assert result.ok
    assert (result.versions, result.traces) == (6, history.chain_length)
    assert queries.verify_session(make.session(key)).ok


def test_the_traces_are_linked_without_gaps(history):
    chained = Trace.objects.filter(agent_session=history, source="system").order_by("position")
    assert [trace.position for trace in chained] == list(range(1, history.chain_length + 1))
    assert [trace.action for trace in chained] == [
        "session.created",
        "state.updated",
        "turn.added",
        "turn.added",
        "state.updated",
        "session.frozen",
        "write.refused",
        "state.rolled_back",
        "state.updated",
        "session.unfrozen",
        "session.forked",
        "session.updated",
    ]


def columns_of(model, *but):
    return [field.column for field in model._meta.concrete_fields if field.column not in but]


@pytest.mark.parametrize(
    "column", columns_of(Trace, "id", "project_id", "agent_session_id", "source", "hash")
)
def test_a_changed_trace_is_named(history, column):
    trace = Trace.objects.get(agent_session=history, position=4)
    value = {
        "position": 40,
        "actor_kind": "user",
        "latency_ms": 4711.5,
        "subject_sha256": b"x",
        "details": '{"turn_id":"turn_x"}',
        "created_at": "2020-01-01 00:00:00+00:00",
    }.get(column, "changed")
    tamper(f'UPDATE sessions_app_trace SET "{column}" = %s WHERE id = %s', value, trace.pk)
    bad = queries.verify_session(history).first_bad
    assert bad.kind == "trace"
    assert bad.name in (trace.public_id, "position 4", "changed")


def test_a_changed_hash_is_named_where_it_stands(history):
    trace = Trace.objects.get(agent_session=history, position=4)
    tamper("UPDATE sessions_app_trace SET hash = %s WHERE id = %s", b"x" * 32, trace.pk)
    assert queries.verify_session(history).first_bad.name == trace.public_id


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("kind", "replace"),
        ("actor_label", "changed"),
        ("actor_kind", "user"),
        ("reasoning", "changed"),
        ("reasoning", None),
        ("frozen", True),
        ("trace_id", "changed"),
        ("created_at", "2020-01-01 00:00:00+00:00"),
    ],
)
def test_a_changed_version_is_named(history, column, value):
    tamper(
        f'UPDATE sessions_app_stateversion SET "{column}" = %s WHERE agent_session_id = %s AND number = 1',
        value,
        history.pk,
    )
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name, bad.reason) == ("version", "v1", "the row is not the one that was accepted")


def test_a_version_with_the_state_of_another_is_named(history):
    tamper(
        "UPDATE sessions_app_stateversion SET body = (SELECT body FROM sessions_app_stateversion v "
        "WHERE v.agent_session_id = %s AND v.number = 1) WHERE agent_session_id = %s AND number = 2",
        history.pk,
        history.pk,
    )
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("version", "v2")
    assert bad.reason == "the stored state is not the one that was accepted"


def test_a_version_whose_state_and_hash_were_changed_together_is_named(history):
    tamper(
        "UPDATE sessions_app_stateversion SET body = (SELECT body FROM sessions_app_stateversion v "
        "WHERE v.agent_session_id = %s AND v.number = 1), sha256 = (SELECT sha256 "
        "FROM sessions_app_stateversion v WHERE v.agent_session_id = %s AND v.number = 1) "
        "WHERE agent_session_id = %s AND number = 4",
        *[history.pk] * 3,
    )
    assert queries.verify_session(history).first_bad.name == "v4"


def test_a_body_that_cannot_be_read_is_named(history):
    tamper(
        "UPDATE sessions_app_stateversion SET body = %s WHERE agent_session_id = %s AND number = 3",
        b"broken",
        history.pk,
    )
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("version", "v3")
    assert "can't be read" in bad.reason


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("input", '{"type":"text","content":"changed"}'),
        ("output", "{}"),
        ("reasoning", "changed"),
        ("metadata", '{"a":1}'),
        ("state_before_body", b"x"),
        ("state_after_version", 0),
        ("state_after_body", b"x"),
        ("state_version", 0),
        ("actor_label", "changed"),
        ("public_id", "changed"),
        ("created_at", "2020-01-01 00:00:00+00:00"),
    ],
)
def test_a_changed_turn_is_named(history, column, value):
    turn = Turn.objects.get(agent_session=history, number=2)
    sql = f'UPDATE sessions_app_turn SET "{column}" = %s WHERE agent_session_id = %s AND number = 2'
    tamper(sql, value, history.pk)
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("turn", turn.public_id)


def test_a_turn_that_made_a_version_is_named_too(history):
    turn = Turn.objects.get(agent_session=history, number=1)
    tamper("UPDATE sessions_app_turn SET reasoning = 'changed' WHERE public_id = %s", turn.public_id)
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("turn", turn.public_id)


@pytest.mark.parametrize(
    ("table", "where", "kind", "name"),
    [
        ("stateversion", "number = 1", "version", "v1"),
        ("stateversion", "number = 5", "version", "v5"),
        ("trace", "position = 1", "trace", "position 1"),
        ("trace", "position = 5", "trace", "position 5"),
        ("trace", "position = 12", "trace", "position 12"),
        ("turn", "number = 2", "turn", None),
    ],
)
def test_a_row_that_was_removed_is_named(history, table, where, kind, name):
    gone = Turn.objects.get(agent_session=history, number=2).public_id
    tamper(f"DELETE FROM sessions_app_{table} WHERE agent_session_id = %s AND {where}", history.pk)
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name, bad.reason) == (kind, name or gone, "the row is missing")


def copy_row(row, **changes):
    fields = {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields}
    fields.pop("id", None)
    type(row)(**{**fields, **changes}).save()


def test_rows_that_were_put_in_behind_the_head_are_named(history):
    copy_row(
        StateVersion.objects.get(agent_session=history, number=1),
        number=6,
        encoding=1,
        keyframe=6,
    )
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("version", "version 6")
    AgentSession.objects.filter(pk=history.pk).update(head_version=6)
    bad = queries.verify_session(make.fresh(history)).first_bad
    assert (bad.kind, bad.name, bad.reason) == ("version", "v6", "no trace names this row")


def test_a_forged_turn_is_named(history):
    copy_row(Turn.objects.get(agent_session=history, number=2), number=3, public_id="turn_forged")
    assert queries.verify_session(history).first_bad.kind == "turn"
    AgentSession.objects.filter(pk=history.pk).update(turn_count=3)
    bad = queries.verify_session(make.fresh(history)).first_bad
    assert (bad.kind, bad.reason) == ("turn", "no trace names this row")


def test_a_forged_trace_is_named(history):
    last = Trace.objects.get(agent_session=history, position=history.chain_length)
    copy_row(last, public_id="trace_forged", position=history.chain_length + 1)
    assert queries.verify_session(history).first_bad.kind == "trace"


def test_a_head_that_was_set_back_is_named(history):
    AgentSession.objects.filter(pk=history.pk).update(head_version=4)
    assert not queries.verify_session(make.fresh(history)).ok
    AgentSession.objects.filter(pk=history.pk).update(head_version=5, chain_hash=b"x")
    bad = queries.verify_session(make.fresh(history)).first_bad
    assert bad.kind == "session"


def test_a_changed_note_of_a_client_is_named(history):
    note = Trace.objects.get(agent_session=history, source="client")
    tamper("UPDATE sessions_app_trace SET details = '{\"n\":2}' WHERE id = %s", note.pk)
    bad = queries.verify_session(history).first_bad
    assert (bad.kind, bad.name) == ("trace", note.public_id)


def test_the_first_of_two_changed_rows_is_named(history):
    tamper(
        "UPDATE sessions_app_stateversion SET reasoning = 'changed' WHERE agent_session_id = %s "
        "AND number IN (2, 4)",
        history.pk,
    )
    tamper(
        "UPDATE sessions_app_trace SET action = 'changed' WHERE agent_session_id = %s AND position = 2",
        history.pk,
    )
    bad = queries.verify_session(history).first_bad
    assert bad.name == Trace.objects.get(agent_session=history, position=2).public_id


def test_what_is_written_meanwhile_is_no_fault(key, history):
    make.update(history, {"a": 9}, by=key)
    make.turn(history, by=key, state_after={"a": 10})
    assert queries.verify_session(history).ok  # as it was when it was read
    assert queries.verify_session(make.fresh(history)).ok


def test_one_session_does_not_depend_on_another(key, history):
    other = make.session_with_versions(key, 2)
    tamper("UPDATE sessions_app_stateversion SET reasoning = 'changed' WHERE agent_session_id = %s", other.pk)
    assert queries.verify_session(history).ok
    assert not queries.verify_session(make.fresh(other)).ok


def test_a_clients_note_neither_takes_nor_moves_the_chain(key, history):
    note = actions.create_trace(action="note", session_id=history.public_id, by=key).trace
    assert note.position is None
    after = make.fresh(history)
    assert (after.chain_length, bytes(after.chain_hash)) == (history.chain_length, bytes(history.chain_hash))


def test_a_long_history_fits(key):
    made = make.session(key, {"items": [], "n": 0})
    for number in range(150):
        make.update(made, {"items": [number] * (number % 40), "n": number}, by=key)
    result = queries.verify_session(make.fresh(made))
    assert (result.ok, result.versions, result.traces) == (True, 151, 151)


def test_details_hold_ids_and_numbers_only(history):
    for trace in Trace.objects.filter(agent_session=history, source="system"):
        if trace.action == "session.updated":
            continue  # metadata, which is no content of the agent's
        text = json.dumps(trace.details)
        assert not any(word in text for word in ("Two", "Three", "How are you", "Fine.", '"a"'))
