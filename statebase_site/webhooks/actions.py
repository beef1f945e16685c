"""Every write of webhooks that a person or key asks for.

Webhooks belong in the audit trail: they are called through `sessions_app.actions`, which writes the traces.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Q

from statebase_site.access.actor import Actor
from statebase_site.access.scopes import KEYS_MANAGE
from statebase_site.base import clock, json
from statebase_site.base.errors import InvalidInput
from statebase_site.base.ids import findable, new_id
from statebase_site.webhooks.addresses import check_url
from statebase_site.webhooks.errors import CannotSendAgain, WebhookNotFound
from statebase_site.webhooks.events import TEST, Event
from statebase_site.webhooks.models import LOST_AFTER, Delivery, DeliveryState, Webhook
from statebase_site.webhooks.queries import webhooks_of

WEBHOOKS_MOST = 50
"""Webhooks of a project."""
SECRET_LEAST, SECRET_MOST = 8, 255
"""Characters of a secret that the client chooses."""


def create_webhook(*, url: str, events: Sequence[str], secret: str | None = None, by: Actor) -> Webhook:
    """Make a webhook; without a `secret` it gets one. Raises `InvalidInput`, `AddressRefused`."""
    by.require(KEYS_MANAGE, to="manage webhooks")
    url, events_text, secret = _checked_url(url), _checked_events(events), _checked_secret(secret)
    if webhooks_of(by.project).count() >= WEBHOOKS_MOST:
        raise InvalidInput(
            f"A project has at most {WEBHOOKS_MOST} webhooks.",
            suggestion="Delete one that nobody needs, or let one address hear of more events.",
        )
    return Webhook.objects.create(
        project=by.project,
        url=url,
        events_text=events_text,
        secret=secret,
        created_at=clock.now(),
        created_by=by.label,
    )


def update_webhook(
    *,
    webhook_id: str,
    url: str | None = None,
    events: Sequence[str] | None = None,
    is_active: bool | None = None,
    by: Actor,
) -> Webhook:
    """Change what is given; one that is switched off hears of nothing, and what waits for it waits on.

    Raises `WebhookNotFound`, `InvalidInput`, `AddressRefused`.
    """
    by.require(KEYS_MANAGE, to="manage webhooks")
    webhook = _locked(by, webhook_id)
    webhook.url = webhook.url if url is None else _checked_url(url)
    webhook.events_text = webhook.events_text if events is None else _checked_events(events)
    webhook.is_active = webhook.is_active if is_active is None else is_active
    webhook.save(update_fields=["url", "events_text", "is_active"])
    return webhook


def delete_webhook(*, webhook_id: str, by: Actor) -> Webhook:
    """End a webhook: what waits for it is not sent any more. Raises `WebhookNotFound`."""
    by.require(KEYS_MANAGE, to="manage webhooks")
    webhook = _locked(by, webhook_id)
    webhook.deleted_at, webhook.secret = clock.now(), ""
    webhook.save(update_fields=["deleted_at", "secret"])
    waiting = Delivery.objects.filter(webhook=webhook, state=DeliveryState.PENDING)
    waiting.update(state=DeliveryState.DROPPED, next_try_at=None)
    return webhook


def send_test(*, webhook: Webhook, by: Actor) -> Delivery:
    """Let the worker send the webhook a test, which tells of the webhook itself."""
    by.require(KEYS_MANAGE, to="send a test")
    now = clock.now()
    return Delivery.objects.create(
        webhook=webhook,
        event_id=new_id("evt"),
        event=TEST,
        subject_text=json.dumps({"webhook": webhook.public_id}),
        created_at=now,
        next_try_at=now,
    )


def send_again(*, delivery: Delivery, by: Actor) -> Delivery:
    """Let the worker send a delivery once more, at once and with all its tries. Raises `CannotSendAgain`."""
    by.require(KEYS_MANAGE, to="send a delivery again")
    now = clock.now()
    mine = Delivery.objects.filter(pk=delivery.pk, webhook__project=by.project, webhook__deleted_at=None)
    if not mine.filter(_may_be_sent_again(now)).update(state=DeliveryState.PENDING, tries=0, next_try_at=now):
        raise CannotSendAgain(
            "This delivery is being sent, or will be within moments."
            if delivery.state == DeliveryState.PENDING
            else "What this delivery was about is gone, so it can't be sent again."
        )
    delivery.refresh_from_db()
    return delivery


def _may_be_sent_again(now: datetime) -> Q:
    # Not while it may be on its way: its outcome would be written over this.
    ended = Q(state__in=(DeliveryState.DELIVERED, DeliveryState.FAILED))
    return ended | Q(state=DeliveryState.PENDING, next_try_at__gt=now + LOST_AFTER)


def _locked(by: Actor, webhook_id: str) -> Webhook:
    named = webhooks_of(by.project).filter(public_id=findable(webhook_id))
    found = named.select_for_update(no_key=True).first()
    if found is None:
        raise WebhookNotFound(webhook_id)
    return found


def _checked_url(url: str) -> str:
    return check_url(url, private_allowed=settings.WEBHOOK_PRIVATE_NETWORKS)


def _checked_events(events: Sequence[str]) -> str:
    known = set(Event)
    if not events:
        raise InvalidInput("A webhook listens to at least one event.", param="events")
    for event in events:
        if event not in known:
            raise InvalidInput(
                f"There is no event {event!r}.",
                param="events",
                suggestion=f"Events are {', '.join(Event)}.",
            )
    return json.dumps([*dict.fromkeys(events)])


def _checked_secret(secret: str | None) -> str:
    if secret is None:
        return f"whsec_{secrets.token_urlsafe(32)}"
    if not SECRET_LEAST <= len(secret) <= SECRET_MOST or "\x00" in secret:
        raise InvalidInput(f"A secret has {SECRET_LEAST} to {SECRET_MOST} characters.", param="secret")
    return secret
