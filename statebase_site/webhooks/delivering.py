"""The worker's part: sending what is due, and trying again what failed.

A delivery is claimed by setting the moment at which it counts as lost, then sent outside of any transaction,
then its outcome is written. Whoever dies in between leaves it due again: it is sent at least once.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import Exists, OuterRef

from statebase_site.base import clock, json
from statebase_site.base.clock import isoformat
from statebase_site.webhooks.models import LOST_AFTER, Attempt, Delivery, DeliveryState, Webhook
from statebase_site.webhooks.sending import send

PAUSES = tuple(
    timedelta(**each)
    for each in ({"seconds": 10}, {"minutes": 1}, {"minutes": 10}, {"hours": 1}, {"hours": 6}, {"hours": 24})
)
"""After each try that failed; after the one behind the last pause it is given up."""
SENDERS = 8
"""Deliveries that one worker sends at a time."""
SENDERS_OF_ONE = 2
"""Of those, to one webhook: a slow address keeps nobody else waiting."""
SENDERS_OF_SLOW = 4
"""Of those, to all webhooks together whose last try showed them to be slow: nor do many such addresses."""
SLOW_MS = 2_000
"""From so long a try on, in milliseconds."""

_SECONDS_BETWEEN_LOOKS = 1.0
_REMOVED_AT_ONCE = 1_000
_ATTEMPTS_KEPT = 30
_log = logging.getLogger(__name__)

Subject = Callable[[Delivery], dict[str, Any] | None]
"""What a delivery tells of, to be rendered as its body's `data`; None where it is gone."""


def run(stop: threading.Event, data_of: Subject) -> None:
    """Send what is due until `stop` is set; what is under way then is waited for."""
    under_way: dict[Future[bool], int] = {}
    slow: set[int] = set()
    with ThreadPoolExecutor(SENDERS, thread_name_prefix="webhooks") as senders:
        while not stop.is_set():
            claimed = _claim_beside(Counter(under_way.values()), slow)
            for delivery in claimed:
                under_way[senders.submit(_deliver_and_let_go, delivery, data_of)] = delivery.webhook_id
            if claimed and len(under_way) < SENDERS:
                continue  # behind those of a busy webhook, others may be due
            if under_way:
                done, _ = wait(under_way, timeout=_SECONDS_BETWEEN_LOOKS, return_when=FIRST_COMPLETED)
                for each in done:
                    webhook = under_way.pop(each)
                    if each.result():
                        slow.add(webhook)
                    else:
                        slow.discard(webhook)
            else:
                stop.wait(_SECONDS_BETWEEN_LOOKS)


def _claim_beside(under_way: Counter[int], slow: Set[int]) -> list[Delivery]:
    free = SENDERS - under_way.total()
    try:
        return claim(free, under_way=under_way, slow=slow) if free else []
    except Exception:
        _log.exception("Looking for webhook deliveries failed; it is tried again")
        return []
    finally:
        close_old_connections()


def claim(
    most: int, *, under_way: Mapping[int, int] = MappingProxyType({}), slow: Set[int] = frozenset()
) -> list[Delivery]:
    """Up to `most` deliveries that are due, now ours to send: few of one webhook, and of slow ones.

    `under_way`: how many of each webhook are being sent already. `slow`: which webhooks are.
    """
    taken = Counter(under_way)

    def is_busy(webhook: int) -> bool:
        to_slow = sum(taken[each] for each in slow)
        return taken[webhook] >= SENDERS_OF_ONE or (webhook in slow and to_slow >= SENDERS_OF_SLOW)

    busy = [webhook for webhook in {*taken, *slow} if is_busy(webhook)]
    now = clock.now()
    due = (
        Delivery.objects.filter(
            state=DeliveryState.PENDING,
            next_try_at__lte=now,
            webhook__is_active=True,
            webhook__deleted_at=None,
        )
        .exclude(webhook__in=busy)
        .order_by("next_try_at", "id")
    )
    if not due.exists():  # so that an idle worker takes no lock
        return []
    with transaction.atomic():
        if connection.vendor == "postgresql":
            due = due.select_for_update(skip_locked=True, no_key=True, of=("self",))
        claimed: list[Delivery] = []
        for delivery in due.select_related("webhook")[: most * 20]:
            if len(claimed) < most and not is_busy(delivery.webhook_id):
                taken[delivery.webhook_id] += 1
                claimed.append(delivery)
        lost_at = now + LOST_AFTER
        Delivery.objects.filter(pk__in=[each.pk for each in claimed]).update(next_try_at=lost_at)
    for delivery in claimed:
        delivery.next_try_at = lost_at
    return claimed


def _deliver_and_let_go(delivery: Delivery, data_of: Subject) -> bool:
    """Whether it showed its webhook to be slow."""
    try:
        attempt = deliver(delivery, data_of)
        return attempt is not None and attempt.ms >= SLOW_MS
    except Exception:
        _log.exception("A webhook delivery failed in itself; it is tried again later")
        return False
    finally:
        close_old_connections()


def deliver(delivery: Delivery, data_of: Subject) -> Attempt | None:
    """Send a claimed delivery once, and write down how that ended; None where there is nothing to tell."""
    body = body_of(delivery, data_of)
    if body is None:
        _write(delivery, state=DeliveryState.DROPPED, next_try_at=None)
        return None
    webhook = delivery.webhook
    attempt = send(
        webhook.url,
        body,
        secret=webhook.secret,
        event=delivery.event,
        event_id=delivery.event_id,
        version=settings.VERSION,
        private_allowed=settings.WEBHOOK_PRIVATE_NETWORKS,
    )
    tries = delivery.tries + 1
    attempts = [*delivery.attempts, attempt][-_ATTEMPTS_KEPT:]
    state, next_try_at = DeliveryState.PENDING, None
    if attempt.succeeded:
        state = DeliveryState.DELIVERED
    elif tries > len(PAUSES):
        state = DeliveryState.FAILED
    else:
        next_try_at = clock.now() + PAUSES[tries - 1]
    _write(delivery, state=state, next_try_at=next_try_at, tries=tries, attempts_text=_text(attempts))
    return attempt


def body_of(delivery: Delivery, data_of: Subject) -> bytes | None:
    """What is sent, to the byte; None where the delivery's subject is gone."""
    data = data_of(delivery)
    if data is None:
        return None
    return json.render(
        {
            "id": delivery.event_id,
            "type": delivery.event,
            "created_at": isoformat(delivery.created_at),
            "data": data,
        }
    )


def forget_old() -> int:
    """Remove deliveries past their days (setting), and deleted webhooks as old; what still waits stays."""
    before = clock.now() - timedelta(days=settings.WEBHOOK_DELIVERY_DAYS)
    old = Delivery.objects.filter(created_at__lt=before)
    old = old.exclude(state=DeliveryState.PENDING, webhook__deleted_at=None)
    keys = list(old.order_by("created_at").values_list("pk", flat=True)[:_REMOVED_AT_ONCE])
    gone = Webhook.objects.filter(deleted_at__lt=before).exclude(
        Exists(Delivery.objects.filter(webhook=OuterRef("pk")))
    )
    return Delivery.objects.filter(pk__in=keys).delete()[0] + gone.delete()[0]


def _write(delivery: Delivery, **changes: object) -> None:
    # Unless another worker took it for lost meanwhile: then that one answers for it.
    Delivery.objects.filter(pk=delivery.pk, next_try_at=delivery.next_try_at).update(**changes)


def _text(attempts: list[Attempt]) -> str:
    return json.dumps([asdict(each) for each in attempts])
