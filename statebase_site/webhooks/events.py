"""What a webhook can listen to. Pure: knows no Django."""

from enum import StrEnum


class Event(StrEnum):
    """The events of contract sections 11 and 16."""

    SESSION_CREATED = "session.created"
    SESSION_UPDATED = "session.updated"
    SESSION_DELETED = "session.deleted"
    SESSION_EXPIRED = "session.expired"
    SESSION_FROZEN = "session.frozen"
    SESSION_UNFROZEN = "session.unfrozen"
    TURN_ADDED = "turn.added"
    MEMORY_CREATED = "memory.created"
    WRITE_REFUSED = "write.refused"
    TRACE_CREATED = "trace.created"
    TRACE_ROLLBACK = "trace.rollback"
    TRACE_ERROR = "trace.error"
    INCIDENT_FILED = "incident.filed"
    INCIDENT_SEVERITY = "incident.severity"
    INCIDENT_CONTAINED = "incident.contained"
    INCIDENT_RECOVERED = "incident.recovered"
    INCIDENT_RESOLVED = "incident.resolved"
    INCIDENT_CLOSED = "incident.closed"
    INCIDENT_REOPENED = "incident.reopened"


TEST = "webhook.test"
"""What a person has sent to see whether it arrives: every webhook can be sent it, and none listens to it."""

MEANINGS: dict[Event, str] = {
    Event.SESSION_CREATED: "A session begins, also by a fork",
    Event.SESSION_UPDATED: "Its state, metadata or life changed",
    Event.SESSION_DELETED: "It was deleted",
    Event.SESSION_EXPIRED: "Its life ended",
    Event.SESSION_FROZEN: "It was frozen",
    Event.SESSION_UNFROZEN: "It goes on after a freeze",
    Event.TURN_ADDED: "A turn was logged",
    Event.MEMORY_CREATED: "A memory was added",
    Event.WRITE_REFUSED: "A write was refused because of a freeze",
    Event.TRACE_CREATED: "Any row of the audit trail; very many",
    Event.TRACE_ROLLBACK: "A session was rolled back",
    Event.TRACE_ERROR: "An agent reported an error",
    Event.INCIDENT_FILED: "An incident was filed",
    Event.INCIDENT_SEVERITY: "Its severity changed",
    Event.INCIDENT_CONTAINED: "Its sessions are all frozen",
    Event.INCIDENT_RECOVERED: "Its sessions are in their last good state",
    Event.INCIDENT_RESOLVED: "It was resolved",
    Event.INCIDENT_CLOSED: "It was closed after its review",
    Event.INCIDENT_REOPENED: "It was reopened",
}
"""What each means, in the words of the page."""
