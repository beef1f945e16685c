"""The production server, really running, once for all tests of a process that ask for it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import dataclass, replace

import httpx
import pytest
from django.conf import settings
from statebase import StateBase

from tests import factories
from tests.databases import connected_to, copied_database
from tests.patience import SECONDS, until

_PROJECTS = 40


@dataclass(frozen=True)
class Project:
    """A project of the running server, by its name in commands and two of its keys."""

    slug: str
    full_key: str
    agent_key: str


@dataclass(frozen=True)
class Server:
    """A running server with a database of its own, as seen from one project of it."""

    url: str
    project: Project
    environment: dict[str, str]
    """The variables of its process, for others beside it."""
    others: list[Project]
    """Projects that nobody has used yet."""

    @property
    def full_key(self) -> str:
        return self.project.full_key

    @property
    def agent_key(self) -> str:
        return self.project.agent_key

    def with_new_project(self) -> Server:
        return replace(self, project=self.others.pop())

    def sdk(self, key: str | None = None) -> StateBase:
        return StateBase(api_key=key or self.full_key, base_url=self.url, timeout=SECONDS)

    def get(self, path: str, headers: dict[str, str | bytes] | None = None) -> httpx.Response:
        """The answer to a GET without a key, unless `headers` have one."""
        return httpx.get(self.url + path, headers=headers, timeout=SECONDS)

    def http(self, key: str | None = None) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"X-API-Key": key or self.full_key}, timeout=SECONDS)


@pytest.fixture(scope="module")
def server(running_server):
    """The running server with a project that no other file uses."""
    return running_server.with_new_project()


@pytest.fixture(scope="session")
def running_server(tmp_path_factory, django_db_setup, django_db_blocker):
    """The production server on a free port, on the kind of database that is tested."""
    home = tmp_path_factory.mktemp("server")
    with copied_database(home) as database_url:
        with django_db_blocker.unblock(), connected_to(database_url):
            projects = [_project(f"Acme {number}") for number in range(_PROJECTS)]
        # What listens to webhooks in tests is on this machine.
        environment = os.environ | {
            "DATABASE_URL": database_url,
            "STATEBASE_HOME": str(home),
            "STATEBASE_WEBHOOK_PRIVATE_NETWORKS": "1",
        }
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=settings.BASE_DIR,
            env=environment,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_until_it_answers(url, process)
            yield Server(url, projects.pop(), environment, projects)
        finally:
            process.terminate()
            process.wait(SECONDS)


def _project(name: str) -> Project:
    made = factories.project(name)
    _, full_key = factories.api_key(made, name="Responder")
    _, agent_key = factories.api_key(made, *factories.AGENT_SCOPES, name="Agent")
    return Project(made.slug, full_key, agent_key)


def _wait_until_it_answers(url: str, process: subprocess.Popen) -> None:
    def answers() -> bool:
        assert process.poll() is None, "The server ended while it started."
        try:
            return httpx.get(f"{url}/health/ready").is_success
        except httpx.HTTPError:
            return False

    until(answers)
