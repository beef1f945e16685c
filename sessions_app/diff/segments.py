"""The difference of two texts, word by word."""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from sessions_app.diff.sequences import Pairs, common_subsequence

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONG = 100_000  # characters of both texts
_WORD_LENGTH = 50  # characters that a common end gives up at most, to end with a word


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
    Of long ones, what lies between their common ends is compared; by line, if that is still long.
    """
    start = end = 0
    if len(old) + len(new) > _LONG:
        start, end = _common_ends(old, new)
    middle, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    by_line = len(middle) + len(middle_new) > _LONG
    left: list[str] = middle.splitlines(keepends=True) if by_line else _WORD.findall(middle)
    right: list[str] = middle_new.splitlines(keepends=True) if by_line else _WORD.findall(middle_new)
    pairs = common_subsequence(left, right, max(len(left), len(right))) or []
    if 4 * (start + end + sum(len(left[at]) for at, _ in pairs)) < max(len(old), len(new)):
        start, end, left, right, pairs = 0, 0, [old], [new], []
    blocks = [("", "", old[:start]), *_blocks(left, right, pairs), ("", "", old[len(old) - end :])]
    segments: list[Segment] = []
    for gone, came, kept in _joined(blocks):
        pieces = ((SegmentKind.REMOVED, gone), (SegmentKind.ADDED, came), (SegmentKind.SAME, kept))
        segments += [Segment(kind, text) for kind, text in pieces if text]
    return segments


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at the start and at the end, without halves of words."""
    start = _longest(min(len(old), len(new)), lambda size: old[:size] == new[:size])
    start = next(
        (at for at in range(start, max(start - _WORD_LENGTH, 0), -1) if old[at - 1].isspace()),
        start if start > _WORD_LENGTH else 0,
    )
    most = min(len(old), len(new)) - start
    end = _longest(most, lambda size: old[len(old) - size :] == new[len(new) - size :])
    end = next(
        (at for at in range(end, max(end - _WORD_LENGTH, 0), -1) if old[-at].isspace()),
        end if end > _WORD_LENGTH else 0,
    )
    return start, end


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `most` that fits, where all smaller ones do."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


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


def _joined(blocks: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The blocks, with those joined that only a space separates: `a b` → `c d` is one change, not two."""
    joined: list[tuple[str, str, str]] = []
    for gone, came, kept in blocks:
        if joined and not gone and not came:
            gone, came, before = joined.pop()
            kept = before + kept
        elif joined and joined[-1][2].isspace() and "\n" not in joined[-1][2] and any(joined[-1][:2]):
            gone_before, came_before, space = joined.pop()
            gone, came = gone_before + space + gone, came_before + space + came
        joined.append((gone, came, kept))
    return joined
