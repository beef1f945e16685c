"""`manage.py demo`: one command to a dashboard with data in it, and one sentence where that can't be."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sessions_app.models import AgentSession
from statebase_site.access.models import ApiKey, Project
from statebase_site.bootstrap import ENTERED, ROOT
from tests import factories
from tests.databases import connected_to, fresh_database
from tests.patience import SECONDS, until

pytestmark = pytest.mark.slow

INCIDENTS = [("INCIDENT-4", "S1"), ("INCIDENT-3", "S3"), ("INCIDENT-2", "S4"), ("INCIDENT-1", "S2")]


class Installation:
    """A home folder that nothing has touched yet, and a database: in the folder, unless it is named."""

    def __init__(self, home: Path, database_url: str = "") -> None:
        self.home = home
        self.database_url = database_url or f"sqlite:///{home}/statebase.sqlite3"
        self.variables = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        self.variables |= {"STATEBASE_HOME": str(home), ENTERED: "1"}
        if database_url:
            self.variables["DATABASE_URL"] = database_url
        self.started: list[subprocess.Popen] = []
        self.last_demo: Demo | None = None

    def begin(self, *arguments: str, **variables: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.variables | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Run a command to its end: status, standard output, standard error."""
        process = self.begin(*arguments, **variables)
        output, errors = process.communicate(timeout=SECONDS)
        return process.returncode, output, errors

    def demo(self, *arguments: str) -> "Demo":
        self.last_demo = Demo(self.begin("demo", "--json", "--port", str(free_port()), *arguments))
        return self.last_demo

    def running_demo(self) -> "Demo":
        return self.last_demo if self.last_demo and self.last_demo.process.poll() is None else self.demo()

    def stop_all(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=SECONDS)


