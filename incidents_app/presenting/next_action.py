"""The one thing to do next, in the order of urgency and of the runbook. Pure over `Assessed`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse

from incidents_app.enums import ENDED, Status, Step
from incidents_app.matrix import MATRIX, Need
from incidents_app.models import AffectedSession
from incidents_app.presenting.addresses import Addresses
from incidents_app.presenting.gates import in_order
from incidents_app.presenting.words import who
from incidents_app.queries import Assessed
from incidents_app.rules import SessionFacts, Unmet
from statebase_site.web.wording import count_noun

_STEP_OF = {
    "freeze": Step.FREEZE,
    "reconstruct": Step.RECONSTRUCT,
    "divergence": Step.DIVERGENCE,
    "rollback": Step.ROLLBACK,
    "correction": Step.ROLLBACK,
    "session_frozen": Step.RESUME,
}


@dataclass(frozen=True, slots=True)
class NextAction:
    """What to do and why. `fields` of None: its button is a link; else it is a form with these in it."""

    code: str
    title: str
    why: str
    label: str
    address: str
    fields: tuple[tuple[str, str], ...] | None = None
    needs: str = "manage"
    tone: str = "primary"
    at: datetime | None = None
    """When what made it necessary happened."""
    exempts: tuple[str, str] | None = None
    """The session and the step that may be exempted instead."""
    look_label: str = ""
    look_address: str = ""
    look_needs: str = "read"
    after: str = ""
    """What comes after it."""


def next_action(found: Assessed, *, scenarios: int = 0) -> NextAction | None:
    """The first thing to do, with what comes after it; None where the incident has ended.

    `scenarios` is how many failure-injection scenarios it has.
    """
    ahead = steps_ahead(found, scenarios=scenarios)
    first = next(ahead, None)
    if first is None:
        return None
    second = next((each for each in ahead if each.code != "resolve"), None)
    return replace(first, after=second.title if second else "")


def steps_ahead(found: Assessed, *, scenarios: int = 0) -> Iterator[NextAction]:
    """Everything that is to be done now, in its order."""
    if found.incident.status in ENDED:
        return
    made = _Maker(found, scenarios)
    if found.status == Status.TRIAGE:
        yield made.triage()
    elif found.status == Status.RESOLVED:
        unmet = in_order(found.unmet(Status.CLOSED), found)
        yield from made.of(unmet)
        if not unmet:
            yield made.close()
    else:
        unmet = in_order(found.unmet(Status.RESOLVED), found)
        yield from made.of(unmet)
        if not unmet:
            yield made.resolve()


class _Maker:
    """Makes the action for a condition that is not met."""

    def __init__(self, found: Assessed, scenarios: int) -> None:
        self.found = found
        self.scenarios = scenarios
        self.to = Addresses.of(found.incident)
        self.rows: dict[str, AffectedSession] = {row.session_id: row for row in found.affected}
        self.facts: dict[str, SessionFacts] = {each.session_id: each for each in found.facts.sessions}

    def of(self, unmet: list[Unmet]) -> Iterator[NextAction]:
        frozen_together = self._freezes_together(unmet)
        if frozen_together:
            yield self._freeze_all(frozen_together)
        codes = {each.code for each in unmet}
        for each in unmet:
            if each in frozen_together or (each.code == "review_approval" and "review" in codes):
                continue
            made: NextAction = getattr(self, f"_{each.code}")(each)
            step = _STEP_OF.get(each.code)
            yield replace(made, exempts=(each.session_id, step)) if step and each.session_id else made

    # Triage, and the ends --------------------------------------------------------------------------------

    def triage(self) -> NextAction:
        return NextAction(
            "severity",
            "choose a severity, or decline it",
            f"It was filed without one by {who(self.found.incident.filed_by)}. The severity says what has to "
            "be done; S1 freezes every affected session at once.",
            "Choose severity",
            self.to.act("severity"),
            needs="write",
            look_label="Decline…",
            look_address=self.to.act("decline"),
            look_needs="manage",
        )

    def resolve(self) -> NextAction:
        return NextAction(
            "resolve",
            "resolve it",
            "Everything that this severity asks for is done, and every session goes on.",
            "Resolve",
            self.to.act("resolve"),
            fields=(),
            needs="command",
        )

    def close(self) -> NextAction:
        return NextAction(
            "close",
            "close it",
            "Nothing is missing any more. Its sessions are let go as evidence.",
            "Close",
            self.to.act("close"),
            fields=(),
            needs="command",
        )

    # Step 1 ----------------------------------------------------------------------------------------------

    def _freezes_together(self, unmet: list[Unmet]) -> list[Unmet]:
        """Sessions that one press may freeze: all, unless that would stop one that was let go on purpose."""
        freezes = [each for each in unmet if each.code == "freeze"]
        let_go = any(
            row.resume_version is not None or Step.FREEZE in self.facts[row.session_id].exempt
            for row in self.found.affected
        )
        return freezes if len(freezes) > 1 and not let_go else []

    def _freeze_all(self, unmet: list[Unmet]) -> NextAction:
        waiting = sum(self.rows[each.session_id or ""].freeze_wanted for each in unmet)
        lost = [each for each in unmet if self._outside(each)]
        why = "While they run they go on changing their state."
        if waiting:
            why = "The server is at it, and tries again by itself; one press does what it can at once."
        if lost:
            why = f"{count_noun(len(lost), 'session')} had been frozen, and went on outside this incident."
        return NextAction(
            "freeze",
            f"freeze {len(unmet)} sessions",
            why,
            f"Freeze all {len(unmet)}",
            self.to.act("freeze"),
            fields=(),
            needs="write",
            tone="freeze",
        )

    def _outside(self, unmet: Unmet):
        return self.facts[unmet.session_id or ""].outside

    def _freeze(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        row, facts, outside = self.rows[name], self.facts[name], self._outside(unmet)
        at = None
        if outside:
            head = self.found.sessions[name].head_version if name in self.found.sessions else outside.version
            since = head - outside.version
            wrote = f", and has written {count_noun(since, 'version')} since" if since > 0 else ""
            done = "resumed" if outside.what == "resumed" else "rolled back"
            why, at = f"It was {done} outside this incident by {who(outside.by)}{wrote}.", outside.at
        elif facts.freeze_failure:
            why = f"The last try failed: {facts.freeze_failure} The server tries again by itself."
        elif row.freeze_version is not None:
            why = "It is not frozen any more."
        else:
            why = "While it runs it goes on changing its state."
        again = row.freeze_version is not None
        return NextAction(
            "freeze",
            f"freeze {name}{' again' if again else ''}",
            why,
            "Freeze again" if again else "Freeze",
            self.to.act("freeze"),
            fields=(("session_id", name),),
            needs="write",
            tone="freeze",
            at=at,
        )

    # Steps 2 to 4 ----------------------------------------------------------------------------------------

    def _reconstruct(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        versions = worth_pinning(self.rows[name], self.found)
        said = " and ".join(f"v{each}" for each in versions)
        return NextAction(
            "reconstruct",
            f"pin {said} of {name} as evidence",
            "What it did counts, not what the agent says it did: a copy is kept, with its hash.",
            f"Pin {said}",
            self.to.act("pin"),
            fields=(("session_id", name), *(("versions", str(each)) for each in versions)),
            needs="write",
            look_label="Read what it did",
            look_address=reverse("sessions:turns", args=[name]),
        )

    def _divergence(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        suspect = self.rows[name].suspect_version
        why = "Where did its state stop matching reality, and which version before that was good?"
        if suspect is not None:
            why += f" v{suspect} looked wrong when this was filed."
        return NextAction(
            "divergence",
            f"find the divergence of {name}",
            why,
            "Find the divergence",
            self.to.act("divergence", name),
        )

    def _rollback(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        row, target = self.rows[name], self.facts[name].target
        to = f" to v{target}" if target is not None else ""
        again = " again" if row.rollback_version is not None else ""
        why = "Its state is not that of the last good version any more. " if again else ""
        why += "First you see what comes back, and what a rollback can't undo."
        return NextAction(
            "rollback",
            f"roll {name} back{to}{again}",
            why,
            f"Roll back{to}",
            self.to.act("rollback", name),
            tone="rollback",
        )

    def _correction(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        return NextAction(
            "correction",
            f"record what was corrected in {name}",
            "For this severity a correction stands in for the rollback.",
            "Record the correction",
            self.to.act("correct", name),
        )

    def _effect_undecided(self, unmet: Unmet) -> NextAction:
        count = self.facts[unmet.session_id or ""].undecided_effects
        return NextAction(
            "effect_undecided",
            f"decide {count_noun(count, 'effect')} of {unmet.session_id}",
            "The rollback does not undo what tools did outside: say what became of each call.",
            "Decide",
            self.to.place("effects"),
        )

    # Step 5 ----------------------------------------------------------------------------------------------

    def _prevention(self, unmet: Unmet) -> NextAction:
        return NextAction(
            "prevention",
            "answer what enabled the failure",
            "Four questions: a missing checkpoint, validation, permission check, or drift from the truth?",
            "Answer",
            self.to.act("causes"),
        )

    def _followup_missing(self, unmet: Unmet) -> NextAction:
        return NextAction(
            "followup_missing",
            "add a follow-up that names the next deploy" if "deploy" in unmet.message else "add a follow-up",
            "Whatever enabled it can happen again until somebody changes it.",
            "Add a follow-up",
            self.to.act("follow-up"),
        )

    def _scenario(self, unmet: Unmet) -> NextAction:
        if self.scenarios:
            return NextAction(
                "scenario",
                "see the scenario fail, then pass",
                "The failure has to be seen in a test, and the changed agent has to pass it.",
                "Open the scenarios",
                self.to.place("scenarios"),
            )
        return NextAction(
            "scenario",
            "make a failure-injection scenario",
            "A fork from before the divergence with the fault put in: the test that this agent fails today.",
            "Make a scenario",
            self.to.act("scenario-new"),
        )

    def _followup_open(self, unmet: Unmet) -> NextAction:
        return NextAction(
            "followup_open",
            unmet.message.rstrip(".").replace("Do follow-up", "do follow-up"),
            "It was marked as standing in the way of resolving.",
            "Open the follow-ups",
            self.to.place("follow-ups"),
        )

    # Step 6 and after ------------------------------------------------------------------------------------

    def _session_frozen(self, unmet: Unmet) -> NextAction:
        name = unmet.session_id or ""
        frozen = [each for each in self.facts.values() if each.is_frozen and each.freeze_version is not None]
        severity = self.found.facts.severity
        watch = MATRIX[severity].watch_words if severity else "–"
        then = f" A {watch} begins then." if watch != "–" else ""
        alone = len(frozen) == 1
        return NextAction(
            "session_frozen",
            f"resume {name}" if alone else f"resume {len(frozen)} sessions",
            f"Nothing stands in the way of letting the agent go on.{then}",
            "Resume" if alone else f"Resume all {len(frozen)}",
            self.to.resume(name if alone else None),
        )

    def _review(self, unmet: Unmet) -> NextAction:
        return NextAction(
            "review", "write the review", unmet.message, "Write the review", self.to.act("review")
        )

    def _review_approval(self, unmet: Unmet) -> NextAction:
        peak = self.found.facts.peak_severity
        other = peak is not None and MATRIX[peak].review == Need.REQUIRED and MATRIX[peak].review_by_another
        return NextAction(
            "review_approval",
            "have the review approved",
            "Somebody else than the commander reads and approves it."
            if other
            else "Read it once more, and approve it.",
            "Approve the review",
            self.to.act("approve"),
            fields=(),
            look_label="Read it",
            look_address=self.to.place("review"),
        )

    def _followup_owner(self, unmet: Unmet) -> NextAction:
        return NextAction(
            "followup_owner",
            unmet.message.rstrip(".").replace("Give", "give"),
            "What nobody owns by a date is not done.",
            "Assign it",
            self.to.place("follow-ups"),
        )

    def _watch_window(self, unmet: Unmet) -> NextAction:
        rows = self.found.affected
        look = (
            reverse("sessions:time-machine", args=[rows[0].session_id])
            if len(rows) == 1
            else self.to.place("runbook")
        )
        return NextAction(
            "watch_window",
            "watch the sessions that go on",
            "It can be closed when the watch is over and nothing has gone wrong again.",
            "Look at the session" if len(rows) == 1 else "Look at the sessions",
            look,
            needs="read",
            at=self.found.facts.watch_until,
        )


def worth_pinning(row: AffectedSession, found: Assessed) -> list[int]:
    """The versions that a first look keeps: the one that looked wrong or diverged, and the last one."""
    session = found.sessions.get(row.session_id)
    head = session.head_version if session else 0
    last = max(0, row.freeze_version - 1) if row.freeze_version is not None else head
    first = row.divergence_version if row.divergence_version is not None else row.suspect_version
    return sorted({each for each in (first, last) if each is not None and each <= head})
