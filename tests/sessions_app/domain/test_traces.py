"""What the audit trail says of each action (contract 5.6, 6.6, 10)."""

from datetime import timedelta

import pytest

from sessions_app import actions, queries
from sessions_app.enums import OLDER_ACTION_NAMES, Action
from sessions_app.errors import InvalidInput, PermissionRefused, SessionFrozen, TooLarge
from sessions_app.models import Trace
from statebase_site.base import clock
from tests import factories as make


def last(session, by, action=None):
    trace = queries.traces_for(by, session_id=session.public_id, action=action).first()
    return trace, queries.trace_details([trace])[trace.pk]


def test_creating(key):
    made = make.session(key, {"a": 1}, agent_id="bot", user_id="u1")
    trace, details = last(made, key)
    assert (trace.action, trace.resource_type, trace.resource_id) == (
        "session.created",
        "session",
        made.public_id,
    )
    assert details == {
        "agent_id": "bot",
        "user_id": "u1",
        "initial_state": {"a": 1},
        "version": 0,
        "reasoning": "Initial state",
    }
    assert (trace.actor_label, trace.actor_id, trace.source) == (key.label, key.id, "system")
    assert (trace.user_id, trace.session_public_id) == ("u1", made.public_id)


def test_updating_and_replacing(key):
    made = make.session(key, {"a": 1, "b": {"c": 1, "d": [1, 2, 3]}, "gone": None})
    make.update(made, {"a": 1.0, "b": {"c": 2, "d": [1, 2, 3]}, "new": []}, by=key, reasoning="Why")
    trace, details = last(made, key)
    assert (trace.action, trace.resource_type) == ("state.updated", "state")
    assert details == {
        "reasoning": "Why",
        "version": 1,
        "previous_version": 0,
        "mode": "merge",
        "state_diff": {
            "added": {"new": []},
            "removed": {},
            "modified": {"a": {"from": 1, "to": 1.0}, "/b/c": {"from": 1, "to": 2}},
        },
    }
    make.update(made, {"new": []}, by=key, mode=actions.REPLACE)
    _, details = last(made, key)
    assert (details["mode"], details["reasoning"], details["version"]) == ("replace", None, 2)
    assert set(details["state_diff"]["removed"]) == {"a", "b", "gone"}


def test_a_control_update_says_that_it_was_a_merge(key):
    made = make.session(key, {"a": 1})
    make.update(made, {"frozen": True}, by=key, mode=actions.REPLACE)
    _, details = last(made, key, "state.updated")
    assert details["mode"] == "merge"


def test_rolling_back(key):
    made = make.session_with_versions(key, 3)
    make.freeze(made, by=key)
    make.rollback(made, -2, by=key, reason="Wrong since then")
    trace, details = last(made, key)
    assert (trace.action, trace.resource_type) == ("state.rolled_back", "state")
    assert details == {
        "from_version": 4,
        "to_version": 2,
        "new_version": 5,
        "requested_version": -2,
        "while_frozen": True,
        "reason": "Wrong since then",
        "reasoning": "Wrong since then",
        "state_diff": {"added": {}, "removed": {}, "modified": {"step": {"from": 3, "to": 2}}},
    }


def test_a_rollback_is_one_row(key):
    made = make.session_with_versions(key, 1)
    before = queries.traces_for(key, session_id=made.public_id).count()
    make.rollback(made, 0, by=key)
    assert queries.traces_for(key, session_id=made.public_id).count() == before + 1


def test_freezing_and_resuming_write_a_second_row(key):
    made = make.session(key, {"a": 1})
    make.freeze(made, by=key, reason="Charged twice")
    trace, details = last(made, key)
    assert (trace.action, trace.resource_type) == ("session.frozen", "session")
    assert details == {"version": 1, "incident": True, "reasoning": "Charged twice"}
    actions.update_state(session_id=made.public_id, changes={"frozen": False}, reasoning="Fixed", by=key)
    trace, details = last(made, key)
    assert trace.action == "session.unfrozen"
    assert (details["version"], details["reasoning"], details["frozen_version"]) == (2, "Fixed", 1)


