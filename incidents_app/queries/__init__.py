"""Every reading of this app. Nothing here writes; what is not the actor's does not exist."""

from incidents_app.queries.assessing import Assessed, assess, assess_all, assess_episode
from incidents_app.queries.finding import (
    affected_by_session,
    find_incidents,
    follow_up_of,
    incident_for,
    incident_of_projects,
    open_incidents_of,
    scenario_for,
    scenarios_for,
    with_reference,
)
from incidents_app.queries.metrics import Metrics, metrics_of
from incidents_app.queries.people import commander_is_away, who_may_command
from incidents_app.queries.reaching import contaminated_forks, suggested_for
from incidents_app.queries.record import Record, record_of

__all__ = [
    "Assessed",
    "Metrics",
    "Record",
    "affected_by_session",
    "assess",
    "assess_all",
    "assess_episode",
    "commander_is_away",
    "contaminated_forks",
    "find_incidents",
    "follow_up_of",
    "incident_for",
    "incident_of_projects",
    "metrics_of",
    "open_incidents_of",
    "record_of",
    "scenario_for",
    "scenarios_for",
    "suggested_for",
    "who_may_command",
    "with_reference",
]
