"""The whole state after one accepted change."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from sessions_app.codec import Encoding
from sessions_app.enums import VersionKind
from sessions_app.models.agent_session import AgentSession
from statebase_site.base import json
from statebase_site.base.append_only import AppendOnlyModel


class StateVersion(AppendOnlyModel):
    """An immutable, numbered version. Lists need its columns only; `body` is for readers of the state."""

    # Session first: the one index serves every reading, and the table can be partitioned by session.
    pk = models.CompositePrimaryKey("agent_session_id", "number")
    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.DO_NOTHING, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=VersionKind)
    encoding = models.PositiveSmallIntegerField(choices=[(each.value, each.name) for each in Encoding])
    keyframe = models.PositiveIntegerField(help_text="Version whose text the body was compressed against.")
    body = models.BinaryField()
    text_bytes = models.PositiveIntegerField(help_text="Bytes of the state as compact UTF-8 JSON.")
    stored_bytes = models.PositiveIntegerField(help_text="Bytes of `body`.")
    sha256 = models.BinaryField(help_text="Of the state's text.")
    changes_text = models.TextField(db_column="changes", help_text="Operations against the version before.")
    added = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()
    changed = models.PositiveIntegerField()
    first_paths_text = models.TextField(db_column="first_paths", help_text="JSON list of JSON Pointers.")
    reasoning = models.TextField(null=True)
    frozen = models.BooleanField(help_text="The session was frozen at this version.")
    restored_from = models.PositiveIntegerField(null=True)
    turn_id = models.CharField(max_length=40, null=True)
    actor_kind = models.CharField(max_length=6)
    actor_label = models.CharField(max_length=160)
    trace_id = models.CharField(max_length=40)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind=VersionKind.ROLLBACK, restored_from__isnull=False, restored_from__lt=F("number")
                )
                | (~Q(kind=VersionKind.ROLLBACK) & Q(restored_from__isnull=True)),
                name="version_rollback_names_earlier",
            ),
            models.CheckConstraint(
                condition=Q(kind=VersionKind.TURN, turn_id__isnull=False)
                | (~Q(kind=VersionKind.TURN) & Q(turn_id__isnull=True)),
                name="version_turn_names_turn",
            ),
            models.CheckConstraint(
                condition=Q(number=0, kind__in=[VersionKind.CREATE, VersionKind.FORK])
                | (Q(number__gt=0) & ~Q(kind__in=[VersionKind.CREATE, VersionKind.FORK])),
                name="version_zero_is_the_beginning",
            ),
            models.CheckConstraint(
                condition=Q(encoding=Encoding.KEYFRAME, keyframe=F("number"))
                | Q(encoding=Encoding.AGAINST_KEYFRAME, keyframe__lt=F("number")),
                name="version_keyframe_fits",
            ),
        ]
        indexes = [
            # The rollbacks of a session: which versions are undone, and the arcs of the rail. Few rows.
            models.Index(
                fields=["agent_session", "number"],
                name="version_rollbacks",
                condition=Q(kind=VersionKind.ROLLBACK),
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"

    def get_absolute_url(self) -> str:
        return reverse("sessions:version", args=[self.agent_session.public_id, self.number])

    @property
    def first_paths(self) -> list[str]:
        return json.parse_stored(self.first_paths_text)  # type: ignore[return-value]

    @property
    def is_keyframe(self) -> bool:
        return self.encoding == Encoding.KEYFRAME
