"""Bodies of requests: light checks of each field's kind; actions check the rest (contract 16)."""

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from incidents_app.enums import Disposition, FailureMode, FaultKind, FollowUpKind, Severity, Step
from incidents_app.limits import SESSIONS_MOST, TEXT_BYTES, TITLE_CHARACTERS
from statebase_site.web.fields import NOT_BLANK, Moment, Name, Object, PlainText, told


def _read_date(raw: Any) -> date:
    try:
        return date.fromisoformat(raw)
    except (TypeError, ValueError):
        raise ValueError("must be a date such as 2026-01-31.") from None


IsoDate = Annotated[date, BeforeValidator(_read_date)]
Sequence = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
Line = Annotated[PlainText, told(pattern=NOT_BLANK, maxLength=TITLE_CHARACTERS)]
_SIZE = f"At most {TEXT_BYTES // 1024} KiB."
Text = Annotated[PlainText, told(pattern=NOT_BLANK, description=_SIZE)]
MaybeBlank = Annotated[PlainText, told(description=_SIZE)]
Remark = Annotated[PlainText, told(maxLength=300)]
Owner = Annotated[PlainText, told(maxLength=160)]

# The actions refuse what is none of these, with words of their own.
OneSeverity = Annotated[PlainText, told(enum=Severity.values)]
OneFailureMode = Annotated[PlainText, told(enum=FailureMode.values)]
OneKind = Annotated[PlainText, told(enum=FollowUpKind.values)]
OneStep = Annotated[PlainText, told(enum=Step.values)]
OneDisposition = Annotated[PlainText, told(enum=Disposition.values)]
Fault = Annotated[
    Object,
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "kind": {"enum": FaultKind.values},
                "tool": {"type": ["string", "null"]},
                "patch": {},
                "value": {},
            },
            "required": ["kind"],
            "additionalProperties": False,
        }
    ),
]


_PLACE_OR_NONE: list[JsonValue] = [
    {
        "required": ["session_id", "after_version"],
        "properties": {
            "session_id": {"type": "string"},
            "after_version": {"type": "integer"},
            "none": {"const": False},
        },
    },
    {
        "required": ["none", "why"],
        "properties": {"none": {"const": True}, "why": {"type": "string", "minLength": 1}},
    },
]


class Nothing(BaseModel):
    """No field is asked for; what comes must still be a JSON object."""


class FileIncident(BaseModel):
    """What went wrong; without a severity it waits in triage, S1 freezes every session at once."""

    title: Line
    severity: OneSeverity | None = None
    sessions: Annotated[list[PlainText], told(maxItems=SESSIONS_MOST)] = []
    summary: MaybeBlank = ""
    failure_mode: OneFailureMode | None = None
    dedup_key: Annotated[PlainText, told(maxLength=255)] | None = None
    no_session_reason: MaybeBlank = ""


class FreezeIncident(BaseModel):
    """Which session, or all of them; `traffic` is told to the agents that are refused meanwhile."""

    session_id: PlainText | None = None
    reason: MaybeBlank | None = None
    traffic: Literal["reject", "human_queue", "safe_version"] | None = None
    traffic_note: Remark | None = None


class ResumeIncident(BaseModel):
    """Which session, or all; `confirm` where another open incident affects it, too."""

    session_id: PlainText | None = None
    reason: MaybeBlank | None = None
    confirm: StrictBool = False


class RecordDivergence(BaseModel):
    """Where the state stopped matching reality, and the last version before that was good."""

    session_id: PlainText
    divergence_version: StrictInt
    last_good_version: StrictInt
    found_how: Remark = ""


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
    note: MaybeBlank = ""


class AddNote(BaseModel):
    """A line of the timeline; `supersedes` is the sequence of a row that it corrects."""

    text: Text
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
    reason: MaybeBlank


class ChangeSeverity(BaseModel):
    """Lowering needs a reason, and `waived` for each duty that is owed."""

    severity: OneSeverity
    reason: MaybeBlank | None = None
    waived: list[WaivedDuty] = []


class AnswerCauses(BaseModel):
    """The four questions of step 5, and in words what enabled the failure."""

    missing_checkpoint: StrictBool = False
    no_validation: StrictBool = False
    no_permission_check: StrictBool = False
    state_drift: StrictBool = False
    text: Text


class AddFollowUp(BaseModel):
    """Something that has to be done; one that `blocks` has to be done before resolving."""

    text: Text
    owner: Owner | None = None
    due: IsoDate | None = None
    kind: OneKind | None = None
    blocks: StrictBool = False


class AssignFollowUp(BaseModel):
    """Who does it, and until when."""

    owner: Owner
    due: IsoDate


class CheckpointAnswer(BaseModel):
    """Where the missing checkpoint was, or `none` and why there was no such place."""

    model_config = ConfigDict(json_schema_extra={"anyOf": _PLACE_OR_NONE})

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

    failure_mode: OneFailureMode | None = None
    missing_checkpoint: CheckpointAnswer | None = None
    lessons: MaybeBlank | None = None
    scenario: PlainText | None = None


class SetCommander(BaseModel):
    """Who leads."""

    name: Line


class ExemptSession(BaseModel):
    """A step that a session need not do, and why."""

    session_id: PlainText
    step: OneStep
    reason: Text


class DecideEffect(BaseModel):
    """What became of a tool call that the rollback did not undo."""

    session_id: PlainText
    turn_id: PlainText
    disposition: OneDisposition
    note: MaybeBlank = ""


class CorrectSession(BaseModel):
    """What was put right in place of a rollback, and in which version."""

    session_id: PlainText
    version: StrictInt | None = None
    text: Text


class OverrideGate(BaseModel):
    """The `code` of an unmet condition, and why it is passed over."""

    gate: PlainText
    reason: Text


class CreateScenario(BaseModel):
    """Fork there, inject that, and afterwards this JMESPath predicate must hold."""

    name: Line
    session_id: PlainText
    fork_version: StrictInt
    fault: Fault
    predicate: PlainText


class ReportRun(BaseModel):
    """The session that an agent ran on; the state there decides, `outcome` must not contradict it."""

    session_id: PlainText
    agent_version: Name
    outcome: Literal["red", "green"] | None = None


class ReopenIncident(BaseModel):
    """Why it is not over."""

    reason: Text


class DeclineIncident(BaseModel):
    """Why it is no incident; `resume_sessions` lets its frozen sessions go on."""

    reason: Text
    resume_sessions: StrictBool = False


class MergeIncident(BaseModel):
    """The incident that this one is a duplicate of."""

    into: PlainText
