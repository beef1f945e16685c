"""The rows of the state tree: nothing that changed is passed over, nothing is made up, and they stay few."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import QueryDict
from hypothesis import given

from sessions_app.diff import compare
from sessions_app.time_machine.address import Address
from sessions_app.time_machine.tree import ROWS, state_tree
from statebase_site.base import json
from tests.documents import states

pytestmark = pytest.mark.once


def rows_of(before, state, query=""):
    return state_tree(before, state, Address.read("sess_1", 1, QueryDict(query)))


def lines(before, state, query=""):
    """Each row in short: sign, key and what stands there."""
    found = []
    for row in rows_of(before, state, query).rows:
        what = f"{row.count} {row.noun}s" if row.kind in ("folded", "more") else row.text
        old = f"{row.old} > " if row.old is not None else ""
        key = f"{row.key}:" if row.key and row.kind != "close" else ""
        found.append(f"{row.sign}{' ' * row.depth}{key}{old}{what}")
    return found


def test_a_changed_an_added_and_a_removed_key_in_place():
    before = {"a": 1, "gone": [1], "b": True}
    state = {"a": 2, "b": True, "new": None}
    assert lines(before, state) == ["{", '~ "a":1 > 2', '- "gone":[1]', ' "b":true', '+ "new":null', "}"]


def test_the_first_state_is_not_marked():
    assert lines(None, {"a": 1}) == ["{", ' "a":1', "}"]


def test_an_item_put_into_a_list_is_one_change():
    before = {"list": [{"id": 1}, {"id": 2}]}
    tree = rows_of(before, {"list": [{"id": 1}, {"id": 9}, {"id": 2}]})
    assert tree.hunks == 1
    assert [row.key for row in tree.rows if row.sign == "+" and row.hunk] == ["1"]


def test_a_change_of_type_is_said_in_words():
    for old, words in ((1, "number → text"), (True, "boolean → text"), (None, "null → text")):
        (row,) = [row for row in rows_of({"a": old}, {"a": "x"}).rows if row.sign == "~"]
        assert row.type_change == words


def test_commas_stand_between_what_is_there():
    tree = rows_of({"a": 1, "z": 1}, {"a": 1})
    assert [row.comma for row in tree.rows] == [False, False, False, False]


def test_numbers_are_exact_and_signs_of_zero_kept():
    shown = lines(None, {"n": 10**30, "z": -0.0, "f": 1.0})
    assert shown[1:-1] == [' "n":1000000000000000000000000000000', ' "z":-0.0', ' "f":1.0']


def test_large_containers_are_folded_and_open_in_parts():
    state = {"long": list(range(1000))}
    assert lines(None, state)[1] == ' "long":1000 items'
    opened = rows_of(None, state, "open=/long").rows
    assert [row.text for row in opened if row.depth == 2][:3] == ["0", "1", "2"]
    (rest,) = [row for row in opened if row.kind == "more"]
    assert (rest.count, rest.noun) == (900, "item")
    assert "100:/long" in parse_qs(urlsplit(rest.toggle).query)["open"]
    last = rows_of(None, state, "open=900:/long").rows
    assert [row.text for row in last if row.kind == "leaf"][-1] == "999"


def test_a_change_deep_in_a_long_list_is_shown_with_its_neighbours_only():
    before = {"long": list(range(1000))}
    state = {"long": [*range(500), -1, *range(501, 1000)]}
    shown = lines(before, state)
    assert shown == [
        "{", ' "long":[', "  498 items", "  498:498", "  499:499", "~  500:500 > -1", "  501:501",
        "  502:502", "  497 items", " ]", "}",
    ]  # fmt: skip


def test_what_was_folded_by_hand_stays_folded_and_opens_again():
    state = {"small": {"a": 1}}
    (fold,) = [row.toggle for row in rows_of(None, state).rows if row.kind == "open" and row.toggle]
    folded = rows_of(None, state, urlsplit(fold).query).rows
    assert [row.kind for row in folded] == ["open", "folded", "close"]
    opened = rows_of(None, state, urlsplit(folded[1].toggle).query).rows
    assert [row.kind for row in opened] == ["open", "open", "leaf", "close", "close"]


def test_only_what_changed():
    before, state = {"a": 1, "b": {"c": 1, "d": 2}, "e": 3}, {"a": 1, "b": {"c": 9, "d": 2}, "e": 3}
    tree = rows_of(before, state, "view=diff")
    assert lines(before, state, "view=diff") == [
        "{", " 1 keys", ' "b":{', '~  "c":1 > 9', "  1 keys", " }", " 1 keys", "}",
    ]  # fmt: skip
    assert tree.unchanged_hidden == 3


def test_a_pinned_path_shows_the_value_there_on_both_sides():
    before, state = {"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}
    assert lines(before, state, "pin=/a/b/1") == ["~2 > 3"]
    assert lines(before, {}, "pin=/a/b/1") == ["-2"]
    assert lines({}, state, "pin=/a/b/1") == ["+3"]
    assert rows_of(before, state, "pin=/nowhere").missing


def test_a_long_text_is_shown_from_where_it_changed():
    before, state = {"t": "a" * 500 + "old" + "z" * 500}, {"t": "a" * 500 + "new" + "z" * 500}
    (row,) = [row for row in rows_of(before, state).rows if row.sign]
    assert "aaaold" in row.old
    assert "aaanew" in row.text
    assert len(row.text) < 200


def test_keys_with_slashes_and_tildes_can_be_opened():
    state = {"a/b~c": list(range(200))}
    (row,) = [row for row in rows_of(None, state).rows if row.kind == "folded"]
    assert row.path == "/a~1b~0c"
    opened = rows_of(None, state, urlsplit(row.toggle).query).rows
    assert sum(row.kind == "leaf" for row in opened) == 100


@pytest.mark.parametrize(
    "state",
    [
        {str(number): number for number in range(20_000)},
        {"l": [[[number]] for number in range(20_000)]},
        {"t": "x" * 2_000_000},
        {"deep": json.parse("[" * 90 + "]" * 90)},
    ],
)
def test_rows_stay_few_whatever_the_state(state):
    before = {"l": [[[-number]] for number in range(20_000)], "0": 5}
    for old in (None, before, {}):
        tree = rows_of(old, state)
        assert len(tree.rows) <= ROWS * 2
        assert sum(len(row.text) for row in tree.rows) < 100_000


@given(states(), states())
def test_every_change_is_shown_or_told_to_be_hidden_and_no_other_is(before, state):
    tree = rows_of(before, state)
    comparison = compare(before, state)
    told = tree.hunks + sum(row.changes_inside for row in tree.rows)
    if not any(row.kind == "more" and not row.text.startswith("unchanged") for row in tree.rows):
        # A place that moved and has another value too is one row.
        assert told == len(
            {change["path"] for change in comparison.changes if change["op"] != "removed"}
        ) + sum(change["op"] == "removed" for change in comparison.changes)
    assert bool(told) == (not comparison.equal)
    assert not any(row.sign for row in rows_of(state, state).rows)


def test_a_state_that_became_empty_shows_what_went():
    assert lines({"a": 1}, {}) == ["{", '- "a":1', "}"]
