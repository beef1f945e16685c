"""What the severity asks for, how far it is done, and how much time is left. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from incidents_app.enums import SETTLED, Severity, Status, Step, StepState
from incidents_app.matrix import MATRIX, Duties, Need, minutes
from incidents_app.presenting.words import span
from incidents_app.queries import Assessed, Metrics


@dataclass(frozen=True, slots=True)
class Duty:
    """One line; `due` counts down while it is not done, `note` says what was reached."""

    text: str
    is_done: bool
    due: datetime | None = None
    left: str = ""
    is_late: bool = False
    note: str = ""


def duties(found: Assessed, metrics: Metrics) -> list[Duty]:
    """The duties of the present severity; the review's are those of the worst that it ever had."""
    facts = found.facts
    if facts.severity is None:
        return []
    asked = MATRIX[facts.severity]
    lines = [
        *_stopping(found, asked, metrics),
        *_going_back(found, asked, metrics),
        *_preventing(found, asked),
    ]
    if facts.peak_severity:
        lines += _reviewing(found, MATRIX[facts.peak_severity], facts.peak_severity)
    if asked.watch:
        lines.append(_watching(found, asked))
    return lines


def _all(found: Assessed, step: Step) -> bool:
    return all(steps[step].state in SETTLED for steps in found.assessment.steps.values())


def _any(found: Assessed, step: Step, state: StepState) -> bool:
    return any(steps[step].state == state for steps in found.assessment.steps.values())


def _timed(found: Assessed, text: str, is_done: bool, within: timedelta | None, took: float | None) -> Duty:
    """A duty with a time limit that counts from the opening."""
    due = found.episode.opened_at + within if within else None
    if is_done:
        late = within is not None and took is not None and took > within.total_seconds()
        return Duty(text, True, note=f"after {span(took)}" if took is not None else "", is_late=late)
    return _counting(text, due, found.facts.now)


def _counting(text: str, due: datetime | None, now: datetime, note: str = "") -> Duty:
    if due is None:
        return Duty(text, False, note=note)
    seconds = (due - now).total_seconds()
    left = f"{span(seconds)} left" if seconds >= 0 else f"{span(-seconds)} over"
    return Duty(text, False, due, left, seconds < 0, note)


def _stopping(found: Assessed, asked: Duties, metrics: Metrics) -> list[Duty]:
    if asked.freeze != Need.REQUIRED or not found.affected:
        return []
    text = "freeze at once"
    if asked.freeze_within:
        text = f"freeze within {minutes(asked.freeze_within)} min"
    done = _all(found, Step.FREEZE)
    if _any(found, Step.FREEZE, StepState.REGRESSED):
        return [Duty(text, False, note="no longer holds", is_late=True)]
    took = metrics.time_to_freeze_s if _any(found, Step.FREEZE, StepState.DONE) else None
    within = timedelta(0) if asked.freeze_at_once else asked.freeze_within
    if asked.freeze_at_once and done:
        return [Duty(text, True, note=f"after {span(took)}" if took is not None else "")]
    return [_timed(found, text, done, within, took)]


def _going_back(found: Assessed, asked: Duties, metrics: Metrics) -> list[Duty]:
    if not found.affected:
        return []
    lines = []
    if asked.reconstruct == Need.REQUIRED:
        lines.append(Duty("evidence pinned", _all(found, Step.RECONSTRUCT)))
    done = _all(found, Step.DIVERGENCE) and _all(found, Step.ROLLBACK)
    if asked.corrects:
        lines.append(Duty("a correction recorded", done))
    elif asked.rollback == Need.REQUIRED:
        within = asked.rollback_within
        text = (
            f"divergence and rollback within {minutes(within)} min" if within else "divergence and rollback"
        )
        took = metrics.time_to_rollback_s if _any(found, Step.ROLLBACK, StepState.DONE) else None
        lines.append(_timed(found, text, done, within, took))
    return lines


def _preventing(found: Assessed, asked: Duties) -> list[Duty]:
    facts = found.facts
    is_s4 = facts.severity == Severity.S4
    named = any(each.kind == "deploy" for each in facts.follow_ups)
    lines = []
    if not is_s4:
        lines.append(Duty("what enabled it, answered", facts.is_answered))
    lines.append(
        Duty(
            "a follow-up naming the next deploy" if is_s4 else "a follow-up",
            named if is_s4 else bool(facts.follow_ups),
        )
    )
    if asked.scenario == Need.REQUIRED:
        lines.append(Duty("a scenario seen failing, then passing", facts.scenario_proven))
    return lines


def _reviewing(found: Assessed, asked: Duties, peak: Severity) -> list[Duty]:
    if asked.review != Need.REQUIRED:
        return []
    lowered = f" (was {peak})" if peak != found.facts.severity else ""
    text = "review"
    if asked.review_days:
        text = f"review within {asked.review_days} days, by someone else"
    elif asked.review_working_days:
        text = f"review within {asked.review_working_days} working days, by someone else"
    text += lowered
    if found.facts.is_approved:
        return [Duty(text, True)]
    counts = (asked.review_days or asked.review_working_days) and found.status != Status.RESOLVED
    note = "counts from resolving" if counts else ""
    return [_counting(text, found.incident.review_due, found.facts.now, note)]


def _watching(found: Assessed, asked: Duties) -> Duty:
    text = f"{asked.watch_words} after the resume"
    until = found.facts.watch_until
    if until is None:
        return Duty(text, False)
    if until <= found.facts.now:
        return Duty(text, True)
    return _counting(text, until, found.facts.now)