def test_adding_a_turn(key):
    made = make.session(key, {"a": 1})
    turn = make.turn(made, "Q", "A", by=key, reasoning="Because", metadata={"m": 1}, state_after={"a": 2})
    trace, details = last(made, key)
    assert (trace.action, trace.resource_type, trace.resource_id) == ("turn.added", "turn", turn.public_id)
    assert details == {
        "turn_id": turn.public_id,
        "turn_number": 1,
        "version": 1,
        "stale_before": False,
        "input_type": "text",
        "output_type": "text",
        "input": {"type": "text", "content": "Q"},
        "output": {"type": "text", "content": "A"},
        "reasoning": "Because",
        "metadata": {"m": 1},
        "state_diff": {"added": {}, "removed": {}, "modified": {"a": {"from": 1, "to": 2}}},
    }
    make.turn(made, by=key)
    _, details = last(made, key)
    assert (details["version"], details["state_diff"]) == (None, None)


def test_forking(key):
    made = make.session(key, {"a": 1})
    forked = actions.fork(session_id=made.public_id, by=key).agent_session
    trace, details = last(forked, key)
    assert trace.action == "session.created"
    assert (details["forked_from"], details["forked_version"]) == (made.public_id, 0)
    assert details["initial_state"] == {"a": 1}
    assert last(made, key)[0].action == "session.forked"


def test_deleting_restoring_and_holding(key):
    made = make.session(key)
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/", by=key)
    assert last(made, key)[1] == {"label": "INCIDENT-1"}
    actions.release(session_id=made.public_id, label="INCIDENT-1", by=key)
    actions.delete_session(session_id=made.public_id, reason="Test", by=key)
    trace, details = last(made, key)
    assert (trace.action, details["reason"]) == ("session.deleted", "Test")
    actions.restore_deleted_session(session_id=made.public_id, by=key)
    assert last(made, key)[0].action == "session.restored"


def test_keys(acme):
    made, clear = make.api_key(acme, "sessions:read", "traces:read", name="Reader")
    system = make.system(acme)
    trace = queries.traces_for(system, action="key.created", resource_id=made.public_id).get()
    assert (trace.resource_type, trace.resource_id) == ("api_key", made.public_id)
    assert trace.details == {"name": "Reader", "scopes": ["sessions:read", "traces:read"]}
    actions.revoke_key(key=made, by=system)
    assert queries.traces_for(system, action="key.revoked").get().details["name"] == "Reader"
    assert not Trace.objects.filter(details_text__contains=clear).exists()


def test_actors_are_named_as_they_came_in(acme, responder):
    made = make.session(make.system(acme))
    assert last(made, responder)[0].actor_label == "system"
    make.update(made, {"a": 1}, by=responder)
    trace, _ = last(made, responder)
    assert (trace.actor_label, trace.actor_kind) == ("user:rosa", "user")


def test_a_trace_keeps_the_facts_of_its_request(key):
    made = make.session(key)
    asking = make.asking(key)
    make.update(made, {"a": 1}, by=asking)
    trace, _ = last(made, key)
    assert (trace.request_id, trace.ip_address) == (asking.request.request_id, "192.0.2.7")
    assert trace.latency_ms >= 0


def test_every_version_and_turn_names_the_trace_that_made_it(key):
    made = make.session_with_versions(key, 2)
    make.turn(made, by=key, state_after={"b": 1})
    make.turn(made, by=key)
    make.rollback(made, 0, by=key)
    make.freeze(made, by=key)
    for version in queries.versions_of(made):
        details = queries.trace_for(key, version.trace_id).details
        assert details.get("new_version", details.get("version")) == version.number
    for turn in queries.turns_of(made):
        assert queries.trace_for(key, turn.trace_id).details["turn_number"] == turn.number


def test_details_of_many_traces_are_read_together(key, django_assert_max_num_queries):
    for _ in range(2):
        made = make.session_with_versions(key, 20)
        make.turn(made, by=key)
        make.freeze(made, by=key)
        with pytest.raises(SessionFrozen):
            make.update(made, {"a": 1}, by=key)
    traces = list(queries.traces_for(key))
    with django_assert_max_num_queries(14):
        details = queries.trace_details(traces)
    assert details.keys() == {trace.pk for trace in traces}


