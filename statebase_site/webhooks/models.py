"""Webhooks, and one row for each event that one of them has to hear of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import models
from django.db.models import Q

from statebase_site.access.models import Project
from statebase_site.base import json
from statebase_site.base.ids import new_id

LOST_AFTER = timedelta(seconds=90)
"""From when a worker takes a delivery on until it counts as lost, and may be taken on again."""


def _new_webhook_id() -> str:
    return new_id("wh")


class Webhook(models.Model):
    """An address that is told of events of its project.

    A deleted one stays as a row without secret, so that a write that is under way can still refer to it.
    """

    public_id = models.CharField(max_length=40, unique=True, default=_new_webhook_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.TextField()
    events_text = models.TextField(db_column="events", help_text="JSON list of event names.")
    secret = models.CharField(max_length=255, help_text="Signs what is sent, so it can't be kept as a hash.")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=160, help_text="Label of who made it.")
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["project"],
                name="webhook_listening",
                condition=Q(is_active=True, deleted_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"webhook {self.public_id}"

    @property
    def events(self) -> list[str]:
        """Names of the events it listens to, in the order they were given."""
        return json.parse_stored(self.events_text)  # type: ignore[return-value]


def is_success(status: int | None) -> bool:
    """Whether an answer with this status, or none at all, says that the event was heard: any 2xx does."""
    return status is not None and 200 <= status < 300


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one try ended: the answer's `status`, or `fault`, why there was none; `said` is how it began."""

    at: str
    ms: float
    status: int | None = None
    fault: str | None = None
    said: str | None = None

    @property
    def succeeded(self) -> bool:
        return is_success(self.status)


class DeliveryState(models.TextChoices):
    """Where a delivery stands."""

    PENDING = "pending", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up"
    DROPPED = "dropped", "Dropped"


class Delivery(models.Model):
    """An event that one webhook has to hear of: written with what it tells, sent after commit.

    `subject` refers to what happened; the body is made from it when it is sent, the same each time.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.CharField(max_length=40, help_text="The same for all webhooks and all tries.")
    event = models.CharField(max_length=30)
    subject_text = models.TextField(db_column="subject", help_text="JSON: ids, and a session's head then.")
    # By these the rows go with a session that is purged and a user who is erased.
    session_public_id = models.CharField(max_length=40, null=True)
    user_id = models.CharField(max_length=255, null=True)
    # And by this their answers, which may repeat what they were told of a memory.
    memory_id = models.CharField(max_length=40, null=True)
    created_at = models.DateTimeField()
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.PENDING)
    tries = models.PositiveIntegerField(default=0, help_text="Since it was written or sent again.")
    next_try_at = models.DateTimeField(
        null=True, help_text="While it is being sent: when that counts as lost."
    )
    attempts_text = models.TextField(
        db_column="attempts", default="[]", help_text="JSON: how each try ended."
    )

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["next_try_at", "id"], name="delivery_due", condition=Q(state="pending")),
            models.Index(fields=["webhook", "id"], name="delivery_of_webhook"),
            models.Index(fields=["webhook", "state", "id"], name="delivery_by_state"),
            models.Index(
                fields=["session_public_id"],
                name="delivery_of_session",
                condition=Q(session_public_id__isnull=False),
            ),
            models.Index(
                fields=["memory_id"],
                name="delivery_of_memory",
                condition=Q(memory_id__isnull=False),
            ),
            models.Index(fields=["created_at"], name="delivery_age"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="delivery_once"),
            models.CheckConstraint(
                condition=Q(state="pending", next_try_at__isnull=False) | ~Q(state="pending"),
                name="delivery_pending_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.event_id}"

    @property
    def subject(self) -> json.JsonObject:
        """What it tells of."""
        return json.parse_stored(self.subject_text)  # type: ignore[return-value]

    @property
    def attempts(self) -> list[Attempt]:
        """How each try ended, oldest first."""
        return [Attempt(**each) for each in json.parse_stored(self.attempts_text)]  # type: ignore[arg-type,union-attr]
