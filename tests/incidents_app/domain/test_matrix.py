"""The severity matrix, as the seed and the design word it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents_app.enums import Severity
from incidents_app.matrix import MATRIX, after_working_days, is_worse

pytestmark = pytest.mark.once
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))


def test_the_cells_say_what_the_design_says():
    assert [
        (each, d.freeze_words, d.rollback_words, d.review_words, d.watch_words) for each, d in MATRIX.items()
    ] == [
        (
            "S1",
            "at once, by the server",
            "required, 30 min",
            "required, 3 days, by someone else",
            "24 h watch",
        ),
        (
            "S2",
            "required, 15 min",
            "required",
            "required, 5 working days, by someone else",
            "24 h watch",
        ),
        ("S3", "optional", "a correction instead", "required, light form", "4 h watch"),
        ("S4", "–", "–", "–", "–"),
    ]
    assert [d.example.split()[0] for d in MATRIX.values()] == ["Agent", "Agent", "Bad", "Cosmetic"]


@pytest.mark.parametrize(
    ("day", "days", "expected"),
    [
        ("2026-11-23", 5, "2026-11-30"),  # Monday to Monday
        ("2026-11-27", 1, "2026-11-30"),  # Friday to Monday
        ("2026-11-28", 1, "2026-11-30"),  # Saturday
        ("2026-11-29", 1, "2026-11-30"),  # Sunday
        ("2026-11-25", 5, "2026-12-02"),
        ("2026-11-28", 5, "2026-12-04"),
        ("2026-11-28", 0, "2026-11-28"),
    ],
)
def test_working_days(day, days, expected):
    begun = datetime.fromisoformat(f"{day}T17:30:00+00:00")
    assert after_working_days(begun, days).isoformat() == f"{expected}T17:30:00+00:00"


@given(MOMENTS, st.integers(1, 30))
def test_working_days_end_on_a_working_day_and_count_them(moment, days):
    end = after_working_days(moment, days)
    assert end.weekday() < 5
    assert end.timetz() == moment.timetz()
    between = [moment + timedelta(days=each) for each in range(1, (end - moment).days + 1)]
    assert sum(each.weekday() < 5 for each in between) == days


@given(MOMENTS)
def test_when_a_review_is_owed(moment):
    assert MATRIX[Severity.S1].review_due(moment) == moment + timedelta(days=3)
    assert MATRIX[Severity.S2].review_due(moment) == after_working_days(moment, 5)
    assert MATRIX[Severity.S3].review_due(moment) is MATRIX[Severity.S4].review_due(moment) is None


def test_which_is_worse():
    order = ["S1", "S2", "S3", "S4"]
    for left in order:
        assert is_worse(left, None)
        for right in order:
            assert is_worse(left, right) == (order.index(left) < order.index(right))
