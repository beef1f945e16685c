"""Triggers by which the database itself refuses to change or remove rows, on SQLite and PostgreSQL alike."""

from typing import Any


def guard(schema_editor: Any, table: str, event: str, condition: str, message: str) -> None:
    """Refuse `event` (UPDATE or DELETE) of a row of `table` while `condition` (SQL over OLD) holds.

    Making it again replaces it. A later migration that remakes the table on SQLite has to call it again.
    """
    make = _sqlite if schema_editor.connection.vendor == "sqlite" else _postgresql
    make(schema_editor, table, event, condition, message)


def name_of(table: str, event: str) -> str:
    """The name of the trigger that `guard` makes."""
    return f"{table}_keep_{event.lower()}"


def _sqlite(schema_editor: Any, table: str, event: str, condition: str, message: str) -> None:
    name = name_of(table, event)
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")
    schema_editor.execute(
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )


def _postgresql(schema_editor: Any, table: str, event: str, condition: str, message: str) -> None:
    name = name_of(table, event)
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
