"""What somebody tried to write while the session was frozen: kept as evidence (contract 8.5)."""

from __future__ import annotations

from django.db import models

from sessions_app.models.agent_session import AgentSession
from statebase_site.access.models import Project


class RefusedWrite(models.Model):
    """A row of its own beside the `write.refused` trace, so that an erasure can empty `attempted`."""

    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.CASCADE, related_name="refused_writes", db_index=False
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trace_id = models.CharField(max_length=40, unique=True)
    operation = models.CharField(max_length=20)
    method = models.CharField(max_length=7)
    path = models.TextField()
    code = models.CharField(max_length=40)
    attempted = models.TextField(null=True, help_text="The body, at most 16 KiB; null when kept already.")
    attempted_truncated = models.BooleanField(default=False)
    attempted_sha256 = models.CharField(max_length=64)
    reasoning = models.TextField(null=True)
    actor_label = models.CharField(max_length=160)
    frozen_at = models.DateTimeField()
    frozen_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # Counted in the banner of a frozen session; a body is kept once a freeze.
            models.Index(
                fields=["agent_session", "frozen_version", "attempted_sha256"], name="refused_in_freeze"
            ),
            models.Index(fields=["project", "created_at"], name="refused_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} refused"
