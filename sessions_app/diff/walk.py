"""The walk over two documents that the write path and `state_diff` share: linear, bounded on every input.

Objects are compared by key, lists by what they have in common at both ends; what lies between is compared
place by place where the items correspond, else it is one splice.
"""

from typing import Protocol, TypeAlias

from sessions_app.diff.lists import common_ends, in_place
from statebase_site.base.json import JsonObject, JsonValue, same

Place: TypeAlias = "tuple[Place, str | int] | None"
"""Where a value stands: the place of its container and its key or index there; None = the document."""


def parts_of(place: Place) -> list[str | int]:
    """The keys and indexes from the document down to a place."""
    found: list[str | int] = []
    while place is not None:
        place, part = place
        found.append(part)
    found.reverse()
    return found


class Recorder(Protocol):
    """Receives what the walk finds, in the order of the documents."""

    def added(self, place: Place, value: JsonValue) -> None: ...
    def removed(self, place: Place, value: JsonValue) -> None: ...
    def replaced(self, place: Place, old: JsonValue, new: JsonValue) -> None: ...
    def spliced(self, place: Place, at: int, out: list[JsonValue], into: list[JsonValue]) -> None: ...


def walk(old: JsonObject, new: JsonObject, recorder: Recorder) -> None:
    """Tell `recorder` how `new` differs from `old`: nothing if and only if they are `same`."""
    _objects(old, new, None, recorder, False)


def _values(old: JsonValue, new: JsonValue, place: Place, recorder: Recorder, loose: bool) -> None:
    # `loose`: the values are equal for Python, which takes 1, 1.0 and True for equal, but not the same.
    # Testing the containers inside would say that again on each level, so the walk goes down without asking.
    if old is new:
        return
    kind = type(new)
    if kind is not type(old):
        recorder.replaced(place, old, new)
    elif kind is dict or kind is list:
        if not loose:
            loose = old == new
            if loose and same(old, new):
                return
        if isinstance(old, dict) and isinstance(new, dict):
            _objects(old, new, place, recorder, loose)
        elif isinstance(old, list) and isinstance(new, list):
            _lists(old, new, place, recorder, loose)
    elif not same(old, new):
        recorder.replaced(place, old, new)


def _objects(old: JsonObject, new: JsonObject, place: Place, recorder: Recorder, loose: bool) -> None:
    for key, value in old.items():
        if key not in new:
            recorder.removed((place, key), value)
    for key, value in new.items():
        if key in old:
            _values(old[key], value, (place, key), recorder, loose)
        else:
            recorder.added((place, key), value)


def _lists(old: list[JsonValue], new: list[JsonValue], place: Place, recorder: Recorder, loose: bool) -> None:
    if loose:
        start, out, into = 0, old, new
    else:
        start, end = common_ends(old, new)
        out, into = old[start : len(old) - end], new[start : len(new) - end]
        if not in_place(out, into):
            recorder.spliced(place, start, out, into)
            return
    for index, (before, after) in enumerate(zip(out, into, strict=True), start):
        _values(before, after, (place, index), recorder, loose)
