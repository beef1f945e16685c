"""The post-mortem of an incident in Markdown: the same facts give the same bytes, fit to be kept in Git.

It says nothing of when it was made. Times are UTC; what agents and people wrote is escaped, and secrets in it
are masked and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from incidents_app.enums import (
    Disposition,
    EventKind,
    FailureMode,
    FollowUpKind,
    Outcome,
    PinKind,
    Severity,
    Step,
    StepState,
    Traffic,
)
from incidents_app.masking import mask_text
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    FollowUp,
    Pin,
    Scenario,
    TimelineEvent,
)
from incidents_app.payloads import markdown
from incidents_app.queries import Assessed, Details, Record, metrics_of

Lines = Iterator[str]


def postmortem(record: Record) -> str:
    """The whole document."""
    return _Postmortem(record).text()


class _Postmortem:
    """Writes one, and counts what it masks on the way."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.masked: Counter[str] = Counter()
        self.superseded = {each.supersedes: each.sequence for each in record.events if each.supersedes}

    def text(self) -> str:
        head = list(self._head())
        body = list(self._body())
        return "\n".join([*head, f"- Masked: {self._masked_words()}", "", *body]).rstrip("\n") + "\n"

    # Text of others ----------------------------------------------------------------------------------

    def _line(self, text: str) -> str:
        return markdown.line(self._without_secrets(text))

    def _block(self, text: str, indent: str = "") -> str:
        return markdown.block(self._without_secrets(text), indent)

    def _code(self, text: str) -> str:
        return markdown.code(self._without_secrets(text))

    def _said(self, text: str, indent: str) -> str:
        """A short text in the line, a longer one below it."""
        return f" {self._line(text)}" if "\n" not in text else f"\n\n{self._block(text, indent)}\n"

    def _without_secrets(self, text: str) -> str:
        masked, counts = mask_text(text)
        self.masked.update(counts)
        return masked

    def _masked_words(self) -> str:
        if not self.masked:
            return "nothing looked like a secret"
        rules = ", ".join(f"{count} {rule.replace('_', ' ')}" for rule, count in sorted(self.masked.items()))
        total = sum(self.masked.values())
        return f"{total} secret{'s' if total > 1 else ''} ({rules})"

    # Parts -------------------------------------------------------------------------------------------

    def _head(self) -> Lines:
        found, details = self.record.current
        incident = found.incident
        yield f"# {incident.reference}: {self._line(incident.title)}"
        yield ""
        yield f"- Severity: {_severity(incident.severity, incident.peak_severity)}"
        yield f"- Status: {found.status.label.lower()}"
        if incident.duplicate_of:
            yield f"- Merged into: {incident.duplicate_of.reference}"
        yield f"- Filed: {_time(incident.created_at)} by {self._line(incident.filed_by)}"
        if incident.count > 1:
            yield f"- Filed {incident.count} times"
        commander = self._line(incident.commander.get_username()) if incident.commander else "nobody"
        yield f"- Commander: {commander}"
        if details.helpers:
            yield f"- Helpers: {', '.join(self._line(name) for name in details.helpers)}"
        yield f"- Failure mode: {_choice(FailureMode, incident.failure_mode)}"
        traffic = f"{Traffic(incident.traffic).label}. {self._line(incident.traffic_note)}".rstrip()
        yield f"- New traffic: {traffic}"
        if incident.no_session_reason:
            yield f"- Affected sessions: none. {self._line(incident.no_session_reason)}"
        if len(self.record.episodes) > 1:
            yield f"- Episode: {found.episode.number}"

    def _body(self) -> Lines:
        found, details = self.record.current
        yield "## Summary"
        yield ""
        yield self._block(found.incident.summary) if found.incident.summary else "No summary was written."
        yield ""
        yield from self._episode(found, details, "##")
        yield from self._follow_ups(details.follow_ups)
        yield from self._scenarios(details.scenarios)
        yield from self._timeline()
        yield from self._evidence()
        for earlier, its_details in self.record.episodes[:-1]:
            yield f"## Episode {earlier.episode.number}"
            yield ""
            yield from self._episode(earlier, its_details, "###")

    def _episode(self, found: Assessed, details: Details, level: str) -> Lines:
        yield from self._times(found.episode, level)
        yield from self._damage(found, level)
        yield f"{level} Sessions"
        yield ""
        if not found.affected:
            yield "None."
            yield ""
        else:
            yield from _steps(found)
        for row in found.affected:
            yield from self._session(row, details, level)
        yield from self._causes(found.episode, level)
        yield from self._review(found, details, level)
        yield from self._passed_over(found, details, level)

    def _times(self, episode: Episode, level: str) -> Lines:
        yield f"{level} Times"
        yield ""
        yield f"- Opened: {_time(episode.opened_at)} by {self._line(episode.opened_by)}"
        if episode.reason:
            yield f"- Reopened because:{self._said(episode.reason, '  ')}"
        for label, moment in (
            ("Contained", episode.contained_at),
            ("Recovered", episode.recovered_at),
            ("Resolved", episode.resolved_at),
            ("Closed", episode.closed_at),
        ):
            after = f", after {_span((moment - episode.opened_at).total_seconds())}" if moment else ""
            yield f"- {label}: {_time(moment)}{after}"
        yield ""

    def _damage(self, found: Assessed, level: str) -> Lines:
        numbers = metrics_of(found.episode, found.affected)
        yield f"{level} Damage"
        yield ""
        yield f"- Bad versions between divergence and freeze: {_number(numbers.bad_versions)}"
        yield f"- Tool calls between the last good version and the freeze: {_number(numbers.tool_calls)}"
        for label, seconds in (
            ("freeze", numbers.time_to_freeze_s),
            ("divergence", numbers.time_to_divergence_s),
            ("rollback", numbers.time_to_rollback_s),
            ("resume", numbers.time_to_resume_s),
            ("resolve", numbers.time_to_resolve_s),
            ("close", numbers.time_to_close_s),
        ):
            yield f"- Time to {label}: {'not recorded' if seconds is None else _span(seconds)}"
        yield ""

    def _session(self, row: AffectedSession, details: Details, level: str) -> Lines:
        yield f"{level}# {row.session_id}"
        yield ""
        yield f"- Agent: {self._line(row.agent_id)}"
        yield f"- Added: {_time(row.added_at)} by {self._line(row.added_by)}"
        if row.freeze_version is not None:
            yield f"- Frozen: v{row.freeze_version}, {_time(row.frozen_at)} by {self._line(row.frozen_by)}"
        if row.failure:
            yield f"- Could not be frozen: {self._line(row.failure)}"
        if row.divergence_version is not None:
            how = f"; found by {self._line(row.found_how)}" if row.found_how else ""
            yield (
                f"- Divergence: v{row.divergence_version}, last good v{row.last_good_version}, "
                f"recorded {_time(row.diverged_at)}{how}"
            )
        if row.rollback_version is not None:
            yield (
                f"- Rolled back: to v{row.rolled_back_to}, as v{row.rollback_version}, "
                f"{_time(row.rolled_back_at)}"
            )
        if row.corrected_at is not None:
            where = f" in v{row.correction_version}" if row.correction_version is not None else ""
            yield f"- Corrected{where}, {_time(row.corrected_at)}:{self._said(row.correction, '  ')}"
        if row.resume_version is not None:
            yield f"- Resumed: v{row.resume_version}, {_time(row.resumed_at)}"
        for effect in details.effects.get(row.pk, ()):
            yield f"- Effect: {self._effect(effect)}"
        yield ""

    def _effect(self, effect: Effect) -> str:
        decided = "undecided"
        if effect.disposition:
            decided = f"{Disposition(effect.disposition).label.lower()} ({self._line(effect.decided_by)})"
        note = f".{self._said(effect.note, '  ')}" if effect.note else ""
        return (
            f"{self._code(effect.tool)} of turn {effect.turn_number} with "
            f"{self._code(effect.arguments_text)}, {self._line(effect.reversibility)}: {decided}{note}"
        )

    def _causes(self, episode: Episode, level: str) -> Lines:
        yield f"{level} What enabled it"
        yield ""
        if episode.answered_at is None:
            yield "Not answered."
            yield ""
            return
        for question, answer in (
            ("Missing checkpoint", episode.missing_checkpoint),
            ("No validation", episode.no_validation),
            ("No permission check", episode.no_permission_check),
            ("State drift", episode.state_drift),
        ):
            yield f"- {question}: {'yes' if answer else 'no'}"
        yield ""
        yield self._block(episode.causes)
        yield ""

    def _review(self, found: Assessed, details: Details, level: str) -> Lines:
        episode = found.episode
        scenarios = {each.pk: each for each in details.scenarios}
        chosen = scenarios.get(episode.review_scenario_id) if episode.review_scenario_id else None
        if episode.checkpoint_session is not None:
            checkpoint = f"after v{episode.checkpoint_after} of {episode.checkpoint_session}"
        elif episode.no_checkpoint_why:
            checkpoint = f"none was missing:{self._said(episode.no_checkpoint_why, '  ')}"
        else:
            checkpoint = "not recorded"
        yield f"{level} Review"
        yield ""
        yield f"- Failure mode: {_choice(FailureMode, found.incident.failure_mode)}"
        yield f"- Missing checkpoint: {checkpoint}"
        yield f"- Scenario: {self._line(chosen.name) if chosen else 'not recorded'}"
        if episode.reviewed_by:
            yield f"- Written by: {self._line(episode.reviewed_by)}"
        if episode.approved_at:
            alone = ", the commander, as nobody else may" if episode.approved_alone else ""
            yield f"- Approved: {_time(episode.approved_at)} by {self._line(episode.approved_by)}{alone}"
        else:
            yield "- Approved: no"
        yield ""
        yield "Lessons:" if episode.lessons else "No lessons were written."
        yield ""
        if episode.lessons:
            yield self._block(episode.lessons)
            yield ""

    def _passed_over(self, found: Assessed, details: Details, level: str) -> Lines:
        """Exemptions and overrides, each with its reason."""
        rows = [(row, each) for row in found.affected for each in details.exemptions.get(row.pk, ())]
        if not rows and not details.overrides:
            return
        yield f"{level} Exemptions and overrides"
        yield ""
        for row, each in rows:
            step = Step(each.step).label.lower()
            who = f"{self._line(each.made_by)}, {_time(each.made_at)}"
            yield f"- {row.session_id} need not “{step}” ({who}):{self._said(each.reason, '  ')}"
        for override in details.overrides:
            who = f"{self._line(override.made_by)}, {_time(override.made_at)}"
            yield f"- Overrode {self._code(override.code)} ({who}):{self._said(override.reason, '  ')}"
        yield ""

    def _follow_ups(self, follow_ups: Sequence[FollowUp]) -> Lines:
        yield "## Follow-ups"
        yield ""
        if not follow_ups:
            yield "None."
        for each in follow_ups:
            done = f"done {_time(each.done_at)} by {self._line(each.done_by)}" if each.done_at else "open"
            due = f", due {each.due.isoformat()}" if each.due else ", no date"
            blocks = ", blocks resolving" if each.blocks else ""
            kind = FollowUpKind(each.kind).label
            yield (
                f"- [{'x' if each.done_at else ' '}] {each.number}. {kind}: {self._line(each.text)} "
                f"({self._line(each.owner) or 'no owner'}{due}{blocks}; {done})"
            )
        yield ""

    def _scenarios(self, scenarios: Sequence[Scenario]) -> Lines:
        yield "## Failure-injection scenarios"
        yield ""
        if not scenarios:
            yield "None."
            yield ""
        for each in scenarios:
            yield f"### {self._line(each.name)}"
            yield ""
            yield f"- Id: {each.public_id}"
            yield f"- Fork: {each.session_id} at v{each.fork_version}"
            yield f"- Fault: {self._code(each.fault_text)}"
            yield f"- Must hold: {self._code(each.predicate)}"
            for run in each.runs.all():
                how = Outcome(run.outcome).label.lower() if run.outcome else "waiting"
                judged = f", v{run.judged_version}, {_time(run.finished_at)}" if run.outcome else ""
                agent = f" with {self._line(run.agent_version)}" if run.agent_version else ""
                yield f"- Run on {run.session_id}{agent}: {how}{judged}"
            yield ""

    def _timeline(self) -> Lines:
        yield "## Timeline"
        yield ""
        for each in self.record.events:
            yield self._event(each)
        yield ""

    def _event(self, event: TimelineEvent) -> str:
        marks = [
            f"episode {event.episode_number}" if len(self.record.episodes) > 1 else "",
            event.session_id or "",
            "alarm" if event.is_alarm else "",
            "backdated" if event.is_backdated else "",
            f"told {_time(event.created_at)}" if _told_later(event) else "",
            f"corrects #{event.supersedes}" if event.supersedes else "",
            f"superseded by #{self.superseded[event.sequence]}" if event.sequence in self.superseded else "",
        ]
        named = f" ({', '.join(mark for mark in marks if mark)})" if any(marks) else ""
        kind = EventKind(event.kind).label
        who = self._line(event.actor_label)
        return (
            f"- {_time(event.occurred_at)} #{event.sequence} {who}, {kind.lower()}{named}:"
            f"{self._said(event.text, '  ')}"
        )

    def _evidence(self) -> Lines:
        yield "## Evidence"
        yield ""
        rows = list(self._pinned())
        if not rows:
            yield "Nothing was pinned."
        for row, pin in rows:
            what = f"v{pin.target}" if pin.kind == PinKind.VERSION else f"trace {pin.target}"
            note = f".{self._said(pin.note, '  ')}" if pin.note else ""
            yield (
                f"- {what} of {row.session_id}, pinned {_time(pin.pinned_at)} "
                f"by {self._line(pin.pinned_by)}, sha256 {pin.sha256}{note}"
            )
        yield ""

    def _pinned(self) -> Iterable[tuple[AffectedSession, Pin]]:
        for found, details in self.record.episodes:
            for row in found.affected:
                for pin in details.pins.get(row.pk, ()):
                    yield row, pin


