"""How far the freezing of many sessions has come, while the server is at it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incidents_app.models import AffectedSession

FAILURES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Freezing:
    """`frozen` of `total`; those that failed with why, and are tried again."""

    total: int
    frozen: int
    failed: Sequence[tuple[str, str]]
    failed_count: int

    @property
    def waiting(self) -> int:
        """How many are still to be frozen."""
        return self.total - self.frozen


def freezing(rows: Sequence[AffectedSession]) -> Freezing | None:
    """None where nothing waits to be frozen."""
    waiting = [row for row in rows if row.freeze_wanted]
    if not waiting:
        return None
    failed = [(row.session_id, row.failure) for row in waiting if row.failure]
    total = sum(row.freeze_wanted or row.freeze_version is not None for row in rows)
    return Freezing(total, total - len(waiting), failed[:FAILURES_SHOWN], len(failed))
