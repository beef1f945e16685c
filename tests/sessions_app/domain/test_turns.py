"""Turns: numbered from 1, immutable, and when they make a version (contract 5.4, 6.4, 7.3)."""

import pytest
from hypothesis import given, settings

from sessions_app import actions, queries
from sessions_app.errors import PermissionRefused, TooLarge, TurnNotFound, VersionConflict
from statebase_site.base import json
from tests import factories as make
from tests.documents import reordered, states, typed


def add(session, by, **fields):
    return actions.add_turn(
        session_id=session.public_id, input=make.text("in"), output=make.text("out"), by=by, **fields
    ).turn


def given_states(turn):
    return queries.states_of_turn(turn.agent_session, [turn])[turn.number]


def test_turns_are_numbered_from_1_and_kept_as_given(key):
    made = make.session(key, {"a": 1})
    question = {"type": "text", "content": "Hi", "z": 1.0, "a": [1, True, None], "nul": "\x00"}
    answer = {"content": "Yes", "type": "text"}
    turn = actions.add_turn(
        session_id=made.public_id,
        input=question,
        output=answer,
        reasoning="Because",
        metadata={"tokens": 12, "cost": 0.10},
        by=key,
    ).turn
    add(made, key)
    first, second = queries.turns_of(made)
    assert (first.number, second.number) == (1, 2)
    assert first.public_id == turn.public_id
    assert typed(first.input) == typed(question)
    assert typed(first.output) == typed(answer)
    assert typed(first.metadata) == typed({"tokens": 12, "cost": 0.1})
    assert (first.reasoning, second.reasoning) == ("Because", None)
    assert second.metadata == {}
    assert make.fresh(made).turn_count == 2


def test_without_state_after_a_turn_makes_no_version(key):
    made = make.session(key, {"a": 1})
    for turn in (add(made, key), add(made, key, state_before={"a": 1})):
        assert turn.state_version == 0
    assert make.fresh(made).head_version == 0
    assert given_states(queries.turns_of(made)[0]) == (None, None)
    assert given_states(queries.turns_of(made)[1]) == ({"a": 1}, None)


def test_with_state_after_it_makes_a_version_with_exactly_that_state(key):
    made = make.session(key, {"a": 1, "dropped": 1})
    turn = add(made, key, state_after={"b": 2.0, "a": 1}, reasoning="Added b")
    version = queries.version_row(made, 1)
    assert (version.kind, version.turn_id, version.reasoning) == ("turn", turn.public_id, "Added b")
    assert version.trace_id == turn.trace_id
    assert turn.state_version == 1
    assert typed(queries.document_at(made, 1).value) == typed({"b": 2.0, "a": 1})
    assert given_states(turn) == (None, {"b": 2.0, "a": 1})


@pytest.mark.parametrize(
    ("current", "before", "after", "makes"),
    [
        ({"a": 1}, None, {"a": 2}, True),
        ({"a": 1}, None, {"a": 1}, False),
        ({"a": 1}, None, {"a": 1.0}, True),  # typed
        ({"a": 1}, None, {"a": True}, True),
        ({"a": 1, "b": 2}, None, {"b": 2, "a": 1}, False),  # the order of keys alone is no change
        ({"a": 1}, {"a": 1}, {"a": 2}, True),
        ({"a": 1}, {"a": 0}, {"a": 2}, True),
        ({"a": 1}, {"a": 2}, {"a": 2}, False),  # no change against what the agent saw
        ({"a": 1}, {"a": 0}, {"a": 1}, False),  # no change against what is there
        ({"a": 1}, None, {}, True),
        ({}, None, {}, False),
        ({"a": 1}, {}, {}, False),
    ],
)
def test_it_makes_a_version_where_the_state_differs_from_before_and_from_now(
    key, current, before, after, makes
):
    made = make.session(key, current)
    turn = add(made, key, state_before=before, state_after=after)
    assert make.fresh(made).head_version == turn.state_version == int(makes)
    assert typed(given_states(turn)) == typed((before, after))
    details = queries.traces_for(key).get(public_id=turn.trace_id).details
    assert details["version"] == (1 if makes else None)