# Words --------------------------------------------------------------------------------------------------


def _steps(found: Assessed) -> Lines:
    yield f"| Session | {' | '.join(step.label for step in Step)} |"
    yield f"| --- |{' --- |' * len(Step)}"
    for row in found.affected:
        steps = found.steps_of(row)
        yield f"| {row.session_id} | {' | '.join(StepState(steps[step].state).label for step in Step)} |"
    yield ""


def _severity(severity: str | None, peak: str | None) -> str:
    if severity is None or peak is None:
        return "not chosen yet"
    words = f"{severity}, {Severity(severity).label[0].lower()}{Severity(severity).label[1:]}"
    return words if severity == peak else f"{words} (peak {peak})"


def _choice(choices: Callable[[str], FailureMode], value: str | None) -> str:
    return choices(value).label.lower() if value else "not recorded"


def _told_later(event: TimelineEvent) -> bool:
    return (event.created_at - event.occurred_at).total_seconds() >= 1


def _time(moment: datetime | None) -> str:
    """UTC to the second, or that there is none."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if moment else "not recorded"


def _number(value: int | None) -> str:
    return "not recorded" if value is None else str(value)


def _span(seconds: float) -> str:
    """A length of time in its two largest units: `2 d 4 h`, `12 min 5 s`, `3 s`."""
    rest = round(seconds)
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
