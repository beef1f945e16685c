"""`manage.py demo`: the dashboard with data in it, in one command."""

import contextlib
import fcntl
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connections
from django.urls import reverse

from statebase_site import demo, server, worker
from statebase_site.access.actions import SIGN_IN_LINK_LIFETIME
from statebase_site.bootstrap import say
from statebase_site.processes import ending_with_parent

_HOST = "127.0.0.1"
_SECONDS_TO_ANSWER = 60
_SECONDS_TO_STOP = 15


class Command(BaseCommand):
    help = "Serve the dashboard with demo data on this machine, with its worker; stop it with Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=server.port_number, default=8000, help="default 8000")
        parser.add_argument("--json", action="store_true", help="print address, sign-in link and key as JSON")
        parser.add_argument("--reset", action="store_true", help="load the demo data anew")

    def handle(self, *args: Any, port: int, json: bool, reset: bool, **options: Any) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell started it with Ctrl-C ignored
            signal.signal(number, signal.default_int_handler)
        address = f"http://{_HOST}:{port}"
        with (
            contextlib.suppress(KeyboardInterrupt),
            _only_demo_of_this_home(address),
        ):
            server.leave_unless_free(_HOST, port)
            credentials = _prepare(reset)
            with _running_server(port) as process, _running_worker():
                link = _sign_in_link(address, credentials.sign_in_token)  # reads all addresses meanwhile
                _wait_until_it_answers(address, process)
                _announce(address, link, credentials.api_key, as_json=json)
                process.wait()
                sys.exit("The server stopped by itself: its last words are above.")


@contextlib.contextmanager
def _only_demo_of_this_home(address: str) -> Iterator[None]:
    """Hold the home folder's lock, so that a second demo names the first instead of fighting with it."""
    path = Path(settings.STATEBASE_HOME) / "demo.lock"
    try:
        lock = path.open("a+")
    except OSError as error:
        sys.exit(f"Cannot write to {path.parent} ({error.strerror}): set STATEBASE_HOME to a folder you own.")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            running = lock.read() or "another address"
            sys.exit(
                f"A demo of {path.parent} is running at {running} already: {_way_in(running)}, "
                "stop it first, or set STATEBASE_HOME to another folder."
            )
        lock.truncate(0)
        lock.write(address)
        lock.flush()
        yield


def _way_in(running: str) -> str:
    """How to get into a demo that runs: with a fresh link, since the one before works once."""
    with contextlib.suppress(DatabaseError):
        if token := demo.fresh_sign_in_token():
            return f"sign in with {_sign_in_link(running, token)}"
    return "open that"


def _sign_in_link(address: str, token: str) -> str:
    return address + reverse("access:sign-in-link", args=[token])


def _prepare(reset: bool) -> demo.Credentials:
    """Tables, static files, data and credentials; leaves with one sentence where that can't be."""
    server.leave_unless_database_answers()
    try:
        if refusal := demo.refusal():
            sys.exit(refusal)
        if server.has_unapplied_migrations():
            say("Preparing the database …")
            call_command("migrate", interactive=False, verbosity=0)
        server.collect_static_files()
        return demo.fresh_credentials(demo.prepare(reset=reset))
    except DatabaseError as error:
        sys.exit(
            f"The database refused to be prepared ({server.first_line(error)}): "
            "give the demo a database that it may write to, by DATABASE_URL or STATEBASE_HOME."
        )


@contextlib.contextmanager
def _running_server(port: int) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        server.command(_HOST, port),
        env=server.environment(),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,  # the first line of standard output is ours
        start_new_session=True,  # Ctrl-C is for us, and we tell the server
        preexec_fn=ending_with_parent(),
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()


@contextlib.contextmanager
def _running_worker() -> Iterator[None]:
    stop = threading.Event()

    def work() -> None:
        worker.run(stop)
        connections.close_all()

    thread = threading.Thread(target=work, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_SECONDS_TO_STOP)


def _wait_until_it_answers(address: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + _SECONDS_TO_ANSWER
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health/ready", timeout=5):  # noqa: S310
            return
        time.sleep(0.05)
    sys.exit(f"The server did not answer at {address}: its last words are above.")


def _announce(address: str, link: str, api_key: str, *, as_json: bool) -> None:
    if as_json:
        text = json.dumps({"url": address, "sign_in_url": link, "api_key": api_key})
    else:
        minutes = SIGN_IN_LINK_LIFETIME.seconds // 60
        text = (
            f"StateBase is ready at {address}\n\n"
            f"  Open the dashboard: {link}\n"
            f"                      (signs you in once, within {minutes} minutes)\n"
            f"  API key:            {api_key}\n"
            f"                      (of the project {demo.NAME}; the key of an earlier start is revoked)\n\n"
            "Stop it with Ctrl-C."
        )
    print(text, flush=True)
