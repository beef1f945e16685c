"""A reason why a session must stay: while one is open it is not deleted, expired or purged."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.models.agent_session import AgentSession


class EvidenceHold(models.Model):
    """Text that banners and refusals show, so that sessions need not know what holds them."""

    agent_session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="holds")
    label = models.CharField(max_length=80)
    url = models.CharField(max_length=500)
    notice = models.TextField(blank=True, help_text="What agents are told in a 423.")
    opened_at = models.DateTimeField()
    opened_by = models.CharField(max_length=160)
    released_at = models.DateTimeField(null=True)
    released_by = models.CharField(max_length=160, null=True)

    class Meta:
        ordering = ["opened_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_session", "label"],
                name="hold_open_once",
                condition=Q(released_at__isnull=True),
            ),
            models.CheckConstraint(
                condition=Q(released_at__isnull=True, released_by__isnull=True)
                | Q(released_at__isnull=False, released_by__isnull=False),
                name="hold_released_all_or_none",
            ),
        ]

    def __str__(self) -> str:
        return self.label