class Demo:
    """A demo that has printed its first line."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process
        first_line = process.stdout.readline()
        assert first_line, process.communicate()[1]
        printed = json.loads(first_line)
        assert list(printed) == ["url", "sign_in_url", "api_key"]
        self.url, self.sign_in_url, self.api_key = printed.values()

    def get(self, path: str, *, key: str | None = None) -> httpx.Response:
        return httpx.get(self.url + path, headers={"X-API-Key": key or self.api_key}, timeout=SECONDS)

    def sessions(self) -> list[str]:
        answer = self.get("/v1/sessions")
        assert answer.status_code == 200, answer.text
        return [each["id"] for each in answer.json()["data"]]

    def incidents(self) -> list[tuple[str, str]]:
        answer = self.get("/v1/incidents")
        assert answer.status_code == 200, answer.text
        return [(each["id"], each["severity"]) for each in answer.json()["data"]]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=SECONDS)
        return self.process.returncode


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def browser() -> httpx.Client:
    return httpx.Client(follow_redirects=True, timeout=SECONDS, headers={"Accept": "text/html"})


def refuses_connections(url: str) -> bool:
    try:
        httpx.get(f"{url}/health/live", timeout=5)
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        return False
    return False


def assert_one_sentence(result: tuple[int, str, str], *words: str) -> None:
    status, output, errors = result
    assert status == 1
    assert output == ""
    assert errors.count("\n") == 1, errors
    for word in words:
        assert word in errors


@pytest.fixture(scope="module")
def installation(tmp_path_factory) -> Iterator[Installation]:
    """Where demos run one after another: only the first has to load the data."""
    with fresh_database() as url:
        made = Installation(tmp_path_factory.mktemp("installation") / "home", url)
        yield made
        made.stop_all()


@pytest.fixture
def untouched(tmp_path) -> Iterator[Installation]:
    made = Installation(tmp_path / "home")
    yield made
    made.stop_all()


@pytest.fixture
def rows(installation, django_db_blocker):
    """`with rows():` leads the models to the database of the installation."""

    @contextmanager
    def rows() -> Iterator[None]:
        with django_db_blocker.unblock(), connected_to(installation.database_url):
            yield

    return rows


@pytest.fixture
def demo(installation) -> Demo:
    """A running demo: that of the test before, unless it was ended there."""
    return installation.running_demo()


def test_the_first_line_opens_every_door(installation, demo):
    assert demo.get("/health").json()["status"] == "healthy"
    assert demo.sessions()
    assert demo.incidents() == INCIDENTS
    with browser() as first:
        page = first.get(demo.sign_in_url)
        assert page.status_code == 200
        assert "sign-in" not in str(page.url)
        stylesheet = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
        answer = first.get(demo.url + stylesheet)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    with browser() as second:
        assert second.get(demo.sign_in_url).status_code >= 400


@pytest.mark.once
def test_secrets_are_for_their_owner_only(installation, demo):
    assert stat.S_IMODE(installation.home.stat().st_mode) == 0o700
    for name in ("secret_key", "statebase.sqlite3"):
        if (installation.home / name).exists():
            assert stat.S_IMODE((installation.home / name).stat().st_mode) == 0o600


def test_a_second_start_keeps_the_data_and_revokes_the_key_before(installation, demo):
    before = demo.sessions()
    assert demo.end(signal.SIGTERM) == 0
    assert refuses_connections(demo.url)  # it stops with everything it started
    again = installation.demo()
    assert again.sessions() == before
    assert again.get("/v1/sessions", key=demo.api_key).status_code == 401


def test_reset_makes_its_own_project_anew_and_touches_no_other(installation, demo, rows):
    before = demo.sessions()
    assert demo.end(signal.SIGINT) == 0
    assert refuses_connections(demo.url)
    with rows():
        kept = factories.session(factories.full_key(factories.project("Other")))
    again = installation.demo("--reset")
    assert len(again.sessions()) == len(before)
    assert again.incidents() == INCIDENTS
    assert not set(again.sessions()) & set(before)
    with rows():
        assert AgentSession.objects.get(project__slug="other") == kept


@pytest.mark.once
def test_a_database_that_it_did_not_make_is_left_alone(database_url, tmp_path):
    factories.project("Production")
    result = Installation(tmp_path / "home", database_url).run("demo")
    assert_one_sentence(result, "was not made by the demo", "production", "STATEBASE_HOME or DATABASE_URL")
    assert (Project.objects.count(), ApiKey.objects.count()) == (1, 0)


@pytest.mark.once
def test_a_second_demo_of_the_same_home_names_the_first_and_gives_a_way_in(installation, demo):
    second = installation.run("demo", "--port", str(free_port()))
    assert_one_sentence(second, f"running at {demo.url} already")
    with browser() as person:
        page = person.get(re.search(r"sign in with (\S+),", second[2])[1])
        assert (page.status_code, "Overview" in page.text) == (200, True)
    assert demo.get("/health").status_code == 200


@pytest.mark.once
def test_a_taken_port_is_named(untouched):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert_one_sentence(untouched.run("demo", "--port", port), f"Port {port} is taken", "--port")


@pytest.mark.once
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://127.0.0.1/x", "DATABASE_URL must begin with postgres:// or sqlite:///."),
        ("no url at all", "DATABASE_URL"),
        ("sqlite:////dev/null/x", "The database does not answer"),
    ],
)
def test_a_broken_database_url_ends_in_one_sentence(untouched, url, words):
    assert_one_sentence(untouched.run("demo", DATABASE_URL=url), words)


@pytest.mark.once
def test_a_folder_that_cannot_be_written_ends_in_one_sentence(untouched):
    result = untouched.run("demo", STATEBASE_HOME="/dev/null/home")
    assert_one_sentence(result, "/dev/null/home", "set STATEBASE_HOME to a folder you own")


@pytest.mark.once
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent was killed")
def test_the_server_ends_even_when_the_demo_is_killed(installation, demo):
    demo.end(signal.SIGKILL)
    until(lambda: refuses_connections(demo.url))


@pytest.mark.once
def test_serve_refuses_tables_older_than_the_code(untouched):
    assert_one_sentence(untouched.run("serve", "--port", str(free_port())), "manage.py migrate")
