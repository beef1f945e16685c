"""Incidents: the recovery runbook, run against the sessions it is about."""

from django.apps import AppConfig


class IncidentsAppConfig(AppConfig):
    name = "incidents_app"
    verbose_name = "Incidents"

    def ready(self) -> None:
        """Let what incidents keep of a session go with an erased user."""
        from incidents_app.actions.erasing import erase_copies
        from sessions_app.actions import sessions_erased

        sessions_erased.connect(erase_copies, dispatch_uid="incidents")
