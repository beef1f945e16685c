"""The difference of two documents for people: small where the change is small, and never wrong."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.diff import NodeKind, apply_patch, compare, resolve
from statebase_site.base.json import same
from tests.documents import documents, reordered, states, typed, variants

pytestmark = pytest.mark.once


def changes(old, new, **options):
    """(op, path) of every change, with the place it came from for moves."""
    return [
        (each["op"], each["path"], *([each["from_path"]] if each["op"] == "moved" else []))
        for each in compare({"l": old}, {"l": new}, **options).changes
    ]


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


class TestObjects:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ({"a": 1}, {"a": 1, "b": 2}, [("added", "/b", None, 2, None, "integer")]),
            ({"a": 1, "b": None}, {"a": 1}, [("removed", "/b", None, None, "null", None)]),
            ({"a": 1}, {"a": 2}, [("changed", "/a", 1, 2, "integer", "integer")]),
            ({"a": 1}, {"a": 1.0}, [("changed", "/a", 1, 1.0, "integer", "number")]),
            ({"a": 1}, {"a": True}, [("changed", "/a", 1, True, "integer", "boolean")]),
            ({"a": 0.0}, {"a": -0.0}, [("changed", "/a", 0.0, -0.0, "number", "number")]),
            ({"a": None}, {"a": "x"}, [("changed", "/a", None, "x", "null", "string")]),
            ({"a": {"b": 1}}, {"a": [1]}, [("changed", "/a", {"b": 1}, [1], "object", "array")]),
            (
                {"a": {"b": {"c": 1}}},
                {"a": {"b": {"c": 2}}},
                [("changed", "/a/b/c", 1, 2, "integer", "integer")],
            ),
            ({"x/y": {"~": 1}}, {"x/y": {"~": 2}}, [("changed", "/x~1y/~0", 1, 2, "integer", "integer")]),
            ({"": {"": 1}}, {"": {}}, [("removed", "//", 1, None, "integer", None)]),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
            ([1], {"0": 1}, [("changed", "", [1], {"0": 1}, "array", "object")]),
        ],
        ids=str,
    )
    def test_each_kind_of_change(self, old, new, expected):
        found = [
            (each["op"], each["path"], each["old"], each["new"], each["old_type"], each["new_type"])
            for each in compare(old, new).changes
        ]
        assert typed([list(each) for each in found]) == typed([list(each) for each in expected])

    def test_keys_stand_in_the_order_of_the_right_one_with_removed_ones_where_they_were(self):
        root = compare({"a": 1, "gone": 1, "b": 1, "c": 1}, {"c": 1, "new": 1, "a": 1, "b": 1}).root
        assert [child.path for child in root.children] == ["/c", "/new", "/a", "/gone", "/b"]


class TestListsByIdentity:
    def test_an_inner_change_is_no_removal(self):
        old = [{"id": 1, "x": 1}, {"id": 2, "x": 1}]
        new = [{"id": 1, "x": 1}, {"id": 2, "x": 2}]
        assert changes(old, new) == [("changed", "/l/1/x")]

    def test_another_identity_is_another_thing(self):
        assert changes([{"id": 1, "x": 1}, {"id": 2, "x": 1}], [{"id": 3, "x": 1}, {"id": 2, "x": 1}]) in (
            [("removed", "/l/0"), ("added", "/l/0")],
            [("changed", "/l/0/id")],  # one for one in the same place
        )

    def test_a_move_and_an_inner_change_are_told_apart(self):
        old = [{"id": "a", "x": 1}, {"id": "b", "x": 1}, {"id": "c", "x": 1}]
        new = [{"id": "c", "x": 2}, {"id": "a", "x": 1}, {"id": "b", "x": 1}]
        assert changes(old, new) == [("moved", "/l/0", "/l/2"), ("changed", "/l/0/x")]
        moved = next(each for each in nodes(compare({"l": old}, {"l": new}).root) if each.moved)
        assert (moved.kind, moved.left, moved.right) == (NodeKind.OBJECT, 2, 0)

    @pytest.mark.parametrize("key", ["id", "key", "name", "tool_call_id"])
    def test_each_identity_key_counts(self, key):
        old = [{key: "a", "x": 1, "y": 1}, {key: "b", "x": 2, "y": 2}, {key: "c", "x": 3, "y": 3}]
        new = [{key: "b", "x": 8, "y": 8}, {key: "c", "x": 9, "y": 9}]
        assert changes(old, new) == [
            ("removed", "/l/0"),
            ("changed", "/l/0/x"),
            ("changed", "/l/0/y"),
            ("changed", "/l/1/x"),
            ("changed", "/l/1/y"),
        ]

    def test_a_configured_key_counts(self):
        old = [{"sku": "a", "n": 1, "m": 1}, {"sku": "b", "n": 1, "m": 1}]
        new = [{"sku": "b", "n": 2, "m": 2}]
        assert changes(old, new, identity_keys=["sku"]) == [
            ("removed", "/l/0"),
            ("changed", "/l/0/n"),
            ("changed", "/l/0/m"),
        ]

    def test_a_key_that_is_not_unique_is_no_identity(self):
        old = [{"id": 1, "x": 1}, {"id": 1, "x": 2}, {"id": 2, "x": 3}]
        assert changes(old, old[1:]) == [("removed", "/l/0")]


class TestListsByValue:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ([1, 2, 3], [1, 2, 3, 4], [("added", "/l/3")]),
            ([1, 2, 3], [0, 1, 2, 3], [("added", "/l/0")]),
            ([1, 2, 3, 4], [1, 4], [("removed", "/l/1"), ("removed", "/l/2")]),
            ([1, 2, 3], [1, 5, 3], [("changed", "/l/1")]),
            ([1, 2, 3], [3, 1, 2], [("moved", "/l/0", "/l/2")]),
            ([1, 2, 3, 4, 5], [2, 3, 4, 5, 1], [("moved", "/l/4", "/l/0")]),
            ([1, 1, 1], [1, 1], [("removed", "/l/2")]),
            (
                ["a", "b", "c", "d"],
                ["b", "x", "d", "y"],
                [("removed", "/l/0"), ("changed", "/l/1"), ("added", "/l/3")],
            ),
            ([1, 1.0, True], [1, True], [("removed", "/l/1")]),
            ([{"a": 1, "b": 2}, 5], [{"a": 1, "b": 3}, 5, 6], [("changed", "/l/0/b"), ("added", "/l/2")]),
            ([[1, 2, 3], 5], [[1, 9, 3], 5, 6], [("changed", "/l/0/1"), ("added", "/l/2")]),
            ([{"a": 1}], [{"b": 1}], [("removed", "/l/0"), ("added", "/l/0")]),
            (
                [{"role": "u", "text": "hi"}, {"role": "a", "text": "x"}],
                [{"role": "a", "text": "x"}],
                [("removed", "/l/0")],
            ),
        ],
        ids=str,
    )
    def test_the_fewest_changes_are_told(self, old, new, expected):
        assert changes(old, new) == expected

    def test_a_change_and_an_insertion_beside_each_other_are_two(self):
        old = [{"q": number, "text": f"question {number}", "done": False} for number in range(5)]
        new = [*old[:2], {**old[2], "done": True}, {"q": 99, "text": "new", "done": False}, *old[3:]]
        assert changes(old, new) == [("changed", "/l/2/done"), ("added", "/l/3")]

    def test_what_stayed_is_one_run(self):
        old = list(range(2_000))
        root = compare(old, [*old[:1_000], "new", *old[1_000:]]).root
        assert [(each.kind, each.left, each.right, each.run) for each in root.children] == [
            (NodeKind.SAME, 0, 0, 1_000),
            (NodeKind.ADDED, None, 1_000, 1),
            (NodeKind.SAME, 1_000, 1_001, 1_000),
        ]

    def test_few_edits_of_a_long_list_are_told_one_by_one(self):
        old = [{"n": number, "text": f"row {number}", "x": 0} for number in range(30_000)]
        new = [dict(row) for row in old]
        new[20_000]["x"] = 1
        del new[100]
        new.insert(5_000, {"fresh": True})
        new.insert(29_000, new.pop(10))
        assert changes(old, new) == [
            ("removed", "/l/100"),
            ("added", "/l/4999"),
            ("changed", "/l/19999/x"),
            ("moved", "/l/29000", "/l/10"),
        ]

    @pytest.mark.parametrize("identified", [True, False])
    @pytest.mark.parametrize("seed", range(4))
    def test_random_edits_of_a_long_list_are_told_and_patched(self, seed, identified):
        source = random.Random(seed)
        old = [
            {"id" if identified else "n": number, "text": f"row {number}", "x": 0} for number in range(1_500)
        ]
        new = [dict(row) for row in old]
        for _ in range(20):
            place, other = source.randrange(len(new)), source.randrange(len(new))
            match source.randrange(4):
                case 0:
                    del new[place]
                case 1:
                    new.insert(place, {"id": -other - 1, "text": "new", "x": 0})
                case 2:
                    new[place]["x"] = 1
                case 3:
                    new.insert(place, new.pop(other))
        comparison = compare({"l": old}, {"l": new})
        assert same(apply_patch({"l": old}, comparison.patch), {"l": new})
        assert 0 < comparison.counts.total <= 30


class TestBounds:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (list(range(50_000)), list(range(50_000, 0, -1))),
            ([number % 2 for number in range(50_000)], [number % 3 for number in range(50_000)]),
            ({str(number): 0 for number in range(20_000)}, {str(number): 1 for number in range(20_000)}),
            ({str(number): 0 for number in range(20_000)}, {f"n{number}": 0 for number in range(20_000)}),
            ([{"id": number} for number in range(9_000)], [{"id": -number - 1} for number in range(9_000)]),
        ],
        ids=["reversed", "few distinct", "wide", "other keys", "other ids"],
    )
    def test_documents_that_differ_everywhere_are_told_as_a_whole(self, old, new):
        comparison = compare({"kept": 1, "big": old}, {"kept": 2, "big": new})
        assert [(each["op"], each["path"]) for each in comparison.changes] == [
            ("changed", "/kept"),
            ("changed", "/big"),
        ]
        assert same(apply_patch({"kept": 1, "big": old}, comparison.patch), {"kept": 2, "big": new})

    def test_a_large_part_does_not_hide_small_ones(self):
        old = {"a": 1, "big": {str(number): 0 for number in range(20_000)}, "z": {"y": [1, 2]}}
        new = {"a": 2, "big": {str(number): 1 for number in range(20_000)}, "z": {"y": [1, 3]}}
        assert [each["path"] for each in compare(old, new).changes] == ["/a", "/big", "/z/y/1"]

    @pytest.mark.parametrize(
        "wrap", [lambda inner: {"a": inner}, lambda inner: [0, inner, 2]], ids=["objects", "lists"]
    )
    @pytest.mark.parametrize(("left", "right"), [(1, 2), (1, 1.0)])
    def test_100_levels_are_compared(self, wrap, left, right):
        for _ in range(100):
            left, right = wrap(left), wrap(right)
        comparison = compare(left, right)
        assert comparison.counts.changed == 1
        assert same(apply_patch(left, comparison.patch), right)


def assert_nothing_changed(comparison):
    assert comparison.equal
    assert comparison.counts.total == 0
    assert comparison.changes == comparison.patch == []


def assert_the_tree_shows_every_value_once_on_each_side(root):
    for node in nodes(root):
        if node.kind not in (NodeKind.OBJECT, NodeKind.LIST):
            continue
        left = [child for child in node.children if child.kind is not NodeKind.ADDED]
        right = [child for child in node.children if child.kind is not NodeKind.REMOVED]
        assert sum(child.run for child in left) == len(node.old)
        assert sum(child.run for child in right) == len(node.new)
        if node.kind is NodeKind.LIST:
            assert [child.right for child in right] == sorted(child.right for child in right)
            assert len({child.left for child in left}) == len(left)


class TestAlways:
    @given(st.data())
    def test_the_patch_of_a_variant_gives_it_exactly(self, data):
        old = data.draw(documents(40))
        new = data.draw(variants(old))
        comparison = compare(old, new)
        assert same(apply_patch(old, comparison.patch), new)
        assert comparison.equal == same(old, new) == (not comparison.changes) == (not comparison.patch)

    @given(documents(), documents())
    def test_the_patch_of_any_document_gives_it_exactly(self, old, new):
        assert same(apply_patch(old, compare(old, new).patch), new)

    @given(st.lists(st.integers(0, 5), max_size=14), st.lists(st.integers(0, 5), max_size=14))
    def test_the_patch_of_any_list_gives_it_exactly(self, old, new):
        assert apply_patch(old, compare(old, new).patch) == new

    @given(st.permutations(range(12)), st.integers(0, 12), st.integers(0, 12))
    def test_the_patch_of_any_arrangement_gives_it_exactly(self, order, start, end):
        old = [{"id": number, "x": 0} for number in range(12)]
        new = [{"id": number, "x": number % 3} for number in order]
        for left, right in ((old[start:], new[:end]), (new[:end], old[start:])):
            assert apply_patch(left, compare(left, right).patch) == right

    @given(st.data())
    def test_changes_and_tree_say_what_the_documents_hold(self, data):
        old = data.draw(states(30))
        for other in (old, reordered(old)):
            assert_nothing_changed(compare(old, other))
        new = data.draw(variants(old))
        comparison = compare(old, new)
        assert_the_tree_shows_every_value_once_on_each_side(comparison.root)
        assert comparison.counts.total == len(comparison.changes)
        for each in comparison.changes:
            assert comparison.counts.as_json()[each["op"]] > 0
            if each["op"] == "removed":
                assert same(resolve(old, each["path"]), each["old"])
            else:
                assert same(resolve(new, each["path"]), each["new"])
            if each["op"] == "moved":
                assert same(resolve(old, each["from_path"]), each["old"])
