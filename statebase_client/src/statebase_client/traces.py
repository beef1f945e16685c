"""`sb.traces`: the audit trail (contract 6.6)."""

from __future__ import annotations

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
from statebase_client.results import Trace


class TraceCalls:
    """The calls of both clients."""

    @paged
    def list(
        self,
        session_id: str | None = None,
        *,
        action: str | None = None,
        user_id: str | None = None,
        resource_type: str | None = None,
        resource_id: str | None = None,
        created_after: Moment | None = None,
        created_before: Moment | None = None,
        limit: int = 100,
        starting_after: str | None = None,
        order: str | None = None,
    ) -> Listing[Trace]:
        """What was done, newest first."""
        query = {
            "session_id": session_id,
            "action": action,
            "user_id": user_id,
            "resource_type": resource_type,
            "resource_id": resource_id,
            "created_after": created_after,
            "created_before": created_before,
            "limit": limit,
            "starting_after": starting_after,
            "order": order,
        }
        return Listing(path("traces"), Trace.model_validate, query)

    @call
    def get(self, trace_id: str) -> Request[Trace]:
        """One trace with its full details."""
        return Request("GET", path("traces", trace_id), reads(Trace))

    @call
    def create(
        self,
        action: str,
        session_id: str | None = None,
        details: JsonObject | None = None,
        metadata: JsonObject | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Trace]:
        """Add a note of your own, such as `tool_call.failed`; allowed while the session is frozen."""
        body = {"action": action, "session_id": session_id, "details": details, "metadata": metadata}
        return Request("POST", path("traces"), reads(Trace), body, idempotency_key=idempotency_key)


class Traces(TraceCalls, SyncGroup):
    """Traces of `StateBase`."""


class AsyncTraces(TraceCalls, AsyncGroup):
    """Traces of `AsyncStateBase`."""
