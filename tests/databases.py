"""What a test may ask of the database it runs on."""

from collections.abc import Iterator
from contextlib import contextmanager
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
        return
    server = url_of_database().rpartition("/")[0]
    name = f"statebase_fresh_{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as administration:
        administration.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server}/{name}"
        finally:
            administration.execute(f"DROP DATABASE {name} WITH (FORCE)")