# Notes of clients ---------------------------------------------------------------------------------------


def test_a_client_note_is_kept_as_it_was_sent(key):
    made = make.session(key, user_id="u1")
    note = {"z": 1.0, "a": [True, None], "nul": "\x00"}
    actions.create_trace(
        action="tool_call.failed", session_id=made.public_id, details=note, metadata={"m": -0.0}, by=key
    )
    trace, details = last(made, key)
    assert (trace.source, trace.action, trace.user_id) == ("client", "tool_call.failed", "u1")
    assert repr(details) == repr(note)
    assert trace.metadata_text == '{"m":-0.0}'


def test_a_note_needs_no_session(key):
    trace = actions.create_trace(action="deployed", by=key).trace
    assert queries.trace_for(key, trace.public_id).session_public_id is None


@pytest.mark.parametrize("action", sorted(Action.values))
def test_a_client_cannot_write_the_servers_actions(key, action):
    with pytest.raises(InvalidInput) as refused:
        actions.create_trace(action=action, by=key)
    assert refused.value.param == "action"
    assert not Trace.objects.filter(source="client").exists()


def test_a_client_row_that_looks_like_the_servers_is_not_filled_in(key):
    made = make.session(key, {"secret": 1})
    actions.create_trace(
        action="State.Updated", session_id=made.public_id, details={"version": 0, "turn_id": "x"}, by=key
    )
    assert last(made, key)[1] == {"version": 0, "turn_id": "x"}


@pytest.mark.parametrize("action", ["", " ", "x" * 256, "a\x00"])
def test_a_note_without_a_proper_name_is_refused(key, action):
    with pytest.raises(InvalidInput):
        actions.create_trace(action=action, by=key)


def test_a_note_needs_the_right_to_write(acme):
    with pytest.raises(PermissionRefused):
        actions.create_trace(action="note", by=make.key_with(acme, "traces:read"))


def test_the_metadata_of_a_note_is_limited(key):
    with pytest.raises(TooLarge):
        actions.create_trace(action="note", metadata={"a": "x" * 65_536}, by=key)


# Finding them -------------------------------------------------------------------------------------------


def test_filters(acme, key):
    made = make.session(key, user_id="u1")
    make.update(made, {"a": 1}, by=key)
    other = make.session(key, user_id="u2")
    turn = make.turn(other, by=key)

    def found(**filters):
        return {trace.action for trace in queries.traces_for(key, **filters)}

    assert found(session_id=made.public_id) == {"session.created", "state.updated"}
    assert found(session_id="sess_missing") == set()
    assert found(session_id="\x00") == set()
    assert found(user_id="u2") == {"session.created", "turn.added"}
    assert found(resource_type="turn") == {"turn.added"}
    assert found(resource_id=turn.public_id) == {"turn.added"}
    assert found(action="nothing.such") == set()
    assert found(created_after=clock.now() + timedelta(hours=1)) == set()
    assert found(created_before=made.created_at - timedelta(hours=1)) == set()
    assert "turn.added" in found(created_after=turn.created_at, created_before=turn.created_at)


@pytest.mark.parametrize(("older", "action"), sorted(OLDER_ACTION_NAMES.items()))
def test_older_names_find_the_same(key, older, action):
    made = make.session(key)
    make.update(made, {"a": 1}, by=key)
    make.turn(made, by=key)
    make.rollback(made, 0, by=key)
    assert list(queries.traces_for(key, action=older)) == list(queries.traces_for(key, action=action.value))


def test_traces_are_newest_first_also_within_one_moment(key):
    with clock.at(clock.now()):
        made = make.session(key, {"frozen": True})
        actions.resume(session_id=made.public_id, by=key)
    traces = queries.traces_for(key, session_id=made.public_id)
    assert [trace.position for trace in traces] == [4, 3, 2, 1]
