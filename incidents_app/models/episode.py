"""One stretch of an incident, from its filing or reopening to its end."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from incidents_app.models.incident import Incident


class Episode(models.Model):
    """Its times, the answers to "what enabled it", and its review. Reopening begins another.

    The old ones stay as they were.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="episodes")
    number = models.PositiveIntegerField(help_text="From 1.")
    opened_at = models.DateTimeField()
    opened_by = models.CharField(max_length=160)
    reason = models.TextField(blank=True, help_text="Of the reopening.")
    contained_at = models.DateTimeField(null=True, help_text="The first time in this episode.")
    recovered_at = models.DateTimeField(null=True, help_text="The first time in this episode.")
    resolved_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    # The four questions of seed 2, step 5. None = not asked yet.
    missing_checkpoint = models.BooleanField(null=True)
    no_validation = models.BooleanField(null=True)
    no_permission_check = models.BooleanField(null=True)
    state_drift = models.BooleanField(null=True)
    causes = models.TextField(blank=True, help_text="What enabled the failure, in words.")
    answered_at = models.DateTimeField(null=True)
    answered_by = models.CharField(max_length=160, blank=True)

    # The post-incident review; the failure mode is the incident's.
    checkpoint_session = models.CharField(max_length=40, null=True)
    checkpoint_after = models.PositiveIntegerField(
        null=True, help_text="The missing checkpoint comes after this version."
    )
    no_checkpoint_why = models.TextField(blank=True, help_text="Why no checkpoint was missing.")
    lessons = models.TextField(blank=True)
    review_scenario = models.ForeignKey(
        "incidents_app.Scenario", on_delete=models.SET_NULL, related_name="+", null=True
    )
    reviewed_by = models.CharField(max_length=160, blank=True, help_text="Who changed the review last.")
    approved_at = models.DateTimeField(null=True)
    approved_by = models.CharField(max_length=160, blank=True)
    approved_alone = models.BooleanField(
        default=False, help_text="By the commander: nobody else in the project may approve it."
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["incident", "number"], name="episode_once"),
            models.CheckConstraint(
                condition=Q(checkpoint_session__isnull=True, checkpoint_after__isnull=True)
                | Q(checkpoint_session__isnull=False, checkpoint_after__isnull=False),
                name="episode_checkpoint_whole",
            ),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True)
                | Q(
                    missing_checkpoint__isnull=False,
                    no_validation__isnull=False,
                    no_permission_check__isnull=False,
                    state_drift__isnull=False,
                ),
                name="episode_answers_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"episode {self.number} of {self.incident_id}"


class Override(models.Model):
    """A gate that an admin passed over, with the reason that is shown on the page and in exports."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="overrides")
    code = models.CharField(max_length=40, help_text="The `code` of an unmet condition.")
    reason = models.TextField()
    made_by = models.CharField(max_length=160)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["made_at", "id"]
        constraints = [models.UniqueConstraint(fields=["episode", "code"], name="override_once")]

    def __str__(self) -> str:
        return f"{self.code} overridden"
