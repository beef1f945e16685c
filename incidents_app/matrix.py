"""The severity matrix: what each severity asks for. One place; shown on pages and enforced by `rules`. Pure.

Source: seed 2 (severity matrix), with the times and duties of the incident design.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from incidents_app.enums import Rank, Severity


class Need(StrEnum):
    """Whether a severity asks for a step."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    NOT_ASKED = "not_asked"


@dataclass(frozen=True, slots=True)
class Duties:
    """What one severity asks for. Times count from the filing, the review's from the resolving.

    `freeze_at_once`: the server freezes when it is filed. `corrects`: a correction stands in for divergence
    and rollback. `review_working_days` of None with `review` REQUIRED: asked for, with no date.
    """

    severity: Severity
    example: str
    action: str
    on_filing: str
    freeze: Need
    freeze_at_once: bool
    freeze_within: timedelta | None
    reconstruct: Need
    rollback: Need
    rollback_within: timedelta | None
    corrects: bool
    review: Need
    review_days: int | None
    review_working_days: int | None
    scenario: Need
    prevention: str
    watch: timedelta | None

    @property
    def freeze_words(self) -> str:
        """The cell "freeze" of the matrix."""
        if self.freeze_at_once:
            return "at once, by the server"
        if self.freeze_within:
            return f"required, {minutes(self.freeze_within)} min"
        return "optional" if self.freeze == Need.OPTIONAL else "–"

    @property
    def rollback_words(self) -> str:
        """The cell "divergence, rollback" of the matrix."""
        if self.corrects:
            return "a correction instead"
        if self.rollback != Need.REQUIRED:
            return "–"
        return f"required, {minutes(self.rollback_within)} min" if self.rollback_within else "required"

    @property
    def review_words(self) -> str:
        """The cell "review" of the matrix."""
        if self.review != Need.REQUIRED:
            return "–"
        if self.review_days:
            return f"required, {self.review_days} days, by someone else"
        if self.review_working_days:
            return f"required, {self.review_working_days} working days, by someone else"
        return "required, light form"

    @property
    def watch_words(self) -> str:
        """The cell "after resume" of the matrix."""
        return f"{int(self.watch.total_seconds() // 3600)} h watch" if self.watch else "–"

    @property
    def review_by_another(self) -> bool:
        """Whether somebody else than the commander has to approve the review."""
        return self.review_days is not None or self.review_working_days is not None

    def review_due(self, resolved_at: datetime) -> datetime | None:
        """When the review of an incident resolved at that moment is owed, or None where it has no date."""
        if self.review_days:
            return resolved_at + timedelta(days=self.review_days)
        if self.review_working_days:
            return after_working_days(resolved_at, self.review_working_days)
        return None


def minutes(span: timedelta) -> int:
    """Whole minutes of a time limit."""
    return int(span.total_seconds() // 60)


def after_working_days(moment: datetime, days: int) -> datetime:
    """The same time of day, `days` working days (Monday to Friday) later."""
    while days:
        moment += timedelta(days=1)
        if moment.weekday() < 5:
            days -= 1
    return moment


_DAY = timedelta(hours=24)

MATRIX: dict[Severity, Duties] = {
    each.severity: each
    for each in (
        Duties(
            severity=Severity.S1,
            example="Agent deleted or corrupted critical data",
            action="Immediate freeze + rollback",
            on_filing="every affected session is frozen in the same request",
            freeze=Need.REQUIRED,
            freeze_at_once=True,
            freeze_within=None,
            reconstruct=Need.REQUIRED,
            rollback=Need.REQUIRED,
            rollback_within=timedelta(minutes=30),
            corrects=False,
            review=Need.REQUIRED,
            review_days=3,
            review_working_days=None,
            scenario=Need.REQUIRED,
            prevention="follow-up and a failure-injection scenario",
            watch=_DAY,
        ),
        Duties(
            severity=Severity.S2,
            example="Agent produced wrong financial or medical output",
            action="Freeze, rollback, review",
            on_filing="freeze is offered first, one key",
            freeze=Need.REQUIRED,
            freeze_at_once=False,
            freeze_within=timedelta(minutes=15),
            reconstruct=Need.REQUIRED,
            rollback=Need.REQUIRED,
            rollback_within=None,
            corrects=False,
            review=Need.REQUIRED,
            review_days=None,
            review_working_days=5,
            scenario=Need.REQUIRED,
            prevention="follow-up and a failure-injection scenario",
            watch=_DAY,
        ),
        Duties(
            severity=Severity.S3,
            example="Bad recommendations, no data loss",
            action="Monitor, correct, review",
            on_filing="watched",
            freeze=Need.OPTIONAL,
            freeze_at_once=False,
            freeze_within=None,
            reconstruct=Need.OPTIONAL,
            rollback=Need.OPTIONAL,
            rollback_within=None,
            corrects=True,
            review=Need.REQUIRED,
            review_days=None,
            review_working_days=None,
            scenario=Need.OPTIONAL,
            prevention="follow-up",
            watch=timedelta(hours=4),
        ),
        Duties(
            severity=Severity.S4,
            example="Cosmetic errors",
            action="Log, fix in next deploy",
            on_filing="logged",
            freeze=Need.NOT_ASKED,
            freeze_at_once=False,
            freeze_within=None,
            reconstruct=Need.NOT_ASKED,
            rollback=Need.NOT_ASKED,
            rollback_within=None,
            corrects=False,
            review=Need.NOT_ASKED,
            review_days=None,
            review_working_days=None,
            scenario=Need.NOT_ASKED,
            prevention="follow-up naming the next deploy",
            watch=None,
        ),
    )
}


def freezes_at_once(severity: str | None) -> bool:
    """Whether the server freezes the sessions of such an incident without being asked; none in triage."""
    return severity is not None and MATRIX[Severity(severity)].freeze_at_once


def is_worse(one: str, other: str | None) -> bool:
    """Whether severity `one` is worse than `other`; anything is worse than none."""
    return other is None or Rank[one] > Rank[other]
