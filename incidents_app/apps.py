"""Incidents: the recovery runbook, run against the sessions it is about."""

from django.apps import AppConfig


class IncidentsAppConfig(AppConfig):
    name = "incidents_app"
    verbose_name = "Incidents"
