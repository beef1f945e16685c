"""One exchange: input, output, reasoning, metadata."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.models.agent_session import AgentSession
from statebase_site.base import json
from statebase_site.base.append_only import AppendOnlyModel
from statebase_site.base.ids import new_id


def new_turn_id() -> str:
    """A fresh id `turn_…`."""
    return new_id("turn")


class Turn(AppendOnlyModel):
    """An immutable turn, numbered from 1 in its session (contract 5.4).

    A state given with it is kept by number where it is that version's very text, else as a body of its own.
    """

    pk = models.CompositePrimaryKey("agent_session_id", "number")
    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.DO_NOTHING, related_name="turns", db_index=False
    )
    number = models.PositiveIntegerField()
    public_id = models.CharField(max_length=40, unique=True, default=new_turn_id)
    input_text = models.TextField(
        db_column="input", help_text="JSON object with string `type` and `content`."
    )
    output_text = models.TextField(db_column="output")
    reasoning = models.TextField(null=True)
    metadata_text = models.TextField(db_column="metadata", default="{}")
    state_before_version = models.PositiveIntegerField(null=True)
    state_before_body = models.BinaryField(null=True)
    state_after_version = models.PositiveIntegerField(null=True)
    state_after_body = models.BinaryField(null=True)
    state_version = models.PositiveIntegerField(help_text="Version in force after the turn.")
    stale_before = models.BooleanField(default=False, help_text="`state_before` was not the current state.")
    actor_kind = models.CharField(max_length=6)
    actor_label = models.CharField(max_length=160)
    trace_id = models.CharField(max_length=40)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            # The turns that ended at a version, or last before it: beside that version in the time machine.
            models.Index(fields=["agent_session", "state_version", "number"], name="turn_at_version"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(number__gte=1), name="turn_numbers_from_one"),
            models.CheckConstraint(
                condition=Q(state_before_version__isnull=True) | Q(state_before_body__isnull=True),
                name="turn_state_before_kept_once",
            ),
            models.CheckConstraint(
                condition=Q(state_after_version__isnull=True) | Q(state_after_body__isnull=True),
                name="turn_state_after_kept_once",
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.number}"

    @property
    def input(self) -> json.JsonObject:
        return json.parse_stored(self.input_text)  # type: ignore[return-value]

    @property
    def output(self) -> json.JsonObject:
        return json.parse_stored(self.output_text)  # type: ignore[return-value]

    @property
    def metadata(self) -> json.JsonObject:
        return json.parse_stored(self.metadata_text)  # type: ignore[return-value]
