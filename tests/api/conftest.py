"""The API asked in this process for wide tables, and over HTTP with the official SDK."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from statebase_site.access import authentication
from statebase_site.base import json
from tests import factories


class Api:
    """Requests of one key, answered in this process; every body is strict JSON."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self._client = Client()

    def __call__(
        self, method: str, path: str, body: Any = None, *, status: int | None = None, **headers: str
    ) -> HttpResponse:
        """`body` is raw when bytes, else it is written as JSON; `status` is what must come back."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {"X-API-Key": self.key} if self.key else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self._client.generic(method, path, raw, "application/json", headers=sent)
        if status is not None:
            assert answer.status_code == status, (method, path, answer.status_code, answer.content[:2000])
        return answer

    def json(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """The answer's JSON, read as strictly as it was written."""
        return json.parse(self(method, path, body, status=status, **headers).content)

    def get(self, path: str, **fields: Any) -> Any:
        return self.json("GET", path, **fields)

    def session(self, state: Any = None, **fields: Any) -> str:
        """The path of a new session."""
        body = {"agent_id": "support-bot", "initial_state": state or {}, **fields}
        return f"/v1/sessions/{self.json('POST', '/v1/sessions', body, status=201)['id']}"

    def session_with_versions(self, count: int) -> str:
        """The path of a session at version `count`, whose state says `{"step": n}` at version n."""
        path = self.session({"step": 0})
        for number in range(1, count + 1):
            self.json("PATCH", f"{path}/state", {"state": {"step": number}, "reasoning": f"Step {number}"})
        return path

    def error(self, method: str, path: str, body: Any = None, *, status: int, **headers: str) -> Any:
        """The `error` of the answer, which has the shape every error has."""
        return error_in(self(method, path, body, status=status, **headers))


def error_in(answer: HttpResponse) -> Any:
    """The `error` of an answer that has the shape every error has."""
    body = json.parse(answer.content)
    assert body.keys() == {"error", "detail"}
    error = body["error"]
    assert error.keys() >= {"code", "message", "type", "param", "request_id", "suggestion", "docs"}
    assert isinstance(body["detail"], list) or body["detail"] == error["message"]
    assert error["request_id"] == answer["X-Request-Id"]
    assert "X-StateBase-Latency" in answer
    return error


@pytest.fixture
def remembering(db, monkeypatch):
    """A key is looked up once in a test, also on a slow machine while somebody counts queries."""
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 3600)
    authentication._remembered.clear()  # another test's keys may have had the same numbers


@pytest.fixture
def project(remembering):
    return factories.project()


@pytest.fixture
def api(project):
    """A key that may do all."""
    return Api(factories.api_key(project)[1])


@pytest.fixture
def with_scopes(project):
    """Makes a key of the same project that has only these scopes."""
    return lambda *scopes: Api(factories.api_key(project, *scopes)[1])


@pytest.fixture
def agent(with_scopes):
    """A key as an agent should have it (contract section 9)."""
    return with_scopes(*factories.AGENT_SCOPES)


@pytest.fixture
def stranger(project):
    """A key of another project."""
    return Api(factories.api_key(factories.project("Other"))[1])


@pytest.fixture
def sb(server):
    """The official SDK with a key that may do all."""
    with server.sdk() as client:
        yield client


@pytest.fixture
def http(server):
    """Plain HTTP to the running server."""
    with server.http() as client:
        yield client
