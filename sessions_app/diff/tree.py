"""The tree that shows how two documents differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import add
from typing import NamedTuple

from statebase_site.base.json import JsonObject, JsonValue


class NodeKind(StrEnum):
    """What became of a value."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"  # another value took its place
    MOVED = "moved"  # an item of a list that is the same, elsewhere
    OBJECT = "object"  # something inside differs: see the children
    LIST = "list"


class Counts(NamedTuple):
    """How many differences there are in a tree; a subtree that came or went is one."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """The sum, kind by kind."""
        return Counts(*map(add, self, other))

    @property
    def total(self) -> int:
        """All kinds together."""
        return sum(self)

    def as_json(self) -> JsonObject:
        """As in contract section 15."""
        return {"added": self.added, "removed": self.removed, "changed": self.changed, "moved": self.moved}


NO_COUNTS = Counts()


@dataclass(slots=True)
class Node:
    """One value of the two documents, or a run of items of a list that stayed the same.

    `left` and `right` are its key or index in the two documents (None where it is not in one, and for the
    document itself). `path` is its JSON Pointer in the right one (removed: in the left one), `from_path` in
    the left one. A node that is `moved` is MOVED, or moved and changed: OBJECT, LIST or CHANGED.
    """

    kind: NodeKind
    path: str = ""
    from_path: str | None = ""
    left: str | int | None = None
    right: str | int | None = None
    old: JsonValue = None
    new: JsonValue = None
    moved: bool = False
    run: int = 1  # items in a run; `old` and `new` are the first of them
    children: "Sequence[Node]" = ()
    counts: Counts = NO_COUNTS

    @property
    def old_type(self) -> str | None:
        """Name of the JSON type on the left; None where there is no value."""
        return None if self.kind is NodeKind.ADDED else type_name(self.old)

    @property
    def new_type(self) -> str | None:
        """Name of the JSON type on the right; None where there is no value."""
        return None if self.kind is NodeKind.REMOVED else type_name(self.new)


def type_name(value: JsonValue) -> str:
    """`null`, `boolean`, `integer`, `number` (a double), `string`, `object` or `array`."""
    if value is None:
        return "null"
    return _TYPE_NAMES[type(value)]


_TYPE_NAMES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
}
