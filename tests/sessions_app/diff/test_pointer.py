"""JSON Pointers name every place, whatever its keys look like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.diff import parts, pointer, resolve

pytestmark = pytest.mark.once

EXAMPLE = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    " ": 7,
    "m~n": 8,
    "~1": {"0": "zero", "-": [[5]]},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", EXAMPLE),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/ ", 7),
        ("/m~0n", 8),
        ("/~01/0", "zero"),
        ("/~01/-/0/0", 5),
    ],
)
def test_pointers_are_resolved_as_in_the_rfc(path, value):
    assert resolve(EXAMPLE, path) == value
    assert pointer(parts(path)) == path


@pytest.mark.parametrize(
    "path",
    [
        "/foo/2",
        "/foo/-",
        "/foo/00",
        "/foo/-1",
        "/foo/bar",
        "/nothing",
        "/a~1b/x",
        "/foo/0/0",
        "/foo/٣",
        "//x",
    ],
)
def test_places_that_are_not_there_are_refused(path):
    with pytest.raises(LookupError):
        resolve(EXAMPLE, path)


def test_a_text_without_a_leading_slash_is_no_pointer():
    with pytest.raises(ValueError, match="slash"):
        parts("foo/0")


@given(st.lists(st.text()))
def test_any_keys_come_back(keys):
    assert parts(pointer(keys)) == keys
