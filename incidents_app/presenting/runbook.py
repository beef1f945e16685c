"""The matrix of sessions and steps: what each step is, in a glyph, a word and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incidents_app.enums import SETTLED, PinKind, Severity, Step, StepState
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession, Incident
from incidents_app.presenting.addresses import Addresses
from incidents_app.presenting.words import span, who
from incidents_app.queries import Assessed
from incidents_app.rules import StepView
from sessions_app.models import AgentSession
from statebase_site.web.wording import count_noun

SESSIONS_SHOWN = 20
FEW = 2
"""With more sessions, what concerns all of them is not repeated for each."""

TITLES = {
    Step.FREEZE: "Stop",
    Step.RECONSTRUCT: "Reconstruct",
    Step.DIVERGENCE: "Divergence",
    Step.ROLLBACK: "Roll back",
    Step.PREVENT: "Prevent",
    Step.RESUME: "Resume",
}
_GLYPHS = {
    StepState.PENDING: "○",
    StepState.DONE: "✓",
    StepState.REGRESSED: "✕",
    StepState.NOT_REQUIRED: "–",
    StepState.EXEMPT: "–",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known of the sessions beside the assessment, by the session's id or its row's key."""

    pins: Mapping[int, Mapping[str, int]]
    reasons: Mapping[tuple[int, str], str]
    refused: Mapping[int, int]
    others: Mapping[str, Sequence[Incident]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One step of one session."""

    step: Step
    title: str
    state: StepState
    glyph: str
    word: str
    note: str
    address: str
    freezes: bool = False
    """Whether pressing it freezes the session."""


@dataclass(frozen=True, slots=True)
class Line:
    """One session, with its steps in their order."""

    row: AffectedSession
    session: AgentSession | None
    cells: list[Cell]
    others: Sequence[Incident]
    is_next: bool


@dataclass(frozen=True, slots=True)
class Total:
    """How many sessions are done with a step, still to do, and red."""

    title: str
    done: int
    todo: int
    lost: int


@dataclass(frozen=True, slots=True)
class Runbook:
    """Those needing attention first; `folded` are not shown."""

    lines: list[Line]
    totals: list[Total]
    total: int
    folded: int
    titles: Sequence[str] = tuple(TITLES.values())


def in_order_of_need(found: Assessed, first: str | None = None) -> list[AffectedSession]:
    """The rows: `first` (a session's id), then lost ones, then those with the most left to do."""

    def need(row: AffectedSession) -> tuple[bool, int, int]:
        states = [view.state for view in found.steps_of(row).values()]
        lost = sum(state == StepState.REGRESSED for state in states) + bool(row.freeze_wanted and row.failure)
        return row.session_id != first, -lost, -sum(state not in SETTLED for state in states)

    return sorted(found.affected, key=need)


def runbook(
    found: Assessed, rows: Sequence[AffectedSession], beside: Beside, *, next_session: str | None
) -> Runbook:
    """The lines of `rows`, and the totals of all."""
    return Runbook(
        lines=[_line(found, row, beside, next_session) for row in rows],
        totals=[_total(found, step) for step in Step],
        total=len(found.affected),
        folded=len(found.affected) - len(rows),
    )


def _total(found: Assessed, step: Step) -> Total:
    states = Counter(steps[step].state for steps in found.assessment.steps.values())
    done = sum(states[state] for state in SETTLED)
    return Total(TITLES[step], done, states[StepState.PENDING], states[StepState.REGRESSED])


def _line(found: Assessed, row: AffectedSession, beside: Beside, next_session: str | None) -> Line:
    session = found.sessions.get(row.session_id)
    steps = found.steps_of(row)
    return Line(
        row=row,
        session=session,
        cells=[_cell(found, row, steps[step], beside, session) for step in Step],
        others=beside.others.get(row.session_id, ()),
        is_next=row.session_id == next_session,
    )


def _cell(
    found: Assessed, row: AffectedSession, view: StepView, beside: Beside, session: AgentSession | None
) -> Cell:
    word, note = _words(found, row, view, beside, session)
    failed = view.step == Step.FREEZE and view.state == StepState.PENDING and bool(row.failure)
    state = StepState.REGRESSED if failed else view.state
    return Cell(
        step=view.step,
        title=TITLES[view.step],
        state=state,
        glyph=_GLYPHS[state],
        word=word,
        note=note,
        address=Addresses.of(found.incident).of_step(row, view.step),
        freezes=view.step == Step.FREEZE and _may_be_frozen(found, view, session),
    )


def _may_be_frozen(found: Assessed, view: StepView, session: AgentSession | None) -> bool:
    """Where it is asked for and does not hold; also unasked, while the session runs: anyone may."""
    if not found.incident.is_active or session is None:
        return False
    if view.state == StepState.NOT_REQUIRED:
        return not session.is_frozen
    return view.state in (StepState.PENDING, StepState.REGRESSED)


def _words(
    found: Assessed, row: AffectedSession, view: StepView, beside: Beside, session: AgentSession | None
) -> tuple[str, str]:
    """The word of the cell, and the small line below it."""
    is_open = view.state in (StepState.PENDING, StepState.REGRESSED)
    if view.step == Step.FREEZE and is_open and row.failure:
        return "failed, tried again", row.failure
    match view.state:
        case StepState.EXEMPT:
            return "exempt", beside.reasons.get((row.pk, view.step), "")
        case StepState.NOT_REQUIRED:
            return _NOT_ASKED.get(view.step, "not asked for"), ""
        case StepState.REGRESSED:
            return _lost(found, row, view), ""
        case StepState.PENDING:
            return _pending(found, row, view)
    return _done(found, row, view, beside, session)


_NOT_ASKED = {Step.RESUME: "nothing to resume"}


def _lost(found: Assessed, row: AffectedSession, view: StepView) -> str:
    outside = found.facts_of(row).outside
    if view.step == Step.FREEZE and outside is not None:
        return f"{outside.what} outside by {who(outside.by)}, v{outside.version}"
    return view.why or "no longer holds"


def _pending(found: Assessed, row: AffectedSession, view: StepView) -> tuple[str, str]:
    corrects = found.facts.severity is not None and MATRIX[Severity(found.facts.severity)].corrects
    match view.step:
        case Step.FREEZE if row.freeze_wanted:
            return "being frozen", "by the server"
        case Step.FREEZE:
            return "not frozen", ""
        case Step.RECONSTRUCT:
            return "nothing pinned", ""
        case Step.DIVERGENCE:
            return "not found yet", f"suspect v{row.suspect_version}" if row.suspect_version else ""
        case Step.ROLLBACK if corrects:
            return "no correction yet", ""
        case Step.ROLLBACK:
            return "to do", view.why
        case Step.PREVENT:
            return "to do", view.why.rstrip(".") if len(found.affected) <= FEW else ""
    return "still frozen", ""


def _done(
    found: Assessed, row: AffectedSession, view: StepView, beside: Beside, session: AgentSession | None
) -> tuple[str, str]:
    match view.step:
        case Step.FREEZE:
            took = (row.frozen_at - found.episode.opened_at).total_seconds() if row.frozen_at else None
            notes = [f"after {span(took)}"] if took is not None else []
            if session is not None and (refused := beside.refused.get(session.pk)):
                notes.append(f"{refused} refused")
            return (
                f"frozen v{row.freeze_version}" if row.freeze_version is not None else view.why,
                " · ".join(notes),
            )
        case Step.RECONSTRUCT:
            return _pinned(beside.pins.get(row.pk, {})), ""
        case Step.DIVERGENCE if row.divergence_version is not None:
            return f"v{row.divergence_version}, good v{row.last_good_version}", row.found_how
        case Step.ROLLBACK if row.rollback_version is not None:
            return f"v{row.rollback_version} = v{row.rolled_back_to}", ""
        case Step.ROLLBACK if row.corrected_at is not None:
            return "corrected", row.correction
        case Step.RESUME if row.resume_version is not None:
            return f"resumed v{row.resume_version}", ""
    return view.why or "done", ""


def _pinned(counts: Mapping[str, int]) -> str:
    parts = [
        count_noun(counts[kind], noun)
        for kind, noun in ((PinKind.VERSION, "version"), (PinKind.TRACE, "trace"))
        if counts.get(kind)
    ]
    return ", ".join(parts) or "pinned"
