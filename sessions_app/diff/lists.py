"""What two lists have in common at their ends, and whether their items correspond place by place."""

from collections.abc import Sequence
from itertools import islice

from statebase_site.base.json import JsonValue, same

IDENTITY_KEYS = ("id", "key", "name", "tool_call_id")
"""Keys whose value says which thing an object in a list is (design: "Reading the past", Diff)."""

_SAMPLE = 500  # pairs looked at before two lists are compared place by place


def common_ends(old: list[JsonValue], new: list[JsonValue]) -> tuple[int, int]:
    """How many items are the same at the start and, of the rest, at the end."""
    limit = min(len(old), len(new))
    start = _common(old, new, limit, from_end=False)
    return start, _common(old, new, limit - start, from_end=True)


def _common(old: list[JsonValue], new: list[JsonValue], limit: int, from_end: bool) -> int:
    # Whole blocks are compared at C speed: doubling while they are the same, then halving down to the item.
    found, block, narrowing = 0, 16, False
    while found < limit:
        size = min(block, limit - found)
        if from_end:
            left = old[len(old) - found - size : len(old) - found]
            right = new[len(new) - found - size : len(new) - found]
        else:
            left, right = old[found : found + size], new[found : found + size]
        if same(left, right):
            found += size
            block = max(1, size // 2) if narrowing else block * 2
        elif size == 1:
            return found
        else:
            narrowing, block = True, size // 2
    return found


def in_place(old: Sequence[JsonValue], new: Sequence[JsonValue]) -> bool:
    """Whether two lists are best told apart place by place.

    They are when one item stands against one, or when they are equally long and at least half of a sample of
    pairs are the same, or the same thing by an identity key.
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
    return same(left, right)
