"""Reads of webhooks and of what was sent to them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base import clock
from statebase_site.base.ids import findable
from statebase_site.webhooks.errors import DeliveryNotFound, WebhookNotFound
from statebase_site.webhooks.models import LOST_AFTER, Delivery, DeliveryState, Webhook

OVERDUE_AFTER = timedelta(minutes=1)
"""Past its time, after which a delivery makes one ask whether the worker runs."""

# Whoever fails for the first or second time is due again sooner than what is taken on counts as lost.
_SIGN_OF_LIFE_TRIES = 2


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """A project's webhooks, newest first."""
    return Webhook.objects.filter(project=project, deleted_at=None)


def with_counts(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """The same, each with how many of its deliveries are `waiting` and how many were `given_up`."""
    return webhooks.annotate(waiting=_count(DeliveryState.PENDING), given_up=_count(DeliveryState.FAILED))


def _count(state: DeliveryState) -> Coalesce:
    rows = Delivery.objects.filter(webhook=OuterRef("pk"), state=state).order_by()
    counted = rows.values("webhook").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def webhook_for(by: Actor, webhook_id: str) -> Webhook:
    """A webhook of the actor's project. Raises `WebhookNotFound`."""
    found = webhooks_of(by.project).filter(public_id=findable(webhook_id)).first()
    if found is None:
        raise WebhookNotFound(webhook_id)
    return found


def is_deleted(by: Actor, webhook_id: str) -> bool:
    """Whether the actor's project had such a webhook."""
    gone = Webhook.objects.filter(project=by.project, deleted_at__isnull=False)
    return gone.filter(public_id=findable(webhook_id)).exists()


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """What it was sent and has to be sent, newest first."""
    return Delivery.objects.filter(webhook=webhook)


def delivery_for(webhook: Webhook, event_id: str) -> Delivery:
    """One delivery of a webhook. Raises `DeliveryNotFound`."""
    found = deliveries_of(webhook).filter(event_id=findable(event_id)).first()
    if found is None:
        raise DeliveryNotFound(event_id)
    return found


def latest_tried(webhooks: Iterable[Webhook]) -> dict[int, Delivery]:
    """Of each webhook, by its key, the newest delivery that was tried; none where nothing was."""
    tried = Delivery.objects.filter(webhook=OuterRef("pk")).exclude(attempts_text="[]").order_by("-id")
    newest = Webhook.objects.filter(pk__in=[each.pk for each in webhooks]).values_list(
        Subquery(tried.values("pk")[:1]), flat=True
    )
    return {each.webhook_id: each for each in Delivery.objects.filter(pk__in=[pk for pk in newest if pk])}


def overdue_since(webhooks: QuerySet[Webhook]) -> datetime | None:
    """The time of the first delivery that was not sent though it was long due, where nobody seems to send.

    None while deliveries of these webhooks are being sent, however many are due; what is sent of others does
    not count, since they may be another project's.
    """
    now = clock.now()
    pending = Delivery.objects.filter(
        state=DeliveryState.PENDING, webhook__in=webhooks.filter(is_active=True)
    )
    due = pending.filter(next_try_at__lt=now - OVERDUE_AFTER).order_by("next_try_at")
    first = due.values_list("next_try_at", flat=True).first()
    lately = pending.filter(
        next_try_at__gt=now, next_try_at__lte=now + LOST_AFTER, tries__lte=_SIGN_OF_LIFE_TRIES
    )
    return None if first is None or lately.exists() else first
