"""`sb.keys`: API keys (contract 6.8)."""

from __future__ import annotations

from collections.abc import Sequence

from statebase_client.calls import (
    AsyncGroup,
    Listing,
    Moment,
    Request,
    SyncGroup,
    call,
    nothing,
    paged,
    path,
    reads,
)
from statebase_client.results import Key


class KeyCalls:
    """The calls of both clients; they need a key with `keys:manage`."""

    @call
    def create(
        self,
        name: str,
        *,
        scopes: Sequence[str] | None = None,
        rate_limit: int | None = None,
        expires_days: int | None = None,
        expires_at: Moment | None = None,
        owner_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Key]:
        """Make a key, with full scope where no `scopes` are given; only this answer tells `full_key`."""
        body = {
            "name": name,
            "scopes": scopes,
            "rate_limit": rate_limit,
            "expires_days": expires_days,
            "expires_at": expires_at,
            "owner_id": owner_id,
        }
        return Request("POST", path("keys"), reads(Key), body, idempotency_key=idempotency_key)

    @paged
    def list(self, limit: int = 20, starting_after: str | None = None) -> Listing[Key]:
        """Keys, newest first."""
        query = {"limit": limit, "starting_after": starting_after}
        return Listing(path("keys"), Key.model_validate, query)

    @call
    def revoke(self, key_id: str) -> Request[None]:
        """End a key: it then answers 401."""
        return Request("DELETE", path("keys", key_id), nothing)


class Keys(KeyCalls, SyncGroup):
    """Keys of `StateBase`."""


class AsyncKeys(KeyCalls, AsyncGroup):
    """Keys of `AsyncStateBase`."""
