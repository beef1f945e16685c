"""What a test may ask of the database it runs on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import psycopg
from django.db import connection

from sessions_app.models import AgentSession
from statebase_site.access.models import Project


def url_of_database() -> str:
    """DATABASE_URL of the current test database."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    user, password, host = (quote(found[name], safe="") for name in ("USER", "PASSWORD", "HOST"))
    port = f":{found['PORT']}" if found["PORT"] else ""
    return f"postgres://{user}:{password}@{host}{port}/{found['NAME']}"


def let_evidence_go() -> None:
    """Mark all sessions and projects for removal: only then the triggers let their rows be deleted."""
    AgentSession.objects.update(purging=True)
    Project.objects.update(purging=True)


@contextmanager
def fresh_database() -> Iterator[str]:
    """DATABASE_URL of an empty database of the same kind, gone afterwards; empty for SQLite, the default."""
    if connection.vendor == "sqlite":
        yield ""
    else:
        with _another_postgres("") as url:
            yield url


@contextmanager
def copied_database(folder: Path) -> Iterator[str]:
    """DATABASE_URL of a copy of the test database, made while no test uses that: migrated, and empty."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        copy = folder / "copy.sqlite3"
        with closing(sqlite3.connect(name)) as original:
            original.execute("VACUUM INTO ?", [str(copy)])
        yield f"sqlite:///{copy}"
    else:
        connection.close()
        with _another_postgres(f"TEMPLATE {name}") as url:
            yield url


@contextmanager
def _another_postgres(made_how: str) -> Iterator[str]:
    server = url_of_database().rpartition("/")[0]
    name = f"statebase_fresh_{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as administration:
        administration.execute(f"CREATE DATABASE {name} {made_how}")
        try:
            yield f"{server}/{name}"
        finally:
            administration.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def connected_to(url: str) -> Iterator[None]:
    """Lead Django's connection to another database of the same kind."""
    settings = connection.settings_dict
    name = url.removeprefix("sqlite:///") if connection.vendor == "sqlite" else url.rpartition("/")[2]
    connection.close()
    connection.settings_dict = settings | {"NAME": name}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = settings
