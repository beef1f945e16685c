"""The difference of two documents: a tree for the page, a list of changes, a patch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sessions_app.diff.align import Pair, align
from sessions_app.diff.lists import IDENTITY_KEYS, common_ends
from sessions_app.diff.patch import patch_of
from sessions_app.diff.pointer import escaped
from sessions_app.diff.tree import NO_COUNTS, Counts, Node, NodeKind
from statebase_site.base.json import JsonObject, JsonValue, same

MAX_CHANGES = 5_000
"""About how many differences are told one by one; containers past that count as changed whole."""


@dataclass(frozen=True)
class Comparison:
    """How the right document differs from the left one."""

    root: Node

    @property
    def equal(self) -> bool:
        """Whether the documents are the same (typed; key order does not count)."""
        return self.root.kind is NodeKind.SAME

    @property
    def counts(self) -> Counts:
        """How many differences there are, by kind."""
        return self.root.counts

    @cached_property
    def changes(self) -> list[JsonObject]:
        """The differences in the order of the tree, as in contract section 15."""
        return list(_changes(self.root))

    @cached_property
    def patch(self) -> list[JsonObject]:
        """RFC 6902 operations which, applied in order to the left document, give the right one exactly."""
        return patch_of(self.root)


def compare(left: JsonValue, right: JsonValue, identity_keys: Sequence[str] = IDENTITY_KEYS) -> Comparison:
    """Compare two documents: objects by key, lists item by item as `align` pairs them, the rest whole."""
    root = Node(NodeKind.SAME)
    _Comparer(identity_keys).fill(root, left, right, False)
    return Comparison(root)


def _changes(node: Node) -> Iterator[JsonObject]:
    if node.moved:
        yield _change("moved", node)
    if node.kind in (NodeKind.ADDED, NodeKind.REMOVED, NodeKind.CHANGED):
        yield _change(node.kind.value, node)
    for child in node.children:
        yield from _changes(child)


def _change(name: str, node: Node) -> JsonObject:
    return {
        "op": name,
        "path": node.path,
        "from_path": node.from_path if name == "moved" else None,
        "old": node.old,
        "new": node.new,
        "old_type": node.old_type,
        "new_type": node.new_type,
    }


_ADDED, _REMOVED, _CHANGED, _MOVED = (
    Counts(added=1),
    Counts(removed=1),
    Counts(changed=1),
    Counts(moved=1),
)


class _Comparer:
    """Builds the tree, with the number of differences it may still tell one by one. `loose`: see `walk`."""

    def __init__(self, identity_keys: Sequence[str]) -> None:
        self.identity_keys = identity_keys
        self.budget = MAX_CHANGES

    def fill(self, node: Node, old: JsonValue, new: JsonValue, loose: bool) -> None:
        """Set what became of a value that stands in both documents."""
        node.old, node.new = old, new
        if old is new:
            return
        kind = type(new)
        if kind is type(old):
            if kind is not dict and kind is not list:
                if same(old, new):
                    return
            else:
                if not loose:
                    loose = old == new
                    if loose and same(old, new):
                        return
                if self.budget > 0:
                    if self._open(node, old, new, loose):
                        return
                elif loose and same(old, new):
                    return
        node.kind, node.counts = NodeKind.CHANGED, _CHANGED
        self.budget -= 1

    def _open(self, node: Node, old: JsonValue, new: JsonValue, loose: bool) -> bool:
        """Give a node the children of two containers of one kind; False when they differ too much."""
        before = self.budget
        if isinstance(old, dict) and isinstance(new, dict):
            kind, children = NodeKind.OBJECT, self._object(node, old, new, loose)
        elif isinstance(old, list) and isinstance(new, list):
            kind, children = NodeKind.LIST, self._list(node, old, new, loose)
        else:
            return False
        if children is None:
            # What was tried in vain counts half, so that all tries together stay bounded.
            self.budget = before - (before - self.budget) // 2
            return False
        counts = NO_COUNTS
        for child in children:
            if child.counts is not NO_COUNTS:
                counts = counts.plus(child.counts)
        if counts is not NO_COUNTS:
            node.kind, node.children, node.counts = kind, children, counts
        return True

    def _object(self, node: Node, old: JsonObject, new: JsonObject, loose: bool) -> list[Node] | None:
        if len(old.keys() - new.keys()) + len(new.keys() - old.keys()) > self.budget:
            return None
        children: list[Node] = []
        for key in _merged_keys(old, new):
            if key not in new:
                children.append(self._removed(node, key, old[key]))
            elif key not in old:
                children.append(self._added(node, key, new[key]))
            else:
                child = _child(node, key, key)
                self.fill(child, old[key], new[key], loose)
                children.append(child)
            if self.budget < 0:
                return None
        return children

    def _list(self, node: Node, old: list[JsonValue], new: list[JsonValue], loose: bool) -> list[Node] | None:
        start, end = (0, 0) if loose else common_ends(old, new)
        out, into = old[start : len(old) - end], new[start : len(new) - end]
        pairs: list[Pair] | None
        if loose:
            pairs = [Pair(index, index) for index in range(len(out))]
        elif out and into:
            pairs = align(out, into, self.identity_keys, self.budget)
        else:
            pairs = [] if max(len(out), len(into)) <= self.budget else None
        if pairs is None:
            return None
        children: list[Node] = []
        if start:
            children.append(_same_run(node, new[0], 0, 0, start))
        if not self._items(node, children, out, into, pairs, loose):
            return None
        if end:
            children.append(_same_run(node, new[-end], len(old) - end, len(new) - end, end))
        return children

    def _items(
        self,
        node: Node,
        children: list[Node],
        old: list[JsonValue],
        new: list[JsonValue],
        pairs: list[Pair],
        loose: bool,
    ) -> bool:
        """Add the items of two lists in the right one's order; what went stands before what followed it.

        False when they differ too much.
        """
        offset = children[0].run if children else 0
        elsewhere = {pair.left for pair in pairs if pair.moved}
        at = to = 0
        for pair in [*pairs, Pair(len(old), len(new))]:
            if not pair.moved:
                gone = [index for index in range(at, pair.left) if index not in elsewhere]
                children += [self._removed(node, offset + index, old[index]) for index in gone]
                at = pair.left + pair.run
            came = range(to, pair.right)
            children += [self._added(node, offset + index, new[index]) for index in came]
            to = pair.right + pair.run
            if pair.run > 1:
                left, right = offset + pair.left, offset + pair.right
                children.append(_same_run(node, new[pair.right], left, right, pair.run))
            elif pair.right < len(new):
                self._pair(node, children, pair, offset, old[pair.left], new[pair.right], loose)
            if self.budget < 0:
                return False
        return True

    def _pair(
        self,
        node: Node,
        children: list[Node],
        pair: Pair,
        offset: int,
        old: JsonValue,
        new: JsonValue,
        loose: bool,
    ) -> None:
        at, to = offset + pair.left, offset + pair.right
        child = _child(node, at, to)
        self.fill(child, old, new, loose)
        if pair.moved:
            child.moved, child.counts = True, child.counts.plus(_MOVED)
            self.budget -= 1
            if child.kind is NodeKind.SAME:
                child.kind = NodeKind.MOVED
        elif child.kind is NodeKind.SAME and children:
            last = children[-1]
            if last.kind is NodeKind.SAME and (last.left, last.right) == (at - last.run, to - last.run):
                last.run += 1
                return
        children.append(child)

    def _added(self, node: Node, key: str | int, value: JsonValue) -> Node:
        self.budget -= 1
        return Node(NodeKind.ADDED, f"{node.path}/{escaped(key)}", None, right=key, new=value, counts=_ADDED)

    def _removed(self, node: Node, key: str | int, value: JsonValue) -> Node:
        self.budget -= 1
        path = f"{node.from_path}/{escaped(key)}"
        return Node(NodeKind.REMOVED, path, path, left=key, old=value, counts=_REMOVED)


def _child(node: Node, left: str | int, right: str | int) -> Node:
    path = f"{node.path}/{escaped(right)}"
    from_path = path if left == right and node.path == node.from_path else f"{node.from_path}/{escaped(left)}"
    return Node(NodeKind.SAME, path, from_path, left, right)


def _same_run(node: Node, value: JsonValue, left: int, right: int, run: int) -> Node:
    first = _child(node, left, right)
    first.old = first.new = value
    first.run = run
    return first


def _merged_keys(old: JsonObject, new: JsonObject) -> list[str]:
    """The keys of both, in the order of the new object; one that went follows the key it followed."""
    if old.keys() <= new.keys():
        return list(new)
    followers: dict[str | None, list[str]] = {}
    last: str | None = None
    for key in old:
        if key in new:
            last = key
        else:
            followers.setdefault(last, []).append(key)
    keys = followers.get(None, [])
    for key in new:
        keys.append(key)
        keys += followers.get(key, [])
    return keys
