"""What two lists have in common at their ends, and whether their items correspond place by place."""

from collections.abc import Callable, Sequence
from itertools import islice

from statebase_site.base.json import JsonValue, exact, same

IDENTITY_KEYS = ("id", "key", "name", "tool_call_id")
"""Keys whose value says which thing an object in a list is (design: "Reading the past", Diff)."""

_WINDOW = 32  # items in which the next run is looked for
_MAX_RUNS = 500
_SAMPLE = 500  # pairs looked at before two lists are compared place by place


def common_ends(old: list[JsonValue], new: list[JsonValue]) -> tuple[int, int]:
    """How many items are the same at the start and, of the rest, at the end."""
    limit = min(len(old), len(new))
    start = common_start(old, new)
    if len(old) == len(new) == start + 1:
        return start, 0
    return start, _common(limit - start, lambda at, to: same(old[-to : -at or None], new[-to : -at or None]))


def common_start(old: list[JsonValue], new: list[JsonValue], at: int = 0, to: int = 0) -> int:
    """How many items are the same from `at` in the one and `to` in the other list on."""
    limit = min(len(old) - at, len(new) - to)
    return _common(limit, lambda low, high: same(old[at + low : at + high], new[to + low : to + high]))


def _common(limit: int, are_same: Callable[[int, int], bool]) -> int:
    # Whole blocks are compared at C speed: doubling while they are the same, then halving down to the item.
    found, block, narrowing = 0, 1, False
    while found < limit:
        size = min(block, limit - found)
        if are_same(found, found + size):
            found += size
            block = max(1, size // 2) if narrowing else block * 2
        elif size == 1:
            return found
        else:
            narrowing, block = True, size // 2
    return found


def same_runs(old: list[JsonValue], new: list[JsonValue]) -> list[tuple[int, int, int]] | None:
    """(index in old, index in new, items) of runs that are the same, for long lists with few differences.

    Where a run ends, the next begins within a few items; None where it does not, or where there are many.
    """
    runs: list[tuple[int, int, int]] = []
    at = to = 0
    while True:
        size = common_start(old, new, at, to)
        if size:
            runs.append((at, to, size))
        at, to = at + size, to + size
        if at == len(old) or to == len(new):
            return runs
        step = _next_run(old[at : at + _WINDOW], new[to : to + _WINDOW])
        if step is None or len(runs) > _MAX_RUNS:
            return None
        at, to = at + step[0], to + step[1]


def _next_run(old: list[JsonValue], new: list[JsonValue]) -> tuple[int, int] | None:
    """The fewest items to skip on both sides until two or more in a row are the same."""
    left, right = [exact(item) for item in old], [exact(item) for item in new]
    for skipped in range(1, len(left) + len(right) - 1):
        for at in range(max(0, skipped - len(right) + 1), min(skipped, len(left) - 1) + 1):
            to = skipped - at
            if left[at] == right[to] and left[at + 1 : at + 2] == right[to + 1 : to + 2]:
                return at, to
    return None


def in_place(old: Sequence[JsonValue], new: Sequence[JsonValue]) -> bool:
    """Whether two lists are best told apart place by place.

    They are when one item stands against one, or when they are equally long and at least half of a sample of
    pairs are the same, or the same thing: by an identity key, else by at least half of their values.
    """
    if len(old) != len(new):
        return False
    if len(old) == 1:
        return True
    step = max(1, len(old) // _SAMPLE)
    pairs = list(zip(islice(old, 0, None, step), islice(new, 0, None, step), strict=True))
    return 2 * sum(_corresponds(left, right) for left, right in pairs) >= len(pairs)


def _corresponds(left: JsonValue, right: JsonValue) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in IDENTITY_KEYS:
            if key in left and key in right:
                return same(left[key], right[key])
        kept = sum(key in right and same(value, right[key]) for key, value in left.items())
        return 2 * kept >= max(len(left), len(right))
    return same(left, right)
