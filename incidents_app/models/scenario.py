"""Failure-injection scenarios: the incident as a test, and how agents did in it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from incidents_app.enums import FaultKind, Outcome
from incidents_app.models.incident import Incident
from statebase_site.access.models import Project
from statebase_site.base import json
from statebase_site.base.ids import new_id


def new_scenario_id() -> str:
    """A fresh id `scn_…`."""
    return new_id("scn")


class Scenario(models.Model):
    """A fork from before the divergence, an injected fault, and a predicate that must hold afterwards.

    Never changed: a better idea is another scenario.
    """

    public_id = models.CharField(max_length=40, unique=True, default=new_scenario_id)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="scenarios")
    name = models.CharField(max_length=200)
    session_id = models.CharField(max_length=40, help_text="The session it was made from.")
    agent_id = models.CharField(max_length=255)
    fork_version = models.PositiveIntegerField(help_text="Each run forks the session there.")
    fault_kind = models.CharField(max_length=16, choices=FaultKind)
    fault_text = models.TextField(db_column="fault", help_text="JSON object, as it was sent.")
    predicate = models.TextField(help_text="JMESPath over the fork's state; must hold.")
    good_state_text = models.TextField(help_text="JSON: the state at the fork.")
    bad_state_text = models.TextField(null=True, help_text="JSON: the state at the divergence.")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=160)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('incidents:incident', args=[self.incident.reference])}#{self.public_id}"

    @property
    def fault(self) -> json.JsonObject:
        """The fault: `kind`, and what that kind needs of `tool`, `patch`, `value`."""
        return json.parse_stored(self.fault_text)  # type: ignore[return-value]


class ScenarioRun(models.Model):
    """A run: waiting until an agent picks it up, then red or green for ever."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="runs")
    session_id = models.CharField(max_length=40, help_text="The fork that the agent ran on.")
    agent_version = models.CharField(max_length=255, blank=True)
    outcome = models.CharField(max_length=5, choices=Outcome, null=True, help_text="None: waiting.")
    judged_version = models.PositiveIntegerField(null=True, help_text="The fork's version that was judged.")
    requested_at = models.DateTimeField()
    requested_by = models.CharField(max_length=160)
    finished_at = models.DateTimeField(null=True)
    reported_by = models.CharField(max_length=160, blank=True)

    class Meta:
        ordering = ["requested_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "session_id"], name="scenario_run_once"),
            models.UniqueConstraint(
                fields=["scenario"], name="scenario_waits_once", condition=Q(outcome__isnull=True)
            ),
            models.CheckConstraint(
                condition=Q(outcome__isnull=True, finished_at__isnull=True, judged_version__isnull=True)
                | Q(outcome__isnull=False, finished_at__isnull=False, judged_version__isnull=False),
                name="scenario_run_finished_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome or 'waiting'} {self.session_id}"
