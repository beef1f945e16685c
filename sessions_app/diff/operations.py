"""What a write changed, as path operations without values: kept beside every version, so bounded."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, cast

from sessions_app.diff.pointer import escaped, list_index, parts, pointer
from sessions_app.diff.walk import Place, parts_of, walk
from statebase_site.base.json import JsonObject, JsonValue, dumps, parse_stored

MAX_OPERATIONS = 200
MAX_CHARACTERS = 16_000  # of all paths together
FIRST_PATHS = 6
_MAX_PATH = 1_000  # characters of one path
_MAX_SUMMARIES = 50


class Kind(StrEnum):
    """What an operation did at its path."""

    SET = "set"  # a value came, or another took its place
    REMOVE = "remove"  # a key went
    SPLICE = "splice"  # in the list: from index `at` on, `out` items went and `into` items came
    MANY = "many"  # somewhere below: the operations themselves were too many or too long


class Operation(NamedTuple):
    """One operation; `at`, `out` and `into` count for splices only."""

    kind: Kind
    path: str
    at: int = 0
    out: int = 0
    into: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """The operations from one version to the next, and how many leaves were added, removed and changed.

    A leaf is a scalar or an empty container; a subtree that came or went counts its leaves.
    """

    operations: tuple[Operation, ...] = ()
    added: int = 0
    removed: int = 0
    changed: int = 0

    def __bool__(self) -> bool:
        return bool(self.operations)

    @property
    def first_paths(self) -> tuple[str, ...]:
        """JSON Pointers of the first changes, at most FIRST_PATHS; of a splice, where it begins."""
        found = dict.fromkeys(
            f"{each.path}/{each.at}" if each.kind is Kind.SPLICE else each.path
            for each in self.operations[:MAX_OPERATIONS]
        )
        return tuple(found)[:FIRST_PATHS]

    def paths(self) -> list[str]:
        """Every path that an operation names, once: of a splice, its list."""
        return list(dict.fromkeys(each.path for each in self.operations))

    def touches(self, path: str) -> bool:
        """Whether the value at a JSON Pointer may differ between the two versions; False is certain."""
        sought = parts(path)
        return any(_touches(each, sought) for each in self.operations)

    def to_text(self) -> str:
        """Compact JSON, for storing."""
        operations: list[JsonValue] = [
            [each.kind.value, each.path, each.at, each.out, each.into]
            if each.kind is Kind.SPLICE
            else [each.kind.value, each.path]
            for each in self.operations
        ]
        return dumps({"operations": operations, "leaves": [self.added, self.removed, self.changed]})

    @classmethod
    def from_text(cls, text: str) -> "Changes":
        """What `to_text` stored."""
        stored = cast(dict[str, list[list[str | int]]], parse_stored(text))
        operations = tuple(Operation(Kind(kind), *rest) for kind, *rest in stored["operations"])  # type: ignore[arg-type]
        return cls(operations, *cast(list[int], stored["leaves"]))


def changes(old: JsonObject, new: JsonObject) -> Changes:
    """How `new` differs from `old`: the first operations, the rest by top-level key."""
    noted = _Noted()
    walk(old, new, noted)
    return Changes(noted.all_operations(), noted.added_leaves, noted.removed_leaves, noted.changed_leaves)


def leaves(value: JsonValue) -> int:
    """How many scalars and empty containers a value consists of."""
    found = 0
    level: list[JsonValue] = [value]
    while level:
        containers = [each for each in level if each and (type(each) is dict or type(each) is list)]
        found += len(level) - len(containers)
        level = []
        for each in containers:
            level.extend(each.values() if isinstance(each, dict) else each)
    return found


@dataclass(slots=True)
class _Noted:
    """Counts everything, and keeps operations until there are enough."""

    added_leaves: int = 0
    removed_leaves: int = 0
    changed_leaves: int = 0
    operations: list[Operation] = field(default_factory=list)
    summaries: dict[str, None] = field(default_factory=dict)
    characters: int = 0

    def added(self, place: Place, value: JsonValue) -> None:
        self.added_leaves += leaves(value)
        self._note(Kind.SET, place)

    def removed(self, place: Place, value: JsonValue) -> None:
        self.removed_leaves += leaves(value)
        self._note(Kind.REMOVE, place)

    def replaced(self, place: Place, old: JsonValue, new: JsonValue) -> None:
        if _is_leaf(old) and _is_leaf(new):
            self.changed_leaves += 1
        else:
            self.removed_leaves += leaves(old)
            self.added_leaves += leaves(new)
        self._note(Kind.SET, place)

    def spliced(self, place: Place, at: int, out: list[JsonValue], into: list[JsonValue]) -> None:
        self.removed_leaves += leaves(out) if out else 0
        self.added_leaves += leaves(into) if into else 0
        self._note(Kind.SPLICE, place, at, len(out), len(into))

    def all_operations(self) -> tuple[Operation, ...]:
        summaries = [""] if len(self.summaries) > _MAX_SUMMARIES else list(self.summaries)
        return (*self.operations, *(Operation(Kind.MANY, path) for path in summaries))

    def _note(self, kind: Kind, place: Place, at: int = 0, out: int = 0, into: int = 0) -> None:
        if len(self.summaries) > _MAX_SUMMARIES:
            return
        if len(self.operations) < MAX_OPERATIONS and self.characters < MAX_CHARACTERS:
            where = parts_of(place)
            if sum(len(part) + 1 if isinstance(part, str) else 8 for part in where) <= _MAX_PATH:
                operation = Operation(kind, pointer(where), at, out, into)
                self.operations.append(operation)
                self.characters += len(operation.path)
                return
        while place is not None and place[0] is not None:
            place = place[0]
        top = place[1] if place is not None else ""
        short = isinstance(top, str) and 0 < len(top) <= _MAX_PATH
        self.summaries[f"/{escaped(top)}" if short else ""] = None


def _is_leaf(value: JsonValue) -> bool:
    return not value or not isinstance(value, (dict, list))


def _touches(operation: Operation, sought: list[str]) -> bool:
    where = parts(operation.path)
    shared = min(len(where), len(sought))
    if where[:shared] != sought[:shared]:
        return False
    if operation.kind is not Kind.SPLICE or len(sought) <= len(where):
        return True
    index = list_index(sought[len(where)])
    if index is None or index < operation.at:
        return False
    return operation.out != operation.into or index < operation.at + operation.into
