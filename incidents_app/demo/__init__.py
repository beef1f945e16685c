"""Demo incidents: one of each severity, each at another stage, about sessions of the sessions' demo.

The content is the same each time; the times are those of the sessions.
"""

from __future__ import annotations

from collections.abc import Callable

from incidents_app.demo import money, support, travel, trips
from statebase_site.access.models import Project

GoesOn = Callable[[Project, str], None]
"""Tells what the agent of a demo session does once it may go on; the session is named by its story."""


def load_incidents(project: Project, goes_on: GoesOn) -> None:
    """Tell all four, oldest first. The sessions are there, and maria, ingrid and jon are members."""
    money.wrong_payment(project, goes_on)
    trips.prices(project)
    support.loop(project)
    travel.cancelled(project)
