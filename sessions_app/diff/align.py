"""Which item of one list is which item of another."""

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from operator import gt
from typing import NamedTuple

from sessions_app.diff.lists import common_ends, same_runs
from sessions_app.diff.sequences import Token, common_subsequence, longest_increasing
from statebase_site.base.json import JsonValue, canonical, exact, same

_LONG = 1_000  # items; in longer lists, runs that are the same are looked for first
_TOO_LONG = 20_000
_FEW = 200  # comparisons of all items of one list with all of the other, to do without keys for them
_COMPARISONS = 20_000  # of leftover items with each other, in one alignment
_GAP = 400  # such comparisons between two neighbours that stayed


class Pair(NamedTuple):
    """The same thing at `left` in the one list and at `right` in the other.

    `moved`: past others that kept their order. `run`: so many items from there on are the same, none moved.
    """

    left: int
    right: int
    moved: bool = False
    run: int = 1


def align(
    left: list[JsonValue], right: list[JsonValue], identity_keys: Sequence[str], most: int
) -> list[Pair] | None:
    """The pairs of two lists, ascending by `right`; items of no pair were removed or added.

    By an identity key where every item is an object that has it and its values are unique on both sides. Else
    by the longest common subsequence of items that are the same, then moves of items that are the same, then
    items between two neighbours that stayed, where they are similar. None where more than about `most`
    differences stand against it, or the lists are too long to find out.
    """
    longest = max(len(left), len(right))
    if longest == 1:
        return [Pair(0, 0)] if _replaces(left[0], right[0]) else []
    if longest > _LONG:
        runs = same_runs(left, right)
        if runs is not None:
            return _around(runs, left, right, identity_keys, most)
        if longest > _TOO_LONG:
            return None
    identities = _identities(left, right, identity_keys)
    if identities is not None:
        return _by_identity(*identities, most)
    tokens, others = _tokens(left, right)
    stayed = common_subsequence(tokens, others, most)
    if stayed is None or longest - len(stayed) > most:
        return None
    pairs = [Pair(at, to) for at, to in stayed]
    moves = _moves(tokens, others, pairs)
    similar = _Leftovers(left, right).pairs(pairs, moves)
    return sorted(pairs + moves + similar, key=lambda pair: pair.right)


def _around(
    runs: list[tuple[int, int, int]],
    left: list[JsonValue],
    right: list[JsonValue],
    identity_keys: Sequence[str],
    most: int,
) -> list[Pair] | None:
    """The runs, the things that moved from one gap between runs to another, and the pairs inside each gap."""
    gaps = _outside([(at, size) for at, _, size in runs], len(left))
    gaps_right = _outside([(to, size) for _, to, size in runs], len(right))
    if max(sum(map(len, gaps)), sum(map(len, gaps_right))) > most:
        return None
    pairs = [Pair(at, to, False, size) for at, to, size in runs]
    moves = _moves_between(gaps, gaps_right, left, right, identity_keys)
    gone, gone_right = {pair.left for pair in moves}, {pair.right for pair in moves}
    for gap, gap_right in zip(gaps, gaps_right, strict=True):
        rows, columns = [at for at in gap if at not in gone], [to for to in gap_right if to not in gone_right]
        if rows and columns:
            inside = align([left[at] for at in rows], [right[to] for to in columns], identity_keys, most)
            if inside is None:
                return None
            pairs += [Pair(rows[pair.left], columns[pair.right], pair.moved) for pair in inside]
    return sorted(pairs + moves, key=lambda pair: pair.right)


def _outside(runs: list[tuple[int, int]], size: int) -> list[range]:
    """The indexes of a list before, between and behind runs (start, items)."""
    ends = [0, *(start + items for start, items in runs)]
    starts = [*(start for start, _ in runs), size]
    return [range(end, start) for end, start in zip(ends, starts, strict=True)]


