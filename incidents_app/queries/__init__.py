"""Every reading of this app. Nothing here writes; what is not the actor's does not exist."""

from incidents_app.queries.assessing import Assessed, assess, assess_all, assess_episode
from incidents_app.queries.details import Details, details_of
from incidents_app.queries.finding import (
    affected_by_session,
    affecting,
    find_incidents,
    follow_up_of,
    incident_for,
    incident_of_projects,
    open_incidents_of,
    scenario_for,
    scenarios_for,
    with_reference,
)
from incidents_app.queries.listing import (
    incidents_of,
    matching,
    most_urgent,
    overdue_follow_ups,
    reviews_owed,
    with_overdue_follow_up,
    with_overdue_review,
    with_row,
)
from incidents_app.queries.metrics import Metrics, metrics_of
from incidents_app.queries.people import commander_is_away, people_of, who_may_command
from incidents_app.queries.reaching import (
    contaminated_forks,
    recently_active,
    sessions_named,
    suggested_for,
)
from incidents_app.queries.record import Record, record_of

__all__ = [
    "Assessed",
    "Details",
    "Metrics",
    "Record",
    "affected_by_session",
    "affecting",
    "assess",
    "assess_all",
    "assess_episode",
    "commander_is_away",
    "contaminated_forks",
    "details_of",
    "find_incidents",
    "follow_up_of",
    "incident_for",
    "incident_of_projects",
    "incidents_of",
    "matching",
    "metrics_of",
    "most_urgent",
    "open_incidents_of",
    "overdue_follow_ups",
    "people_of",
    "recently_active",
    "record_of",
    "reviews_owed",
    "scenario_for",
    "scenarios_for",
    "sessions_named",
    "suggested_for",
    "who_may_command",
    "with_overdue_follow_up",
    "with_overdue_review",
    "with_reference",
    "with_row",
]
