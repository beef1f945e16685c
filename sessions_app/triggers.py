"""Triggers by which the database itself keeps the evidence (domain rule 6).

Every UPDATE of a version, turn or trace is refused, and so is a DELETE whose session (for a trace without
one: whose project) is not marked for purge. Installing is idempotent: a later migration that remakes one of
these tables on SQLite has to call `install` again, and a test looks for every trigger.
"""

from typing import Any

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
    return {f"{table}_keep_{what}" for table in _GUARDED for what in ("update", "delete")} | {
        f"{_SESSIONS}_keep_delete"
    }


def install(_apps: Any, schema_editor: Any) -> None:
    """Create all triggers; usable as a `RunPython` operation."""
    make = _sqlite if schema_editor.connection.vendor == "sqlite" else _postgresql
    for table, refused in _GUARDED.items():
        make(schema_editor, table, "UPDATE", "1 = 1", f"{table}: rows are never changed")
        make(schema_editor, table, "DELETE", refused, f"{table}: rows are only removed by the purge")
    make(
        schema_editor,
        _SESSIONS,
        "DELETE",
        "NOT OLD.purging",
        f"{_SESSIONS}: rows are only removed by the purge",
    )
    if schema_editor.connection.vendor == "postgresql":
        # Bodies are compressed already: a second attempt only costs time.
        schema_editor.execute("ALTER TABLE sessions_app_stateversion ALTER COLUMN body SET STORAGE EXTERNAL")


def _sqlite(schema_editor: Any, table: str, event: str, condition: str, message: str) -> None:
    name = f"{table}_keep_{event.lower()}"
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
    schema_editor.execute(
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )


def _postgresql(schema_editor: Any, table: str, event: str, condition: str, message: str) -> None:
    name = f"{table}_keep_{event.lower()}"
    result = "NEW" if event == "UPDATE" else "OLD"
    schema_editor.execute(
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {condition} THEN RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation'; END IF; "
        f"RETURN {result}; END $$"
    )
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
    schema_editor.execute(
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
