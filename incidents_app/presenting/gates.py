"""What is missing before an incident may be resolved or closed, each with the place where it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from incidents_app import rules
from incidents_app.enums import Status, Step, StepState
from incidents_app.models import Incident
from incidents_app.presenting.addresses import Addresses
from incidents_app.presenting.words import shorter
from incidents_app.queries import Assessed
from incidents_app.rules import Unmet

ALIKE_MOST = 3
"""More conditions of one kind than this are said in one line."""

_URGENCY = (
    "severity",
    "freeze",
    "reconstruct",
    "divergence",
    "rollback",
    "correction",
    "effect_undecided",
    "prevention",
    "followup_missing",
    "scenario",
    "followup_open",
    "session_frozen",
    "review",
    "review_approval",
    "followup_owner",
    "watch_window",
    "not_resolved",
)
_TOGETHER = {
    "freeze": "Freeze {} sessions, or exempt them.",
    "reconstruct": "Pin evidence of {} sessions.",
    "divergence": "Record the divergence of {} sessions.",
    "rollback": "Roll {} sessions back to their last good versions.",
    "correction": "Record what was corrected in {} sessions.",
    "effect_undecided": "Decide the effects of {} sessions that no rollback undid.",
    "session_frozen": "Resume {} sessions: they are still frozen.",
    "followup_open": "Do {} follow-ups, which block.",
    "followup_owner": "Give {} follow-ups an owner and a date.",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """A condition that is not met, or many alike, and the address where it is met."""

    code: str
    session_id: str | None
    message: str
    url: str

    @property
    def short(self) -> str:
        """The message with only the beginning of the session's id."""
        if not self.session_id:
            return self.message
        return self.message.replace(self.session_id, shorter(self.session_id)).replace("….", "…")


def missing(incident: Incident, unmet: Iterable[Unmet]) -> list[Missing]:
    """Each condition with the place where it is met."""
    to = Addresses.of(incident)
    return [Missing(each.code, each.session_id, each.message, to.of_unmet(each)) for each in unmet]


def in_order(unmet: Iterable[Unmet], found: Assessed) -> list[Unmet]:
    """By the order of the runbook; what had been frozen and no longer is goes first of all."""

    def urgency(each: Unmet) -> tuple[int, bool]:
        steps = found.assessment.steps.get(each.session_id or "")
        lost = each.code == "freeze" and steps is not None and steps[Step.FREEZE].state == StepState.REGRESSED
        return _URGENCY.index(each.code), not lost

    return sorted(unmet, key=urgency)


def still_missing(found: Assessed, to: Status) -> list[Missing]:
    """What is missing before `to`, short: what is asked of many sessions is said once.

    What closing asks for besides is also told before the incident is resolved.
    """
    unmet = found.unmet(to)
    if to == Status.CLOSED and found.status != Status.RESOLVED:
        later = rules.unmet_for(replace(found.facts, status=Status.RESOLVED), to)
        unmet = [each for each in later if each.code != "session_frozen"]
    alike: dict[str, list[Unmet]] = {}
    for each in in_order(unmet, found):
        alike.setdefault(each.code, []).append(each)
    lines: list[Missing] = []
    for code, group in alike.items():
        if len(group) > ALIKE_MOST and code in _TOGETHER:
            lines.append(_together(code, len(group), Addresses.of(found.incident)))
        else:
            lines += missing(found.incident, group)
    return lines


def _together(code: str, count: int, to: Addresses) -> Missing:
    if code == "session_frozen":
        url = to.resume(None)
    else:
        url = to.place("follow-ups" if code.startswith("followup") else "runbook")
    return Missing(code, None, _TOGETHER[code].format(count), url)