@pytest.mark.parametrize(
    ("before", "stale"), [(None, False), ({"a": 1}, False), ({"a": 1.0}, True), ({}, True), ({"a": 0}, True)]
)
def test_a_state_before_that_is_not_current_is_said_to_be_stale(key, before, stale):
    made = make.session(key, {"a": 1})
    turn = add(made, key, state_before=before, state_after={"a": 2})
    assert turn.stale_before is stale
    trace = queries.traces_for(key).get(public_id=turn.trace_id)
    assert trace.details["stale_before"] is stale
    assert typed(given_states(turn)[0]) == typed(before)


@settings(max_examples=25)
@given(current=states(12), before=states(12), after=states(12))
def test_any_states_are_returned_exactly_as_given(key, current, before, after):
    made = make.session(key, {**current, "frozen": None})
    for given_before, given_after in (
        (before, after),
        (current, current),
        (reordered(current), reordered(after)),
        (after, {**after, "frozen": None}),
        (None, before),
    ):
        turn = add(made, key, state_before=given_before, state_after=given_after)
        fresh_turn = queries.turn_for(key, turn.public_id)
        assert typed(given_states(fresh_turn)) == typed((given_before, given_after))
        if given_after.get("frozen") is True:
            return
    assert queries.verify_session(make.fresh(made)).ok


def test_states_that_a_version_has_already_are_not_stored_again(key):
    large = {"text": "x" * 50_000, "n": list(range(5_000))}
    made = make.session(key, large)
    turn = add(made, key, state_before=large, state_after={**large, "a": 1})
    assert (turn.state_before_body, turn.state_after_body) == (None, None)
    assert (turn.state_before_version, turn.state_after_version) == (0, 1)


def test_the_expected_version_is_checked(key):
    made = make.session_with_versions(key, 2)
    with pytest.raises(VersionConflict):
        add(made, key, expected_version=1)
    assert make.fresh(made).turn_count == 0
    assert add(made, key, expected_version=2, state_after={}).state_version == 3


def test_a_turn_that_does_not_fit_is_refused(acme, key):
    made = make.session(key)
    with pytest.raises(TooLarge):
        add(made, key, reasoning="x" * 16_385)
    with pytest.raises(TooLarge):
        add(made, key, metadata={"a": "x" * 65_536})
    with pytest.raises(PermissionRefused):
        add(made, make.key_with(acme, "sessions:read"))
    assert make.fresh(made).turn_count == 0


def test_a_turn_is_found_by_its_id_alone_and_in_its_session_only(key):
    made, other = make.session(key), make.session(key)
    turn = add(made, key)
    assert queries.turn_for(key, turn.public_id) == turn
    assert queries.turn_for(key, turn.public_id, made) == turn
    for call in (
        lambda: queries.turn_for(key, turn.public_id, other),
        lambda: queries.turn_for(key, "turn_missing"),
        lambda: queries.turn_for(key, "\x00", made),
    ):
        with pytest.raises(TurnNotFound) as refused:
            call()
        assert (refused.value.code, refused.value.param) == ("turn_not_found", "turn_id")


def test_adding_a_turn_changes_the_time_of_the_session_but_a_note_does_not(key):
    made = make.session(key)
    actions.create_trace(action="note", session_id=made.public_id, by=key)
    assert make.fresh(made).updated_at == made.updated_at
    turn = add(made, key)
    assert make.fresh(made).updated_at == turn.created_at


def test_the_states_of_many_turns_are_read_together(key, django_assert_max_num_queries):
    made = make.session(key, {"n": 0})
    turns = [add(made, key, state_after={"n": number}) for number in range(1, 31)]
    with django_assert_max_num_queries(2):
        found = queries.states_of_turn(made, turns)
    assert [found[turn.number][1]["n"] for turn in turns] == list(range(1, 31))


def test_input_and_output_are_stored_as_compact_text(key):
    turn = add(make.session(key), key)
    assert turn.input_text == json.dumps(make.text("in"))
