"""`sb.sessions`: sessions, their states, versions and turns (contract 6.2 to 6.4, 15)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from statebase_client.calls import (
    AsyncGroup,
    JsonObject,
    Listing,
    Moment,
    Request,
    SyncGroup,
    call,
    gathered,
    nothing,
    paged,
    path,
    reads,
)
from statebase_client.official import AsyncSessionsClient, SessionsClient
from statebase_client.results import (
    STATES_AT_ONCE,
    Context,
    Difference,
    HistoryItem,
    RestoredState,
    RollbackPreview,
    Session,
    State,
    StatesOnAccess,
    StateVersion,
    Turn,
    WrittenState,
)

_MOST_VERSIONS = 100  # of a page


class SessionCalls:
    """The calls of both clients; `version=-n` means n versions before the current one."""

    @call
    def create(
        self,
        agent_id: str,
        user_id: str | None = None,
        metadata: JsonObject | None = None,
        initial_state: JsonObject | None = None,
        ttl_seconds: int | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Session]:
        """Make a session; `initial_state` is its version 0."""
        body = {
            "agent_id": agent_id,
            "user_id": user_id,
            "metadata": metadata,
            "initial_state": initial_state,
            "ttl_seconds": ttl_seconds,
        }
        return Request("POST", path("sessions"), reads(Session), body, idempotency_key=idempotency_key)

    @call
    def get(self, session_id: str) -> Request[Session]:
        """One session with its current state."""
        return Request("GET", path("sessions", session_id), reads(Session))

    @paged
    def list(
        self,
        agent_id: str | None = None,
        limit: int = 20,
        starting_after: str | None = None,
        created_after: Moment | None = None,
        *,
        created_before: Moment | None = None,
        user_id: str | None = None,
        metadata: JsonObject | None = None,
        frozen: bool | None = None,
        order: str | None = None,
    ) -> Listing[Session]:
        """Sessions, newest first; `metadata` are pairs that a session's metadata must contain."""
        query = {
            "agent_id": agent_id,
            "limit": limit,
            "starting_after": starting_after,
            "created_after": created_after,
            "created_before": created_before,
            "user_id": user_id,
            "metadata": None if metadata is None else json.dumps(metadata),
            "frozen": frozen,
            "order": order,
        }
        return Listing(path("sessions"), Session.model_validate, query)

    @call
    def update(
        self,
        session_id: str,
        metadata: JsonObject | None = None,
        ttl_seconds: int | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Session]:
        """Merge metadata, or give the session a new life of `ttl_seconds` from now."""
        body = {"metadata": metadata, "ttl_seconds": ttl_seconds}
        address = path("sessions", session_id)
        return Request("PATCH", address, reads(Session), body, idempotency_key=idempotency_key)

    @call
    def delete(self, session_id: str) -> Request[None]:
        """Delete a session; refused while it is frozen or held as evidence."""
        return Request("DELETE", path("sessions", session_id), nothing)

    @call
    def get_context(
        self, session_id: str, query: str | None = None, memory_limit: int = 5, turn_limit: int = 5
    ) -> Request[Context]:
        """State, memories and latest turns for the agent's next step."""
        body = {"query": query, "memory_limit": memory_limit, "turn_limit": turn_limit}
        address = path("sessions", session_id, "context")
        return Request("POST", address, lambda answer: Context.of(answer.json()), body)

    @call
    def add_turn(
        self,
        session_id: str,
        input: Any,
        output: Any,
        metadata: JsonObject | None = None,
        reasoning: str | None = None,
        *,
        state_before: JsonObject | None = None,
        state_after: JsonObject | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Turn]:
        """Log a turn. `state_after`, the whole state after it, makes a version where it differs."""
        body = {
            "input": input,
            "output": output,
            "metadata": metadata,
            "reasoning": reasoning,
            "state_before": state_before,
            "state_after": state_after,
            "expected_version": expected_version,
        }
        return _turn(session_id, body, idempotency_key)

    @call
    def ingest(
        self,
        session_id: str,
        user_input: str,
        agent_output: str,
        metadata: JsonObject | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Turn]:
        """Log what the user said and the agent answered: `add_turn` by the name of newer official SDKs."""
        body = {"input": user_input, "output": agent_output, "metadata": metadata}
        return _turn(session_id, body, idempotency_key)

    @call
    def add_tool_call(
        self,
        session_id: str,
        tool_name: str,
        arguments: JsonObject,
        output: Any,
        tool_call_id: str | None = None,
        reasoning: str | None = None,
        metadata: JsonObject | None = None,
        *,
        state_before: JsonObject | None = None,
        state_after: JsonObject | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Turn]:
        """Log a tool call as a turn, in the form in which the official SDK does."""
        tool = {"name": tool_name, "arguments": arguments, "id": tool_call_id}
        asked = f"Call tool {tool_name} with {arguments}"
        body = {
            "input": {"type": "tool_call", "content": asked, "tool_metadata": tool},
            "output": {"type": "tool_response", "content": str(output), "output": output},
            "metadata": metadata,
            "reasoning": reasoning,
            "state_before": state_before,
            "state_after": state_after,
            "expected_version": expected_version,
        }
        return _turn(session_id, body, idempotency_key)

    @paged
    def list_turns(
        self,
        session_id: str,
        limit: int = 20,
        starting_after: str | None = None,
        *,
        order: str | None = None,
    ) -> Listing[Turn]:
        """Turns, newest first; `order="asc"` for a replay."""
        query = {"limit": limit, "starting_after": starting_after, "order": order}
        return Listing(path("sessions", session_id, "turns"), Turn.model_validate, query)

    get_turns = list_turns

    @call
    def get_turn(self, turn_id: str, session_id: str | None = None) -> Request[Turn]:
        """One turn with its states; with `session_id` only where it is a turn of that session."""
        owner = ("sessions", session_id) if session_id is not None else ()
        return Request("GET", path(*owner, "turns", turn_id), reads(Turn))

    @call
    def get_state(self, session_id: str, *, version: int | None = None) -> Request[State]:
        """The state, the current one or that of a version."""
        address = path("sessions", session_id, "state")
        return Request("GET", address, reads(State), query={"version": version})

    @call
    def update_state(
        self,
        session_id: str,
        state: JsonObject,
        reasoning: str | None = None,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[WrittenState]:
        """Merge top-level keys into the state: one new version.

        `{"incident": True, "frozen": True}` freezes the session, `{"incident": False, "frozen": False}` alone
        resumes it.
        """
        body = {"state": state, "reasoning": reasoning, "expected_version": expected_version}
        address = path("sessions", session_id, "state")
        return Request("PATCH", address, reads(WrittenState), body, idempotency_key=idempotency_key)

    @call
    def replace_state(
        self,
        session_id: str,
        state: JsonObject,
        reasoning: str | None = None,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[WrittenState]:
        """Make `state` the whole state: one new version."""
        body = {"state": state, "reasoning": reasoning, "expected_version": expected_version}
        address = path("sessions", session_id, "state")
        return Request("PUT", address, reads(WrittenState), body, idempotency_key=idempotency_key)

    @call
    def rollback(
        self,
        session_id: str,
        version: int,
        reason: str | None = None,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Request[RestoredState]:
        """Make a new version out of an earlier one; nothing is removed."""
        body = {"version": version, "reason": reason, "expected_version": expected_version}
        address = path("sessions", session_id, "state", "rollback")
        return Request("POST", address, reads(RestoredState), body, idempotency_key=idempotency_key)

    @call
    def preview_rollback(self, session_id: str, version: int) -> Request[RollbackPreview]:
        """What a rollback would undo, and which effects it would not; changes nothing."""
        address = path("sessions", session_id, "rollback", "preview")
        return Request("GET", address, reads(RollbackPreview), query={"version": version})

    @call
    def fork(
        self,
        session_id: str,
        version: int | None = None,
        *,
        new_agent_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Session]:
        """A new session from a version of this one, the current one by default."""
        body = {"version": version, "new_agent_id": new_agent_id}
        address = path("sessions", session_id, "fork")
        return Request("POST", address, reads(Session), body, idempotency_key=idempotency_key)

    @call
    def freeze(
        self, session_id: str, reason: str | None = None, *, idempotency_key: str | None = None
    ) -> Request[WrittenState]:
        """Stop the agent: from the answer on every other write is refused with `SessionFrozen`."""
        address = path("sessions", session_id, "freeze")
        body = {"reason": reason}
        return Request("POST", address, reads(WrittenState), body, idempotency_key=idempotency_key)

    @call
    def resume(
        self, session_id: str, reason: str | None = None, *, idempotency_key: str | None = None
    ) -> Request[WrittenState]:
        """Let a frozen session go on; needs a key with `incident:manage` or full scope."""
        address = path("sessions", session_id, "resume")
        body = {"reason": reason}
        return Request("POST", address, reads(WrittenState), body, idempotency_key=idempotency_key)

    @gathered
    def list_versions(self, session_id: str, *, since_version: int | None = None) -> Listing[StateVersion]:
        """All versions, oldest first, so that the index is the version; `since_version`: only later ones.

        `StateBase` loads a state when it is first looked at; `AsyncStateBase` leaves the states out.
        """
        read = self._reader_of_versions(session_id) or StateVersion.model_validate
        return _versions(session_id, read, since_version, include_state=False)

    @gathered
    def list_state_versions(
        self, session_id: str, *, since_version: int | None = None
    ) -> Listing[StateVersion]:
        """All versions, oldest first, with their states.

        `StateBase` loads a state when it is first looked at; `AsyncStateBase` loads all of them now.
        """
        read = self._reader_of_versions(session_id)
        if read is not None:
            return _versions(session_id, read, since_version, include_state=False)
        return _versions(session_id, StateVersion.model_validate, since_version, include_state=True)

    def _reader_of_versions(self, session_id: str) -> Callable[[JsonObject], StateVersion] | None:
        """Makes versions whose states are loaded on access; None where an attribute can't wait for them."""
        return None

    @call
    def get_version(self, session_id: str, version: int) -> Request[StateVersion]:
        """One version with its state."""
        return Request("GET", path("sessions", session_id, "versions", version), reads(StateVersion))

    @paged
    def get_history(
        self, session_id: str, limit: int = 50, *, include_state: bool = True, include_traces: bool = True
    ) -> Listing[HistoryItem]:
        """Turns, versions and traces in one timeline, oldest first."""
        query = {"limit": limit, "include_state": include_state, "include_traces": include_traces}
        return Listing(path("sessions", session_id, "history"), HistoryItem.model_validate, query)

    @call
    def diff(self, session_id: str, left: int | None = None, right: int | None = None) -> Request[Difference]:
        """How two versions differ; `right` is the current one by default, `left` the one before `right`."""
        address = path("sessions", session_id, "diff")
        return Request("GET", address, reads(Difference), query={"left": left, "right": right})


class Sessions(SessionCalls, SyncGroup, SessionsClient):
    """Sessions of `StateBase`."""

    def _reader_of_versions(self, session_id: str) -> Callable[[JsonObject], StateVersion]:
        def load_after(number: int) -> list[StateVersion]:
            listing = _versions(session_id, StateVersion.model_validate, number, include_state=True)
            return self._page(replace(listing, query={**listing.query, "limit": STATES_AT_ONCE}))

        return StatesOnAccess(load_after, lambda number: self.get_version(session_id, number)).expect


class AsyncSessions(SessionCalls, AsyncGroup, AsyncSessionsClient):
    """Sessions of `AsyncStateBase`."""


def _turn(session_id: str, body: JsonObject, idempotency_key: str | None) -> Request[Turn]:
    address = path("sessions", session_id, "turns")
    return Request("POST", address, reads(Turn), body, idempotency_key=idempotency_key)


def _versions(
    session_id: str,
    read: Callable[[JsonObject], StateVersion],
    since_version: int | None,
    *,
    include_state: bool,
) -> Listing[StateVersion]:
    query = {"limit": _MOST_VERSIONS, "since_version": since_version, "include_state": include_state}
    return Listing(path("sessions", session_id, "versions"), read, query)
