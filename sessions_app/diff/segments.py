"""The difference of two texts, word by word."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from sessions_app.diff.sequences import Pairs, common_subsequence

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONG = 100_000  # characters of both texts; longer ones are compared by line


class SegmentKind(StrEnum):
    """Whether a piece of text stands in both texts, or in one."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Segment(NamedTuple):
    """A piece of text."""

    kind: SegmentKind
    text: str


def words(old: str, new: str) -> list[Segment]:
    """Two texts as one sequence of pieces: SAME and REMOVED ones make up `old`, SAME and ADDED ones `new`.

    Texts that share less than a quarter are one piece each: what they have in common would only confuse.
    """
    by_line = len(old) + len(new) > _LONG
    left: list[str] = old.splitlines(keepends=True) if by_line else _WORD.findall(old)
    right: list[str] = new.splitlines(keepends=True) if by_line else _WORD.findall(new)
    pairs = common_subsequence(left, right, max(len(left), len(right))) or []
    if 4 * sum(len(left[at]) for at, _ in pairs) < max(len(old), len(new)):
        pairs = []
    segments: list[Segment] = []
    for gone, came, kept in _joined(_blocks(left, right, pairs)):
        pieces = ((SegmentKind.REMOVED, gone), (SegmentKind.ADDED, came), (SegmentKind.SAME, kept))
        segments += [Segment(kind, text) for kind, text in pieces if text]
    return segments


def _blocks(left: list[str], right: list[str], pairs: Pairs) -> Iterator[tuple[str, str, str]]:
    """(text that went, text that came, text that followed in both), over and over."""
    at = to = index = 0
    while index < len(pairs) or at < len(left) or to < len(right):
        start, start_new = pairs[index] if index < len(pairs) else (len(left), len(right))
        end = start
        while index < len(pairs) and pairs[index] == (end, start_new + end - start):
            index, end = index + 1, end + 1
        yield "".join(left[at:start]), "".join(right[to:start_new]), "".join(left[start:end])
        at, to = end, start_new + end - start


def _joined(blocks: Iterator[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The blocks, with those joined that only a space separates: `a b` → `c d` is one change, not two."""
    joined: list[tuple[str, str, str]] = []
    for gone, came, kept in blocks:
        if joined and joined[-1][2].isspace() and "\n" not in joined[-1][2] and any(joined[-1][:2]):
            gone_before, came_before, space = joined.pop()
            gone, came = gone_before + space + gone, came_before + space + came
        joined.append((gone, came, kept))
    return joined
