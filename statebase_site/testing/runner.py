"""`manage.py test`: every check, then the suite once on each database, and nothing is hidden by a failure."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from statebase_site.bootstrap import ROOT, apt_install
from statebase_site.processes import ending_with_parent
from statebase_site.testing.postgres import find_binaries, temporary_postgres

Found = TypeVar("Found")

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_python = sys.executable
CHECKS = {
    "linter": [_python, "-m", "ruff", "check"],
    "formatter": [_python, "-m", "ruff", "format", "--check"],
    "type check": [_python, "-m", "mypy"],
    "import contracts": [str(Path(_python).parent / "lint-imports")],
    "migrations": [_python, "manage.py", "makemigrations", "--check", "--dry-run"],
}
_NO_TESTS_COLLECTED = 5
# A developer who asks for one of these wants the tests in this process, in order.
_SERIAL_ARGUMENTS = ("-n", "--numprocesses", "-p", "--pdb", "--trace", "-s", "--collect-only")


def main(arguments: list[str]) -> int:
    """Run it all, with `arguments` for pytest; the exit status is 0 when all passed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="statebase-test-") as home:
        environment = test_environment(Path(home))
        failed = [name for name, command in CHECKS.items() if not _passes(name, command, environment)]
        failed += _failed_suites(arguments, environment)
    if failed:
        print(f"Failed: {', '.join(failed)}.", flush=True)
    return 1 if failed else 0


def find_chromium() -> str | None:
    """The path of the system's Chromium or Chrome."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def test_environment(home: Path) -> dict[str, str]:
    """The caller's variables without those that would make the tests depend on this installation."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE")
        and (not name.startswith("STATEBASE_") or name == "STATEBASE_SAMPLE_RUNS")
    }
    # The suite starts about a hundred processes, each of which would compile the application anew.
    return kept | {"STATEBASE_HOME": str(home), "PYTHONPYCACHEPREFIX": str(home / "bytecode")}


def _passes(name: str, command: list[str], environment: dict[str, str]) -> bool:
    started = time.monotonic()
    run = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(f"{name}: {'failed' if run.returncode else 'ok'} ({time.monotonic() - started:.1f} s)", flush=True)
    if run.returncode:
        print(run.stdout, flush=True)
    return run.returncode == 0


def _failed_suites(arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Run pytest on each database; the names of the runs that failed."""
    has_chromium = _find_or_install("Chromium, so browser tests are left out", find_chromium, "chromium")
    browser = "(journey or not browser)" if has_chromium else "not browser"
    suites = {"SQLite": _pytest("" if has_chromium else "not browser", arguments)}
    variables = {"SQLite": environment}
    statuses = {}
    binaries = _find_or_install("PostgreSQL, so the suite runs on SQLite only", find_binaries, "postgresql")
    with contextlib.ExitStack() as stack:
        if binaries:
            try:
                url = stack.enter_context(temporary_postgres(binaries))
                variables["PostgreSQL"] = environment | {"DATABASE_URL": url}
                suites["PostgreSQL"] = _pytest(f"not once and {browser}", arguments)
            except RuntimeError as error:
                print(error, flush=True)
                statuses["PostgreSQL"] = 1
        run_all = _one_by_one if _is_serial(arguments) else _at_once
        statuses |= run_all(suites, variables)
    if any(status == 0 for status in statuses.values()):  # the chosen tests may be for one database only
        statuses = {name: status for name, status in statuses.items() if status != _NO_TESTS_COLLECTED}
    return [f"suite on {name}" for name, status in sorted(statuses.items(), reverse=True) if status]


def _pytest(marks: str, arguments: list[str]) -> list[str]:
    command = [sys.executable, "-m", "pytest"]
    if not _is_serial(arguments):
        # By file: what a module's fixture makes once, such as a running server, serves all its tests. In the
        # order of `tests/conftest.py`, which begins with what takes longest.
        command += ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]
    return [*command, *(["-m", marks] if marks else []), *arguments]


def _is_serial(arguments: list[str]) -> bool:
    return any(argument.startswith(_SERIAL_ARGUMENTS) for argument in arguments)


def _one_by_one(suites: dict[str, list[str]], variables: dict[str, dict[str, str]]) -> dict[str, int]:
    statuses = {}
    for name, command in suites.items():
        print(f"\nThe suite on {name}", flush=True)
        statuses[name] = subprocess.run(command, cwd=ROOT, env=variables[name]).returncode
    return statuses


def _at_once(suites: dict[str, list[str]], variables: dict[str, dict[str, str]]) -> dict[str, int]:
    """While one suite waits for a browser or a server, the other goes on; the first is shown as it runs."""
    first, *others = suites
    print(f"\nThe suite on {first}{''.join(f', and beside it on {name}' for name in others)}", flush=True)
    with contextlib.ExitStack() as stack:
        outputs = {name: stack.enter_context(tempfile.TemporaryFile("w+")) for name in others}
        runs = {
            name: stack.enter_context(
                subprocess.Popen(
                    suites[name],
                    cwd=ROOT,
                    env=variables[name],
                    stdout=outputs.get(name),
                    stderr=subprocess.STDOUT if name in outputs else None,
                    preexec_fn=ending_with_parent(),
                )
            )
            for name in suites
        }
        statuses = {name: run.wait() for name, run in runs.items()}
        for name, output in outputs.items():
            output.seek(0)
            print(f"\nThe suite on {name}\n{output.read()}", flush=True)
    return statuses


def _find_or_install(what_without: str, find: Callable[[], Found | None], *packages: str) -> Found | None:
    found = find()
    if not found and apt_install(*packages):
        found = find()
    if not found:
        print(f"NOTICE: this machine has no {what_without}; install {' '.join(packages)} for it.", flush=True)
    return found
