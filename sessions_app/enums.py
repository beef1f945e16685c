"""The field's words, as they are stored and spoken on the wire."""

from django.db.models import TextChoices


class VersionKind(TextChoices):
    """How a version came to be (`source` in contract 5.3)."""

    CREATE = "create", "Created"
    UPDATE = "update", "Update"
    REPLACE = "replace", "Replacement"
    TURN = "turn", "Turn"
    ROLLBACK = "rollback", "Rollback"
    FORK = "fork", "Fork"


class TraceSource(TextChoices):
    """Who wrote a trace: a client's row can never pass for a row of the server (contract 5.6)."""

    SYSTEM = "system", "Server"
    CLIENT = "client", "Client"


class SessionStatus(TextChoices):
    """What a person sees of a session at a glance."""

    RUNNING = "running", "Running"
    FROZEN = "frozen", "Frozen"
    EXPIRED = "expired", "Expired"
    DELETED = "deleted", "Deleted"


class Action(TextChoices):
    """Actions of the traces that the server writes (contract section 10); reserved for it."""

    SESSION_CREATED = "session.created"
    SESSION_UPDATED = "session.updated"
    SESSION_DELETED = "session.deleted"
    SESSION_RESTORED = "session.restored"
    SESSION_EXPIRED = "session.expired"
    SESSION_FORKED = "session.forked"
    SESSION_FROZEN = "session.frozen"
    SESSION_UNFROZEN = "session.unfrozen"
    SESSION_HELD = "session.held"
    SESSION_RELEASED = "session.released"
    STATE_UPDATED = "state.updated"
    STATE_ROLLED_BACK = "state.rolled_back"
    TURN_ADDED = "turn.added"
    MEMORY_CREATED = "memory.created"
    MEMORY_UPDATED = "memory.updated"
    MEMORY_DELETED = "memory.deleted"
    ENTITY_CREATED = "entity.created"
    ENTITY_UPDATED = "entity.updated"
    ENTITY_DELETED = "entity.deleted"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_UPDATED = "webhook.updated"
    WEBHOOK_DELETED = "webhook.deleted"
    MEMBER_ADDED = "member.added"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    USER_ERASED = "user.erased"
    WRITE_REFUSED = "write.refused"


# Older spellings that a filter takes for the names above (contract 6.6, R29).
OLDER_ACTION_NAMES = {
    "state.update": Action.STATE_UPDATED,
    "state_update": Action.STATE_UPDATED,
    "state.rollback": Action.STATE_ROLLED_BACK,
    "state_rollback": Action.STATE_ROLLED_BACK,
    "turn.add": Action.TURN_ADDED,
    "turn_add": Action.TURN_ADDED,
    "memory.create": Action.MEMORY_CREATED,
    "memory.add": Action.MEMORY_CREATED,
    "memory_create": Action.MEMORY_CREATED,
    "memory_add": Action.MEMORY_CREATED,
    "session.create": Action.SESSION_CREATED,
    "session_create": Action.SESSION_CREATED,
    "session.update": Action.SESSION_UPDATED,
    "session_update": Action.SESSION_UPDATED,
    "session.delete": Action.SESSION_DELETED,
    "session_delete": Action.SESSION_DELETED,
    "session.fork": Action.SESSION_FORKED,
    "session_fork": Action.SESSION_FORKED,
}