def _moves_between(
    gaps: list[range],
    gaps_right: list[range],
    left: list[JsonValue],
    right: list[JsonValue],
    identity_keys: Sequence[str],
) -> list[Pair]:
    """Things of one gap that are in another on the right, and not in the same."""
    rows = [(gap, at) for gap, indexes in enumerate(gaps) for at in indexes]
    columns = [(gap, to) for gap, indexes in enumerate(gaps_right) for to in indexes]
    items, others = [left[at] for _, at in rows], [right[to] for _, to in columns]
    things: tuple[Sequence[Hashable], Sequence[Hashable]] | None = _identities(items, others, identity_keys)
    names, names_right = things or _tokens(items, others)
    places: defaultdict[Hashable, deque[tuple[int, int]]] = defaultdict(deque)
    for name, column in zip(names_right, columns, strict=True):
        places[name].append(column)
    moves = []
    for name, (gap, at) in zip(names, rows, strict=True):
        found = places.get(name)
        if found and all(other != gap for other, _ in found):
            moves.append(Pair(at, found.popleft()[1], True))
    return moves


def _identities(
    left: list[JsonValue], right: list[JsonValue], keys: Sequence[str]
) -> tuple[list[Hashable], list[Hashable]] | None:
    for key in keys:
        found, others = _values_of(key, left), _values_of(key, right)
        if found is not None and others is not None:
            return found, others
    return None


def _values_of(key: str, items: list[JsonValue]) -> list[Hashable] | None:
    """The values of an identity key, if each item has one of its own."""
    values: list[Hashable] = []
    for item in items:
        value = item.get(key) if isinstance(item, dict) else None
        kind = type(value)
        if kind is not str and kind is not int:
            return None
        values.append((kind, value))
    return values if len(set(values)) == len(values) else None


def _by_identity(left: list[Hashable], right: list[Hashable], most: int) -> list[Pair] | None:
    place_of = {identity: place for place, identity in enumerate(right)}
    kept = [(at, place_of[identity]) for at, identity in enumerate(left) if identity in place_of]
    places = [to for _, to in kept]
    moves_at_least = sum(map(gt, places, places[1:])) // 2
    if max(len(left), len(right)) - len(kept) + moves_at_least > most:
        return None
    in_order = set(longest_increasing(places))
    pairs = [Pair(at, to, index not in in_order) for index, (at, to) in enumerate(kept)]
    return sorted(pairs, key=lambda pair: pair.right)


def _tokens(left: list[JsonValue], right: list[JsonValue]) -> tuple[Sequence[Token], Sequence[Token]]:
    """A number for each item; the same one for items that are the same."""
    if len(left) * len(right) <= _FEW:
        return _tokens_of_few(left, right)
    numbers: defaultdict[Hashable, int] = defaultdict(lambda: len(numbers))
    tokens, others = [[numbers[_quick_key(item)] for item in items] for items in (left, right)]
    alone = set(tokens) ^ set(others)
    # The quick keys tell objects apart whose keys stand in another order.
    for items, numbered in ((left, tokens), (right, others)):
        for index, token in enumerate(numbered):
            if token in alone and isinstance(items[index], (dict, list)):
                numbered[index] = numbers[canonical(items[index])]
    return tokens, others


def _quick_key(item: JsonValue) -> Hashable:
    kind = type(item)
    return (kind, item) if kind is str or kind is int else exact(item)


def _tokens_of_few(left: list[JsonValue], right: list[JsonValue]) -> tuple[list[int], list[int]]:
    # Large items in few places: comparing them stops at the first difference, a key takes all of each.
    kinds: list[JsonValue] = []

    def token(item: JsonValue) -> int:
        for number, known in enumerate(kinds):
            if same(item, known):
                return number
        kinds.append(item)
        return len(kinds) - 1

    return [token(item) for item in left], [token(item) for item in right]


