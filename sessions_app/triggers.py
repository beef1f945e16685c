"""Triggers by which the database itself keeps the evidence (domain rule 6).

Every UPDATE of a version, turn or trace is refused, and so is a DELETE whose session (for a trace without
one: whose project) is not marked for purge. Installing is idempotent: a later migration that remakes one of
these tables on SQLite has to call `install` again, and a test looks for every trigger.
"""

from typing import Any

from statebase_site.base.guards import guard, name_of

_OF_SESSION = (
    "EXISTS (SELECT 1 FROM sessions_app_agentsession s WHERE s.id = OLD.agent_session_id AND NOT s.purging)"
)
_OF_PROJECT = (
    "(OLD.agent_session_id IS NULL AND EXISTS "
    "(SELECT 1 FROM access_project p WHERE p.id = OLD.project_id AND NOT p.purging))"
)

# Table, and when a DELETE of one of its rows is refused.
_GUARDED = {
    "sessions_app_stateversion": _OF_SESSION,
    "sessions_app_turn": _OF_SESSION,
    "sessions_app_trace": f"{_OF_SESSION} OR {_OF_PROJECT}",
}
_SESSIONS = "sessions_app_agentsession"


def names() -> set[str]:
    """The triggers that must exist."""
    return {name_of(table, event) for table in _GUARDED for event in ("UPDATE", "DELETE")} | {
        name_of(_SESSIONS, "DELETE")
    }


def install(_apps: Any, schema_editor: Any) -> None:
    """Create all triggers; usable as a `RunPython` operation."""
    for table, refused in _GUARDED.items():
        guard(schema_editor, table, "UPDATE", "1 = 1", f"{table}: rows are never changed")
        guard(schema_editor, table, "DELETE", refused, f"{table}: rows are only removed by the purge")
    guard(
        schema_editor,
        _SESSIONS,
        "DELETE",
        "NOT OLD.purging",
        f"{_SESSIONS}: rows are only removed by the purge",
    )
    if schema_editor.connection.vendor == "postgresql":
        # Bodies are compressed already: a second attempt only costs time.
        schema_editor.execute("ALTER TABLE sessions_app_stateversion ALTER COLUMN body SET STORAGE EXTERNAL")
