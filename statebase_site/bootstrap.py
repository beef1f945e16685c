"""Makes the environment StateBase runs in, so that `python3` is all a machine needs.

Standard library only, and in syntax that old Pythons can read: they are told so in one sentence.
All it says goes to standard error; standard output belongs to the command.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "statebase_site" / "constraints.txt"
OLDEST_PYTHON = (3, 11)
TEST_COMMANDS = {"test", "bench"}
# These promise to work with the pinned versions, so they never run on whatever happens to be importable.
PINNED_COMMANDS = TEST_COMMANDS | {"demo"}
ENTERED = "STATEBASE_ENTERED"
UNFINISHED = "unfinished"


def enter(argv):
    """Go on in an environment that has what the command of `argv` needs.

    Returns when the running interpreter is that environment, else replaces the process. Leaves with one
    sentence when the environment can't be made.
    """
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            "StateBase needs Python 3.11 or newer and this is Python {}.{}: install a newer one, "
            "then start this command with it.".format(*sys.version_info[:2])
        )
    if os.name != "posix":
        sys.exit("StateBase runs on Linux and macOS: on Windows, start this command in WSL.")
    command = argv[1] if len(argv) > 1 else ""
    if os.environ.pop(ENTERED, None):
        return
    if command not in PINNED_COMMANDS and _has_packages():
        return
    environment = Path(os.environ.get("STATEBASE_VENV") or ROOT / ".venv").absolute()
    _prepare(environment, with_test_tools=command in TEST_COMMANDS)
    if Path(sys.prefix).resolve() == environment.resolve():
        return
    python = str(environment / "bin" / "python")
    os.environ[ENTERED] = "1"  # whatever this interpreter turns out to be, never go round in a circle
    os.execv(python, [python, *argv])  # noqa: S606 - the same command, by the interpreter just made


def apt_install(*packages):
    """Install Debian packages where this process may; tells whether it did."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    say(f"Installing {', '.join(packages)} with apt-get …")
    surroundings = dict(os.environ, DEBIAN_FRONTEND="noninteractive")

    def apt_get(*arguments):
        command = ["apt-get", "-qq", *arguments]
        return subprocess.run(command, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True)

    apt_get("update")  # where it fails, an old list may still do
    return apt_get("install", "-y", "--no-install-recommends", *packages).returncode == 0


def say(text):
    """Tell the person at the terminal what is going on."""
    print(text, file=sys.stderr, flush=True)


def _has_packages():
    """Whether the running interpreter can import what StateBase is built on."""
    return all(importlib.util.find_spec(name) for name in ("django", "ninja", "granian"))


def _requirements():
    """The requirements in pyproject.toml: (to run, to test)."""
    import tomllib  # not in the Pythons that get no further than the version check

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["project"]["dependencies"], project["dependency-groups"]["test"]


def _prepare(environment, with_test_tools):
    """Make or update the environment, unless its stamp says that it is as wanted."""
    to_run, to_test = _requirements()
    version = "{}.{}".format(*sys.version_info[:2])
    digest = hashlib.sha256(repr((to_run, to_test)).encode() + CONSTRAINTS.read_bytes()).hexdigest()
    stamp = environment / "statebase.stamp"

    def ready():
        if not (environment / "bin" / "python").exists():
            return False
        found = _read(stamp).split()
        return found[:2] == [version, digest] and (not with_test_tools or "test" in found)

    if ready():
        return
    try:
        environment.parent.mkdir(parents=True, exist_ok=True)
        with _locked(environment.parent):
            if ready():  # another start has made it in the meantime
                return
            say(f"Setting up StateBase in {environment} (only once) …")
            _make(environment, stamp, version)
            _install(environment, to_run + (to_test if with_test_tools else []))
            stamp.write_text(" ".join([version, digest, "test" if with_test_tools else "run"]))
    except OSError as error:
        sys.exit(
            f"StateBase can't make its environment {environment} ({error.strerror}): "
            "set STATEBASE_VENV to a folder that you may write to."
        )


@contextlib.contextmanager
def _locked(folder):
    """Hold the folder, so that two starts at the same time don't install over each other."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another start is setting up StateBase, waiting for it …")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _make(environment, stamp, version):
    """An environment to install into: made anew after a broken start or for another Python, else kept."""
    made_here = _read(stamp)
    usable = (environment / "bin" / "python").exists()
    if usable and (not made_here or made_here.split()[0] == version):
        return
    if not importlib.util.find_spec("ensurepip"):
        package = "python{}.{}-venv".format(*sys.version_info[:2])
        apt_install(package)
        importlib.invalidate_caches()
        if not importlib.util.find_spec("ensurepip"):
            sys.exit(
                "This Python can't make environments: install its venv module "
                f"(on Debian and Ubuntu: apt-get install {package}), then start this command again."
            )
    if made_here:
        shutil.rmtree(environment)
    environment.mkdir(exist_ok=True)
    stamp.write_text(UNFINISHED)
    if not _run(environment, sys.executable, "-m", "venv", str(environment)):
        sys.exit(f"StateBase can't make its environment: {_last_words(environment)}")


def _install(environment, requirements):
    """Install with uv (several times faster), or with pip where uv can't be had."""
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2"]
    pinned = ["--constraint", str(CONSTRAINTS)]
    uv = [str(environment / "bin" / "uv"), "pip", "install", "--python", python, "--compile-bytecode"]
    if not _run(environment, python, "-c", "import pip"):
        _run(environment, python, "-m", "ensurepip")
    installed = (
        _run(environment, *pip, *pinned, "uv") and _run(environment, *uv, *pinned, *requirements)
    ) or _run(environment, *pip, *pinned, *requirements)
    if not installed:
        sys.exit(
            "StateBase can't install the packages it needs: connect this machine to the network (or set pip "
            f"to a mirror), then start this command again; details are in {_log(environment)}."
        )


def _run(environment, *command):
    """Run a step with its output in the log; tells whether it succeeded."""
    with open(_log(environment), "a", encoding="utf-8") as log:
        print("$", *command, file=log, flush=True)
        return (
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(os.environ, UV_PYTHON_DOWNLOADS="never"),
            ).returncode
            == 0
        )


def _log(environment):
    return environment / "bootstrap.log"


def _last_words(environment):
    return _read(_log(environment)).strip().rpartition("\n")[2]


def _read(path):
    """The text of a file, empty where there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
