"""The words of incidents, as they are stored and spoken on the wire (contract 16)."""

from django.db.models import IntegerChoices, TextChoices


class Severity(TextChoices):
    """How bad it is, by what the agent did (seed 2, severity matrix). Lower number = worse."""

    S1 = "S1", "Agent deleted or corrupted critical data"
    S2 = "S2", "Wrong financial or medical output"
    S3 = "S3", "Bad recommendations, no data loss"
    S4 = "S4", "Cosmetic errors"


class Status(TextChoices):
    """Where an incident stands. `contained` and `recovered` come by themselves, from facts."""

    TRIAGE = "triage", "Triage"
    OPEN = "open", "Open"
    CONTAINED = "contained", "Contained"
    RECOVERED = "recovered", "Recovered"
    RESOLVED = "resolved", "Resolved"
    CLOSED = "closed", "Closed"
    DECLINED = "declined", "Declined"
    DUPLICATE = "duplicate", "Duplicate"


UNDER_WAY = (Status.OPEN, Status.CONTAINED, Status.RECOVERED)
"""Statuses that follow from the facts."""
ACTIVE = (Status.TRIAGE, *UNDER_WAY, Status.RESOLVED)
"""Statuses of an incident that still holds its sessions as evidence."""
ENDED = (Status.CLOSED, Status.DECLINED, Status.DUPLICATE)


class Step(TextChoices):
    """The six steps of the runbook (seed 2), in their order."""

    FREEZE = "freeze", "Stop the bleeding"
    RECONSTRUCT = "reconstruct", "Reconstruct"
    DIVERGENCE = "divergence", "Find the divergence"
    ROLLBACK = "rollback", "Roll back"
    PREVENT = "prevent", "Prevent recurrence"
    RESUME = "resume", "Resume"


class StepState(TextChoices):
    """What a step is for one session."""

    PENDING = "pending", "To do"
    DONE = "done", "Done"
    REGRESSED = "regressed", "No longer holds"
    NOT_REQUIRED = "not_required", "Not required"
    EXEMPT = "exempt", "Exempt"


SETTLED = (StepState.DONE, StepState.NOT_REQUIRED, StepState.EXEMPT)
"""States in which a step stands in nobody's way."""


class FailureMode(TextChoices):
    """The seven ways agents fail."""

    HALLUCINATION = "hallucination_corruption", "Hallucination corruption"
    CONTEXT_OVERFLOW = "context_overflow", "Context overflow"
    STATE_DRIFT = "state_drift", "State drift"
    TOOL_FAILURE = "tool_call_failure", "Tool call failure"
    INFINITE_LOOP = "infinite_loop", "Infinite loop"
    PERMISSION_VIOLATION = "permission_violation", "Permission violation"
    MEMORY_POLLUTION = "memory_pollution", "Memory pollution"


class Traffic(TextChoices):
    """Where new traffic goes while an agent is stopped."""

    REJECT = "reject", "is rejected"
    HUMAN_QUEUE = "human_queue", "goes to the human queue"
    SAFE_VERSION = "safe_version", "goes to a safe version of the agent"


class Disposition(TextChoices):
    """What became of an effect that a rollback does not undo."""

    REVERSED = "reversed", "Reversed"
    COMPENSATED = "compensated", "Compensated"
    ACCEPTED = "accepted", "Accepted as it is"
    IRREVERSIBLE = "irreversible", "Irreversible"


class FollowUpKind(TextChoices):
    """What a follow-up adds; the first four answer the four questions of seed 2, step 5."""

    CHECKPOINT = "checkpoint", "Checkpoint before the risky operation"
    VALIDATION = "validation", "Schema check on tool output"
    PERMISSION = "permission", "Allowlist or permission check"
    SYNC = "sync", "Sync with the source of truth"
    DEPLOY = "deploy", "Fix in the next deploy"
    OTHER = "other", "Other"


class FaultKind(TextChoices):
    """What a failure-injection scenario does to the fork."""

    STATE_PATCH = "state_patch", "Patch the state"
    TOOL_ERROR = "tool_error", "A tool fails"
    TOOL_EMPTY = "tool_empty", "A tool answers nothing"
    TOOL_GARBAGE = "tool_garbage", "A tool answers garbage"
    REPEAT_OUTPUT = "repeat_output", "The model repeats its output"
    DENY_PERMISSION = "deny_permission", "A permission is denied"


class Outcome(TextChoices):
    """How a scenario run ended: red if the predicate does not hold."""

    RED = "red", "Red: failed"
    GREEN = "green", "Green: passed"


class PinKind(TextChoices):
    """What is kept as evidence."""

    VERSION = "version", "Version"
    TRACE = "trace", "Trace"


class EventKind(TextChoices):
    """What a row of the incident's timeline tells."""

    FILED = "filed", "Filed"
    FILED_AGAIN = "filed_again", "Filed again"
    SESSION_ADDED = "session_added", "Session added"
    SEVERITY = "severity", "Severity"
    STATUS = "status", "Status"
    COMMANDER = "commander", "Commander"
    HELPER = "helper", "Helper"
    EDITED = "edited", "Edited"
    TRAFFIC = "traffic", "New traffic"
    FROZEN = "frozen", "Frozen"
    FREEZE_FAILED = "freeze_failed", "Freeze failed"
    PINNED = "pinned", "Pinned"
    DIVERGENCE = "divergence", "Divergence"
    ROLLED_BACK = "rolled_back", "Rolled back"
    EFFECT = "effect", "Effect"
    CORRECTED = "corrected", "Corrected"
    PREVENTION = "prevention", "Causes"
    FOLLOW_UP = "follow_up", "Follow-up"
    SCENARIO = "scenario", "Scenario"
    SCENARIO_RUN = "scenario_run", "Scenario run"
    RESUMED = "resumed", "Resumed"
    EXEMPTED = "exempted", "Exempted"
    OVERRIDDEN = "overridden", "Overridden"
    REVIEW = "review", "Review"
    MERGED = "merged", "Merged"
    REOPENED = "reopened", "Reopened"
    NOTE = "note", "Note"
    OUTSIDE = "outside", "Outside this incident"
    WRITE_REFUSED = "write_refused", "Writes refused"


class Rank(IntegerChoices):
    """Severities as numbers, for comparison: higher = worse."""

    S4 = 1
    S3 = 2
    S2 = 3
    S1 = 4
