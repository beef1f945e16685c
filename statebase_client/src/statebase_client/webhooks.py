"""`sb.webhooks`: addresses that are told of events (contract 6.9, 11)."""

from __future__ import annotations

from collections.abc import Sequence

from statebase_client.calls import (
    AsyncGroup,
    Listing,
    Request,
    SyncGroup,
    call,
    nothing,
    paged,
    path,
    reads,
)
from statebase_client.results import Webhook


class WebhookCalls:
    """The calls of both clients; they need a key with `keys:manage`."""

    @call
    def create(
        self,
        url: str,
        events: Sequence[str],
        secret: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[Webhook]:
        """Tell an address of events, such as `session.frozen`; only this answer tells `secret`.

        Without one of your own the server makes it; what is sent is signed with it (`X-StateBase-Signature`).
        """
        body = {"url": url, "events": events, "secret": secret}
        return Request("POST", path("webhooks"), reads(Webhook), body, idempotency_key=idempotency_key)

    @paged
    def list(self, limit: int = 20, starting_after: str | None = None) -> Listing[Webhook]:
        """Webhooks, newest first."""
        query = {"limit": limit, "starting_after": starting_after}
        return Listing(path("webhooks"), Webhook.model_validate, query)

    @call
    def get(self, webhook_id: str) -> Request[Webhook]:
        """One webhook."""
        return Request("GET", path("webhooks", webhook_id), reads(Webhook))

    @call
    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        is_active: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Webhook]:
        """Change what is given; one that is not active is told of nothing."""
        body = {"url": url, "events": events, "is_active": is_active}
        address = path("webhooks", webhook_id)
        return Request("PATCH", address, reads(Webhook), body, idempotency_key=idempotency_key)

    @call
    def delete(self, webhook_id: str) -> Request[None]:
        """End a webhook: nothing is sent to it any more."""
        return Request("DELETE", path("webhooks", webhook_id), nothing)


class Webhooks(WebhookCalls, SyncGroup):
    """Webhooks of `StateBase`."""


class AsyncWebhooks(WebhookCalls, AsyncGroup):
    """Webhooks of `AsyncStateBase`."""
