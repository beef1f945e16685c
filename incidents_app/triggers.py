"""Triggers by which the database itself keeps an incident's timeline and evidence.

No row of them is ever changed, and none is removed unless its whole project is.
"""

from typing import Any

from statebase_site.base.guards import guard, name_of

# Table, and the incident of one of its rows.
_GUARDED = {
    "incidents_app_timelineevent": "SELECT OLD.incident_id",
    "incidents_app_pin": "SELECT e.incident_id FROM incidents_app_episode e "
    "JOIN incidents_app_affectedsession a ON a.episode_id = e.id WHERE a.id = OLD.affected_id",
}


def names() -> set[str]:
    """The triggers that must exist."""
    return {name_of(table, event) for table in _GUARDED for event in ("UPDATE", "DELETE")}


def install(_apps: Any, schema_editor: Any) -> None:
    """Create all triggers; usable as a `RunPython` operation."""
    for table, incident in _GUARDED.items():
        kept = (
            "EXISTS (SELECT 1 FROM incidents_app_incident i "  # noqa: S608
            "JOIN access_project p ON p.id = i.project_id "
            f"WHERE i.id = ({incident}) AND NOT p.purging)"
        )
        guard(schema_editor, table, "UPDATE", "1 = 1", f"{table}: rows are never changed")
        guard(schema_editor, table, "DELETE", kept, f"{table}: rows are only removed with their project")
