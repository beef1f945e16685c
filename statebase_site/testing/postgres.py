"""A PostgreSQL server of one's own in a temporary folder, gone with the process that started it."""

import contextlib
import fcntl
import grp
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from statebase_site.processes import ending_with_parent

# Short, because the path of a socket may have about 100 characters; open to the account the server runs as.
_PARENT = Path("/tmp")  # noqa: S108
_PREFIX = "statebase-pg-"
_SECONDS_TO_START = 60
_SECONDS_TO_STOP = 20
# A folder younger than this may belong to a run that has not got to locking it.
_SECONDS_TO_LOCK = 60


def find_binaries() -> Path | None:
    """The folder of `initdb` and `postgres`: in PATH, else the newest of Debian's versions."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    return next((folder for folder in folders if _is_complete(folder)), None)


@contextlib.contextmanager
def temporary_postgres(binaries: Path, *, durable: bool = False) -> Iterator[str]:
    """Run a server on a socket only, and give its DATABASE_URL (a superuser's).

    `durable` keeps every write safe as in production, which is slower: for measurements.
    Raises RuntimeError with the server's last words when it does not come up.
    """
    _sweep()
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_PARENT))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(os.close, _lock(folder))
        account = _account()
        folder.chmod(0o755)
        if account:
            shutil.chown(folder, *account)
        log_path = folder / "log"
        log = stack.enter_context(log_path.open("w"))
        options: dict[str, Any] = {"cwd": "/", "stdin": subprocess.DEVNULL, "stdout": log, **_as(account)}
        options["stderr"] = subprocess.STDOUT
        if subprocess.run(_initdb(binaries, folder), **options).returncode:
            raise RuntimeError(f"initdb failed: {log_path.read_text()}")
        server = subprocess.Popen(
            _postgres(binaries, folder, durable),
            start_new_session=True,  # Ctrl-C is for us; the server stops when nobody needs it any more
            preexec_fn=ending_with_parent(signal.SIGINT),
            **options,
        )
        stack.callback(_stop, server)
        url = f"postgres://postgres@{quote(str(folder), safe='')}/postgres"
        _wait_until_it_answers(url, server, log_path)
        yield url


def _initdb(binaries: Path, folder: Path) -> list[str]:
    locale = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
    command = [str(binaries / "initdb"), "-D", str(folder / "data"), "--username=postgres", "--auth=trust"]
    return [*command, "--encoding=UTF8", f"--locale={locale}", "--no-sync"]


def _postgres(binaries: Path, folder: Path, durable: bool) -> list[str]:
    settings = ["listen_addresses=", f"unix_socket_directories={folder}", "max_connections=200"]
    if not durable:
        settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
    options = [word for setting in settings for word in ("-c", setting)]
    return [str(binaries / "postgres"), "-D", str(folder / "data"), *options]


def _version(folder: Path) -> float:
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0


def _is_complete(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("initdb", "postgres"))


def _account() -> tuple[str, str] | None:
    """Who runs the server: root may not, so an account without rights does it."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in names:
            return name, grp.getgrgid(names[name].pw_gid).gr_name
    raise RuntimeError("PostgreSQL does not run as root, and there is no account 'postgres' or 'nobody'.")


def _as(account: tuple[str, str] | None) -> dict[str, Any]:
    return {"user": account[0], "group": account[1], "extra_groups": []} if account else {}


def _lock(folder: Path) -> int:
    """Hold the folder for as long as this process lives, so that no sweep takes it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _wait_until_it_answers(url: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(url).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")


def _stop(server: subprocess.Popen) -> None:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _sweep() -> None:
    """Remove what killed runs left: folders that nobody holds, and servers still running in them."""
    for folder in _PARENT.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            found = folder.stat()
            if os.geteuid() not in (0, found.st_uid) or time.time() - found.st_mtime < _SECONDS_TO_LOCK:
                continue
            handle = _lock(folder)
            try:
                _end_server_in(folder)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def _end_server_in(folder: Path) -> None:
    with contextlib.suppress(OSError, ValueError):
        data = folder / "data"
        pid = int((data / "postmaster.pid").read_text().split()[0])
        # The number may belong to somebody else by now: only a process that names this folder is ours.
        if str(data).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGQUIT)
