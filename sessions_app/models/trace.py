"""The audit trail: who did what when, through which request."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.enums import TraceSource
from sessions_app.models.agent_session import AgentSession
from statebase_site.access.models import Project
from statebase_site.base import json
from statebase_site.base.append_only import AppendOnlyModel
from statebase_site.base.ids import new_id


def new_trace_id() -> str:
    """A fresh id `trace_…`."""
    return new_id("trace")


class Trace(AppendOnlyModel):
    """One append-only row of ids, numbers and hashes; content is filled in when it is read (contract 10).

    Content of its own it has only where no other row keeps it: what a `session.updated` changed in the
    metadata, the reason of a deletion, and what a client wrote into its own note.

    The server's rows of a session form a hash chain (`position`, `hash`); a client's row has its own hash.
    """

    public_id = models.CharField(max_length=40, unique=True, default=new_trace_id)
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="traces", db_index=False)
    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.DO_NOTHING, related_name="traces", null=True, db_index=False
    )
    session_public_id = models.CharField(max_length=40, null=True)
    user_id = models.CharField(max_length=255, null=True, help_text="The session's user.")
    position = models.PositiveIntegerField(null=True, help_text="Place in the session's chain, from 1.")
    action = models.CharField(max_length=255)
    source = models.CharField(max_length=6, choices=TraceSource)
    actor_kind = models.CharField(max_length=6)
    actor_label = models.CharField(max_length=160)
    actor_id = models.CharField(max_length=40)
    resource_type = models.CharField(max_length=20, null=True)
    resource_id = models.CharField(max_length=255, null=True)
    details_text = models.TextField(db_column="details", default="{}")
    metadata_text = models.TextField(db_column="metadata", default="{}")
    request_id = models.CharField(max_length=40)
    latency_ms = models.FloatField()
    ip_address = models.CharField(max_length=45, null=True)
    subject_sha256 = models.BinaryField(null=True, help_text="Of the version or turn that the action made.")
    hash = models.BinaryField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # Keyset pages of one session's traces and of a project's, and of one action in a project.
            models.Index(fields=["agent_session", "created_at", "id"], name="trace_of_session"),
            models.Index(fields=["project", "created_at", "id"], name="trace_of_project"),
            models.Index(fields=["project", "action", "created_at"], name="trace_of_action"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_session", "position"],
                name="trace_chain_position_once",
                condition=Q(position__isnull=False),
            ),
            models.CheckConstraint(
                condition=Q(source=TraceSource.SYSTEM) | Q(position__isnull=True),
                name="trace_client_outside_chain",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.public_id}"

    @property
    def details(self) -> json.JsonObject:
        """The stored ids and numbers; `queries.trace_details` fills in the content they name."""
        return json.parse_stored(self.details_text)  # type: ignore[return-value]
