"""`state_diff` of a trace (contract 10): what changed, with its values, no larger than the change."""

import pytest
from hypothesis import given

from sessions_app.diff import state_diff
from tests.documents import states, typed

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("old", "new", "added", "removed", "modified"),
    [
        ({"a": 1}, {"a": 1, "b": {"c": 2}}, {"b": {"c": 2}}, {}, {}),
        ({"a": 1, "b": [1, 2]}, {"a": 1}, {}, {"b": [1, 2]}, {}),
        ({"a": 1}, {"a": 2}, {}, {}, {"a": {"from": 1, "to": 2}}),
        ({"a": 1}, {"a": 1.0}, {}, {}, {"a": {"from": 1, "to": 1.0}}),
        ({"a": {"b": 1}}, {"a": [1]}, {}, {}, {"a": {"from": {"b": 1}, "to": [1]}}),
        ({"a": {"b": 1, "c": 0}}, {"a": {"b": 2, "c": 0}}, {}, {}, {"/a/b": {"from": 1, "to": 2}}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, {"/a/c": 1}, {"/a/b": 1}, {}),
        ({"cart": {"items": [1, 2]}}, {"cart": {"items": [1, 2, 3]}}, {"/cart/items/2": 3}, {}, {}),
        ({"l": [1, 2, 3]}, {"l": [3]}, {}, {"/l/0": 1, "/l/1": 2}, {}),
        ({"l": [{"x": 1}]}, {"l": [{"x": 2}]}, {}, {}, {"/l/0/x": {"from": 1, "to": 2}}),
        (
            {"a/b": 1, "c": {"~": 1}},
            {"a/b": 2, "c": {"~": 2}},
            {},
            {},
            {"a/b": {"from": 1, "to": 2}, "/c/~0": {"from": 1, "to": 2}},
        ),
        ({}, {}, {}, {}, {}),
    ],
)
def test_each_kind_of_change(old, new, added, removed, modified):
    expected = {"added": added, "removed": removed, "modified": modified}
    assert typed(state_diff(old, new)) == typed(expected)


def test_its_size_follows_the_change_and_not_the_state():
    old = {"items": [{"id": number, "text": "x" * 100} for number in range(1_000)], "step": 1}
    new = {"items": [*old["items"][:500], {"id": -1}, *old["items"][500:]], "step": 2}
    assert state_diff(old, new) == {
        "added": {"/items/500": {"id": -1}},
        "removed": {},
        "modified": {"step": {"from": 1, "to": 2}},
    }


@given(states())
def test_the_same_state_has_none(state):
    assert state_diff(state, dict(reversed(state.items()))) == {"added": {}, "removed": {}, "modified": {}}
