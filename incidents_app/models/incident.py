"""The incident itself: what stays the same through its episodes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from incidents_app.enums import ACTIVE, FailureMode, Severity, Status, Traffic
from statebase_site.access.models import Project

REFERENCE_PREFIX = "INCIDENT-"


class Incident(models.Model):
    """One incident, `INCIDENT-12`, numbered per project.

    `status` is what the facts last came to; `queries.assess` works it out anew for whoever looks.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="incidents")
    number = models.PositiveIntegerField(help_text="In its project, from 1.")
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    summary_revision = models.PositiveIntegerField(default=0, help_text="Grows with each change of summary.")
    summary_by = models.CharField(max_length=160, blank=True, help_text="Who changed the summary last.")
    severity = models.CharField(max_length=2, choices=Severity, null=True, help_text="None in triage.")
    peak_severity = models.CharField(max_length=2, choices=Severity, null=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    failure_mode = models.CharField(max_length=24, choices=FailureMode, null=True)
    commander = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True
    )
    traffic = models.CharField(max_length=12, choices=Traffic, default=Traffic.REJECT)
    traffic_note = models.CharField(max_length=300, blank=True, help_text="Told to agents in the 423.")
    no_session_reason = models.TextField(blank=True)
    dedup_key = models.CharField(max_length=255, null=True)
    count = models.PositiveIntegerField(default=1, help_text="How often it was filed.")
    duplicate_of = models.ForeignKey("self", on_delete=models.PROTECT, related_name="duplicates", null=True)
    filed_by = models.CharField(max_length=160)
    filed_by_id = models.CharField(max_length=40)
    episode_number = models.PositiveIntegerField(default=1)
    event_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, help_text="Of the current episode.")
    closed_at = models.DateTimeField(null=True, help_text="Of the current episode.")
    review_due = models.DateTimeField(null=True, help_text="While a review is owed and not approved.")
    watch_until = models.DateTimeField(null=True, help_text="End of the watch after the last resume.")

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # Keyset pages of the list, newest first, and its filters by status and severity.
            models.Index(fields=["project", "created_at", "id"], name="incident_newest"),
            models.Index(fields=["project", "status", "severity"], name="incident_status"),
            # Few rows: what the worker looks at.
            models.Index(fields=["id"], name="incident_active", condition=Q(status__in=ACTIVE)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="incident_number_once"),
            models.UniqueConstraint(
                fields=["project", "dedup_key"],
                name="incident_dedup_once_open",
                condition=Q(dedup_key__isnull=False, status__in=ACTIVE),
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="incident_status_known"),
            models.CheckConstraint(
                condition=Q(severity__isnull=True) | Q(severity__in=Severity.values),
                name="incident_severity_known",
            ),
            models.CheckConstraint(
                condition=Q(severity__isnull=False, peak_severity__isnull=False)
                | Q(severity__isnull=True, peak_severity__isnull=True),
                name="incident_severity_has_peak",
            ),
            models.CheckConstraint(
                condition=Q(severity__isnull=True) | Q(peak_severity__lte=F("severity")),
                name="incident_peak_is_worst",
            ),
            models.CheckConstraint(
                condition=(Q(status=Status.DUPLICATE) & Q(duplicate_of__isnull=False))
                | (~Q(status=Status.DUPLICATE) & Q(duplicate_of__isnull=True)),
                name="incident_duplicate_names_other",
            ),
            models.CheckConstraint(
                condition=Q(status=Status.CLOSED, closed_at__isnull=False)
                | (~Q(status=Status.CLOSED) & Q(closed_at__isnull=True)),
                name="incident_closed_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("incidents:incident", args=[self.reference])

    @property
    def reference(self) -> str:
        """How people and agents name it: `INCIDENT-12`."""
        return f"{REFERENCE_PREFIX}{self.number}"

    @property
    def is_active(self) -> bool:
        """Whether it still holds its sessions, and may be worked on."""
        return self.status in ACTIVE


class IncidentCounter(models.Model):
    """The last number given in a project; locked while an incident is numbered."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="+")
    last = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.last} in {self.project_id}"


class Helper(models.Model):
    """Somebody who works on an incident beside its commander."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="helpers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    joined_at = models.DateTimeField()

    class Meta:
        ordering = ["joined_at", "id"]
        constraints = [models.UniqueConstraint(fields=["incident", "user"], name="helper_once")]

    def __str__(self) -> str:
        return f"{self.user} helps with {self.incident_id}"
