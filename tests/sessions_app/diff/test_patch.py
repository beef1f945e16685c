"""RFC 6902 patches are applied as the RFC says, and refused where it says so."""

import pytest

from sessions_app.diff import apply_patch

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
        ({"foo": ["a", "b"]}, [{"op": "add", "path": "/foo/1", "value": "q"}], {"foo": ["a", "q", "b"]}),
        ({"foo": ["a"]}, [{"op": "add", "path": "/foo/-", "value": ["b"]}], {"foo": ["a", ["b"]]}),
        ({"foo": ["a"]}, [{"op": "add", "path": "/foo/1", "value": None}], {"foo": ["a", None]}),
        ({"a": 1}, [{"op": "add", "path": "/a", "value": 2}], {"a": 2}),
        ({"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ([1, 2, 3], [{"op": "remove", "path": "/1"}], [1, 3]),
        ({"a": 1}, [{"op": "replace", "path": "/a", "value": {}}], {"a": {}}),
        ([1, 2], [{"op": "replace", "path": "/1", "value": 5}], [1, 5]),
        (
            {"a": {"x": 1}, "b": {}},
            [{"op": "move", "from": "/a/x", "path": "/b/y"}],
            {"a": {}, "b": {"y": 1}},
        ),
        ([1, 2, 3, 4], [{"op": "move", "from": "/1", "path": "/3"}], [1, 3, 4, 2]),
        ([1], [{"op": "move", "from": "/0", "path": "/0"}], [1]),
        (
            {"a": [1]},
            [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/-", "value": 2}],
            {"a": [1], "b": [1, 2]},
        ),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1}),
        ({"~/": {"": 1}}, [{"op": "replace", "path": "/~0~1/", "value": 2}], {"~/": {"": 2}}),
    ],
    ids=str,
)
def test_operations_do_what_the_rfc_says(document, patch, expected):
    assert apply_patch(document, patch) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/b"},
        {"op": "replace", "path": "/b", "value": 1},
        {"op": "add", "path": "/b/c", "value": 1},
        {"op": "add", "path": "/l/3", "value": 1},
        {"op": "replace", "path": "/l/2", "value": 1},
        {"op": "replace", "path": "/l/-", "value": 1},
        {"op": "add", "path": "/l/01", "value": 1},
        {"op": "add", "path": "/l/x", "value": 1},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "copy", "from": "/l/9", "path": "/c"},
        {"op": "test", "path": "/b", "value": 1},
    ],
    ids=str,
)
def test_places_that_are_not_there_are_refused(operation):
    with pytest.raises(LookupError):
        apply_patch({"a": 1, "l": [1, 2]}, [operation])


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 1.0},
        {"op": "test", "path": "/a", "value": True},
        {"op": "frob", "path": "/a", "value": 1},
        {"op": "add", "path": "/a"},
        {"op": "add", "value": 1},
        {"op": "move", "path": "/a"},
        {"op": "move", "from": "/l", "path": "/l/0"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "a"},
        {},
    ],
    ids=str,
)
def test_what_is_no_operation_or_fails_its_test_is_refused(operation):
    with pytest.raises(ValueError):
        apply_patch({"a": 1, "l": [1, 2]}, [operation])


def test_neither_document_nor_patch_is_touched():
    document, value = {"a": [1], "b": {}}, {"c": [1]}
    patch = [
        {"op": "add", "path": "/a/-", "value": 2},
        {"op": "add", "path": "/v", "value": value},
        {"op": "add", "path": "/v/c/-", "value": 3},
        {"op": "move", "from": "/a", "path": "/b/a"},
    ]
    assert apply_patch(document, patch) == {"b": {"a": [1, 2]}, "v": {"c": [1, 3]}}
    assert document == {"a": [1], "b": {}}
    assert value == {"c": [1]}
