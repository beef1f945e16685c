"""From filing to resuming: what stops and repairs (contract 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from statebase_client.calls import Listing, Moment, Request, call, paged, path, reads
from statebase_client.incident_results import Incident
from statebase_client.incidents._act import act


class RecoveryCalls:
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
        return act(incident_id, "sessions", {"session_id": session_id}, idempotency_key)

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
        return act(incident_id, "severity", body, idempotency_key)

    @call
    def set_commander(
        self, incident_id: str, name: str, *, idempotency_key: str | None = None
    ) -> Request[Incident]:
        """Who leads."""
        return act(incident_id, "commander", {"name": name}, idempotency_key)

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
        return act(incident_id, "freeze", body, idempotency_key)

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
        return act(incident_id, "pin", body, idempotency_key)

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
        return act(incident_id, "note", body, idempotency_key)

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
        return act(incident_id, "divergence", body, idempotency_key)

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
        return act(incident_id, "rollback", body, idempotency_key)

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
        return act(incident_id, "correction", body, idempotency_key)

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
        return act(incident_id, "effects", body, idempotency_key)

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
        return act(incident_id, "resume", body, idempotency_key)
