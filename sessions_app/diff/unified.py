"""Two texts as a unified diff: what changed, with some lines around it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sessions_app.diff.lists import common_ends
from sessions_app.diff.sequences import Pairs, common_subsequence


class TextLine(NamedTuple):
    """One line; `sign` is a space where it stands in both texts, `-` or `+` where in one."""

    sign: str
    text: str


class Block(NamedTuple):
    """Neighbouring changes with the lines around them; `header` tells where, as `@@ -3,7 +3,8 @@`."""

    header: str
    lines: list[TextLine]


class _Run(NamedTuple):
    """Lines `at` to `end` of the left text, which `to` to `until` of the right one stand for."""

    same: bool
    at: int
    end: int
    to: int
    until: int


def unified(left: Sequence[str], right: Sequence[str], *, around: int = 3) -> list[Block]:
    """How the lines `right` differ from `left`; texts too long to align are one block from ends to ends."""
    blocks: list[list[_Run]] = [[]]
    runs = list(_runs(left, right))
    for place, run in enumerate(runs):
        first, last = place == 0, place == len(runs) - 1
        if not run.same:
            blocks[-1].append(run)
            continue
        if first:
            blocks[-1].append(_end_of(run, around))
        elif last:
            blocks[-1].append(_start_of(run, around))
        elif run.end - run.at > 2 * around:
            blocks[-1].append(_start_of(run, around))
            blocks.append([_end_of(run, around)])
        else:
            blocks[-1].append(run)
    return [_block(each, left, right) for each in blocks if any(not run.same for run in each)]


def _runs(left: Sequence[str], right: Sequence[str]) -> Iterator[_Run]:
    """Both texts from the first line to the last, in runs that stand in both or do not."""
    pairs = _pairs(left, right)
    at = to = index = 0
    while at < len(left) or to < len(right):
        start, start_new = pairs[index] if index < len(pairs) else (len(left), len(right))
        if (start, start_new) != (at, to):
            yield _Run(False, at, start, to, start_new)
        at, to = start, start_new
        while index < len(pairs) and pairs[index] == (at, to):
            at, to, index = at + 1, to + 1, index + 1
        if at > start:
            yield _Run(True, start, at, start_new, to)


def _pairs(left: Sequence[str], right: Sequence[str]) -> Pairs:
    found = common_subsequence(left, right, max(len(left), len(right)))
    if found is not None:
        return found
    start, end = common_ends(list(left), list(right))
    return [(at, at) for at in range(start)] + [
        (len(left) - back, len(right) - back) for back in range(end, 0, -1)
    ]


def _start_of(run: _Run, lines: int) -> _Run:
    lines = min(lines, run.end - run.at)
    return _Run(True, run.at, run.at + lines, run.to, run.to + lines)


def _end_of(run: _Run, lines: int) -> _Run:
    lines = min(lines, run.end - run.at)
    return _Run(True, run.end - lines, run.end, run.until - lines, run.until)


def _block(runs: list[_Run], left: Sequence[str], right: Sequence[str]) -> Block:
    lines: list[TextLine] = []
    for run in runs:
        if run.same:
            lines += [TextLine(" ", text) for text in left[run.at : run.end]]
        else:
            lines += [TextLine("-", text) for text in left[run.at : run.end]]
            lines += [TextLine("+", text) for text in right[run.to : run.until]]
    old = _range(runs[0].at, runs[-1].end)
    new = _range(runs[0].to, runs[-1].until)
    return Block(f"@@ -{old} +{new} @@", lines)


def _range(start: int, end: int) -> str:
    """As POSIX writes it: first line and count, and the line before where there is none."""
    count = end - start
    return f"{start + 1 if count else start},{count}"
