"""JSON documents for property tests: small, and full of what goes wrong elsewhere."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from statebase_site.base.json import JsonValue

_texts = st.one_of(
    st.sampled_from(
        ["", "a", "b", "1", "id", "a/b", "~", "~1", "a.b", "\x00", "😀", "é", "e\u0301", "0", "-", '"']
    ),
    st.text(max_size=12),
)
_numbers = st.one_of(
    st.sampled_from([0, 0.0, -0.0, 1, 1.0, -1, 2**53, 2**53 + 1, 10**400, -(10**4299), 1e16, 5e-324, 0.1]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
scalars = st.one_of(st.none(), st.booleans(), _numbers, _texts)


@cache  # putting a recursive strategy together takes longer than an example
def documents(max_leaves: int = 20) -> st.SearchStrategy[JsonValue]:
    """Any JSON value."""
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(_texts, inner, max_size=5)),
        max_leaves=max_leaves,
    )


@cache
def states(max_leaves: int = 20) -> st.SearchStrategy[dict[str, JsonValue]]:
    """JSON objects."""
    return st.dictionaries(_texts, documents(max_leaves), max_size=6)


def typed(value: JsonValue, ordered: bool = True) -> Any:
    """A form whose plain equality is typed equality; with `ordered` the order of keys counts too."""
    if isinstance(value, dict):
        pairs = [(key, typed(item, ordered)) for key, item in value.items()]
        return ("object", pairs if ordered else dict(pairs))
    if isinstance(value, list):
        return ("list", [typed(item, ordered) for item in value])
    return (type(value).__name__, repr(value))


def reordered(value: JsonValue) -> JsonValue:
    """The same document with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [reordered(item) for item in value]
    return value


@st.composite
def variants(draw: st.DrawFn, document: JsonValue) -> JsonValue:
    """A document made from another by a few edits, or one that has nothing to do with it."""
    if isinstance(document, dict):
        edited: dict[str, JsonValue] = {}
        for key, value in document.items():
            match draw(st.integers(0, 7)):
                case 0:
                    pass
                case 1:
                    edited[key] = draw(documents(5))
                case 2 | 3:
                    edited[key] = draw(variants(value))
                case _:
                    edited[key] = value
        if draw(st.integers(0, 3)) == 0:
            edited |= draw(st.dictionaries(_texts, documents(5), max_size=2))
        return edited
    if isinstance(document, list):
        items: list[JsonValue] = []
        for value in document:
            match draw(st.integers(0, 9)):
                case 0:
                    pass
                case 1:
                    items += [draw(documents(5)), value]
                case 2:
                    items.append(draw(variants(value)))
                case 3:
                    items.insert(draw(st.integers(0, len(items))), value)
                case 4:
                    items += [value, value]
                case _:
                    items.append(value)
        return items
    return draw(st.one_of(scalars, documents(4), st.just(document)))
