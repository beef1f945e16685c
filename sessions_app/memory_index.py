"""Full text over the terms of memories: SQLite's FTS5, an inverted index of words in PostgreSQL.

Both hold the stems that `embedding.terms` made, so that they find the same. The index keeps itself up to date
in the database; a later migration that remakes the table of memories on SQLite has to call `install` again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

_TABLE = "sessions_app_memory"
_FTS = "sessions_app_memory_terms"

_ADD = f"INSERT INTO {_FTS}(rowid, terms) VALUES (new.id, new.terms);"  # noqa: S608
_FORGET = f"INSERT INTO {_FTS}({_FTS}, rowid, terms) VALUES ('delete', old.id, old.terms);"  # noqa: S608
_SQLITE = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS {_FTS} USING fts5(terms, content='{_TABLE}', content_rowid='id', "
    "tokenize=\"unicode61 remove_diacritics 0 tokenchars '_'\")",
    f"CREATE TRIGGER IF NOT EXISTS {_FTS}_insert AFTER INSERT ON {_TABLE} BEGIN {_ADD} END",
    f"CREATE TRIGGER IF NOT EXISTS {_FTS}_delete AFTER DELETE ON {_TABLE} BEGIN {_FORGET} END",
    f"CREATE TRIGGER IF NOT EXISTS {_FTS}_update AFTER UPDATE OF terms ON {_TABLE} "
    f"BEGIN {_FORGET} {_ADD} END",
)
_POSTGRESQL = f"CREATE INDEX IF NOT EXISTS {_FTS} ON {_TABLE} USING GIN (string_to_array(terms, ' '))"


def install(_apps: Any, schema_editor: Any) -> None:
    """Make the index; usable as a `RunPython` operation."""
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in (_POSTGRESQL,) if is_postgresql else _SQLITE:
        schema_editor.execute(statement)


def forget_removed() -> None:
    """Let SQLite's index drop what it still holds of removed memories; PostgreSQL's has no text."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {_FTS}({_FTS}) VALUES ('optimize')")  # noqa: S608


def with_any(memories: QuerySet, terms: Iterable[str]) -> QuerySet:
    """Those that hold at least one of the terms."""
    wanted = list(dict.fromkeys(terms))
    if not wanted:
        return memories.none()
    if connection.vendor == "postgresql":
        return memories.extra(  # noqa: S610 - the terms are parameters
            where=[f"string_to_array({_TABLE}.terms, ' ') && %s::text[]"], params=[wanted]
        )
    expression = " OR ".join('"{}"'.format(term.replace('"', '""')) for term in wanted)
    return memories.extra(  # noqa: S610 - the expression is a parameter
        where=[f"{_TABLE}.id IN (SELECT rowid FROM {_FTS} WHERE {_FTS} MATCH %s)"],  # noqa: S608
        params=[expression],
    )
