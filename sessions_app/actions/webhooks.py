"""Webhooks, with the traces that they leave."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.enums import Action
from sessions_app.store import TraceDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.base.json import JsonObject
from statebase_site.webhooks import actions as webhooks
from statebase_site.webhooks.models import Webhook
from statebase_site.webhooks.queries import webhook_for


@action
def create_webhook(
    *, url: str, events: Sequence[str], secret: str | None = None, by: Actor
) -> tuple[Webhook, bool]:
    """Make a webhook; returns it, and whether the same request had made it before.

    Raises as `webhooks.actions.create_webhook` does, and `WebhookNotFound` where it was deleted since.
    """
    if made := recall(by):
        return webhook_for(by, made["webhook"]), True
    webhook = webhooks.create_webhook(url=url, events=events, secret=secret, by=by)
    _trace(Action.WEBHOOK_CREATED, webhook, by)
    remember(by, {"webhook": webhook.public_id})
    return webhook, False


@action
def update_webhook(
    *,
    webhook_id: str,
    url: str | None = None,
    events: Sequence[str] | None = None,
    is_active: bool | None = None,
    by: Actor,
) -> Webhook:
    """Change what is given. Raises as `webhooks.actions.update_webhook` does."""
    if made := recall(by):
        return webhook_for(by, made["webhook"])
    webhook = webhooks.update_webhook(
        webhook_id=webhook_id, url=url, events=events, is_active=is_active, by=by
    )
    _trace(Action.WEBHOOK_UPDATED, webhook, by)
    remember(by, {"webhook": webhook.public_id})
    return webhook


@action
def delete_webhook(*, webhook_id: str, by: Actor) -> None:
    """End a webhook. Raises `WebhookNotFound`."""
    webhook = webhooks.delete_webhook(webhook_id=webhook_id, by=by)
    _trace(Action.WEBHOOK_DELETED, webhook, by)


def _trace(name: Action, webhook: Webhook, by: Actor) -> None:
    details: JsonObject = {
        "url": webhook.url,
        "events": [*webhook.events],
        "is_active": webhook.is_active and webhook.deleted_at is None,
    }
    store.append_project_trace(TraceDraft(name, "webhook", webhook.public_id, details), by)
