"""RFC 6902 patches: the one of a tree of differences, and applying any."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import cast

from sessions_app.diff.pointer import escaped, list_index, parts, resolve
from sessions_app.diff.tree import Node, NodeKind
from statebase_site.base.json import JsonObject, JsonValue, dumps, parse_stored, same


def patch_of(root: Node) -> list[JsonObject]:
    """Operations which, applied in order to the left document of a tree, give the right one exactly."""
    return list(_node(root))


def apply_patch(document: JsonValue, patch: list[JsonObject]) -> JsonValue:
    """The document with the operations of an RFC 6902 patch applied in order; itself it is not touched.

    Raises LookupError where an operation names a place that is not there, and ValueError for what is no
    operation or a `test` that fails.
    """
    result = _copied(document)
    for operation in patch:
        result = _apply(result, operation)
    return result


def _node(node: Node) -> Iterator[JsonObject]:
    if node.kind is NodeKind.CHANGED:
        yield {"op": "replace", "path": node.path, "value": node.new}
    elif node.kind is NodeKind.OBJECT:
        for child in node.children:
            if child.kind is NodeKind.REMOVED:
                yield {"op": "remove", "path": f"{node.path}/{escaped(cast(str, child.left))}"}
            elif child.kind is NodeKind.ADDED:
                yield {"op": "add", "path": child.path, "value": child.new}
            else:
                yield from _node(child)
    elif node.kind is NodeKind.LIST:
        yield from _rearranged(node)
        for child in node.children:
            yield from _node(child)


def _rearranged(node: Node) -> Iterator[JsonObject]:
    """The operations that bring the items of a list to their places: first away, then in and elsewhere.

    From left to right, each goes right behind the item that it is to follow. Those still to be moved stand
    among the others meanwhile and shift the indexes: by how many stand before.
    """
    removed = sorted(
        (cast(int, child.left) for child in node.children if child.kind is NodeKind.REMOVED), reverse=True
    )
    for index in removed:
        yield {"op": "remove", "path": f"{node.path}/{index}"}
    arrangement = _Arrangement(node)
    for child in node.children:
        if child.kind is NodeKind.ADDED:
            yield {"op": "add", "path": f"{node.path}/{arrangement.place()}", "value": child.new}
        elif child.moved:
            at = arrangement.take(cast(int, child.left))
            to = arrangement.place()
            if at != to:
                yield {"op": "move", "from": f"{node.path}/{at}", "path": f"{node.path}/{to}"}
        elif child.kind is not NodeKind.REMOVED:
            arrangement.keep(child.run)


class _Arrangement:
    """A list on the way from its left order to its right one, without its items.

    `kept` items never move. A moved item's `slot` is the number of kept items before it on the left.
    """

    def __init__(self, node: Node) -> None:
        self.done = 0  # items at their places, from the left
        self.kept = 0  # of those, the ones that never moved
        self.runs_kept: list[int] = []  # for each run of kept items: kept ones before it …
        self.runs_done: list[int] = []  # … and its place on the right
        self.slots: list[int] = []
        self.rank_of: dict[int, int] = {}
        kept = 0
        present = [child for child in node.children if child.kind not in (NodeKind.ADDED, NodeKind.REMOVED)]
        for child in sorted(present, key=lambda child: cast(int, child.left)):
            if child.moved:
                self.rank_of[cast(int, child.left)] = len(self.slots)
                self.slots.append(kept)
            else:
                kept += child.run
        self.waiting = list(range(len(self.slots)))  # ranks of the items still to be moved

    def keep(self, run: int) -> None:
        self.runs_kept.append(self.kept)
        self.runs_done.append(self.done)
        self.kept += run
        self.done += run

    def take(self, left: int) -> int:
        """The index of a moved item before it is taken out."""
        rank = self.rank_of[left]
        slot = self.slots[rank]
        waiting_before = bisect_left(self.waiting, rank)
        del self.waiting[waiting_before]
        if slot >= self.kept:
            return self.done - self.kept + slot + waiting_before
        run = bisect_right(self.runs_kept, slot) - 1
        return self.runs_done[run] + slot - self.runs_kept[run] + waiting_before

    def place(self) -> int:
        """The index at which the next item comes in."""
        index = self.done + bisect_left(self.waiting, bisect_left(self.slots, self.kept))
        self.done += 1
        return index


def _copied(value: JsonValue) -> JsonValue:
    return parse_stored(dumps(value)) if isinstance(value, (dict, list)) else value


def _apply(document: JsonValue, operation: JsonObject) -> JsonValue:
    name, path = operation.get("op"), operation.get("path")
    if not isinstance(path, str):
        raise ValueError("A patch operation needs a path.")
    if name in ("move", "copy"):
        origin = operation.get("from")
        if not isinstance(origin, str):
            raise ValueError(f"The operation {name} needs `from`.")
        value = resolve(document, origin)
        if name == "copy":
            return _put(document, path, _copied(value), replace=False)
        if path == origin:
            return document
        if path.startswith(f"{origin}/"):
            raise ValueError("A value cannot be moved into itself.")
        return _put(_taken_out(document, origin), path, value, replace=False)
    if name == "remove":
        return _taken_out(document, path)
    if "value" not in operation or name not in ("add", "replace", "test"):
        raise ValueError(f"{name!r} is not a patch operation, or its value is missing.")
    if name == "test":
        if not same(resolve(document, path), operation["value"]):
            raise ValueError(f"The test of {path[:200]} failed.")
        return document
    return _put(document, path, _copied(operation["value"]), replace=name == "replace")


def _put(document: JsonValue, path: str, value: JsonValue, *, replace: bool) -> JsonValue:
    if not path:
        return value
    container, part = _container(document, path)
    if isinstance(container, dict) and (part in container or not replace):
        container[part] = value
    elif isinstance(container, list):
        index = len(container) if part == "-" and not replace else list_index(part)
        if index is None or index > len(container) - replace:
            raise LookupError(f"Nothing stands at {path[:200]}.")
        container[index : index + replace] = [value]
    else:
        raise LookupError(f"Nothing stands at {path[:200]}.")
    return document


def _taken_out(document: JsonValue, path: str) -> JsonValue:
    if not path:
        raise ValueError("The whole document cannot be removed.")
    resolve(document, path)
    container, part = _container(document, path)
    if isinstance(container, dict):
        del container[part]
    elif isinstance(container, list):
        del container[int(part)]
    return document


def _container(document: JsonValue, path: str) -> tuple[JsonValue, str]:
    above, _, _ = path.rpartition("/")
    return resolve(document, above), parts(path)[-1]
