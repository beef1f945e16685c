"""The production server: how it is started, and what has to be ready before it is."""

import argparse
import errno
import hashlib
import os
import socket
import sys
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from statebase_site.env import ROOT

_THREADS = 4
# Granian counts connections here, not requests: a browser holds six open, and the next one would wait.
_CONNECTIONS = 256
_SECONDS_TO_STOP = 10


def command(host: str, port: int, workers: int | None = None) -> list[str]:
    """The command line of the server; by default as many worker processes as suit the database."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi"),
        *("--host", host, "--port", str(port)),
        *("--workers", str(workers or _workers_by_database())),
        *("--blocking-threads", str(_THREADS), "--backpressure", str(_CONNECTIONS)),
        *("--respawn-failed-workers", "--workers-kill-timeout", str(_SECONDS_TO_STOP)),
        *("--no-ws", "--log-level", "warning"),
        "statebase_site.wsgi:application",
    ]


def environment() -> dict[str, str]:
    """This process's variables, so that the server finds the code from whatever folder it was started in."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return dict(os.environ, PYTHONPATH=os.pathsep.join(paths))


def port_number(text: str) -> int:
    """A port to listen on, for argparse."""
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)


def leave_unless_free(host: str, port: int) -> None:
    """End the process with one sentence where `port` can't be listened on.

    The server itself would share the port with another one that allows it, and answer every other request.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                sys.exit(
                    f"Port {port} is taken by another program: stop that, or choose another with --port."
                )
            sys.exit(f"Cannot listen on {host}, port {port} ({error.strerror}): choose others.")


def leave_unless_database_answers() -> None:
    """End the process with one sentence where the database is out of reach."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        sys.exit(
            f"The database does not answer ({first_line(error)}): "
            "start it, or correct DATABASE_URL (without it, SQLite is used)."
        )


def leave_where_the_database_is_not_ready(error: Exception, argv: list[str]) -> None:
    """End the process with one sentence where `error` is of a database out of reach or without tables."""
    if isinstance(error, DatabaseError):
        leave_unless_database_answers()
        if argv[1:2] != ["migrate"]:
            leave_unless_migrated()


def first_line(error: Exception) -> str:
    """The gist of a database's error."""
    return str(error).strip().partition("\n")[0]


def has_unapplied_migrations() -> bool:
    """Whether the tables are older than the code."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def leave_unless_migrated() -> None:
    """End the process with one sentence where tables are missing, or older than the code."""
    if has_unapplied_migrations():
        sys.exit("The database is older than this version: run `python3 manage.py migrate` first.")


def collect_static_files() -> None:
    """Copy the static files to where the server reads them, when any has changed since the last time.

    Ends the process with one sentence where they can't be written.
    """
    stamp = Path(settings.STATIC_ROOT) / "statebase.stamp"
    fingerprint = _fingerprint_of_static_files()
    if stamp.exists() and stamp.read_text() == fingerprint:
        return
    try:
        # Redoc comes with ninja and is not used: half of all bytes to compress.
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["redoc*"])
        stamp.write_text(fingerprint)
    except OSError as error:
        sys.exit(
            f"Cannot write to {stamp.parent} ({error.strerror}): set STATEBASE_HOME to a folder you own."
        )


def _workers_by_database() -> int:
    """SQLite has one writer: two processes would starve each other where one queues fairly."""
    return 1 if connection.vendor == "sqlite" else 2


def _fingerprint_of_static_files() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            found = os.stat(storage.path(path))
            digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()
