"""Writing down what webhooks have to be told, in the transaction of what happened.

So that nothing is sent for a write that was rolled back, and nothing is lost once it is committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef

from statebase_site.base import clock, json
from statebase_site.base.ids import findable, new_id
from statebase_site.base.json import JsonObject
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Delivery, Webhook


@dataclass(frozen=True, slots=True)
class Happening:
    """An event, and a reference to what it is about: ids, and whatever of it may change later."""

    event: Event
    subject: JsonObject
    session_id: str | None = None
    user_id: str | None = None
    memory_id: str | None = None


def listening(project_pk: int) -> list[Webhook]:
    """The webhooks of a project that are told of events."""
    return list(Webhook.objects.filter(project=project_pk, is_active=True, deleted_at=None))


def somebody_listens(project: str) -> Exists:
    """The same as a condition: `project` names the outer query's column of the project."""
    return Exists(Webhook.objects.filter(project=OuterRef(project), is_active=True, deleted_at=None))


def deliveries(
    happenings: Iterable[Happening], webhooks: Sequence[Webhook], moment: datetime
) -> list[Delivery]:
    """The rows to write, in the transaction of what happened: one for each webhook that listens to it."""
    wanted = [(webhook, frozenset(webhook.events)) for webhook in webhooks]
    rows = []
    for happening in happenings:
        event_id = new_id("evt")
        rows += [
            Delivery(
                webhook=webhook,
                event_id=event_id,
                event=str(happening.event),
                subject_text=json.dumps(happening.subject),
                session_public_id=happening.session_id,
                user_id=happening.user_id,
                memory_id=happening.memory_id,
                created_at=moment,
                next_try_at=clock.now(),
            )
            for webhook, events in wanted
            if happening.event in events
        ]
    return rows


def announce(project_pk: int, happenings: Iterable[Happening], moment: datetime) -> None:
    """Write down what happened for whoever listens; in the transaction of what happened."""
    webhooks = listening(project_pk)
    if webhooks:
        Delivery.objects.bulk_create(deliveries(happenings, webhooks, moment))


def forget(session_ids: Iterable[str]) -> None:
    """Remove all deliveries about these sessions: part of their purge."""
    Delivery.objects.filter(session_public_id__in=list(session_ids)).delete()


def forget_memories(memory_ids: Iterable[str]) -> None:
    """Remove how deliveries about these memories were answered, which may repeat them: part of deleting them.

    The deliveries stay: what they tell is read when they are sent, so of a memory that is gone it is nothing.
    """
    Delivery.objects.filter(memory_id__in=list(memory_ids)).update(
        attempts_text="[]",
        # So that the outcome of one that is on its way now is not written down after this.
        next_try_at=F("next_try_at") + timedelta(microseconds=1),
    )


def forget_user(project_pk: int, user_id: str) -> None:
    """Remove all deliveries about an end user: part of the erasure."""
    Delivery.objects.filter(user_id=findable(user_id), webhook__project=project_pk).delete()
