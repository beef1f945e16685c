"""`sb.incidents`: the recovery runbook (contract 16).

`incident_id` is the incident's name, such as `INCIDENT-12`. What is not met yet raises `GateUnmet`.
"""

from statebase_client.calls import AsyncGroup, SyncGroup
from statebase_client.incidents.learning import LearningCalls
from statebase_client.incidents.recovering import RecoveryCalls


class Incidents(RecoveryCalls, LearningCalls, SyncGroup):
    """Incidents of `StateBase`."""


class AsyncIncidents(RecoveryCalls, LearningCalls, AsyncGroup):
    """Incidents of `AsyncStateBase`."""
