"""Status follows evidence: what each step, the incident's status and its gates are, given the facts. Pure.

Nothing here asks a database or remembers anything: the same facts give the same answers. Source: the incident
design ("Status", "The six steps") and contract section 16.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from incidents_app.enums import SETTLED, Severity, Status, Step, StepState
from incidents_app.matrix import MATRIX, Need


@dataclass(frozen=True, slots=True)
class Outside:
    """Something done to the session, but not by this incident: a version, by whom and when."""

    version: int
    what: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """One affected session: what the incident recorded, and what is so now. Versions are numbers.

    `states_differ`: the states at divergence and last good version differ. `is_good`: the state now (after
    the resume: the state it was resumed with) equals `target`, control keys aside. `target` is the earliest
    last good version of all incidents that are open on it. Both are None where nothing was recorded.
    """

    session_id: str
    is_frozen: bool = False
    frozen_by: str | None = None
    freeze_version: int | None = None
    freeze_failure: str = ""
    outside: Outside | None = None
    pins: int = 0
    divergence: int | None = None
    last_good: int | None = None
    target: int | None = None
    states_differ: bool | None = None
    is_good: bool | None = None
    is_corrected: bool = False
    resume_version: int | None = None
    undecided_effects: int = 0
    exempt: frozenset[Step] = frozenset()
    previous: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FollowUpFacts:
    """A follow-up, as gates see it."""

    number: int
    kind: str
    is_done: bool
    blocks: bool
    has_owner_and_date: bool


@dataclass(frozen=True, slots=True)
class IncidentFacts:
    """An incident in its current episode, as the gates see it."""

    status: Status
    severity: Severity | None
    peak_severity: Severity | None
    sessions: Sequence[SessionFacts]
    is_answered: bool
    scenario_proven: bool
    """A scenario was seen failing, then passing."""
    follow_ups: Sequence[FollowUpFacts]
    review_missing: Sequence[str]
    """What the review still lacks, in words."""
    is_approved: bool
    watch_until: datetime | None
    now: datetime
    overridden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unmet:
    """A condition that is not met; `code` is stable, `message` says what to do."""

    code: str
    session_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of one session: its state, and why it is so in a few words."""

    step: Step
    state: StepState
    why: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """All that follows from the facts: the status, and each session's steps in the order of the runbook."""

    status: Status
    steps: Mapping[str, Mapping[Step, StepView]]

    def state(self, session_id: str, step: Step) -> StepState:
        """The state of one step."""
        return self.steps[session_id][step].state


def assess(facts: IncidentFacts) -> Assessment:
    """Work out every step and the status."""
    steps = {each.session_id: _steps(each, facts) for each in facts.sessions}
    return Assessment(_status(facts, steps), steps)


def _status(facts: IncidentFacts, steps: Mapping[str, Mapping[Step, StepView]]) -> Status:
    if facts.severity is None and facts.status == Status.OPEN:
        return Status.TRIAGE
    if facts.status not in (Status.OPEN, Status.CONTAINED, Status.RECOVERED):
        return facts.status

    def all_settled(*wanted: Step) -> bool:
        return all(session[step].state in SETTLED for session in steps.values() for step in wanted)

    if not all_settled(Step.FREEZE):
        return Status.OPEN
    return Status.RECOVERED if all_settled(Step.DIVERGENCE, Step.ROLLBACK) else Status.CONTAINED


# Steps --------------------------------------------------------------------------------------------------


def _steps(session: SessionFacts, facts: IncidentFacts) -> dict[Step, StepView]:
    severity = facts.severity
    found = {
        Step.FREEZE: _freeze(session),
        Step.RECONSTRUCT: (session.pins > 0, f"{session.pins} pinned" if session.pins else ""),
        Step.DIVERGENCE: _divergence(session),
        Step.ROLLBACK: _rollback(session, severity),
        Step.PREVENT: _prevent(facts),
        Step.RESUME: _resume(session),
    }
    return {step: _view(step, holds, why, session, severity) for step, (holds, why) in found.items()}


