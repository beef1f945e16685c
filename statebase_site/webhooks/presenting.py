"""Deliveries in words, for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from statebase_site.base import clock
from statebase_site.web.times import relative, utc_text
from statebase_site.webhooks.models import LOST_AFTER, Attempt, Delivery, DeliveryState, Webhook

_SOON = timedelta(seconds=5)
_LOOKED_FOR = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NextTry:
    """When a delivery is sent next: `words`, and `at` where they tell a moment."""

    words: str
    at: datetime | None = None

    @property
    def exactly(self) -> str:
        """The moment for a title."""
        return utc_text(self.at) if self.at else ""


def address_for(may_manage: bool, webhook: Webhook) -> str:
    """Where it sends; its path, which is often a secret, for those who manage webhooks."""
    if may_manage:
        return webhook.url
    scheme, host, *_ = urlsplit(webhook.url)
    return f"{scheme}://{host}/…"


def next_try(delivery: Delivery, webhook: Webhook) -> NextTry | None:
    """When it is sent next; None where it is not sent any more."""
    if delivery.state != DeliveryState.PENDING or delivery.next_try_at is None:
        return None
    if not webhook.is_active:
        return NextTry("once it is active")
    now, at = clock.now(), delivery.next_try_at
    if delivery.tries == 0 and at > now:  # no pause follows no try: it was claimed
        return NextTry("being sent")
    if at <= now + _SOON:
        return NextTry("now" if now - at < _LOOKED_FOR else f"due {relative(at, now)}", at)
    return NextTry(relative(at, now), at)


def may_be_sent_again(delivery: Delivery) -> bool:
    """Whether the delivery has ended, or waits for longer than a worker may be at it."""
    if delivery.state == DeliveryState.PENDING and delivery.next_try_at:
        return delivery.next_try_at > clock.now() + LOST_AFTER
    return delivery.state != DeliveryState.DROPPED


def is_sent_soon(delivery: Delivery, webhook: Webhook) -> bool:
    """Whether its outcome is worth waiting for: it is being sent, or due since a moment ago."""
    tried = next_try(delivery, webhook)
    return tried is not None and tried.words in ("now", "being sent")


def answer_in_words(attempt: Attempt) -> str:
    """How a try ended: `500 Internal Server Error`, or why there was no answer."""
    if attempt.status is None:
        return attempt.fault or "No answer."
    try:
        phrase = HTTPStatus(attempt.status).phrase
    except ValueError:
        phrase = ""
    words = f"{attempt.status} {phrase}".strip()
    return f"{words}, which is not followed" if 300 <= attempt.status < 400 else words
