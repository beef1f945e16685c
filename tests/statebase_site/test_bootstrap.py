"""`python3 manage.py …` makes the environment it needs, or says in one sentence what is in the way.

Run in a small checkout of its own, with stand-ins for the packages in a folder instead of the package index.
"""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from statebase_site import bootstrap
from tests.patience import SECONDS

STAND_IN_DJANGO = {
    "django/__init__.py": "",
    "django/core/__init__.py": "",
    "django/core/exceptions.py": "class ImproperlyConfigured(Exception): pass\n",
    "django/core/management.py": (
        "import importlib.util, sys\n"
        "def execute_from_command_line(argv):\n"
        "    tools = 'with' if importlib.util.find_spec('checker') else 'without'\n"
        "    print('ran', *argv[1:], 'in', sys.prefix, tools, 'test tools')\n"
    ),
}
PYPROJECT = """
[project]
dependencies = ["django>=1", "ninja", "granian"]
[dependency-groups]
test = ["checker"]
"""


def make_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> None:
    info = f"{name}-{version}.dist-info"
    metadata = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    names = [*files, *metadata, f"{info}/RECORD"]
    metadata[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in names)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in (files | metadata).items():
            wheel.writestr(path, text)


class Checkout:
    """A copy of the start-up code beside a folder of wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "check out"  # people have folders with spaces
        self.wheels = folder / "wheels"
        self.wheels.mkdir(parents=True)
        site = self.folder / "statebase_site"
        site.mkdir(parents=True)
        shutil.copy(bootstrap.ROOT / "manage.py", self.folder)
        shutil.copy(bootstrap.__file__, site)
        (site / "__init__.py").touch()
        (self.folder / "pyproject.toml").write_text(PYPROJECT)
        self.pin("1.0")
        for version in ("1.0", "2.0"):
            make_wheel(self.wheels, "django", version, STAND_IN_DJANGO)
        for name in ("ninja", "granian", "checker"):
            make_wheel(self.wheels, name, "1.0", {f"{name}/__init__.py": ""})

    def pin(self, version: str) -> None:
        (self.folder / "statebase_site" / "constraints.txt").write_text(f"django=={version}\n")

    @property
    def environment(self) -> Path:
        return self.folder / ".venv"

    def begin(self, command: str, **variables: str) -> subprocess.Popen:
        index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
        return subprocess.Popen(
            [base_python(), "manage.py", command],
            cwd=self.folder,
            env=kept | index | {"HOME": str(self.folder)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, command: str, **variables: str) -> tuple[int, str, str]:
        """Run it to the end: status, standard output, standard error."""
        process = self.begin(command, **variables)
        output, errors = process.communicate(timeout=SECONDS)
        return process.returncode, output, errors


def base_python() -> str:
    """The interpreter that this environment was made from, which knows none of its packages."""
    return str(Path(sys.base_prefix) / "bin" / "python{}.{}".format(*sys.version_info[:2]))


@pytest.fixture(scope="module")
def first_starts(tmp_path_factory) -> tuple[Checkout, list[tuple[str, str]]]:
    """A checkout that was started twice at once, after a start that was broken off; what both wrote."""
    checkout = Checkout(tmp_path_factory.mktemp("made"))
    (checkout.environment / "bin").mkdir(parents=True)
    (checkout.environment / "bin" / "python").write_text("Only half of a progra")
    (checkout.environment / "statebase.stamp").write_text(bootstrap.UNFINISHED)
    starts = [checkout.begin("demo") for _ in range(2)]
    return checkout, [start.communicate(timeout=SECONDS) for start in starts]


@pytest.fixture
def made(first_starts) -> Checkout:
    """A checkout whose first start is behind it; tests leave it ready for another."""
    return first_starts[0]


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    return Checkout(tmp_path)


pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.mark.parametrize("path", ["manage.py", "statebase_site/bootstrap.py", "statebase_site/__init__.py"])
def test_old_pythons_can_read_the_start_up_code(path):
    ast.parse((bootstrap.ROOT / path).read_text(), feature_version=(3, 6))


def test_an_old_python_is_told_so():
    program = (
        "from statebase_site import bootstrap; bootstrap.OLDEST_PYTHON = (99, 0);"
        "bootstrap.enter(['manage.py', 'demo'])"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=bootstrap.ROOT, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith("StateBase needs Python 3.11 or newer and this is Python 3.")
    assert run.stderr.count("\n") == 1


def test_two_starts_at_once_set_up_once_and_make_good_what_was_broken_off(first_starts):
    checkout, written = first_starts
    ran = f"ran demo in {checkout.environment} without test tools\n"
    assert [output for output, _ in written] == [ran, ran]
    assert sum("Setting up StateBase" in errors for _, errors in written) == 1


def test_the_second_start_needs_nothing_from_outside(made):
    status, output, errors = made.start("demo", PIP_FIND_LINKS="/nowhere")
    assert (status, errors) == (0, "")
    assert output == f"ran demo in {made.environment} without test tools\n"


def test_any_other_command_runs_in_the_same_environment(made):
    status, output, errors = made.start("create_user", PIP_FIND_LINKS="/nowhere")
    assert (status, errors) == (0, "")
    assert output == f"ran create_user in {made.environment} without test tools\n"


def test_the_test_command_adds_its_tools_and_demo_keeps_them(made):
    assert made.start("test")[1] == f"ran test in {made.environment} with test tools\n"
    status, output, errors = made.start("demo", PIP_FIND_LINKS="/nowhere")
    assert (status, errors) == (0, "")
    assert output == f"ran demo in {made.environment} with test tools\n"


def test_new_pins_are_installed_or_one_sentence_says_what_keeps_them(made):
    made.pin("2.0")
    status, output, errors = made.start("demo", PIP_FIND_LINKS="/nowhere")
    assert (status, output) == (1, "")
    assert errors.splitlines()[1:] == [
        "StateBase can't install the packages it needs: connect this machine to the network (or set pip to a "
        f"mirror), then start this command again; details are in {made.environment}/bootstrap.log."
    ]
    status, _, errors = made.start("demo")
    assert status == 0
    assert "Setting up StateBase" in errors
    assert list(made.environment.glob("lib/python*/site-packages/django-2.0.dist-info"))
    assert not list(made.environment.glob("lib/python*/site-packages/django-1.0.dist-info"))


def test_an_environment_of_ones_own_may_be_named_and_keeps_what_it_has(checkout, tmp_path):
    own = tmp_path / "own"
    subprocess.run([base_python(), "-m", "venv", "--without-pip", own], check=True)
    kept = next(own.glob("lib/python*/site-packages")) / "precious.py"
    kept.write_text("")
    status, output, errors = checkout.start("demo", STATEBASE_VENV=str(own))
    assert status == 0, errors
    assert output == f"ran demo in {own} without test tools\n"
    assert kept.exists()
    assert not checkout.environment.exists()


def test_a_folder_that_cannot_be_written_ends_in_one_sentence(checkout):
    status, _, errors = checkout.start("demo", STATEBASE_VENV="/dev/null/environment")
    assert status == 1
    assert errors.startswith("StateBase can't make its environment /dev/null/environment (")
    assert errors.endswith("set STATEBASE_VENV to a folder that you may write to.\n")
    assert errors.count("\n") == 1
