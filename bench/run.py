"""`manage.py bench`: rates as ratios of contestants interleaved in one run, and bytes per version.

Absolute numbers swing with the machine; a ratio of medians over interleaved rounds does not.
"""

import argparse
import contextlib
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench import documents, floor, over_http
from statebase_site.testing.postgres import find_binaries, temporary_postgres

ROOT = Path(__file__).resolve().parent.parent


def main(argv: list[str]) -> int:
    """Parse the arguments, measure, print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="manage.py bench", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5, help="interleaved rounds, of which the median counts"
    )
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="length of one contestant's part of a round"
    )
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--state-kb", type=int, default=10)
    parser.add_argument("--only", choices=["rate", "bytes"])
    options = parser.parse_args(argv)
    binaries = find_binaries()
    if binaries is None:
        print(
            "PostgreSQL is not installed: install its server package, then run this again.", file=sys.stderr
        )
        return 1
    with tempfile.TemporaryDirectory() as home, temporary_postgres(binaries, durable=True) as dsn:
        os.environ |= {
            "DATABASE_URL": dsn,
            "STATEBASE_HOME": home,
            "DJANGO_SETTINGS_MODULE": "statebase_site.settings",
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        if options.only != "bytes":
            _measure_rate(dsn, options)
        if options.only != "rate":
            _measure_bytes()
    return 0


def _measure_rate(dsn: str, options: argparse.Namespace) -> None:
    from django.db import connection

    from sessions_app import actions
    from statebase_site.access.actor import system_actor
    from statebase_site.access.models import Project
    from statebase_site.base import clock, json

    project = Project.objects.create(
        name="bench", slug=f"bench-{secrets.token_hex(4)}", created_at=clock.now()
    )
    _, key = actions.create_key(name="bench", by=system_actor(project))
    connection.close()
    state = documents.state_of(options.state_kb * 1024)
    text = json.dumps(state)
    floor.make_tables(dsn, options.clients)
    with _server() as port, ProcessPoolExecutor(options.clients, get_context("spawn")) as pool:
        sessions = [over_http.create_session(port, key, state) for _ in range(options.clients)]

        def floor_round(seconds: float) -> float:
            return _rate(
                pool,
                floor.update_for,
                [(dsn, each, text, seconds) for each in range(options.clients)],
                seconds,
            )

        def http_round(seconds: float) -> float:
            return _rate(
                pool, over_http.update_for, [(port, key, each, seconds) for each in sessions], seconds
            )

        for warm in (floor_round, http_round):
            warm(1.0)
        floors, https = [], []
        for number in range(1, options.rounds + 1):
            floors.append(floor_round(options.seconds))
            https.append(http_round(options.seconds))
            print(
                f"round {number}: floor {floors[-1]:7.0f}/s   over HTTP {https[-1]:7.0f}/s   "
                f"ratio {https[-1] / floors[-1]:.2f}",
                flush=True,
            )
    ratio = statistics.median(http / base for http, base in zip(https, floors, strict=True))
    print(
        f"state update over HTTP, {len(text) / 1024:.1f} KB state, {options.clients} clients, PostgreSQL: "
        f"{ratio:.2f} x the raw floor (median of {options.rounds}; "
        f"{statistics.median(https):.0f}/s against {statistics.median(floors):.0f}/s)"
    )


def _rate(pool: ProcessPoolExecutor, work: Callable[..., int], calls: list[tuple], seconds: float) -> float:
    return sum(each.result() for each in [pool.submit(work, *call) for call in calls]) / seconds


@contextlib.contextmanager
def _server() -> Iterator[int]:
    """The production server on a free port, as `manage.py serve` starts it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port)])
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                break
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the server did not start")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def _measure_bytes() -> None:
    """Bytes on disk a version: 1,000 updates of one field of a 100 KB state, and of a list that grows."""
    from django.db.models import Sum

    from sessions_app import actions
    from sessions_app.models import StateVersion
    from statebase_site.access.actor import system_actor
    from statebase_site.access.models import Project
    from statebase_site.base import clock, json

    project = Project.objects.create(name="bytes", slug="bytes", created_at=clock.now())
    by = system_actor(project)
    state = documents.state_of(100 * 1024)

    def measure(name: str, versions: int, change: Callable[[int], dict]) -> None:
        made = actions.create_session(agent_id="bench", initial_state=state, by=by).agent_session
        for number in range(versions):
            actions.update_state(session_id=made.public_id, changes=change(number), by=by)
        rows = StateVersion.objects.filter(agent_session=made)
        total = rows.aggregate(stored=Sum("stored_bytes"), text=Sum("text_bytes"))
        print(
            f"{name}, {versions} versions: {total['stored'] / rows.count():.0f} bytes a version, "
            f"{100 * total['stored'] / total['text']:.2f} % of the raw JSON "
            f"({total['text'] / rows.count() / 1024:.0f} KB)"
        )

    measure(
        "100 KB state, one field changed", 1000, lambda number: {"step": number, "status": f"step {number}"}
    )
    grown = list(state["results"])
    more = documents.state_of(20 * 1024 + len(json.dumps(grown)), seed=2)["results"]

    def grow(number: int) -> dict:
        grown.append(more[number % len(more)] | {"id": f"n{number}"})
        return {"results": list(grown)}

    measure("100 KB list growing by an item", 200, grow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
