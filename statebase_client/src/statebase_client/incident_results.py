"""What calls about incidents return (contract 16)."""

from __future__ import annotations

from typing import Any

from statebase_client.results import Result

JsonObject = dict[str, Any]


class Steps(Result):
    """The steps of the runbook: each `pending`, `done`, `regressed`, `not_required` or `exempt`."""

    freeze: str
    reconstruct: str
    divergence: str
    rollback: str
    prevent: str
    resume: str


class AffectedSession(Result):
    """A session of an incident."""

    session_id: str
    frozen: bool
    divergence_version: int | None = None
    last_good_version: int | None = None
    steps: Steps


class Metrics(Result):
    """Seconds from filing to each success, and how much went wrong; None where it was not recorded."""

    time_to_freeze_s: float | None = None
    time_to_divergence_s: float | None = None
    time_to_rollback_s: float | None = None
    time_to_resume_s: float | None = None
    time_to_resolve_s: float | None = None
    time_to_close_s: float | None = None
    bad_versions: int | None = None
    tool_calls: int | None = None


class Unmet(Result):
    """One thing that is missing; `code` is what an override names."""

    code: str
    session_id: str | None = None
    message: str


class Gates(Result):
    """What is missing before an incident may be resolved or closed."""

    object: str = "gates"
    to: str
    met: bool
    unmet: list[Unmet]


class TimelineEvent(Result):
    """A row of an incident's timeline."""

    object: str = "incident_event"
    id: str
    sequence: int
    kind: str
    text: str
    details: JsonObject
    actor: str
    session_id: str | None = None
    version: int | None = None
    trace_id: str | None = None
    occurred_at: str
    created_at: str


class ScenarioRun(Result):
    """A run of a scenario: waiting for an agent, or red or green."""

    object: str = "scenario_run"
    scenario_id: str
    session_id: str
    agent_version: str | None = None
    outcome: str | None = None


class Scenario(Result):
    """A fault to inject in a fork, and what must hold afterwards."""

    object: str = "scenario"
    id: str
    name: str
    session_id: str
    fork_version: int
    fault: JsonObject
    predicate: str
    status: str
    runs: list[ScenarioRun]


class FollowUp(Result):
    """Something that has to be done; `n` is its number in the incident."""

    object: str = "follow_up"
    n: int
    text: str
    kind: str | None = None
    owner: str | None = None
    due: str | None = None
    blocks: bool
    done: bool


class Incident(Result):
    """An incident, named such as `INCIDENT-12`; its status follows the facts of its sessions.

    Lists leave out follow-ups, scenarios, prevention and review.
    """

    object: str = "incident"
    id: str
    title: str
    summary: str | None = None
    severity: str | None = None
    peak_severity: str | None = None
    status: str
    failure_mode: str | None = None
    commander: str | None = None
    episode: int
    created_at: str
    updated_at: str
    resolved_at: str | None = None
    closed_at: str | None = None
    duplicate_of: str | None = None
    dedup_key: str | None = None
    count: int
    sessions: list[AffectedSession]
    metrics: Metrics
    follow_ups: list[FollowUp] = []
    scenarios: list[Scenario] = []
    prevention: JsonObject | None = None
    review: JsonObject | None = None
