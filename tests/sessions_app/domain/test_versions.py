"""Rules 1 and 2: no gaps, and what a write returned is what a read shows for ever (contract 7)."""

import pytest
from hypothesis import given, settings

from sessions_app import actions, queries
from sessions_app.errors import (
    InvalidInput,
    SessionNotFound,
    StateTooLarge,
    TooLarge,
    VersionConflict,
    VersionNotFound,
)
from sessions_app.models import StateVersion
from statebase_site.base import json
from tests import factories as make
from tests.documents import states, typed

# A session grows over several keyframes here, so that bodies of both encodings are read.
AWKWARD = {
    "zeta": 1,
    "alpha": 1.0,
    "yes": True,
    "nothing": None,
    "zero": 0,
    "minus_zero": -0.0,
    "exact": 10**400,
    "third": 0.1,
    "": {"": []},
    "nul\x00": "\x00",
    "nested": {"b": [1, {"z": 1, "a": 2}], "a": "ü😀"},
}


def test_creating_makes_version_0_with_the_given_state(key):
    made = make.session(key, AWKWARD)
    assert made.head_version == 0
    version = queries.version_row(made, 0)
    assert (version.kind, version.reasoning) == ("create", "Initial state")
    assert typed(queries.document_at(made, 0).value) == typed(AWKWARD)


def test_without_a_state_version_0_is_empty(key):
    assert queries.document_at(make.session(key), 0).value == {}


def test_each_accepted_write_makes_exactly_one_version(key):
    made = make.session(key, {"a": 1})
    make.update(made, {"b": 2}, by=key)
    make.update(made, {"c": 3}, by=key, mode=actions.REPLACE)
    make.update(made, {"c": 3}, by=key)  # also where nothing changes
    make.update(made, {}, by=key)
    assert [each.number for each in queries.versions_of(made)] == [0, 1, 2, 3, 4]
    assert [each.kind for each in queries.versions_of(made)] == [
        "create",
        "update",
        "replace",
        "update",
        "update",
    ]
    assert make.fresh(made).head_version == 4


def test_a_merge_sets_top_level_keys_and_keeps_the_rest(key):
    made = make.session(key, {"kept": {"deep": 1}, "changed": {"x": 1, "y": 2}, "emptied": 1})
    make.update(made, {"changed": {"x": 5}, "emptied": None, "new": []}, by=key)
    state = queries.document_at(made, 1).value
    assert typed(state) == typed({"kept": {"deep": 1}, "changed": {"x": 5}, "emptied": None, "new": []})


def test_a_replacement_is_the_new_state_alone(key):
    made = make.session(key, {"a": 1, "b": 2})
    make.update(made, {"c": 3}, by=key, mode=actions.REPLACE)
    assert queries.document_at(made, 1).value == {"c": 3}


def test_every_version_stays_as_it_was_accepted(key):
    made = make.session(key, AWKWARD)
    expected = [dict(AWKWARD)]
    for number in range(1, 141):  # over two keyframes
        changes = {f"key{number % 7}": {"number": number, "text": "x" * (number % 11)}, "zeta": number}
        make.update(made, changes, by=key)
        expected.append({**expected[-1], **changes})
    found = dict(queries.documents_at(made, range(141)))
    assert [typed(found[number].value) for number in range(141)] == [typed(each) for each in expected]
    assert {each.is_keyframe for each in queries.versions_of(made)} == {True, False}


def test_states_are_read_alone_in_any_order_and_together(key):
    made = make.session_with_versions(key, 70)
    for number in (69, 0, 64, 63, 65, 1):
        assert queries.document_at(made, number).value["step"] == number
    assert [number for number, _ in queries.documents_at(made, [70, 3, 3, 999, -1, 64])] == [3, 64, 70]


@settings(max_examples=25)
@given(first=states(), second=states())
def test_any_state_comes_back_the_same(key, first, second):
    made = make.session(key, first)
    make.update(made, second, by=key, mode=actions.REPLACE)
    make.update(made, first, by=key)
    wanted = {**second, **first}
    if not {"frozen", "incident"} & (first.keys() | second.keys()):
        assert typed(queries.document_at(made, 0).value) == typed(first)
        assert typed(queries.document_at(made, 1).value) == typed(second)
        assert typed(queries.document_at(made, 2).value) == typed(wanted)
        assert queries.document_at(made, 1).text == json.dumps(second).encode()


def test_a_version_row_says_what_a_list_shows(key):
    made = make.session(key, {"same": 1, "changed": 1, "gone": {"x": 1, "y": 2}})
    make.update(
        made,
        {"same": 1, "changed": True, "new": [1, 2]},
        by=key,
        mode=actions.REPLACE,
        reasoning="Why not",
    )
    version = queries.version_row(made, 1)
    assert (version.added, version.removed, version.changed) == (2, 2, 1)
    assert set(version.first_paths) == {"/changed", "/gone", "/new"}
    assert (version.reasoning, version.actor_label) == ("Why not", key.label)
    assert version.text_bytes == len(queries.document_at(made, 1).text)
    assert queries.traces_for(key).get(public_id=version.trace_id).action == "state.updated"


# Naming versions (7.2) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "named"), [(0, 0), (-0, 0), (6, 6), (3, 3), (-1, 5), (-3, 3), (-6, 0)], ids=str
)
def test_a_negative_version_counts_back_from_the_current_one(key, asked, named):
    made = make.session_with_versions(key, 6)
    assert queries.absolute_version(made, asked) == named


