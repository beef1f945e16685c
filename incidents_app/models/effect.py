"""What a rollback does not undo: the tool calls since the version it went back to."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from incidents_app.enums import Disposition
from incidents_app.models.affected_session import AffectedSession


class Effect(models.Model):
    """A tool call whose effect outside stands until somebody says what became of it."""

    affected = models.ForeignKey(AffectedSession, on_delete=models.CASCADE, related_name="effects")
    turn_id = models.CharField(max_length=40)
    turn_number = models.PositiveIntegerField()
    tool = models.CharField(max_length=255)
    arguments_text = models.TextField(help_text="JSON, at most its first 2,000 characters.")
    reversibility = models.CharField(max_length=14, help_text="What the tool says of itself, or `unknown`.")
    disposition = models.CharField(max_length=12, choices=Disposition, null=True)
    note = models.TextField(blank=True)
    decided_by = models.CharField(max_length=160, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["turn_number", "id"]
        constraints = [
            models.UniqueConstraint(fields=["affected", "turn_id"], name="effect_once"),
            models.CheckConstraint(
                condition=Q(disposition__isnull=True, decided_at__isnull=True)
                | Q(disposition__isnull=False, decided_at__isnull=False),
                name="effect_decided_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} in turn {self.turn_number}"