def _view(step: Step, holds: bool, why: str, session: SessionFacts, severity: Severity | None) -> StepView:
    if step in session.exempt:
        return StepView(step, StepState.EXEMPT, why)
    if holds:
        return StepView(step, StepState.DONE, why)
    # Once it held, its loss shows, also where the severity would not have asked for it.
    if session.previous.get(step) in (StepState.DONE, StepState.REGRESSED):
        return StepView(step, StepState.REGRESSED, why)
    if not _asked_for(step, session, severity):
        return StepView(step, StepState.NOT_REQUIRED, why)
    return StepView(step, StepState.PENDING, why)


def _asked_for(step: Step, session: SessionFacts, severity: Severity | None) -> bool:
    if severity is None:
        return step == Step.RESUME and session.is_frozen and session.freeze_version is not None
    duties = MATRIX[severity]
    match step:
        case Step.FREEZE:
            return duties.freeze == Need.REQUIRED
        case Step.RECONSTRUCT:
            return duties.reconstruct == Need.REQUIRED
        case Step.DIVERGENCE:
            return duties.rollback == Need.REQUIRED
        case Step.ROLLBACK:
            return duties.rollback == Need.REQUIRED or duties.corrects
        case Step.RESUME:
            return session.is_frozen and session.freeze_version is not None
        case Step.PREVENT:
            return True


def _freeze(session: SessionFacts) -> tuple[bool, str]:
    if session.freeze_version is None:
        return False, session.freeze_failure
    if session.outside:
        return False, f"v{session.outside.version} {session.outside.what} by {session.outside.by}"
    if session.resume_version is not None:
        return True, f"frozen v{session.freeze_version}, resumed v{session.resume_version}"
    if not session.is_frozen:
        return False, "not frozen any more"
    return True, f"frozen v{session.freeze_version}"


def _divergence(session: SessionFacts) -> tuple[bool, str]:
    if session.divergence is None:
        return False, ""
    if not session.states_differ:
        return False, f"v{session.divergence} and v{session.last_good} are the same"
    return True, f"v{session.divergence}, good v{session.last_good}"


def _rollback(session: SessionFacts, severity: Severity | None) -> tuple[bool, str]:
    if session.is_good:
        return True, f"state is that of v{session.target}"
    if severity is not None and MATRIX[severity].corrects and session.is_corrected:
        return True, "corrected"
    if session.is_good is None:
        return False, ""
    return False, f"state is not that of v{session.target}"


def _prevent(facts: IncidentFacts) -> tuple[bool, str]:
    missing = [each.message for each in _prevention(facts)]
    return not missing, missing[0] if missing else "causes answered"


def _resume(session: SessionFacts) -> tuple[bool, str]:
    if session.is_frozen:
        return False, f"frozen by {session.frozen_by}" if session.frozen_by else "frozen"
    if session.resume_version is not None:
        return True, f"resumed v{session.resume_version}"
    return False, ""


# Gates --------------------------------------------------------------------------------------------------


def unmet_for(facts: IncidentFacts, to: Status, assessment: Assessment | None = None) -> list[Unmet]:
    """What is missing for resolving or closing, except what an admin has overridden.

    `assessment` is that of the same facts, where the caller has it already.
    """
    steps = (assessment or assess(facts)).steps
    found = _before_closing(facts, steps) if to == Status.CLOSED else _before_resolving(facts, steps)
    return [each for each in found if each.code not in facts.overridden]


def _before_resolving(facts: IncidentFacts, steps: Mapping[str, Mapping[Step, StepView]]) -> list[Unmet]:
    if facts.severity is None:
        return [Unmet("severity", None, "Choose a severity.")]
    missing: list[Unmet] = []
    for session in facts.sessions:
        missing += _of_session(session, steps[session.session_id], facts.severity)
    missing += _prevention(facts)
    missing += [
        Unmet("followup_open", None, f"Do follow-up {each.number}, which blocks.")
        for each in facts.follow_ups
        if each.blocks and not each.is_done
    ]
    return missing