@pytest.mark.parametrize("asked", [7, -7, 10**30, -(10**30)], ids=str)
def test_a_version_that_is_not_there_is_not_found(key, asked):
    made = make.session_with_versions(key, 6)
    with pytest.raises(VersionNotFound) as refused:
        queries.absolute_version(made, asked)
    assert refused.value.code == "version_not_found"
    assert refused.value.param == "version"
    assert "0 to 6" in refused.value.message


@pytest.mark.parametrize("number", [-1, 4, 2**31, 10**30], ids=str)
def test_reading_a_row_that_is_not_there_is_not_found(key, number):
    made = make.session_with_versions(key, 3)
    with pytest.raises(VersionNotFound):
        queries.version_row(made, number)
    with pytest.raises(VersionNotFound):
        queries.document_at(made, number)


# Preconditions and limits -------------------------------------------------------------------------------


def test_an_expected_version_that_is_not_current_is_refused(key):
    made = make.session_with_versions(key, 2)
    for expected in (0, 1, 3):
        with pytest.raises(VersionConflict) as refused:
            make.update(made, {"a": 1}, by=key, expected_version=expected)
        assert refused.value.extras == {"current_version": 2}
    assert make.update(made, {"a": 1}, by=key, expected_version=2).number == 3


def test_what_merges_add_up_to_is_limited(key, settings):
    settings.MAX_STATE_BYTES = 1_000
    made = make.session(key, {"a": "x" * 500})
    with pytest.raises(StateTooLarge) as refused:
        make.update(made, {"b": "y" * 500}, by=key)
    assert (refused.value.code, refused.value.param) == ("payload_too_large", "state")
    exactly = 1_000 - len(json.dumps({"a": "x" * 500, "b": ""}))
    assert make.update(made, {"b": "y" * exactly}, by=key).text_bytes == 1_000
    with pytest.raises(StateTooLarge):
        make.session(key, {"a": "x" * 1_000})
    with pytest.raises(StateTooLarge):
        make.turn(made, by=key, state_after={"a": "x" * 1_000})


def test_a_reasoning_has_at_most_16_kib(key):
    made = make.session(key)
    assert make.update(made, {}, by=key, reasoning="ü" * 8_192).reasoning == "ü" * 8_192
    with pytest.raises(TooLarge) as refused:
        make.update(made, {}, by=key, reasoning="ü" * 8_193)
    assert refused.value.param == "reasoning"
    with pytest.raises(TooLarge) as refused:
        make.rollback(made, 0, by=key, reason="x" * 16_385)
    assert refused.value.param == "reason"
    with pytest.raises(InvalidInput):
        make.update(made, {}, by=key, reasoning="nul\x00")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"agent_id": ""}, "agent_id"),
        ({"agent_id": " \t"}, "agent_id"),
        ({"agent_id": "x" * 256}, "agent_id"),
        ({"agent_id": "a\x00"}, "agent_id"),
        ({"user_id": " "}, "user_id"),
        ({"ttl_seconds": 0}, "ttl_seconds"),
        ({"ttl_seconds": -1}, "ttl_seconds"),
        ({"ttl_seconds": 2_592_001}, "ttl_seconds"),
    ],
)
def test_a_session_is_refused_with_the_field_at_fault(key, fields, param):
    with pytest.raises(InvalidInput) as refused:
        make.session(key, **fields)
    assert refused.value.param == param
    assert not queries.sessions_for(key).exists()


def test_the_limits_themselves_are_accepted(key):
    made = make.session(key, agent_id="x" * 255, user_id="ü" * 255, ttl_seconds=2_592_000)
    assert (made.agent_id, made.user_id, made.ttl_seconds) == ("x" * 255, "ü" * 255, 2_592_000)
    assert (made.expires_at - made.created_at).days == 30


def test_metadata_has_at_most_64_kib(key):
    room = 64 * 1024 - len('{"a":""}')
    made = make.session(key, metadata={"a": "x" * room})
    with pytest.raises(TooLarge):
        make.session(key, metadata={"a": "x" * (room + 1)})
    with pytest.raises(TooLarge):
        actions.update_session(session_id=made.public_id, metadata={"b": 1}, by=key)


@pytest.mark.parametrize("session_id", ["sess_missing", "", "x" * 300, "sess_\x00", "sess_'--"])
def test_an_unknown_session_is_not_found(key, session_id):
    for call in (
        lambda: queries.session_for(key, session_id),
        lambda: actions.update_state(session_id=session_id, changes={}, by=key),
        lambda: actions.create_trace(action="note", session_id=session_id, by=key),
    ):
        with pytest.raises(SessionNotFound) as refused:
            call()
        assert (refused.value.code, refused.value.param) == ("session_not_found", "session_id")


def test_a_new_session_costs_hundreds_of_bytes_for_a_small_change_of_a_large_state(key):
    made = make.session(key, {"large": [{"id": n, "text": f"item {n * 7919 % 1000}"} for n in range(3_000)]})
    for number in range(5):
        make.update(made, {"step": number}, by=key)
    assert max(each.stored_bytes for each in queries.versions_of(made).filter(number__gt=0)) < 400
    assert StateVersion.objects.filter(agent_session=made).count() == 6


def test_reading_any_version_takes_two_rows_at_most(key, django_assert_max_num_queries):
    made = make.session_with_versions(key, 70)
    with django_assert_max_num_queries(2):
        queries.document_at(made, 63)
    with django_assert_max_num_queries(6):
        assert len(list(queries.documents_at(made, range(71)))) == 71


def test_a_session_its_version_0_and_its_trace_are_of_one_moment(key):
    made = make.session(key)
    trace = queries.traces_for(key, session_id=made.public_id).get()
    assert made.created_at == made.updated_at == queries.version_row(made, 0).created_at == trace.created_at
