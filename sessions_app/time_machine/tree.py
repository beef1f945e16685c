"""The state at a version as rows of a tree, with what the version changed marked in place. Pure.

Values are compared only where they are shown, and what is large is folded: the rows stay few whatever the
size of the state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from sessions_app.diff import compare, resolve
from sessions_app.diff.pointer import escaped
from sessions_app.diff.tree import Node, NodeKind
from sessions_app.time_machine.address import Address
from sessions_app.time_machine.values import bytes_of, class_of, lines_of, type_name
from statebase_site.base.json import JsonObject, JsonValue, dumps

ROWS = 260  # opened by themselves, about
SHORT = 40  # children of a container that are all shown when it opens
SMALL = 24  # lines of an unchanged container that opens by itself
PART = 100  # children shown at once of a longer one
ROUND = 2  # unchanged neighbours shown beside a change in a long one
TEXT = 240  # characters of a text shown whole
TEXT_CUT = 140  # of a longer one
TEXT_PART = 20_000  # of a longer one that was opened
DEEPEST = 16  # steps of indentation that are drawn
REMOVED_TEXT = 300  # of a value that is no longer there
PREVIEW = 60  # of what is folded

MOVED = "↕"

_ABSENT = object()
_SIGNS = {NodeKind.ADDED: "+", NodeKind.REMOVED: "-", NodeKind.CHANGED: "~"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `kind` is leaf, open, close, folded, removed or more.

    `sign` is `+`, `-`, `~`, `↕` (moved) or empty; `hunk` counts the changes, on the first row of each. `text`
    is JSON text, of which `cut` bytes are not shown; `old` what stood there before; `changes_inside` how many
    changes a fold hides. `toggle` is the address that opens or folds, `node` the part of the comparison that
    the line is about.
    """

    kind: str
    depth: int
    path: str = ""
    key: str = ""
    is_index: bool = False
    sign: str = ""
    hunk: int = 0
    text: str = ""
    value_class: str = ""
    old: str | None = None
    type_change: str = ""
    cut: int = 0
    count: int = 0
    noun: str = ""
    size: int = 0
    preview: str = ""
    changes_inside: int = 0
    toggle: str = ""
    comma: bool = False
    node: Node | None = None

    @property
    def indent(self) -> int:
        """Steps to the right; deeper ones stand no further out."""
        return min(self.depth, DEEPEST)


@dataclass(frozen=True, slots=True)
class Tree:
    """The rows, and what is said above them; `missing` where a pinned path is not there."""

    rows: list[Row]
    hunks: int
    unchanged_hidden: int
    missing: bool


def state_tree(before: JsonObject | None, state: JsonObject, address: Address) -> Tree:
    """The rows of `state`, compared with the state `before` it; nothing is marked where that is None."""
    return _Builder(address).build(_compared_at(before, state, address.pin or ""))


def comparison_tree(root: Node, address: Address) -> Tree:
    """The rows of a comparison that was made already."""
    return _Builder(address).build(root)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """Children that are not shown: how many, and where they begin."""

    path: str
    depth: int
    start: int
    count: int
    noun: str
    unchanged: bool


class _Shown:
    """A node of the comparison where it is shown; `children` is None while it is not opened."""

    __slots__ = ("children", "depth", "inside_new", "is_context", "node", "path")

    def __init__(self, node: Node, path: str, depth: int, *, inside_new: bool = False) -> None:
        self.node, self.path, self.depth, self.inside_new = node, path, depth, inside_new
        self.is_context = False  # stands beside a change in a long list only to show where that is
        self.children: list[_Shown | _Hidden] | None = None

    @property
    def sign(self) -> str:
        if self.inside_new:
            return "+"
        return _SIGNS.get(self.node.kind) or (MOVED if self.node.moved else "")

    @property
    def is_removed(self) -> bool:
        return self.node.kind is NodeKind.REMOVED

    @property
    def is_container(self) -> bool:
        """Whether it is an object or list with something in it, still there."""
        has_something = self.differs_inside or bool(self.node.new)
        return not self.is_removed and isinstance(self.node.new, (dict, list)) and has_something

    @property
    def differs_inside(self) -> bool:
        return self.node.kind in (NodeKind.OBJECT, NodeKind.LIST) and not self.inside_new

    def parts(self) -> list[tuple[Node, int]]:
        """The children in order, each with how many it stands for: of the comparison, or of the value."""
        value = self.node.new
        if self.differs_inside:
            return [(child, child.run) for child in self.node.children]
        if isinstance(value, dict):
            return [(Node(NodeKind.SAME, left=key, right=key, new=value[key]), 1) for key in value]
        assert isinstance(value, list)
        return [(Node(NodeKind.SAME, left=0, right=0, new=value[0], run=len(value)), len(value))]

    def child(self, part: Node, offset: int) -> _Shown:
        """The child at `offset` in a part."""
        if offset:
            assert isinstance(part.right, int)
            assert isinstance(self.node.new, list)
            place = part.right + offset
            part = Node(NodeKind.SAME, left=place, right=place, new=self.node.new[place])
        key = part.left if part.right is None else part.right
        assert key is not None
        new_inside = self.inside_new or self.node.kind in (NodeKind.ADDED, NodeKind.CHANGED)
        return _Shown(part, f"{self.path}/{escaped(key)}", self.depth + 1, inside_new=new_inside)


