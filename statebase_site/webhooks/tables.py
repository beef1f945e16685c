"""Tables of webhooks, their deliveries, and the tries of one delivery."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_tables2 as tables
from django.urls import reverse

from statebase_site.web.tables import MOMENT, NUMBER
from statebase_site.webhooks.models import Attempt, Delivery, Webhook
from statebase_site.webhooks.presenting import (
    address_for,
    answer_in_words,
    is_sent_soon,
    may_be_sent_again,
    next_try,
)

_EVENTS_SHOWN = 3
_LONG = {"td": {"class": "long"}}
_NOWRAP = {"td": {"class": "nowrap"}}


def _last_try(record: Delivery) -> dict[str, Any]:
    attempts = record.attempts
    return {"attempt": attempts[-1], "words": answer_in_words(attempts[-1])} if attempts else {}


def _address(record: Webhook, table: WebhookTable) -> dict[str, Any]:
    return {"address": address_for(table.may_manage, record)}


def _last_delivery(record: Webhook, table: WebhookTable) -> dict[str, Any]:
    delivery = table.latest.get(record.pk)
    if delivery is None:
        return {}
    tried = _last_try(delivery)
    return {"delivery": delivery, "when": datetime.fromisoformat(tried["attempt"].at), **tried}


def _next_try(record: Delivery, table: DeliveryTable) -> dict[str, Any]:
    return {"next": next_try(record, table.webhook)}


def _of_attempt(record: Attempt) -> dict[str, Any]:
    return {"attempt": record, "words": answer_in_words(record), "when": datetime.fromisoformat(record.at)}


class WebhookTable(tables.Table):
    """Webhooks (of `with_counts`), each with how its last delivery went: `latest` by their keys."""

    caption = "Webhooks, newest first"
    row_header = "url"

    url = tables.TemplateColumn(
        template_name="webhooks/_url.html", verbose_name="Webhook", extra_context=_address, attrs=_LONG
    )
    is_active = tables.TemplateColumn(template_name="webhooks/_active.html", verbose_name="State")
    last = tables.TemplateColumn(
        template_name="webhooks/_last.html",
        verbose_name="Last delivery",
        accessor="pk",
        extra_context=_last_delivery,
        attrs=_LONG,
    )
    waiting = tables.TemplateColumn(
        template_name="webhooks/_count.html",
        verbose_name="Waiting",
        attrs=NUMBER,
        extra_context={"state": "pending", "tone": "warn"},
    )
    given_up = tables.TemplateColumn(
        template_name="webhooks/_count.html",
        verbose_name="Given up",
        attrs=NUMBER,
        extra_context={"state": "failed", "tone": "bad"},
    )
    events = tables.TemplateColumn(
        template_name="webhooks/_events.html", verbose_name="Hears of", extra_context={"most": _EVENTS_SHOWN}
    )

    class Meta:
        orderable = False
        empty_text = None

    def __init__(self, rows: list[Webhook], *, latest: dict[int, Delivery], may_manage: bool) -> None:
        self.latest = latest
        self.may_manage = may_manage
        super().__init__(rows)


class DeliveryTable(tables.Table):
    """Deliveries of one webhook; those of a `watched` table ask again until they are sent.

    Reads `request` and `webhook` of the page's context.
    """

    caption = "Deliveries, newest first"
    row_header = "event"

    event = tables.TemplateColumn(template_name="webhooks/_delivery.html", verbose_name="Event")
    state = tables.TemplateColumn(template_name="webhooks/_state.html", verbose_name="State")
    created_at = tables.TemplateColumn(MOMENT, verbose_name="Happened")
    tries = tables.Column(verbose_name="Tries", attrs=NUMBER)
    answer = tables.TemplateColumn(
        template_name="webhooks/_answer.html",
        verbose_name="Last answer",
        accessor="pk",
        extra_context=_last_try,
        attrs=_LONG,
    )
    next_try = tables.TemplateColumn(
        template_name="webhooks/_next.html",
        verbose_name="Next try",
        accessor="pk",
        extra_context=_next_try,
        attrs=_NOWRAP,
    )
    again = tables.TemplateColumn(
        template_name="webhooks/_send_again.html",
        verbose_name="Action",
        accessor="event_id",
        extra_context=lambda record: {"may_be_sent": may_be_sent_again(record)},
        attrs=_NOWRAP,
    )

    class Meta:
        orderable = False
        empty_text = None

    def __init__(
        self, rows: list[Delivery], *, webhook: Webhook, may_manage: bool, watched: bool = False
    ) -> None:
        self.webhook = webhook
        row_attrs: dict[str, Any] = {"id": _row_id}
        super().__init__(
            rows,
            row_attrs=row_attrs | _ASKING_AGAIN if watched else row_attrs,
            exclude=() if may_manage else ("again",),
        )

    def render_tries(self, record: Delivery) -> int:
        return len(record.attempts)


def _row_id(record: Delivery) -> str:
    return f"row-{record.event_id}"


def _row_address(record: Delivery, table: DeliveryTable) -> str | None:
    if not is_sent_soon(record, table.webhook):
        return None
    return reverse("webhooks:row", args=[table.webhook.public_id, record.event_id])


# What makes a row be replaced by what it has become: only while that has an address.
_ASKING_AGAIN = {
    "hx-get": _row_address,
    "hx-trigger": "load delay:1500ms",
    "hx-swap": "outerHTML",
    "hx-select": lambda record: f"#{_row_id(record)}",
    "data-quiet": "",
}


class AttemptTable(tables.Table):
    """The tries of one delivery."""

    caption = "Tries, the latest first"
    row_header = "at"

    at = tables.TemplateColumn(
        "{% moment when %}", verbose_name="Time", extra_context=_of_attempt, attrs=_NOWRAP
    )
    answer = tables.TemplateColumn(
        template_name="webhooks/_answer.html", verbose_name="Answer", accessor="ms", extra_context=_of_attempt
    )
    ms = tables.Column(verbose_name="Took", attrs=NUMBER)
    said = tables.TemplateColumn(
        '{% if value %}<span class="clamp mono">{{ value|visible }}</span>{% else %}–{% endif %}',
        verbose_name="How the answer began",
        attrs=_LONG,
    )

    class Meta:
        orderable = False
        empty_text = None

    def render_ms(self, value: float) -> str:
        return f"{value:,.0f} ms"
