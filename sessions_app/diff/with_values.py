"""`state_diff` of contract section 10: what a write changed, with its values, as traces show it."""

from dataclasses import dataclass, field

from sessions_app.diff.pointer import pointer
from sessions_app.diff.walk import Place, parts_of, walk
from statebase_site.base.json import JsonObject, JsonValue


def state_diff(old: JsonObject, new: JsonObject) -> JsonObject:
    """`{"added": {key: value}, "removed": {key: old}, "modified": {key: {"from": old, "to": new}}}`.

    A key is the bare name of a top-level key, or the JSON Pointer of a change deeper down; removed items
    have their indexes in the old list. The size follows the change, not the state.
    """
    shown = _Shown()
    walk(old, new, shown)
    return {"added": shown.came, "removed": shown.went, "modified": shown.became}


@dataclass(slots=True)
class _Shown:
    came: JsonObject = field(default_factory=dict)
    went: JsonObject = field(default_factory=dict)
    became: JsonObject = field(default_factory=dict)

    def added(self, place: Place, value: JsonValue) -> None:
        self.came[_key(place)] = value

    def removed(self, place: Place, value: JsonValue) -> None:
        self.went[_key(place)] = value

    def replaced(self, place: Place, old: JsonValue, new: JsonValue) -> None:
        self.became[_key(place)] = {"from": old, "to": new}

    def spliced(self, place: Place, at: int, out: list[JsonValue], into: list[JsonValue]) -> None:
        for index, value in enumerate(out, at):
            self.went[_key((place, index))] = value
        for index, value in enumerate(into, at):
            self.came[_key((place, index))] = value


def _key(place: Place) -> str:
    where = parts_of(place)
    return str(where[0]) if len(where) == 1 else pointer(where)