def _of_session(session: SessionFacts, steps: Mapping[Step, StepView], severity: Severity) -> Iterable[Unmet]:
    name = session.session_id

    def open_step(step: Step) -> bool:
        return steps[step].state not in SETTLED

    if open_step(Step.FREEZE):
        again = " again" if steps[Step.FREEZE].state == StepState.REGRESSED else ""
        yield Unmet("freeze", name, f"Freeze {name}{again}, or exempt it.")
    if open_step(Step.RECONSTRUCT):
        yield Unmet("reconstruct", name, f"Pin a version or trace of {name} as evidence.")
    if open_step(Step.DIVERGENCE):
        yield Unmet("divergence", name, f"Record the divergence and the last good version of {name}.")
    if open_step(Step.ROLLBACK):
        if MATRIX[severity].corrects:
            yield Unmet("correction", name, f"Record what was corrected in {name}.")
        else:
            yield Unmet("rollback", name, f"Roll {name} back to its last good version.")
    if session.undecided_effects:
        noun = "effect" if session.undecided_effects == 1 else "effects"
        yield Unmet(
            "effect_undecided",
            name,
            f"Decide {session.undecided_effects} {noun} of {name} that the rollback did not undo.",
        )
    if open_step(Step.RESUME):
        yield _still_frozen(session)


def _still_frozen(session: SessionFacts) -> Unmet:
    return Unmet("session_frozen", session.session_id, f"Resume {session.session_id}: it is still frozen.")


def _prevention(facts: IncidentFacts) -> list[Unmet]:
    """Step 5, by the present severity."""
    if facts.sessions and all(Step.PREVENT in each.exempt for each in facts.sessions):
        return []
    missing: list[Unmet] = []
    severity = facts.severity
    if severity is None or severity != Severity.S4:
        if not facts.is_answered:
            missing.append(Unmet("prevention", None, "Answer what enabled the failure."))
        if not facts.follow_ups:
            missing.append(Unmet("followup_missing", None, "Add a follow-up."))
    elif not any(each.kind == "deploy" for each in facts.follow_ups):
        missing.append(Unmet("followup_missing", None, "Add a follow-up that names the next deploy."))
    if severity and MATRIX[severity].scenario == Need.REQUIRED and not facts.scenario_proven:
        missing.append(Unmet("scenario", None, "A scenario has to be seen failing, then passing."))
    return missing


def _before_closing(facts: IncidentFacts, steps: Mapping[str, Mapping[Step, StepView]]) -> list[Unmet]:
    if facts.status == Status.RESOLVED:
        # Whatever froze it since: an ended incident does not leave a session stopped in its name.
        missing = [
            _still_frozen(each)
            for each in facts.sessions
            if each.is_frozen and each.freeze_version is not None and Step.RESUME not in each.exempt
        ]
    else:
        missing = [*_before_resolving(facts, steps), Unmet("not_resolved", None, "Resolve it first.")]
    if facts.peak_severity and MATRIX[facts.peak_severity].review == Need.REQUIRED and not facts.is_approved:
        if facts.review_missing:
            wanting = ", ".join(facts.review_missing)
            missing.append(Unmet("review", None, f"The review still lacks: {wanting}."))
        missing.append(Unmet("review_approval", None, "Have the review approved."))
    missing += [
        Unmet("followup_owner", None, f"Give follow-up {each.number} an owner and a date.")
        for each in facts.follow_ups
        if not each.is_done and not each.has_owner_and_date
    ]
    if facts.watch_until and facts.now < facts.watch_until:
        missing.append(
            Unmet(
                "watch_window",
                None,
                f"Watch the resumed sessions until {facts.watch_until:%Y-%m-%d %H:%M} UTC.",
            )
        )
    return missing


def duties_owed(facts: IncidentFacts, lowered_to: Severity) -> list[tuple[str, Step]]:
    """The duties of the present severity, by session and step, that the lower one would silently drop.

    Each has to be fulfilled, or waived with an exemption, before the severity goes down.
    """
    now, then = assess(facts).steps, assess(replace(facts, severity=lowered_to)).steps
    return [
        (session_id, step)
        for session_id, steps in now.items()
        for step, view in steps.items()
        if step in (Step.FREEZE, Step.DIVERGENCE, Step.ROLLBACK)
        and view.state not in SETTLED
        and then[session_id][step].state in SETTLED
    ]
