"""Common subsequences of two sequences of plain values: exact where that is cheap, bounded everywhere."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from operator import gt
from typing import TypeAlias

Token: TypeAlias = int | str
"""What stands for an item: equal tokens, same items."""
Pairs: TypeAlias = list[tuple[int, int]]

_LONG = 100_000  # items; longer sequences are matched only when a few differences tell them apart
_QUICK_STEPS = 1_000  # of the exact search before anything else is tried, and one more for every 4 items
_STEPS = 100_000  # of the exact search


def common_subsequence(old: Sequence[Token], new: Sequence[Token], most_unmatched: int) -> Pairs | None:
    """Ascending pairs (index in old, index in new) of equal tokens: the longest such sequence, or a good one.

    Exact for sequences without repetition, and for all whose differences are few; else tokens that stand once
    on each side split the work, and what is left is matched place by place. None for sequences too long for
    that, and where certainly more than `most_unmatched` tokens of one side would stay without a partner.
    """
    quick = _Search(old, new, _QUICK_STEPS + (len(old) + len(new)) // 4)
    if quick.fewest_differences(0, len(old), 0, len(new)) == (len(old), len(new)):
        return sorted(quick.found)
    if max(len(old), len(new)) > _LONG:
        return None
    in_old, in_new = set(old), set(new)
    left = [index for index, token in enumerate(old) if token in in_new]
    right = [index for index, token in enumerate(new) if token in in_old]
    if max(len(old) - len(left), len(new) - len(right)) > most_unmatched:
        return None
    if len(left) == len(in_old & in_new) == len(right):
        place_of = {new[index]: index for index in right}
        places = [place_of[old[index]] for index in left]
        if sum(map(gt, places, places[1:])) > 2 * most_unmatched:
            return None
        return [(left[at], places[at]) for at in longest_increasing(places)]
    tokens, others = [old[index] for index in left], [new[index] for index in right]
    return [(left[at], right[to]) for at, to in _Search(tokens, others, _STEPS).pairs()]


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Indexes of the longest strictly increasing subsequence."""
    tails: list[int] = []
    tail_indexes: list[int] = []
    before: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(tails, number)
        before.append(tail_indexes[length - 1] if length else -1)
        if length == len(tails):
            tails.append(number)
            tail_indexes.append(index)
        else:
            tails[length] = number
            tail_indexes[length] = index
    found: list[int] = []
    at = tail_indexes[-1] if tail_indexes else -1
    while at >= 0:
        found.append(at)
        at = before[at]
    found.reverse()
    return found


class _Search:
    """One search, with the steps it may still take."""

    def __init__(self, old: Sequence[Token], new: Sequence[Token], steps: int) -> None:
        self.old, self.new = old, new
        self.steps = steps
        self.least = -5 * steps
        self.found: Pairs = []

    def pairs(self) -> Pairs:
        waiting = [(0, len(self.old), 0, len(self.new))]
        while waiting:
            waiting += self._split(*waiting.pop())
        self.found.sort()
        return self.found

    def _split(self, low: int, high: int, low_new: int, high_new: int) -> list[tuple[int, int, int, int]]:
        """Match what can be matched in one range, and name the ranges that are left."""
        old, new = self.old, self.new
        while low < high and low_new < high_new and old[high - 1] == new[high_new - 1]:
            high, high_new = high - 1, high_new - 1
            self.found.append((high, high_new))
        low, low_new = self.fewest_differences(low, high, low_new, high_new)
        if low == high or low_new == high_new:
            return []
        self.steps -= high - low + high_new - low_new
        anchors = self._anchors(low, high, low_new, high_new) if self.steps > self.least else []
        if not anchors:
            together = range(min(high - low, high_new - low_new))
            self.found += [(low + at, low_new + at) for at in together if old[low + at] == new[low_new + at]]
            return []
        self.found += anchors
        corners = [(low - 1, low_new - 1), *anchors, (high, high_new)]
        return [(a + 1, c, b + 1, d) for (a, b), (c, d) in pairwise(corners) if c - a > 1 and d - b > 1]

    def _anchors(self, low: int, high: int, low_new: int, high_new: int) -> Pairs:
        """Patience: the tokens that stand once on each side of the range, as many as keep their order."""
        count, count_new = Counter(self.old[low:high]), Counter(self.new[low_new:high_new])
        place_of = {
            self.new[index]: index for index in range(low_new, high_new) if count_new[self.new[index]] == 1
        }
        once = [at for at in range(low, high) if count[self.old[at]] == 1 and self.old[at] in place_of]
        places = [place_of[self.old[at]] for at in once]
        return [(once[at], places[at]) for at in longest_increasing(places)]

    def fewest_differences(self, low: int, high: int, low_new: int, high_new: int) -> tuple[int, int]:
        """Myers' greedy search. Gives the place up to which the range is matched.

        That is its end, or when the steps run out the farthest place reached, if at least half of the way
        there was the same, else its beginning.
        """
        old, new = self.old, self.new
        size, size_new = high - low, high_new - low_new
        most = min(size + size_new, 2 + int((2 * max(self.steps, 0)) ** 0.5))
        # reached[diagonal] is how far in `old` a path gets on it; negative diagonals stand at the list's end.
        reached = [-1] * (2 * most + 3)
        reached[1] = 0
        trace: list[list[int]] = []
        for differences in range(most + 1):
            if self.steps < 0:
                break
            self.steps -= differences + 1
            trace.append(reached[: differences + 2] + reached[len(reached) - differences - 1 :])
            for diagonal in range(-differences, differences + 1, 2):
                down = diagonal == -differences or (
                    diagonal != differences and reached[diagonal - 1] < reached[diagonal + 1]
                )
                x = start = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
                y = x - diagonal
                if x > size or y > size_new:
                    reached[diagonal] = x
                    continue
                while x < size and y < size_new and old[low + x] == new[low_new + y]:
                    x, y = x + 1, y + 1
                self.steps -= (x - start) // 2
                reached[diagonal] = x
                if x == size and y == size_new:
                    self.found += _matched(trace, low, low_new, x, y)
                    return high, high_new
        last = len(trace) - 1
        ends = [(reached[diagonal], reached[diagonal] - diagonal) for diagonal in range(-last, last + 1, 2)]
        inside = [(x + y, x, y) for x, y in ends if 0 <= x <= size and 0 <= y <= size_new]
        if inside:
            _, x, y = max(inside)
            matched = _matched(trace, low, low_new, x, y)
            if 2 * len(matched) >= max(x, y, 1):
                self.found += matched
                return low + x, low_new + y
        return low, low_new


def _matched(trace: list[list[int]], low: int, low_new: int, x: int, y: int) -> Pairs:
    """The pairs on the path that led to (x, y) in as many rounds as the trace has."""
    found: Pairs = []
    for differences in range(len(trace) - 1, 0, -1):
        reached, diagonal = trace[differences], x - y
        down = diagonal == -differences or (
            diagonal != differences and reached[diagonal - 1] < reached[diagonal + 1]
        )
        before = diagonal + 1 if down else diagonal - 1
        x_before = reached[before]
        start = x_before if down else x_before + 1
        found += [(low + at, low_new + at - diagonal) for at in range(start, x)]
        x, y = x_before, x_before - before
    found += [(low + at, low_new + at) for at in range(x)]
    return found
