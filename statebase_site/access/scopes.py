"""What a key or a role may do (contract section 9). Pure: knows no Django."""

SESSIONS_READ = "sessions:read"
SESSIONS_WRITE = "sessions:write"
SESSIONS_DELETE = "sessions:delete"
MEMORY_READ = "memory:read"
MEMORY_WRITE = "memory:write"
TRACES_READ = "traces:read"
KEYS_MANAGE = "keys:manage"
INCIDENT_MANAGE = "incident:manage"
FULL = "*"

EVERY_SCOPE = (
    SESSIONS_READ,
    SESSIONS_WRITE,
    SESSIONS_DELETE,
    MEMORY_READ,
    MEMORY_WRITE,
    TRACES_READ,
    KEYS_MANAGE,
    INCIDENT_MANAGE,
    FULL,
)

# People act through the same scopes as keys: one rule for both doors.
_VIEWER = (SESSIONS_READ, MEMORY_READ, TRACES_READ)
_ENGINEER = (*_VIEWER, SESSIONS_WRITE, MEMORY_WRITE)
_RESPONDER = (*_ENGINEER, INCIDENT_MANAGE)
SCOPES_OF_ROLE: dict[str, frozenset[str]] = {
    "viewer": frozenset(_VIEWER),
    "engineer": frozenset(_ENGINEER),
    "responder": frozenset(_RESPONDER),
    "admin": frozenset((FULL,)),
}


def allows(granted: frozenset[str], scope: str) -> bool:
    """Whether `granted` covers `scope`; `*` covers all."""
    return FULL in granted or scope in granted
