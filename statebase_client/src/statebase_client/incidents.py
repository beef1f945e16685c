"""`sb.incidents` and `sb.scenarios`: the recovery runbook (contract 16).

`incident_id` is the incident's name, such as `INCIDENT-12`. What is not met yet raises `GateUnmet`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from statebase_client.calls import (
    AsyncGroup,
    JsonObject,
    Listing,
    Moment,
    Request,
    SyncGroup,
    call,
    paged,
    path,
    reads,
)
from statebase_client.incident_results import Gates, Incident, Scenario, ScenarioRun, TimelineEvent
from statebase_client.results import Record


class IncidentCalls:
    """The calls of both clients, in the order of the runbook."""

    @call
    def create(
        self,
        title: str,
        severity: str | None = None,
        sessions: Sequence[str] | None = None,
        *,
        summary: str | None = None,
        failure_mode: str | None = None,
        dedup_key: str | None = None,
        no_session_reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """File an incident; S1 freezes all its sessions at once, no severity is triage.

        An open incident with the same `dedup_key` is returned instead, its `count` one higher.
        """
        body = {
            "title": title,
            "severity": severity,
            "sessions": sessions,
            "summary": summary,
            "failure_mode": failure_mode,
            "dedup_key": dedup_key,
            "no_session_reason": no_session_reason,
        }
        return Request("POST", path("incidents"), reads(Incident), body, idempotency_key=idempotency_key)

    @paged
    def list(
        self,
        *,
        status: str | None = None,
        severity: str | None = None,
        session_id: str | None = None,
        failure_mode: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int = 20,
        starting_after: str | None = None,
        order: str | None = None,
    ) -> Listing[Incident]:
        """Incidents, newest first."""
        query = {
            "status": status,
            "severity": severity,
            "session_id": session_id,
            "failure_mode": failure_mode,
            "created_after": created_after,
            "created_before": created_before,
            "limit": limit,
            "starting_after": starting_after,
            "order": order,
        }
        return Listing(path("incidents"), Incident.model_validate, query)

    @call
    def get(self, incident_id: str) -> Request[Incident]:
        """One incident with its evidence, prevention, review and earlier episodes."""
        return Request("GET", path("incidents", incident_id), reads(Incident))

    @call
    def add_session(
        self, incident_id: str, session_id: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """One more affected session."""
        return _act(incident_id, "sessions", {"session_id": session_id}, idempotency_key)

    @call
    def set_severity(
        self,
        incident_id: str,
        severity: str,
        reason: str | None = None,
        *,
        waived: Sequence[Mapping[str, str]] | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Raise the severity, or lower it with a reason; `waived`: duties that a lower one drops."""
        body = {"severity": severity, "reason": reason, "waived": waived}
        return _act(incident_id, "severity", body, idempotency_key)

    @call
    def set_commander(
        self, incident_id: str, name: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """Who leads."""
        return _act(incident_id, "commander", {"name": name}, idempotency_key)

    @call
    def freeze(
        self,
        incident_id: str,
        session_id: str | None = None,
        reason: str | None = None,
        *,
        traffic: str | None = None,
        traffic_note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Freeze one session of the incident, or all.

        `traffic` (`reject`, `human_queue`, `safe_version`) tells refused agents where new traffic goes.
        """
        body = {
            "session_id": session_id,
            "reason": reason,
            "traffic": traffic,
            "traffic_note": traffic_note,
        }
        return _act(incident_id, "freeze", body, idempotency_key)

    @call
    def pin(
        self,
        incident_id: str,
        session_id: str,
        versions: Sequence[int] | None = None,
        traces: Sequence[str] | None = None,
        note: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Keep versions and traces of a session as evidence."""
        body = {"session_id": session_id, "versions": versions, "traces": traces, "note": note}
        return _act(incident_id, "pin", body, idempotency_key)

    @call
    def add_note(
        self,
        incident_id: str,
        text: str,
        occurred_at: Moment | None = None,
        *,
        session_id: str | None = None,
        supersedes: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """A row of the timeline; `supersedes` is the sequence of a row that it corrects."""
        body = {
            "text": text,
            "occurred_at": occurred_at,
            "session_id": session_id,
            "supersedes": supersedes,
        }
        return _act(incident_id, "note", body, idempotency_key)

    @call
    def set_divergence(
        self,
        incident_id: str,
        session_id: str,
        divergence_version: int,
        last_good_version: int,
        *,
        found_how: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Where the state stopped matching reality, and the last version before that was good."""
        body = {
            "session_id": session_id,
            "divergence_version": divergence_version,
            "last_good_version": last_good_version,
            "found_how": found_how,
        }
        return _act(incident_id, "divergence", body, idempotency_key)

    @call
    def rollback(
        self,
        incident_id: str,
        session_id: str,
        version: int | None = None,
        *,
        expected_version: int | None = None,
        confirm: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Roll a session back, to its last good version by default.

        `confirm` where another open incident affects the session.
        """
        body = {
            "session_id": session_id,
            "version": version,
            "expected_version": expected_version,
            "confirm": confirm,
        }
        return _act(incident_id, "rollback", body, idempotency_key)

    @call
    def add_correction(
        self,
        incident_id: str,
        session_id: str,
        text: str,
        version: int | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """What was put right in place of a rollback (S3), and in which version."""
        body = {"session_id": session_id, "version": version, "text": text}
        return _act(incident_id, "correction", body, idempotency_key)

    @call
    def decide_effect(
        self,
        incident_id: str,
        session_id: str,
        turn_id: str,
        disposition: str,
        note: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """What became of a tool call that the rollback does not take back.

        `disposition` is `reversed`, `compensated`, `accepted` or `irreversible`.
        """
        body = {"session_id": session_id, "turn_id": turn_id, "disposition": disposition, "note": note}
        return _act(incident_id, "effects", body, idempotency_key)

    @call
    def set_prevention(
        self,
        incident_id: str,
        text: str,
        *,
        missing_checkpoint: bool | None = None,
        no_validation: bool | None = None,
        no_permission_check: bool | None = None,
        state_drift: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Step 5: what enabled the failure."""
        body = {
            "text": text,
            "missing_checkpoint": missing_checkpoint,
            "no_validation": no_validation,
            "no_permission_check": no_permission_check,
            "state_drift": state_drift,
        }
        return _act(incident_id, "prevention", body, idempotency_key)

    @call
    def add_follow_up(
        self,
        incident_id: str,
        text: str,
        *,
        owner: str | None = None,
        due: date | str | None = None,
        kind: str | None = None,
        blocks: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Something that has to be done; one that `blocks`, before the incident is resolved."""
        body = {"text": text, "owner": owner, "due": due, "kind": kind, "blocks": blocks}
        return _act(incident_id, "followups", body, idempotency_key)

    @call
    def assign_follow_up(
        self,
        incident_id: str,
        number: int,
        owner: str,
        due: date | str,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Who does it, and until when."""
        body = {"owner": owner, "due": due}
        address = path("incidents", incident_id, "followups", number)
        return Request("PATCH", address, reads(Incident), body, idempotency_key=idempotency_key)

    @call
    def finish_follow_up(
        self, incident_id: str, number: int, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """That is done."""
        address = path("incidents", incident_id, "followups", number, "done")
        return Request("POST", address, reads(Incident), {}, idempotency_key=idempotency_key)

    @call
    def resume(
        self,
        incident_id: str,
        session_id: str | None = None,
        reason: str | None = None,
        *,
        confirm: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """Let one session of the incident go on, or all."""
        body = {"session_id": session_id, "reason": reason, "confirm": confirm}
        return _act(incident_id, "resume", body, idempotency_key)

    @call
    def exempt(
        self,
        incident_id: str,
        session_id: str,
        step: str,
        reason: str,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """A step of the runbook that a session need not do, and why."""
        body = {"session_id": session_id, "step": step, "reason": reason}
        return _act(incident_id, "exempt", body, idempotency_key)

    @call
    def override(
        self, incident_id: str, gate: str, reason: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """Pass over a gate, named by the `code` of what is unmet; needs full scope."""
        return _act(incident_id, "override", {"gate": gate, "reason": reason}, idempotency_key)

    @call
    def update_review(
        self,
        incident_id: str,
        *,
        failure_mode: str | None = None,
        missing_checkpoint: Mapping[str, Any] | None = None,
        lessons: str | None = None,
        scenario: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """The post-incident review.

        `missing_checkpoint`: `{"session_id", "after_version"}` or `{"none": True, "why"}`; `scenario`: the id
        of one of the incident's scenarios.
        """
        body = {
            "failure_mode": failure_mode,
            "missing_checkpoint": missing_checkpoint,
            "lessons": lessons,
            "scenario": scenario,
        }
        address = path("incidents", incident_id, "review")
        return Request("PATCH", address, reads(Incident), body, idempotency_key=idempotency_key)

    @call
    def approve_review(self, incident_id: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """The review is good."""
        address = path("incidents", incident_id, "review", "approve")
        return Request("POST", address, reads(Incident), {}, idempotency_key=idempotency_key)

    @call
    def add_scenario(
        self,
        incident_id: str,
        name: str,
        session_id: str,
        fork_version: int,
        fault: JsonObject,
        predicate: str,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Scenario]:
        """Make the failure a test: fork there, inject `fault`, and `predicate` (JMESPath) must hold."""
        body = {
            "name": name,
            "session_id": session_id,
            "fork_version": fork_version,
            "fault": fault,
            "predicate": predicate,
        }
        address = path("incidents", incident_id, "scenarios")
        return Request("POST", address, reads(Scenario), body, idempotency_key=idempotency_key)

    @paged
    def list_scenarios(
        self, incident_id: str, limit: int = 20, starting_after: str | None = None
    ) -> Listing[Scenario]:
        """The incident's scenarios."""
        query = {"limit": limit, "starting_after": starting_after}
        return Listing(path("incidents", incident_id, "scenarios"), Scenario.model_validate, query)

    @call
    def get_gates(self, incident_id: str, to: str = "closed") -> Request[Gates]:
        """What is missing before the incident may be `resolved` or `closed`."""
        address = path("incidents", incident_id, "gates")
        return Request("GET", address, reads(Gates), query={"to": to})

    @call
    def resolve(self, incident_id: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """The sessions are well again."""
        return _act(incident_id, "resolve", {}, idempotency_key)

    @call
    def close(self, incident_id: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """Nothing is left to do."""
        return _act(incident_id, "close", {}, idempotency_key)

    @call
    def reopen(
        self, incident_id: str, reason: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """It is not over: a new episode."""
        return _act(incident_id, "reopen", {"reason": reason}, idempotency_key)

    @call
    def decline(
        self,
        incident_id: str,
        reason: str,
        *,
        resume_sessions: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Incident]:
        """It is no incident; `resume_sessions` lets its frozen sessions go on."""
        body = {"reason": reason, "resume_sessions": resume_sessions}
        return _act(incident_id, "decline", body, idempotency_key)

    @call
    def merge(self, incident_id: str, into: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """It is a duplicate of another."""
        return _act(incident_id, "merge", {"into": into}, idempotency_key)

    @paged
    def list_timeline(
        self, incident_id: str, limit: int = 100, starting_after: str | None = None
    ) -> Listing[TimelineEvent]:
        """What happened, oldest first."""
        query = {"limit": limit, "starting_after": starting_after}
        return Listing(path("incidents", incident_id, "timeline"), TimelineEvent.model_validate, query)

    @call
    def get_postmortem(self, incident_id: str) -> Request[str]:
        """The report, as Markdown."""
        return Request("GET", path("incidents", incident_id, "postmortem.md"), lambda answer: answer.text)

    @call
    def get_bundle(self, incident_id: str) -> Request[Record]:
        """All evidence in one document."""
        address = path("incidents", incident_id, "bundle.json")
        return Request("GET", address, lambda answer: Record(answer.json()))


class ScenarioCalls:
    """The calls of both clients."""

    @paged
    def list(
        self, *, status: str | None = None, limit: int = 20, starting_after: str | None = None
    ) -> Listing[Scenario]:
        """Scenarios of all incidents; `status="waiting"` for those that wait for a run of an agent."""
        query = {"status": status, "limit": limit, "starting_after": starting_after}
        return Listing(path("scenarios"), Scenario.model_validate, query)

    @call
    def get(self, scenario_id: str) -> Request[Scenario]:
        """One scenario with its runs."""
        return Request("GET", path("scenarios", scenario_id), reads(Scenario))

    @call
    def request_run(self, scenario_id: str, *, idempotency_key: str | None = None) -> Request[ScenarioRun]:
        """A fresh fork with the fault in it, for an agent to run on."""
        address = path("scenarios", scenario_id, "fork")
        return Request("POST", address, reads(ScenarioRun), {}, idempotency_key=idempotency_key)

    @call
    def report_run(
        self,
        scenario_id: str,
        session_id: str,
        agent_version: str,
        outcome: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[ScenarioRun]:
        """An agent has run on the fork `session_id`; the state there decides between red and green."""
        body = {"session_id": session_id, "agent_version": agent_version, "outcome": outcome}
        address = path("scenarios", scenario_id, "runs")
        return Request("POST", address, reads(ScenarioRun), body, idempotency_key=idempotency_key)


class Incidents(IncidentCalls, SyncGroup):
    """Incidents of `StateBase`."""


class AsyncIncidents(IncidentCalls, AsyncGroup):
    """Incidents of `AsyncStateBase`."""


class Scenarios(ScenarioCalls, SyncGroup):
    """Scenarios of `StateBase`."""


class AsyncScenarios(ScenarioCalls, AsyncGroup):
    """Scenarios of `AsyncStateBase`."""


def _act(
    incident_id: str, what: str, body: Mapping[str, Any], idempotency_key: str | None
) -> Request[Incident]:
    address = path("incidents", incident_id, what)
    return Request("POST", address, reads(Incident), body, idempotency_key=idempotency_key)
