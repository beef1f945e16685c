"""What is stored of incidents. Everything about the present hangs on the incident's current episode."""

from incidents_app.models.affected_session import AffectedSession, Exemption
from incidents_app.models.effect import Effect
from incidents_app.models.episode import Episode, Override
from incidents_app.models.event import TimelineEvent
from incidents_app.models.follow_up import FollowUp
from incidents_app.models.incident import Helper, Incident, IncidentCounter
from incidents_app.models.pin import Pin
from incidents_app.models.scenario import Scenario, ScenarioRun

__all__ = [
    "AffectedSession",
    "Effect",
    "Episode",
    "Exemption",
    "FollowUp",
    "Helper",
    "Incident",
    "IncidentCounter",
    "Override",
    "Pin",
    "Scenario",
    "ScenarioRun",
    "TimelineEvent",
]
