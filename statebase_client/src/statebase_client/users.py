"""`sb.users`: all data of one end user (contract 6.9)."""

from __future__ import annotations

from statebase_client.calls import AsyncGroup, Request, SyncGroup, call, nothing, path
from statebase_client.results import Record


class UserCalls:
    """The calls of both clients."""

    @call
    def export(self, user_id: str) -> Request[Record]:
        """Everything that is stored of this user."""
        return Request("GET", path("users", user_id, "export"), lambda answer: Record(answer.json()))

    @call
    def delete(self, user_id: str) -> Request[None]:
        """Erase this user's sessions, turns and memories; refused while one of the sessions is frozen."""
        return Request("DELETE", path("users", user_id), nothing)


class Users(UserCalls, SyncGroup):
    """Users of `StateBase`."""


class AsyncUsers(UserCalls, AsyncGroup):
    """Users of `AsyncStateBase`."""
