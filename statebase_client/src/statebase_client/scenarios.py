"""`sb.scenarios`: failures made into tests (contract 16)."""

from __future__ import annotations

from statebase_client.calls import AsyncGroup, Listing, Request, SyncGroup, call, paged, path, reads
from statebase_client.incident_results import Scenario, ScenarioRun


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


class Scenarios(ScenarioCalls, SyncGroup):
    """Scenarios of `StateBase`."""


class AsyncScenarios(ScenarioCalls, AsyncGroup):
    """Scenarios of `AsyncStateBase`."""
