"""The incident's timeline: rows are added, never changed."""

from __future__ import annotations

from django.db import models

from incidents_app.enums import EventKind
from incidents_app.models.incident import Incident
from statebase_site.base import json
from statebase_site.base.append_only import AppendOnlyModel


class TimelineEvent(AppendOnlyModel):
    """One thing that happened, with old and new values. A correction is a new row that names this one.

    Shown by `occurred_at`, then `sequence`. A note may lie in the past, never in the future.
    """

    incident = models.ForeignKey(Incident, on_delete=models.DO_NOTHING, related_name="events", db_index=False)
    sequence = models.PositiveIntegerField(help_text="In its incident, from 1.")
    episode_number = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=EventKind)
    text = models.TextField(help_text="What happened, in plain words.")
    details_text = models.TextField(db_column="details", default="{}", help_text="JSON: old and new values.")
    actor_kind = models.CharField(max_length=6)
    actor_label = models.CharField(max_length=160)
    session_id = models.CharField(max_length=40, null=True)
    version = models.PositiveIntegerField(null=True, help_text="The session's version that this made.")
    trace_id = models.CharField(max_length=40, null=True)
    is_alarm = models.BooleanField(default=False, help_text="Something that held no longer does.")
    is_backdated = models.BooleanField(
        default=False, help_text="Lies before the beginning of the session or incident it is about."
    )
    supersedes = models.PositiveIntegerField(null=True, help_text="Sequence of the row that this corrects.")
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["occurred_at", "sequence"]
        constraints = [models.UniqueConstraint(fields=["incident", "sequence"], name="event_sequence_once")]

    def __str__(self) -> str:
        return self.text

    @property
    def details(self) -> json.JsonObject:
        """Old and new values, by name."""
        return json.parse_stored(self.details_text)  # type: ignore[return-value]
