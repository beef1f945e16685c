"""The lines of a comparison, for the inline tree and for two columns.

They are made from the rows of the state tree, which are few whatever the size of the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from sessions_app.diff import Node, NodeKind, SegmentKind, words
from sessions_app.time_machine.tree import DEEPEST, Row
from statebase_site.base.json import JsonValue, dumps, pretty

VALUE = 1_000  # characters of a value that differs
PIECES = 200  # of a text compared word by word
SAME = 160  # characters of a piece that stayed the same; its middle is left out
REMOVED_LINES = 40  # of a value that went
ALL_REMOVED_LINES = 1_500  # of all of them together

_TYPE_WORDS = {"array": "list", "integer": "whole number", "number": "decimal number", "string": "text"}


class Piece(NamedTuple):
    """A piece of a value: `css` is the class of its kind of value.

    `tag` is `was` for what stood there as a whole, `del` for words of it, `ins` for what came, or empty.
    """

    text: str
    css: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a line on one side; `cut` bytes of it are not shown."""

    key: str
    is_index: bool
    pieces: tuple[Piece, ...]
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `sign` is `+`, `-`, `~`, `↕` (moved) or empty; `change` numbers the change it belongs to.

    `starts` marks the first line of a change; there `old_path` and `new_path` are the JSON Pointers of its
    values (None where there is none). `both` is the line inline; `fold` is what the link says that opens or
    folds (`toggle`).
    """

    indent: int
    sign: str = ""
    change: int = 0
    starts: bool = False
    old: Cell | None = None
    new: Cell | None = None
    both: Cell | None = None
    comma: bool = False
    note: str = ""
    fold: str = ""
    toggle: str = ""
    old_path: str | None = None
    new_path: str | None = None


def lines(rows: Sequence[Row]) -> list[Line]:
    """The rows of a comparison as lines with what they say on either side."""
    return list(_Lines().of(rows))


class Pair(NamedTuple):
    """A line of two columns."""

    left: Line | None
    right: Line | None


def two_columns(found: Sequence[Line]) -> list[Pair]:
    """Lines side by side: what went stands beside what came in its place."""
    pairs: list[Pair] = []
    went: list[Line] = []
    came: list[Line] = []
    for line in found:
        if went or came:
            begun = (went or came)[0]
            if line.change != begun.change or (line.sign == "-" and came) or line.sign not in ("+", "-"):
                pairs += [Pair(*both) for both in zip_longest(went, came)]
                went, came = [], []
        if line.sign == "-":
            went.append(line)
        elif line.sign == "+":
            came.append(line)
        else:
            pairs.append(Pair(line, line))
    return pairs + [Pair(*both) for both in zip_longest(went, came)]


class _Lines:
    def __init__(self) -> None:
        self.change = 0
        self.removed_left = ALL_REMOVED_LINES

    def of(self, rows: Sequence[Row]) -> Iterator[Line]:
        for row in rows:
            if row.hunk:
                self.change = row.hunk
            if row.kind == "more":
                yield self._hidden(row)
            elif row.kind == "removed":
                yield from self._removed(row)
            elif row.sign == "~" and row.kind != "close" and _is_whole(row):
                yield from self._replaced(row)
            elif row.sign == "~" and row.kind == "leaf":
                yield self._changed(row)
            else:
                yield self._plain(row)

    def _hidden(self, row: Row) -> Line:
        noun = row.noun if row.count == 1 else f"{row.noun}s"
        return Line(row.indent, fold=f"{row.count:,} {row.text}{noun}", toggle=row.toggle)

    def _plain(self, row: Row) -> Line:
        """A line that is the same on both sides, or stands on the right only."""
        sign = "+" if row.sign == "~" else row.sign
        differs = sign == "+"
        fold = ""
        if row.kind == "leaf" and differs and row.node is not None:
            cell = _value(row, row.node.new)
        else:
            cell = _cell(row, row.text, row.value_class)
        if row.kind == "folded":
            noun = row.noun if row.count == 1 else f"{row.noun}s"
            fold = f"{row.count:,} {noun}{_differences(row.node)}"
            cell = replace(cell, pieces=(Piece(" … ".join(row.text), "json-mark"),))
        elif row.kind == "leaf" and row.cut and not differs:
            fold = "the whole text"
        old = None
        if not differs:
            old = replace(cell, key=_old_key(row)) if row.kind != "close" else cell
        return Line(
            row.indent,
            sign,
            self.change if sign else 0,
            bool(row.hunk),
            old=old,
            new=cell,
            both=cell,
            comma=row.comma,
            note=_moved(row.node) if row.hunk else "",
            fold=fold,
            toggle=row.toggle if row.kind in ("open", "folded") or fold else "",
            **_paths(row),
        )

    def _changed(self, row: Row) -> Line:
        """A value that another one took the place of, both without anything inside."""
        node = row.node
        assert node is not None
        old, new, both = _value(row, node.old, old=True), _value(row, node.new), None
        if isinstance(node.old, str) and isinstance(node.new, str):
            segments = _word_by_word(node.old, node.new)
            if any(not piece.tag for piece in segments[1:-1]):  # between the quotes
                both = _of_pieces(row, segments)
                old = replace(old, pieces=_without(segments, "ins"), cut=0)
                new = replace(new, pieces=_without(segments, "del"), cut=0)
        if both is None:
            old, new = _tagged(old, "was"), _tagged(new, "ins")
            both = replace(new, pieces=(*old.pieces, Piece(" → "), *new.pieces), cut=max(old.cut, new.cut))
        return Line(
            row.indent,
            "~",
            self.change,
            bool(row.hunk),
            old=old,
            new=new,
            both=both,
            comma=row.comma,
            note=", ".join(filter(None, (_moved(node), _types(node)))),
            **_paths(row),
        )

    def _replaced(self, row: Row) -> Iterator[Line]:
        """A value with something inside, or what came in its place: first what went, then what came."""
        node = row.node
        assert node is not None
        note = ", ".join(filter(None, (_moved(node), _types(node))))
        went = list(self._went(row, node.old))
        yield replace(went[0], note=note)
        yield from went[1:]
        yield replace(self._plain(row), starts=False, note="", old_path=None, new_path=None)

    def _removed(self, row: Row) -> Iterator[Line]:
        assert row.node is not None
        yield from self._went(row, row.node.old)

    def _went(self, row: Row, value: JsonValue) -> Iterator[Line]:
        """A value that is no longer there, line by line; of a long one the beginning."""
        first, *rest = pretty(value).split("\n") if self.removed_left > 0 else [dumps(value)]
        shown = rest[: min(REMOVED_LINES, max(0, self.removed_left))]
        self.removed_left -= len(shown) + 1
        cell = _tagged(_cut(_cell(row, first, old=True)), "was")
        yield Line(row.indent, "-", self.change, bool(row.hunk), old=cell, both=cell, **_paths(row))
        for text in shown:
            bare = text.lstrip(" ")
            inner = _tagged(_cut(Cell("", False, (Piece(bare),))), "was")
            indent = min(row.indent + (len(text) - len(bare)) // 2, DEEPEST)
            yield Line(indent, "-", self.change, old=inner, both=inner)
        if len(rest) > len(shown):
            more = Cell("", False, (Piece(f"… {len(rest) - len(shown):,} more lines"),))
            yield Line(row.indent, "-", self.change, old=more, both=more)


def _is_whole(row: Row) -> bool:
    """Whether what went or what came has something inside, so that it takes lines of its own."""
    node = row.node
    return node is not None and any(
        isinstance(value, (dict, list)) and value for value in (node.old, node.new)
    )


def _old_key(row: Row) -> str:
    left = row.node.left if row.node is not None else None
    return row.key if left is None else dumps(left)


def _cell(row: Row, text: str, css: str = "", *, old: bool = False) -> Cell:
    if row.kind == "close" or not row.depth:
        return Cell("", False, (Piece(text, css),))
    return Cell(_old_key(row) if old else row.key, row.is_index, (Piece(text, css),))


def _value(row: Row, value: JsonValue, *, old: bool = False) -> Cell:
    return _cut(_cell(row, dumps(value), _value_class(value), old=old))


def _cut(cell: Cell) -> Cell:
    (piece,) = cell.pieces
    if len(piece.text) <= VALUE:
        return cell
    rest = len(piece.text[VALUE:].encode())
    return replace(cell, pieces=(piece._replace(text=f"{piece.text[:VALUE]}…"),), cut=rest)


def _tagged(cell: Cell, tag: str) -> Cell:
    return replace(cell, pieces=tuple(piece._replace(tag=tag) for piece in cell.pieces))


def _of_pieces(row: Row, pieces: Sequence[Piece]) -> Cell:
    return replace(_cell(row, ""), pieces=tuple(pieces))


def _without(pieces: Sequence[Piece], tag: str) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.tag != tag)


def _word_by_word(old: str, new: str) -> list[Piece]:
    """Two texts as JSON writes them, in pieces; of long pieces and of very many the middle is left out."""
    tags = {SegmentKind.SAME: "", SegmentKind.REMOVED: "del", SegmentKind.ADDED: "ins"}
    segments = words(old, new)
    pieces = [
        Piece(
            _abridged(dumps(segment.text)[1:-1], SAME if segment.kind is SegmentKind.SAME else VALUE),
            "",
            tags[segment.kind],
        )
        for segment in segments[:PIECES]
    ]
    if len(segments) > PIECES:
        pieces.append(Piece(f"… and {len(segments) - PIECES:,} more pieces"))
    return [Piece('"'), *pieces, Piece('"')]


def _abridged(text: str, most: int) -> str:
    if len(text) <= most + 40:
        return text
    return f"{text[: most // 2]} … {len(text) - most:,} characters … {text[-(most // 2) :]}"


def _paths(row: Row) -> dict[str, Any]:
    """Where the values of a change stand on either side; only for its first line."""
    node = row.node
    if not row.hunk or node is None:
        return {}
    came, went = node.kind is NodeKind.ADDED, node.kind is NodeKind.REMOVED
    return {"old_path": None if came else node.from_path, "new_path": None if went else node.path}


def _moved(node: Node | None) -> str:
    return f"moved from {node.left} to {node.right}" if node is not None and node.moved else ""


def _types(node: Node) -> str:
    old, new = (_TYPE_WORDS.get(name or "", name) for name in (node.old_type, node.new_type))
    if old != new:
        return f"{old} → {new}"
    return "too many differences to tell one by one" if isinstance(node.new, (dict, list)) else ""


def _differences(node: Node | None) -> str:
    total = node.counts.total if node is not None and node.children else 0
    return f", {total:,} {'difference' if total == 1 else 'differences'} inside" if total else ""


def _value_class(value: JsonValue) -> str:
    if isinstance(value, str):
        return "json-str"
    return "json-lit" if value is None or isinstance(value, bool) else "json-num"
