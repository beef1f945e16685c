"""Webhooks, with the traces that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.enums import Action
from sessions_app.store import TraceDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.base import json
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
        return _as_made(made, by), True
    webhook = webhooks.create_webhook(url=url, events=events, secret=secret, by=by)
    _trace(Action.WEBHOOK_CREATED, webhook, by)
    remember(by, _made(webhook))
    return webhook, False


@action
def update_webhook(
    *,
    webhook_id: str,
    url: str | None = None,
    events: Sequence[str] | None = None,
    is_active: bool | None = None,
    by: Actor,
) -> tuple[Webhook, bool]:
    """Change what is given; returns it, and whether the same request had changed it before.

    Raises as `webhooks.actions.update_webhook` does.
    """
    if made := recall(by):
        return _as_made(made, by), True
    webhook = webhooks.update_webhook(
        webhook_id=webhook_id, url=url, events=events, is_active=is_active, by=by
    )
    given = {"url": url, "events": events, "is_active": is_active}
    _trace(Action.WEBHOOK_UPDATED, webhook, by, changed=[name for name in given if given[name] is not None])
    remember(by, _made(webhook))
    return webhook, False


@action
def delete_webhook(*, webhook_id: str, by: Actor) -> None:
    """End a webhook. Raises `WebhookNotFound`."""
    webhook = webhooks.delete_webhook(webhook_id=webhook_id, by=by)
    _trace(Action.WEBHOOK_DELETED, webhook, by)


_ANSWERED = ("url", "events_text", "is_active")


def _made(webhook: Webhook) -> dict[str, Any]:
    """What `remember` keeps: what the answer said, but for the secret, which stays in one place."""
    return {"webhook": webhook.public_id, **{name: getattr(webhook, name) for name in _ANSWERED}}


def _as_made(made: dict[str, Any], by: Actor) -> Webhook:
    webhook = webhook_for(by, made["webhook"])
    for name in _ANSWERED:
        setattr(webhook, name, made[name])
    return webhook


def _trace(name: Action, webhook: Webhook, by: Actor, **more: json.JsonValue) -> None:
    # The address without its path, which is often a secret, and which readers of traces need not know.
    scheme, host, *_ = urlsplit(webhook.url)
    details: json.JsonObject = {
        "address": f"{scheme}://{host}",
        "events": [*webhook.events],
        "is_active": webhook.is_active and webhook.deleted_at is None,
        **more,
    }
    store.append_project_trace(TraceDraft(name, "webhook", webhook.public_id, details), by)
