"""From prevention to closing: what is learnt, what is missing, and the reports (contract 16)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from statebase_client.calls import JsonObject, Listing, Request, call, paged, path, reads
from statebase_client.incident_results import Gates, Incident, Scenario, TimelineEvent
from statebase_client.incidents._act import act
from statebase_client.results import Record


class LearningCalls:
    """The calls of both clients."""

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
        return act(incident_id, "prevention", body, idempotency_key)

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
        return act(incident_id, "followups", body, idempotency_key)

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
        return act(incident_id, "exempt", body, idempotency_key)

    @call
    def override(
        self, incident_id: str, gate: str, reason: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """Pass over a gate, named by the `code` of what is unmet; needs full scope."""
        return act(incident_id, "override", {"gate": gate, "reason": reason}, idempotency_key)

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
        return act(incident_id, "resolve", {}, idempotency_key)

    @call
    def close(self, incident_id: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """Nothing is left to do."""
        return act(incident_id, "close", {}, idempotency_key)

    @call
    def reopen(
        self, incident_id: str, reason: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """It is not over: a new episode."""
        return act(incident_id, "reopen", {"reason": reason}, idempotency_key)

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
        return act(incident_id, "decline", body, idempotency_key)

    @call
    def merge(self, incident_id: str, into: str, *, idempotency_key: str | None = None) -> Request[Incident]:
        """It is a duplicate of another."""
        return act(incident_id, "merge", {"into": into}, idempotency_key)

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
