"""What has to be done so that it does not happen again."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from incidents_app.enums import FollowUpKind
from incidents_app.models.incident import Incident


class FollowUp(models.Model):
    """One thing to do, numbered in its incident; only one that `blocks` stands in the way of resolving."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="follow_ups")
    number = models.PositiveIntegerField()
    text = models.TextField()
    kind = models.CharField(max_length=10, choices=FollowUpKind, default=FollowUpKind.OTHER)
    owner = models.CharField(max_length=160, blank=True)
    due = models.DateField(null=True)
    blocks = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=160)
    done_at = models.DateTimeField(null=True)
    done_by = models.CharField(max_length=160, blank=True)

    class Meta:
        ordering = ["number"]
        indexes = [
            # The overdue ones, over all incidents.
            models.Index(fields=["due"], name="follow_up_open", condition=Q(done_at__isnull=True)),
        ]
        constraints = [models.UniqueConstraint(fields=["incident", "number"], name="follow_up_once")]

    def __str__(self) -> str:
        return self.text
