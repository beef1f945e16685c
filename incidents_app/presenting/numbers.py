"""The numbers of an incident in words. What was not recorded is said, and never zero."""

from __future__ import annotations

from dataclasses import dataclass

from incidents_app.presenting.words import span
from incidents_app.queries import Metrics


@dataclass(frozen=True, slots=True)
class Number:
    """A value and what it counts; `is_known` is False where nothing was recorded."""

    value: str
    label: str
    is_known: bool = True


def numbers(metrics: Metrics) -> list[Number]:
    """How long each step took, and how much went wrong meanwhile."""
    times = (
        (metrics.time_to_freeze_s, "to freeze"),
        (metrics.time_to_divergence_s, "to divergence"),
        (metrics.time_to_rollback_s, "to roll back"),
        (metrics.time_to_resume_s, "to resume"),
    )
    found = [Number(span(value), label, value is not None) for value, label in times]
    return [
        *found,
        _count(metrics.bad_versions, "bad version", "bad versions"),
        _count(metrics.tool_calls, "tool call meanwhile", "tool calls meanwhile"),
    ]


def ends(metrics: Metrics) -> list[Number]:
    """How long until it was resolved and closed, for an episode that was."""
    times = ((metrics.time_to_resolve_s, "to resolve"), (metrics.time_to_close_s, "to close"))
    return [Number(span(value), label) for value, label in times if value is not None]


def _count(value: int | None, one: str, many: str) -> Number:
    if value is None:
        return Number("not recorded", many, False)
    return Number(f"{value:,}", one if value == 1 else many)