def _moves(left: Sequence[Token], right: Sequence[Token], stayed: list[Pair]) -> list[Pair]:
    """Items that are the same and stand elsewhere, in the order of the left list."""
    kept, kept_right = {pair.left for pair in stayed}, {pair.right for pair in stayed}
    places: defaultdict[Token, deque[int]] = defaultdict(deque)
    for place, token in enumerate(right):
        if place not in kept_right:
            places[token].append(place)
    return [
        Pair(at, places[token].popleft(), True)
        for at, token in enumerate(left)
        if at not in kept and places.get(token)
    ]


class _Leftovers:
    """Pairs the items of no pair that stand between the same two neighbours."""

    def __init__(self, left: list[JsonValue], right: list[JsonValue]) -> None:
        self.left, self.right = left, right
        self.comparisons = _COMPARISONS

    def pairs(self, stayed: list[Pair], moved: list[Pair]) -> list[Pair]:
        gone, gone_right = {pair.left for pair in moved}, {pair.right for pair in moved}
        found: list[Pair] = []
        before = Pair(-1, -1)
        for pair in [*stayed, Pair(len(self.left), len(self.right))]:
            rows = [at for at in range(before.left + 1, pair.left) if at not in gone]
            columns = [to for to in range(before.right + 1, pair.right) if to not in gone_right]
            before = pair
            if not rows or not columns:
                continue
            if len(rows) * len(columns) <= min(_GAP, self.comparisons):
                self.comparisons -= len(rows) * len(columns)
                found += self._most_similar(rows, columns)
            elif len(rows) == len(columns):
                found += [
                    Pair(at, to)
                    for at, to in zip(rows, columns, strict=True)
                    if _similarity(self.left[at], self.right[to], True)
                ]
        return found

    def _most_similar(self, rows: list[int], columns: list[int]) -> list[Pair]:
        """The pairs, in order on both sides, with the largest sum of similarities."""
        level = len(rows) == len(columns)
        weights = [[_similarity(self.left[at], self.right[to], level) for to in columns] for at in rows]
        best = [[0.0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
        for row in range(len(rows) - 1, -1, -1):
            for column in range(len(columns) - 1, -1, -1):
                weight = weights[row][column]
                paired = weight + best[row + 1][column + 1] if weight else 0.0
                best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
        found: list[Pair] = []
        row = column = 0
        while row < len(rows) and column < len(columns):
            if best[row][column] == best[row + 1][column]:
                row += 1
            elif best[row][column] == best[row][column + 1]:
                column += 1
            else:
                found.append(Pair(rows[row], columns[column]))
                row, column = row + 1, column + 1
        return found


_REPLACES = 0.1  # weight of a pair that only its place speaks for


def _similarity(left: JsonValue, right: JsonValue, level: bool) -> float:
    """Over 1 where two items are likely one that was changed; 0 where they are not.

    `level`: as many items went as came between the two neighbours, so that one may stand for the other.
    """
    equal, most = 0, 0
    if isinstance(left, dict) and isinstance(right, dict):
        equal = sum(same(left[key], right[key]) for key in left.keys() & right.keys())
        most = max(len(left), len(right))
    elif isinstance(left, list) and isinstance(right, list):
        equal, most = sum(common_ends(left, right)), max(len(left), len(right))
    elif isinstance(left, str) and isinstance(right, str):
        equal, most = _common_characters(left, right), max(len(left), len(right))
    if equal and 2 * equal >= most:
        return 1 + equal / most
    return _REPLACES if level and _replaces(left, right) else 0.0


def _replaces(left: JsonValue, right: JsonValue) -> bool:
    """Whether one item in the place of another is a change of it: not of objects with other keys."""
    if isinstance(left, dict) and isinstance(right, dict):
        return 2 * len(left.keys() & right.keys()) >= max(len(left), len(right))
    return True


def _common_characters(left: str, right: str) -> int:
    """How many characters two texts share at their ends, to a thousand at each."""
    most = min(len(left), len(right), 1_000)
    start = next((at for at in range(most) if left[at] != right[at]), most)
    most = min(len(left) - start, len(right) - start, 1_000)
    end = next((at for at in range(most) if left[-1 - at] != right[-1 - at]), most)
    return start + end
