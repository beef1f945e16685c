"""Reads of webhooks and of what was sent to them."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base.ids import findable
from statebase_site.webhooks.errors import DeliveryNotFound, WebhookNotFound
from statebase_site.webhooks.models import Delivery, DeliveryState, Webhook


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """A project's webhooks, newest first."""
    return Webhook.objects.filter(project=project, deleted_at=None)


def with_counts(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """The same, each with how many of its deliveries are `waiting` and how many were `given_up`."""
    return webhooks.annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state=DeliveryState.PENDING)),
        given_up=Count("deliveries", filter=Q(deliveries__state=DeliveryState.FAILED)),
    )


def webhook_for(by: Actor, webhook_id: str) -> Webhook:
    """A webhook of the actor's project. Raises `WebhookNotFound`."""
    found = webhooks_of(by.project).filter(public_id=findable(webhook_id)).first()
    if found is None:
        raise WebhookNotFound(webhook_id)
    return found


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """What it was sent and has to be sent, newest first."""
    return Delivery.objects.filter(webhook=webhook)


def delivery_for(webhook: Webhook, event_id: str) -> Delivery:
    """One delivery of a webhook. Raises `DeliveryNotFound`."""
    found = deliveries_of(webhook).filter(event_id=findable(event_id)).first()
    if found is None:
        raise DeliveryNotFound(event_id)
    return found
