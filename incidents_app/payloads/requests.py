"""Bodies of requests: light checks of each field's kind; actions check the rest (contract 16)."""

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

from statebase_site.web.fields import Moment, Name, Object, PlainText


def _read_date(raw: Any) -> date:
    try:
        return date.fromisoformat(raw)
    except (TypeError, ValueError):
        raise ValueError("must be a date such as 2026-01-31.") from None


IsoDate = Annotated[date, BeforeValidator(_read_date)]
Sequence = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]


class Nothing(BaseModel):
    """No field is asked for; what comes must still be a JSON object."""


class FileIncident(BaseModel):
    """What went wrong; without a severity it waits in triage, S1 freezes every session at once."""

    title: PlainText
    severity: PlainText | None = None
    sessions: list[PlainText] = []
    summary: PlainText = ""
    failure_mode: PlainText | None = None
    dedup_key: PlainText | None = None
    no_session_reason: PlainText = ""


class FreezeIncident(BaseModel):
    """Which session, or all of them; `traffic` is told to the agents that are refused meanwhile."""

    session_id: PlainText | None = None
    reason: PlainText | None = None
    traffic: Literal["reject", "human_queue", "safe_version"] | None = None
    traffic_note: PlainText | None = None


class ResumeIncident(BaseModel):
    """Which session, or all; `confirm` where another open incident affects it, too."""

    session_id: PlainText | None = None
    reason: PlainText | None = None
    confirm: StrictBool = False


class RecordDivergence(BaseModel):
    """Where the state stopped matching reality, and the last version before that was good."""

    session_id: PlainText
    divergence_version: StrictInt
    last_good_version: StrictInt
    found_how: PlainText = ""


class RollBackIncident(BaseModel):
    """The session, and the version if not its last good one."""

    session_id: PlainText
    version: StrictInt | None = None
    expected_version: StrictInt | None = None
    confirm: StrictBool = False


class PinEvidence(BaseModel):
    """Versions by number, traces by id."""

    session_id: PlainText
    versions: list[StrictInt] = []
    traces: list[PlainText] = []
    note: PlainText = ""


class AddNote(BaseModel):
    """A line of the timeline; `supersedes` is the sequence of a row that it corrects."""

    text: PlainText
    occurred_at: Moment | None = None
    session_id: PlainText | None = None
    supersedes: Sequence | None = None


class AddIncidentSession(BaseModel):
    """One more affected session."""

    session_id: PlainText


class WaivedDuty(BaseModel):
    """A step of a session that the lower severity drops, and why that is right."""

    session_id: PlainText
    step: PlainText
    reason: PlainText


class ChangeSeverity(BaseModel):
    """Lowering needs a reason, and `waived` for each duty that is owed."""

    severity: PlainText
    reason: PlainText | None = None
    waived: list[WaivedDuty] = []


class AnswerCauses(BaseModel):
    """The four questions of step 5, and in words what enabled the failure."""

    missing_checkpoint: StrictBool = False
    no_validation: StrictBool = False
    no_permission_check: StrictBool = False
    state_drift: StrictBool = False
    text: PlainText


class AddFollowUp(BaseModel):
    """Something that has to be done; one that `blocks` has to be done before resolving."""

    text: PlainText
    owner: PlainText | None = None
    due: IsoDate | None = None
    kind: PlainText | None = None
    blocks: StrictBool = False


class AssignFollowUp(BaseModel):
    """Who does it, and until when."""

    owner: PlainText
    due: IsoDate


class CheckpointAnswer(BaseModel):
    """Where the missing checkpoint was, or `none` and why there was no such place."""

    session_id: PlainText | None = None
    after_version: StrictInt | None = None
    none: StrictBool = False
    why: PlainText | None = None

    @model_validator(mode="after")
    def is_one_of_two(self) -> Self:
        """Either a place or a reason for there being none."""
        if (self.place is not None) == self.none or (self.none and not self.why):
            raise ValueError('must be {"session_id", "after_version"}, or {"none": true, "why"}.')
        return self

    @property
    def place(self) -> tuple[str, int] | None:
        """The session, and the version after which the checkpoint was missing."""
        if self.session_id is None or self.after_version is None:
            return None
        return self.session_id, self.after_version


class ChangeReview(BaseModel):
    """What changes in the post-incident review; `scenario` is the id of one of the incident's scenarios."""

    failure_mode: PlainText | None = None
    missing_checkpoint: CheckpointAnswer | None = None
    lessons: PlainText | None = None
    scenario: PlainText | None = None


class SetCommander(BaseModel):
    """Who leads."""

    name: PlainText


class ExemptSession(BaseModel):
    """A step that a session need not do, and why."""

    session_id: PlainText
    step: PlainText
    reason: PlainText


class DecideEffect(BaseModel):
    """What became of a tool call that the rollback did not undo."""

    session_id: PlainText
    turn_id: PlainText
    disposition: PlainText
    note: PlainText = ""


class CorrectSession(BaseModel):
    """What was put right in place of a rollback, and in which version."""

    session_id: PlainText
    version: StrictInt | None = None
    text: PlainText


class OverrideGate(BaseModel):
    """The `code` of an unmet condition, and why it is passed over."""

    gate: PlainText
    reason: PlainText


class CreateScenario(BaseModel):
    """Fork there, inject that, and afterwards this JMESPath predicate must hold."""

    name: PlainText
    session_id: PlainText
    fork_version: StrictInt
    fault: Object
    predicate: PlainText


class ReportRun(BaseModel):
    """The session that an agent ran on; the state there decides, `outcome` must not contradict it."""

    session_id: PlainText
    agent_version: Name
    outcome: Literal["red", "green"] | None = None


class ReopenIncident(BaseModel):
    """Why it is not over."""

    reason: PlainText


class DeclineIncident(BaseModel):
    """Why it is no incident; `resume_sessions` lets its frozen sessions go on."""

    reason: PlainText
    resume_sessions: StrictBool = False


class MergeIncident(BaseModel):
    """The incident that this one is a duplicate of."""

    into: PlainText
