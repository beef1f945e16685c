"""A session in an episode of an incident, and what the runbook did to it."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from incidents_app.enums import Step
from incidents_app.models.episode import Episode
from sessions_app.models import AgentSession
from statebase_site.base import json


class AffectedSession(models.Model):
    """The facts that this incident recorded about one session. Whether they still hold is worked out.

    The session may be purged long after the incident has ended: its id and agent are kept here.
    """

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="affected")
    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    session_id = models.CharField(max_length=40, db_index=True)
    agent_id = models.CharField(max_length=255)
    added_at = models.DateTimeField()
    added_by = models.CharField(max_length=160)
    suspect_version = models.PositiveIntegerField(
        null=True, help_text="The version that looked wrong when it was filed or added."
    )

    # Waiting work: linking holds the session and, if severity asks for it, freezes it, each on its own.
    held_at = models.DateTimeField(null=True, help_text="When its evidence hold was opened.")
    freeze_wanted = models.BooleanField(default=False, help_text="To be frozen; retried until it is.")
    failure = models.TextField(blank=True, help_text="Why the last try to hold or freeze it failed.")

    freeze_version = models.PositiveIntegerField(null=True, help_text="The version that froze it first.")
    frozen_at = models.DateTimeField(null=True)
    frozen_by = models.CharField(max_length=160, blank=True)
    quiet_since = models.PositiveIntegerField(
        null=True, help_text="After this version nobody else may have written while it is frozen."
    )
    divergence_version = models.PositiveIntegerField(null=True)
    last_good_version = models.PositiveIntegerField(null=True)
    found_how = models.CharField(max_length=300, blank=True)
    diverged_at = models.DateTimeField(null=True, help_text="When the divergence was recorded.")
    tool_calls = models.PositiveIntegerField(
        null=True, help_text="Tool calls after the last good version, up to the freeze."
    )
    rollback_version = models.PositiveIntegerField(null=True, help_text="The version the rollback made.")
    rolled_back_to = models.PositiveIntegerField(null=True)
    rolled_back_at = models.DateTimeField(null=True)
    correction_version = models.PositiveIntegerField(null=True)
    correction = models.TextField(blank=True)
    corrected_at = models.DateTimeField(null=True)
    resume_version = models.PositiveIntegerField(null=True)
    resumed_at = models.DateTimeField(null=True)

    seen_position = models.PositiveIntegerField(
        default=0, help_text="Up to here the session's traces were looked through for what happened outside."
    )
    steps_text = models.TextField(
        db_column="steps", default="{}", help_text="JSON: what each step last was; it tells a lost one."
    )

    class Meta:
        ordering = ["id"]
        indexes = [
            # What the worker still has to hold or freeze: few rows.
            models.Index(
                fields=["id"],
                name="affected_waiting",
                condition=Q(held_at__isnull=True) | Q(freeze_wanted=True),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["episode", "agent_session"], name="affected_once"),
            models.CheckConstraint(
                condition=Q(divergence_version__isnull=True, last_good_version__isnull=True)
                | Q(
                    divergence_version__isnull=False,
                    last_good_version__isnull=False,
                    last_good_version__lt=F("divergence_version"),
                ),
                name="affected_good_before_divergence",
            ),
            models.CheckConstraint(
                condition=Q(freeze_version__isnull=True, frozen_at__isnull=True, quiet_since__isnull=True)
                | Q(freeze_version__isnull=False, frozen_at__isnull=False, quiet_since__isnull=False),
                name="affected_freeze_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.session_id

    @property
    def steps(self) -> dict[str, str]:
        """The last known state of each step, by its name."""
        return json.parse_stored(self.steps_text)  # type: ignore[return-value]


class Exemption(models.Model):
    """A step that need not be done for a session, with the reason."""

    affected = models.ForeignKey(AffectedSession, on_delete=models.CASCADE, related_name="exemptions")
    step = models.CharField(max_length=12, choices=Step)
    reason = models.TextField()
    made_by = models.CharField(max_length=160)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["made_at", "id"]
        constraints = [models.UniqueConstraint(fields=["affected", "step"], name="exemption_once")]

    def __str__(self) -> str:
        return f"{self.step} exempt"