class _Builder:
    def __init__(self, address: Address) -> None:
        self.address = address
        self.starts = address.parts_opened
        self.folded = set(address.folded)
        self.rows: list[Row] = []
        self.left = ROWS
        self.hunks = 0
        self.unchanged_hidden = 0

    def build(self, root: Node | None) -> Tree:
        if root is not None:
            shown = _Shown(root, root.path, 0)
            self._open_from(shown)
            self._emit(shown, comma=False)
        return Tree(self.rows, self.hunks, self.unchanged_hidden, root is None)

    # What is opened -----------------------------------------------------------------------------------

    def _open_from(self, root: _Shown) -> None:
        """Open containers level by level, those with changes first, while there are rows left."""
        changed, others = deque([root]), deque[_Shown]()
        while changed or others:
            shown = (changed or others).popleft()
            if not self._opens(shown, is_root=shown is root):
                continue
            shown.children = list(self._children(shown))
            self.left -= len(shown.children) + 1
            is_part = any(isinstance(child, _Hidden) for child in shown.children)
            for child in shown.children:
                if isinstance(child, _Shown) and child.is_container:
                    child.is_context = is_part
                    (changed if child.differs_inside else others).append(child)

    def _opens(self, shown: _Shown, *, is_root: bool) -> bool:
        if not shown.is_container:
            return False
        if is_root or shown.path in self.starts:
            return True
        if shown.path in self.folded:
            return False
        if shown.differs_inside:
            return self.left > 0
        wanted = bool(shown.sign) or not (self.address.diff_only or shown.is_context)
        return wanted and lines_of(shown.node.new, SMALL) <= min(SMALL, self.left)

    def _children(self, shown: _Shown) -> Iterator[_Shown | _Hidden]:
        """The children to show: all, or those that changed with their neighbours, or the parts asked for."""
        parts = shown.parts()
        noun = "key" if isinstance(shown.node.new, dict) else "item"
        places = self._places(shown, parts)
        place, hidden, unchanged = 0, 0, True
        for part, run in parts:
            for offset in range(run):
                if place in places:
                    if hidden:
                        yield _Hidden(shown.path, shown.depth + 1, place - hidden, hidden, noun, unchanged)
                    hidden, unchanged = 0, True
                    yield shown.child(part, offset)
                else:
                    hidden += 1
                    is_old = shown.differs_inside or not shown.sign
                    unchanged = unchanged and part.kind is NodeKind.SAME and is_old
                place += 1
        if hidden:
            yield _Hidden(shown.path, shown.depth + 1, place - hidden, hidden, noun, unchanged)

    def _places(self, shown: _Shown, parts: Sequence[tuple[Node, int]]) -> set[int] | range:
        size = sum(run for _, run in parts)
        changes = []
        if shown.differs_inside:
            ends = accumulate(run for _, run in parts)
            marked = (
                end - 1 for end, (part, _) in zip(ends, parts, strict=True) if part.kind != NodeKind.SAME
            )
            changes = list(islice(marked, max(20, min(self.left, PART))))
            if self.address.diff_only and shown.path not in self.starts:
                return set(changes)
        if size <= SHORT or (size <= PART and (shown.path in self.starts or not changes)):
            return range(size)
        if shown.path in self.starts:
            asked = [range(start, start + PART) for start in self.starts[shown.path]]
            return {place for part in asked for place in part}
        if not changes:
            return range(PART)
        return {near for place in changes for near in range(place - ROUND, place + ROUND + 1)}

    # Rows ---------------------------------------------------------------------------------------------

    def _emit(self, shown: _Shown, *, comma: bool) -> None:
        if shown.is_removed:
            self._emit_removed(shown)
        elif shown.children is not None:
            self._emit_open(shown, comma)
        elif shown.is_container:
            self._emit_folded(shown, comma)
        else:
            self._emit_leaf(shown, comma)

    def _row(self, shown: _Shown, kind: str, **more: object) -> None:
        hunk = 0
        if shown.sign and not shown.inside_new and kind != "close":
            self.hunks += 1
            hunk = self.hunks
        key = shown.node.left if shown.node.right is None else shown.node.right
        text = "" if key is None else dumps(key)
        is_index = isinstance(key, int)
        place = {"path": shown.path, "key": text, "is_index": is_index, "node": shown.node}
        self.rows.append(Row(kind, shown.depth, sign=shown.sign, hunk=hunk, **place, **more))  # type: ignore[arg-type]

    def _emit_removed(self, shown: _Shown) -> None:
        text = dumps(shown.node.old)
        self._row(shown, "removed", text=text[:REMOVED_TEXT], cut=bytes_of(text[REMOVED_TEXT:]))

    def _emit_open(self, shown: _Shown, comma: bool) -> None:
        assert shown.children is not None
        opening, closing = "{}" if isinstance(shown.node.new, dict) else "[]"
        toggle = self.address.folding(shown.path) if shown.depth else ""
        self._row(shown, "open", text=opening, toggle=toggle, **self._change(shown))
        remaining = sum(isinstance(child, _Hidden) or not child.is_removed for child in shown.children)
        for child in shown.children:
            if isinstance(child, _Hidden):
                remaining -= 1
                self._emit_hidden(child)
            else:
                remaining -= not child.is_removed
                self._emit(child, comma=remaining > 0)
        self._row(shown, "close", text=closing, comma=comma)

    def _emit_hidden(self, hidden: _Hidden) -> None:
        if hidden.unchanged:
            self.unchanged_hidden += hidden.count
        self.rows.append(
            Row(
                "more",
                hidden.depth,
                hidden.path,
                text="unchanged " if hidden.unchanged else "more ",
                count=hidden.count,
                noun=hidden.noun,
                toggle=self.address.opening(hidden.path, hidden.start),
            )
        )

    def _emit_folded(self, shown: _Shown, comma: bool) -> None:
        value: JsonValue = shown.node.new
        text = dumps(value)
        self._row(
            shown,
            "folded",
            text="{}" if isinstance(value, dict) else "[]",
            count=len(value),  # type: ignore[arg-type]
            noun="key" if isinstance(value, dict) else "item",
            size=bytes_of(text),
            preview=text[1 : PREVIEW + 1].rstrip("]}") + ("…" if len(text) > PREVIEW else ""),
            changes_inside=shown.node.counts.total if shown.differs_inside else 0,
            toggle=self.address.opening(shown.path),
            comma=comma,
            **self._change(shown),
        )

    def _emit_leaf(self, shown: _Shown, comma: bool) -> None:
        value: JsonValue = shown.node.new
        text = dumps(value)
        part, cut, toggle = text, 0, ""
        change = self._change(shown)
        if isinstance(value, str) and len(text) > TEXT:
            part, cut, toggle = self._part_of(shown, text)
        row = {"text": part, "cut": cut, "size": bytes_of(text) - 2 if cut else 0, "toggle": toggle}
        self._row(shown, "leaf", value_class=class_of(value), comma=comma, **row, **change)

    def _part_of(self, shown: _Shown, text: str) -> tuple[str, int, str]:
        """What is shown of a long text, how many bytes of it are not, and the address that shows more."""
        if shown.path in self.starts:
            start = self.starts[shown.path][-1]
            end = start + TEXT_PART
        else:
            start, end = _from_where_it_differs(shown.node.old, text) if shown.sign == "~" else 0, 0
            end = start + TEXT_CUT
        part = ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
        more = end if shown.path in self.starts and end < len(text) else 0
        toggle = self.address.opening(shown.path, more)
        if shown.path in self.starts and not more:
            toggle = self.address.folding(shown.path)
        return part, bytes_of(text[:start]) + bytes_of(text[end:]), toggle

    def _change(self, shown: _Shown) -> dict[str, object]:
        """What stood there before, and how its type changed, in words."""
        if shown.node.moved:
            return {"type_change": f"moved from {shown.node.left}"}
        if shown.sign != "~":
            return {}
        old, new = shown.node.old, shown.node.new
        text = dumps(old)
        if len(text) > TEXT:
            start = _from_where_it_differs(new, text) if isinstance(new, str) else 0
            text = ("…" if start else "") + text[start : start + TEXT_CUT] + "…"
        names = [type_name(old), type_name(new)]
        return {"old": text, "type_change": " → ".join(names) if names[0] != names[1] else ""}


def _compared_at(before: JsonObject | None, state: JsonObject, path: str) -> Node | None:
    """The comparison of what stands at a JSON Pointer in both states; None where neither has it."""
    left = _ABSENT if before is None else _at(before, path)
    right = _at(state, path)
    if right is _ABSENT:
        return None if left is _ABSENT else Node(NodeKind.REMOVED, path, old=left)  # type: ignore[arg-type]
    if before is None:
        return Node(NodeKind.SAME, path, new=right)  # type: ignore[arg-type]
    if left is _ABSENT:
        return Node(NodeKind.ADDED, path, new=right)  # type: ignore[arg-type]
    root = compare(left, right).root  # type: ignore[arg-type]
    root.path = path
    return root


def _at(document: JsonValue, path: str) -> object:
    try:
        return resolve(document, path)
    except LookupError:
        return _ABSENT


def _from_where_it_differs(other: object, text: str) -> int:
    """Where to begin showing a long text: shortly before the place where it parts from the other one."""
    if not isinstance(other, str):
        return 0
    other_text = dumps(other)
    parted = next((at for at, (a, b) in enumerate(zip(other_text, text, strict=False)) if a != b), 0)
    return max(0, parted - TEXT_CUT // 3) if parted > TEXT_CUT // 2 else 0
