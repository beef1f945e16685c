"""System checks: settings that would be unsafe, and databases that are too old."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from sessions_app.embedders import embedder
from statebase_site import env

SECRET_KEY_LEAST = 32
POSTGRESQL_LEAST = (14, 0)
SQLITE_LEAST = (3, 35, 0)


@register(Tags.security)
def secret_key(**_: Any) -> list[CheckMessage]:
    """A secret key that was given must be long enough that nobody guesses it."""
    given = env.text("STATEBASE_SECRET_KEY")
    if given and len(given) < SECRET_KEY_LEAST:
        return [
            Error(
                f"STATEBASE_SECRET_KEY has {len(given)} characters; at least {SECRET_KEY_LEAST} are needed.",
                hint="Leave it out to have one made and kept, or set a long random text.",
                id="statebase.E001",
            )
        ]
    return []


@register(Tags.security)
def hosts(**_: Any) -> list[CheckMessage]:
    """Debugging pages show secrets, so they are for this machine alone."""
    local = {"127.0.0.1", "localhost", "[::1]"}
    if settings.DEBUG and not set(settings.ALLOWED_HOSTS) <= local:
        return [
            Error(
                "STATEBASE_DEBUG is on while STATEBASE_ALLOWED_HOSTS lets others in.",
                hint="Turn STATEBASE_DEBUG off where anybody but you can reach the server.",
                id="statebase.E002",
            )
        ]
    if "*" in settings.ALLOWED_HOSTS:
        return [
            Warning(
                "STATEBASE_ALLOWED_HOSTS is *: any name is taken for this server's own.",
                hint="Name the hosts under which the server is reached, separated by commas.",
                id="statebase.W001",
            )
        ]
    return []


@register(Tags.database)
def database_version(databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    """The oldest databases on which the tests run, and whose SQL is used here."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        version: tuple[int, ...]
        least: tuple[int, ...]
        if connection.vendor == "sqlite":
            name, version, least = "SQLite", sqlite3.sqlite_version_info, SQLITE_LEAST
        else:
            name, version, least = "PostgreSQL", connection.get_database_version(), POSTGRESQL_LEAST
        if version < least:
            words = ".".join(map(str, version))
            wanted = ".".join(map(str, least))
            found.append(
                Error(f"{name} {words} is too old: {wanted} or newer is needed.", id="statebase.E003")
            )
    return found


@register(Tags.compatibility)
def embedder_is_installed(**_: Any) -> list[CheckMessage]:
    """What the setting names has to be there before the first memory is."""
    try:
        embedder()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="statebase.E004")]
    return []
