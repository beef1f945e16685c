"""Common subsequences: the longest where that can be found, a valid one always."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.diff.lists import common_ends, same_runs
from sessions_app.diff.sequences import common_subsequence, longest_increasing

pytestmark = pytest.mark.once

short = st.lists(st.integers(0, 4), max_size=15)


def longest(old, new):
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for at in reversed(range(len(old))):
        for to in reversed(range(len(new))):
            table[at][to] = (
                table[at + 1][to + 1] + 1 if old[at] == new[to] else max(table[at + 1][to], table[at][to + 1])
            )
    return table[0][0]


def assert_valid(pairs, old, new):
    assert all(old[at] == new[to] for at, to in pairs)
    assert all(a < b and c < d for (a, c), (b, d) in pairwise(pairs))


@given(short, short)
def test_short_sequences_have_the_longest(old, new):
    pairs = common_subsequence(old, new, 100)
    assert_valid(pairs, old, new)
    assert len(pairs) == longest(old, new)


@given(st.permutations(range(30)))
def test_sequences_without_repetition_have_the_longest(order):
    pairs = common_subsequence(range(30), order, 100)
    assert_valid(pairs, range(30), order)
    assert len(pairs) == longest(range(30), order)


@pytest.mark.parametrize("distinct", [2, 50, 5_000])
@pytest.mark.parametrize("edits", [0, 3, 3_000])
def test_long_sequences_have_a_valid_one(distinct, edits):
    source = random.Random(distinct + edits)
    old = source.choices(range(distinct), k=20_000)
    new = list(old)
    for _ in range(edits):
        new[source.randrange(len(new)) :][:0] = []
        new.insert(source.randrange(len(new)), source.randrange(distinct))
        del new[source.randrange(len(new))]
    pairs = common_subsequence(old, new, 20_000)
    assert_valid(pairs, old, new)
    if edits <= 3:
        assert len(pairs) >= len(old) - edits


def test_too_many_without_a_partner_are_given_up():
    assert common_subsequence(range(100), range(200, 300), 99) is None
    assert common_subsequence(range(100), range(200, 300), 100) == []


@given(st.lists(st.integers(0, 30), max_size=40))
def test_the_longest_increasing_subsequence(numbers):
    found = longest_increasing(numbers)
    assert all(a < b and numbers[a] < numbers[b] for a, b in pairwise(found))
    assert len(found) == longest(numbers, sorted(set(numbers)))


@given(short, short, short, short)
def test_common_ends(start, end, old, new):
    left, right = [*start, *old, *end], [*start, *new, *end]
    at_start, at_end = common_ends(left, right)
    assert left[:at_start] == right[:at_start]
    assert left[len(left) - at_end :] == right[len(right) - at_end :]
    assert at_start >= len(start)
    assert at_start + at_end <= min(len(left), len(right))
    assert at_start + at_end == min(len(left), len(right)) or left[at_start] != right[at_start]


@given(st.lists(st.sampled_from([0, 1, 1.0, True, "a"]), max_size=60), st.data())
def test_runs_that_are_the_same_are_in_order_and_the_same(old, data):
    new = list(old)
    for _ in range(data.draw(st.integers(0, 3))):
        new.insert(data.draw(st.integers(0, len(new))), 7)
    runs = same_runs(old, new)
    for at, to, size in runs or []:
        assert [repr(item) for item in old[at : at + size]] == [repr(item) for item in new[to : to + size]]
    for (at, to, size), (next_at, next_to, _) in pairwise(runs or []):
        assert at + size <= next_at
        assert to + size <= next_to
