"""The shapes of answers for the OpenAPI document; `objects` builds what they describe (contract 16)."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from statebase_site.web.answers import List

__all__ = ["Gates", "Incident", "IncidentEvent", "IncidentInFull", "List", "Scenario", "ScenarioRun"]

Severity = Literal["S1", "S2", "S3", "S4"]
Status = Literal["triage", "open", "contained", "recovered", "resolved", "closed", "declined", "duplicate"]
FailureMode = Literal[
    "hallucination_corruption",
    "context_overflow",
    "state_drift",
    "tool_call_failure",
    "infinite_loop",
    "permission_violation",
    "memory_pollution",
]
Traffic = Literal["reject", "human_queue", "safe_version"]
StepState = Literal["pending", "done", "regressed", "not_required", "exempt"]
StepName = Literal["freeze", "reconstruct", "divergence", "rollback", "prevent", "resume"]
JsonDocument = dict[str, Any]


class IncidentSteps(TypedDict):
    """The six steps of the runbook for one session."""

    freeze: StepState
    reconstruct: StepState
    divergence: StepState
    rollback: StepState
    prevent: StepState
    resume: StepState


class IncidentSession(TypedDict):
    """An affected session; `failure` says why it could not be frozen or held yet."""

    session_id: str
    frozen: bool
    divergence_version: int | None
    last_good_version: int | None
    steps: IncidentSteps
    step_notes: dict[StepName, str]
    agent_id: str
    added_at: str
    added_by: str
    suspect_version: int | None
    held: bool
    freeze_pending: bool
    failure: str | None
    freeze_version: int | None
    frozen_at: str | None
    frozen_by: str | None
    found_how: str | None
    rollback_version: int | None
    rolled_back_to: int | None
    rolled_back_at: str | None
    correction: str | None
    correction_version: int | None
    resume_version: int | None
    resumed_at: str | None
    undecided_effects: int


class IncidentMetrics(TypedDict):
    """Seconds since the filing, and how much went wrong; null where it was not recorded."""

    time_to_freeze_s: float | None
    time_to_divergence_s: float | None
    time_to_rollback_s: float | None
    time_to_resume_s: float | None
    time_to_resolve_s: float | None
    time_to_close_s: float | None
    bad_versions: int | None
    tool_calls: int | None


class _AboutIncident(TypedDict):
    object: Literal["incident"]
    id: str
    title: str
    summary: str
    severity: Severity | None
    peak_severity: Severity | None
    status: Status
    failure_mode: FailureMode | None
    commander: str | None
    episode: int
    created_at: str
    updated_at: str
    resolved_at: str | None
    closed_at: str | None
    duplicate_of: str | None
    dedup_key: str | None
    count: int
    metrics: IncidentMetrics
    filed_by: str
    no_session_reason: str | None
    traffic: Traffic
    traffic_note: str | None
    watch_until: str | None
    review_due: str | None


class Incident(_AboutIncident):
    """An incident in a list; its status and steps are what is true at this moment."""

    sessions: list[IncidentSession]


class IncidentExemption(TypedDict):
    """A step that need not be done for a session."""

    step: StepName
    reason: str
    made_by: str
    made_at: str


class IncidentPin(TypedDict):
    """Evidence: `target` is a version's number or a trace's id, `sha256` the hash of the copy."""

    object: Literal["pin"]
    kind: Literal["version", "trace"]
    target: str
    sha256: str
    note: str | None
    pinned_by: str
    pinned_at: str


class IncidentEffect(TypedDict):
    """A tool call that the rollback did not undo, and what became of it."""

    object: Literal["effect"]
    turn_id: str
    turn_number: int
    tool: str
    arguments: Any
    reversibility: str
    disposition: Literal["reversed", "compensated", "accepted", "irreversible"] | None
    note: str | None
    decided_by: str | None
    decided_at: str | None


class IncidentSessionInFull(IncidentSession):
    """An affected session with its evidence and effects."""

    exemptions: list[IncidentExemption]
    pins: list[IncidentPin]
    effects: list[IncidentEffect]


class IncidentPrevention(TypedDict):
    """The four questions of step 5, and what enabled the failure."""

    missing_checkpoint: bool
    no_validation: bool
    no_permission_check: bool
    state_drift: bool
    text: str
    answered_at: str
    answered_by: str


class FollowUp(TypedDict):
    """Something that has to be done; `n` is its number in the incident, `due` an ISO date."""

    object: Literal["follow_up"]
    n: int
    text: str
    kind: Literal["checkpoint", "validation", "permission", "sync", "deploy", "other"]
    owner: str | None
    due: str | None
    blocks: bool
    done: bool
    done_at: str | None
    done_by: str | None
    created_at: str
    created_by: str


class ScenarioRun(TypedDict):
    """A run of a scenario; without `outcome` it waits for an agent to run on its session."""

    object: Literal["scenario_run"]
    scenario_id: str
    session_id: str
    agent_version: str | None
    outcome: Literal["red", "green"] | None
    judged_version: int | None
    requested_at: str
    requested_by: str
    finished_at: str | None
    reported_by: str | None


class Scenario(TypedDict):
    """A failure-injection scenario; while it waits, `waiting_session_id` is the fork to run an agent on."""

    object: Literal["scenario"]
    id: str
    incident_id: str
    name: str
    session_id: str
    agent_id: str
    fork_version: int
    fault: JsonDocument
    predicate: str
    status: Literal["waiting", "done"]
    waiting_session_id: str | None
    runs: list[ScenarioRun]
    created_at: str
    created_by: str


class MissingCheckpoint(TypedDict):
    """After which version a checkpoint was missing, or `none` and why."""

    session_id: NotRequired[str]
    after_version: NotRequired[int]
    none: NotRequired[Literal[True]]
    why: NotRequired[str]


class WrittenReview(TypedDict):
    """What was written in the post-incident review of an episode."""

    missing_checkpoint: MissingCheckpoint | None
    lessons: str | None
    scenario: str | None
    reviewed_by: str | None
    approved_at: str | None
    approved_by: str | None
    approved_alone: bool


class Review(WrittenReview):
    """The review of the present episode; `missing` says what it lacks before it can be approved."""

    failure_mode: FailureMode | None
    due: str | None
    missing: list[str]


class GateOverride(TypedDict):
    """A gate that an admin passed over."""

    gate: str
    reason: str
    made_by: str
    made_at: str


class ContaminatedSession(TypedDict):
    """A session outside the incident that descends from a bad state."""

    session_id: str
    forked_from: str
    forked_version: int


class EarlierEpisode(TypedDict):
    """An episode that ended before the incident was reopened."""

    episode: int
    opened_at: str
    opened_by: str
    contained_at: str | None
    recovered_at: str | None
    resolved_at: str | None
    closed_at: str | None
    prevention: IncidentPrevention | None
    review: WrittenReview
    metrics: IncidentMetrics


class IncidentInFull(_AboutIncident):
    """An incident with everything that is known of it."""

    sessions: list[IncidentSessionInFull]
    commander_is_away: bool
    helpers: list[str]
    prevention: IncidentPrevention | None
    follow_ups: list[FollowUp]
    scenarios: list[Scenario]
    review: Review
    overrides: list[GateOverride]
    contaminated_sessions: list[ContaminatedSession]
    earlier_episodes: list[EarlierEpisode]


class UnmetCondition(TypedDict):
    """Something that is missing; `code` is stable, `message` says what to do."""

    code: str
    session_id: str | None
    message: str


class Gates(TypedDict):
    """What is missing before an incident can be resolved or closed."""

    object: Literal["gates"]
    incident_id: str
    to: Literal["resolved", "closed"]
    met: bool
    unmet: list[UnmetCondition]


class IncidentEvent(TypedDict):
    """A row of an incident's timeline; `alarm`: something that held no longer does."""

    object: Literal["incident_event"]
    id: str
    sequence: int
    episode: int
    kind: str
    text: str
    details: JsonDocument
    actor: str
    actor_kind: Literal["key", "user", "system"]
    session_id: str | None
    version: int | None
    trace_id: str | None
    alarm: bool
    backdated: bool
    supersedes: int | None
    occurred_at: str
    created_at: str
