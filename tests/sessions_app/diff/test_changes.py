"""What a write changed, as path operations: right, complete and bounded on every input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.diff import Changes, Operation, changes, pointer, resolve
from sessions_app.diff.operations import MAX_CHARACTERS, MAX_OPERATIONS, Kind, leaves
from statebase_site.base.json import same
from tests.documents import reordered, states, typed, variants

pytestmark = pytest.mark.once


def operations(old, new):
    return [
        (each.kind.value, each.path, *((each.at, each.out, each.into) if each.kind is Kind.SPLICE else ()))
        for each in changes(old, new).operations
    ]


def counts(old, new):
    found = changes(old, new)
    return found.added, found.removed, found.changed


def count_leaves(value):
    inner = value.values() if isinstance(value, dict) else value
    return sum(map(count_leaves, inner)) if isinstance(value, (dict, list)) and value else 1


def paths_of(value, above=()):
    yield pointer(above)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*above, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_of(item, (*above, index))


class TestOperations:
    @pytest.mark.parametrize(
        ("old", "new", "expected", "leaf_counts"),
        [
            ({}, {"a": 1}, [("set", "/a")], (1, 0, 0)),
            ({"a": 1}, {}, [("remove", "/a")], (0, 1, 0)),
            ({"a": 1}, {"a": 2}, [("set", "/a")], (0, 0, 1)),
            ({"a": 1}, {"a": 1.0}, [("set", "/a")], (0, 0, 1)),
            ({"a": 1}, {"a": True}, [("set", "/a")], (0, 0, 1)),
            ({"a": 0.0}, {"a": -0.0}, [("set", "/a")], (0, 0, 1)),
            ({"a": None}, {}, [("remove", "/a")], (0, 1, 0)),
            ({"a": None}, {"a": False}, [("set", "/a")], (0, 0, 1)),
            ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 1, "d": 3}}}, [("set", "/a/b/d")], (0, 0, 1)),
            ({"a": {"x": 1, "y": [1, 2]}}, {"a": 5}, [("set", "/a")], (1, 3, 0)),
            ({"a": {}}, {"a": {"x": 1}}, [("set", "/a/x")], (1, 0, 0)),
            ({"a": {}}, {"a": []}, [("set", "/a")], (0, 0, 1)),
            ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [("set", "/a~1b/~0")], (0, 0, 1)),
            ({"": {"": 1}}, {"": {"": 2}}, [("set", "//")], (0, 0, 1)),
            ({"l": [1, 2, 3]}, {"l": [1, 2, 3, 4]}, [("splice", "/l", 3, 0, 1)], (1, 0, 0)),
            ({"l": [1, 2, 3]}, {"l": [0, 1, 2, 3]}, [("splice", "/l", 0, 0, 1)], (1, 0, 0)),
            ({"l": [1, 2, 3, 4]}, {"l": [1, 4]}, [("splice", "/l", 1, 2, 0)], (0, 2, 0)),
            ({"l": [1, 2, 3]}, {"l": [1, 9, 3]}, [("set", "/l/1")], (0, 0, 1)),
            ({"l": [1, {"x": 1}, 3]}, {"l": [1, {"x": 2}, 3]}, [("set", "/l/1/x")], (0, 0, 1)),
            ({"l": [1, {"x": 1}, 3]}, {"l": [1, [1], 3]}, [("set", "/l/1")], (1, 1, 0)),
            ({"l": [1, 1.0]}, {"l": [1, 1]}, [("set", "/l/1")], (0, 0, 1)),
            ({"l": [1, 2, 3, 4]}, {"l": [2, 3, 4, 5]}, [("splice", "/l", 0, 4, 4)], (4, 4, 0)),
            ({"l": []}, {"l": [[]]}, [("splice", "/l", 0, 0, 1)], (1, 0, 0)),
        ],
        ids=str,
    )
    def test_each_kind_of_change(self, old, new, expected, leaf_counts):
        assert operations(old, new) == expected
        assert counts(old, new) == leaf_counts

    def test_edits_in_two_places_of_one_list_are_two_operations(self):
        rows = [{"id": index, "sold": 0} for index in range(50)]
        edited = [{**row, "sold": 1} if row["id"] in (3, 40) else row for row in rows]
        assert operations({"rows": rows}, {"rows": edited}) == [
            ("set", "/rows/3/sold"),
            ("set", "/rows/40/sold"),
        ]

    def test_an_edit_of_every_item_is_known_by_their_identity(self):
        rows = [{"id": index, "sold": 0} for index in range(3)]
        edited = [{**row, "sold": 1} for row in rows]
        assert operations({"rows": rows}, {"rows": edited}) == [
            ("set", f"/rows/{index}/sold") for index in range(3)
        ]

    def test_an_edit_of_every_item_is_known_by_what_stays_of_them(self):
        legs = [{"from": "JFK", "to": "ATL", "price": 136}, {"from": "ATL", "to": "MCO", "price": 109}]
        dearer = [leg | {"price": leg["price"] + 300} for leg in legs]
        found = changes({"legs": legs}, {"legs": dearer})
        assert (found.added, found.removed, found.changed) == (0, 0, 2)
        assert list(found.first_paths) == ["/legs/0/price", "/legs/1/price"]

    def test_items_that_moved_up_are_no_edits(self):
        rows = [{"id": index, "sold": 0} for index in range(20)]
        assert operations({"rows": rows}, {"rows": [*rows[1:], {"id": 99, "sold": 0}]}) == [
            ("splice", "/rows", 0, 20, 20)
        ]

    def test_first_paths_are_the_first_six(self):
        found = changes({}, {str(index): index for index in range(10)})
        assert found.first_paths == tuple(f"/{index}" for index in range(6))
        assert changes({"l": [1, 2]}, {"l": [1, 2, 3]}).first_paths == ("/l/2",)

    def test_paths_name_each_place_once(self):
        old, new = {"l": [1], "a": {"b": 1}}, {"l": [1, 2], "a": {"b": 2}}
        assert changes(old, new).paths() == ["/l", "/a/b"]


class TestAlways:
    @given(st.data())
    def test_what_is_said_of_a_document_and_a_variant_of_it_is_so(self, data):
        old = data.draw(states())
        new = data.draw(variants(old))
        found, back = changes(old, new), changes(new, old)
        assert bool(found) == (not same(old, new)) == bool(found.added + found.removed + found.changed)
        assert (found.added, found.removed, found.changed) == (back.removed, back.added, back.changed)
        assert Changes.from_text(found.to_text()) == found
        for path in {*paths_of(old), *paths_of(new)}:
            if not found.touches(path):
                assert same(resolve(old, path), resolve(new, path))
        for each in found.operations:
            if each.kind is Kind.SET:
                resolve(new, each.path)
            elif each.kind is Kind.REMOVE:
                resolve(old, each.path)
            else:
                out, into = resolve(old, each.path), resolve(new, each.path)
                assert len(into) - len(out) == each.into - each.out
                assert typed(out[: each.at], ordered=False) == typed(into[: each.at], ordered=False)
                rest_out, rest_into = out[each.at + each.out :], into[each.at + each.into :]
                assert typed(rest_out, ordered=False) == typed(rest_into, ordered=False)

    @given(states())
    def test_the_same_document_has_no_changes_and_one_from_nothing_all_its_leaves(self, state):
        assert not changes(state, reordered(state))
        assert changes(state, reordered(state)) == Changes()
        assert counts({}, state) == (count_leaves(state) if state else 0, 0, 0)
        assert leaves(state) == count_leaves(state)


class TestBounds:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({str(index): 0 for index in range(5_000)}, {str(index): 1 for index in range(5_000)}),
            (
                {"a": {str(index): 0 for index in range(5_000)}},
                {"a": {str(index): 1 for index in range(5_000)}},
            ),
            ({}, {"k" * 2_000 + str(index): 1 for index in range(300)}),
            ({"k" * 2_000: {str(index): 0 for index in range(300)}}, {"k" * 2_000: {"1": 5}}),
            (
                {"rows": [{"id": n, "x": 0} for n in range(900)]},
                {"rows": [{"id": n, "x": 1} for n in range(900)]},
            ),
        ],
        ids=["wide", "wide below a key", "long keys", "below a long key", "rows"],
    )
    def test_many_changes_are_summed_up(self, old, new):
        found = changes(old, new)
        assert len(found.operations) <= MAX_OPERATIONS + 51
        assert len(found.to_text()) < MAX_CHARACTERS + 60 * MAX_OPERATIONS
        assert found.operations[-1].kind is Kind.MANY
        for path in {*list(paths_of(old))[:400], *list(paths_of(new))[-400:]}:
            assert path == "" or found.touches(path) or same(resolve(old, path), resolve(new, path))

    def test_the_rest_is_named_by_its_top_level_key(self):
        old = {"first": {str(index): 0 for index in range(500)}, "second": {"a": 1}}
        new = {"first": {str(index): 1 for index in range(500)}, "second": {"a": 2}}
        found = changes(old, new)
        assert found.operations[MAX_OPERATIONS:] == (
            Operation(Kind.MANY, "/first"),
            Operation(Kind.MANY, "/second"),
        )
        assert found.changed == 501
        assert found.touches("/second/a")
        assert found.touches("/first/499")

    def test_100_levels_are_walked(self):
        old, new = 1, 2
        for _ in range(99):
            old, new = {"a": old}, {"a": new}
        assert operations({"a": old}, {"a": new}) == [("set", "/a" * 100)]
