"""One story told to a running server once; each row of the contract's tables is then held against it."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from django.conf import settings

from statebase_site.base import json
from tests.patience import SECONDS, until
from tests.running_server import Server

_CONTENT = ("state", "data", "metadata", "details", "input", "output", "attributes", "initial_state")

Seen = dict[str, list[Any]]


class Wire:
    """Requests of one key to the running server; `seen` gets the objects of all answers."""

    def __init__(self, server: Server, key: str, seen: Seen | None = None) -> None:
        self.key = key
        self.seen = seen
        self._client = httpx.Client(base_url=server.url, headers={"X-API-Key": key}, timeout=SECONDS)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def __call__(
        self, method: str, path: str, body: Any = None, *, status: int | None = None, **headers: str
    ) -> httpx.Response:
        """`body` is raw when bytes, else it is written as JSON; `status` is what must come back."""
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self._client.request(method, path, content=raw, headers=named)
        if status is not None:
            assert answer.status_code == status, (method, path, answer.status_code, answer.text[:2000])
        return answer

    def json(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        read = json.parse(self(method, path, body, status=status, **headers).content)
        if self.seen is not None:
            _keep(self.seen, read, method)
        return read

    def get(self, path: str) -> Any:
        return self.json("GET", path)

    def made(self, path: str, body: Any = None, **headers: str) -> Any:
        """The answer to a POST that makes something."""
        return self.json("POST", path, body, status=201, **headers)

    def error(self, method: str, path: str, body: Any = None, *, status: int, **headers: str) -> Any:
        return self.json(method, path, body, status=status, **headers)["error"]

    def session(self, state: Any = None, **fields: Any) -> str:
        """The path of a new session."""
        made = self.made("/v1/sessions", {"agent_id": "rows-bot", "initial_state": state or {}, **fields})
        return f"/v1/sessions/{made['id']}"

    def stepped(self, count: int, **fields: Any) -> str:
        """The path of a session at version `count`, whose state says `{"step": n}` at version n."""
        path = self.session({"step": 0}, **fields)
        for number in range(1, count + 1):
            self.json("PATCH", f"{path}/state", {"state": {"step": number}, "reasoning": f"Step {number}"})
        return path

    def turn(self, path: str, **fields: Any) -> Any:
        return self.made(f"{path}/turns", {"input": "a", "output": "b", **fields})

    def memory(self, content: str, **fields: Any) -> Any:
        return self.made("/v1/memories", {"content": content, **fields})

    def entity(self, path: str, **fields: Any) -> Any:
        body = {"session_id": ident(path), "entity_type": "order", "entity_id": "1", **fields}
        return self.made("/v1/entities", body)

    def traces(self, path: str) -> list[Any]:
        """The session's traces, oldest first."""
        return self.get(f"{path}/traces?order=asc&limit=100")["data"]

    def actions(self, path: str) -> list[str]:
        return [each["action"] for each in self.traces(path)]

    def trace(self, trace_id: str) -> Any:
        return self.get(f"/v1/traces/{trace_id}")


def _keep(seen: Seen, value: Any, method: str) -> None:
    if isinstance(value, list):
        for each in value:
            _keep(seen, each, method)
    elif isinstance(value, dict):
        if isinstance(kind := value.get("object"), str):
            seen[_kind(kind, value, method)].append(value)
        for name, each in value.items():
            if name not in _CONTENT or isinstance(each, list):
                _keep(seen, each, method)


def _kind(kind: str, value: dict[str, Any], method: str) -> str:
    if kind == "state":
        written = "rolled back state" if "from_version" in value else "written state"
        return "read state" if method == "GET" else written
    return "search result" if kind == "memory" and "score" in value else kind


def ident(path: str) -> str:
    """The id at the end of a path."""
    return path.rpartition("/")[2]


@dataclass
class Story:
    """What was made; the names are those of the rows."""

    path: str = ""
    """Of the session in which it happened."""
    seen: Seen = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="session")
def server(running_server: Server) -> Server:
    """The running server with a project for all of these files, since one story is told to it."""
    return running_server.with_new_project()


@pytest.fixture(scope="session")
def wire(server: Server) -> Iterator[Wire]:
    """A key that may do all."""
    with Wire(server, server.full_key) as made:
        yield made


@pytest.fixture(scope="session")
def agent_wire(server: Server) -> Iterator[Wire]:
    """A key as an agent should have it (contract section 9)."""
    with Wire(server, server.agent_key) as made:
        yield made


@pytest.fixture(scope="session")
def wire_with(server: Server, wire: Wire) -> Iterator[Callable[..., Wire]]:
    """Makes a key with these fields, and a way to use it."""
    with ExitStack() as opened:

        def make(**fields: Any) -> Wire:
            made = wire.made("/v1/keys", {"name": "rows", "rate_limit": 0, **fields})
            return opened.enter_context(Wire(server, made["full_key"]))

        yield make


@pytest.fixture(scope="session")
def command(server: Server) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts a command of manage.py beside the server."""

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env=server.environment,
            stdout=subprocess.DEVNULL,
        )

    return start


@pytest.fixture(scope="session")
def worker(command: Callable[..., subprocess.Popen[bytes]]) -> Iterator[None]:
    """The worker beside the server."""
    process = command("worker")
    yield
    process.terminate()
    process.wait(SECONDS)


@pytest.fixture(scope="session")
def expired(worker: None, wire: Wire) -> str:
    """The path of a session whose life is over, with one memory, after the worker noted it."""
    made = wire.made(
        "/v1/sessions",
        {"agent_id": "rows-bot", "ttl_seconds": 1, "initial_state": {"n": 0}, "user_id": "zed"},
    )
    path = f"/v1/sessions/{made['id']}"
    wire.memory("Prefers window seats", session_id=made["id"])
    address = f"/v1/traces?action=session.expired&session_id={made['id']}"
    until(lambda: wire.get(address)["data"])
    return path


@pytest.fixture(scope="session")
def imported(server: Server, wire: Wire, command, tmp_path_factory) -> str:
    """The path of a session that was exported, and imported again into the same project."""
    source = wire.session({"n": 0}, agent_id="rows-imported")
    wire.turn(source, state_after={"n": 1})
    file = tmp_path_factory.mktemp("rows") / "run.json"
    file.write_bytes(wire("GET", f"{source}/export", status=200).content)
    wire("DELETE", source, status=204)
    assert command("import_runs", str(file), "--project", server.project.slug).wait(SECONDS) == 0
    (found,) = wire.get("/v1/sessions?agent_id=rows-imported")["data"]
    return f"/v1/sessions/{found['id']}"


@pytest.fixture(scope="session")
def told(server: Server, agent_wire: Wire, expired: str, imported: str) -> Story:
    """Everything happened once."""
    story = Story()
    with Wire(server, server.full_key, story.seen) as wire:
        _tell(story, wire, agent_wire)
        for read in (imported, f"{imported}/state"):
            wire.get(read)
        for trace in wire.get("/v1/traces?action=session.expired")["data"]:
            wire.trace(trace["id"])
    return story


def _tell(story: Story, wire: Wire, agent_wire: Wire) -> None:
    answers = story.answers
    path = wire.session({"a": 1}, user_id="ann", metadata={"team": "a"}, ttl_seconds=3600)
    story.path = path
    answers["metadata"] = wire.json("PATCH", path, {"metadata": {"b": 2}, "ttl_seconds": 7200})
    answers["merged"] = wire.json(
        "PATCH", f"{path}/state", {"state": {"a": 2, "b": {"c": 1}}, "reasoning": "Why"}
    )
    answers["replaced"] = wire.json("PUT", f"{path}/state", {"state": {"a": 2}})
    answers["turn"] = wire.turn(path)
    answers["turn with state"] = wire.turn(
        path,
        input={"type": "tool_call", "content": "x" * 150},
        reasoning="Because",
        metadata={"m": 1},
        state_before={"a": 2},
        state_after={"a": 3},
    )
    answers["memory"] = wire.memory(
        "Ann prefers window seats",
        session_id=ident(path),
        tags=["seat"],
        agent_id="rows-bot",
        metadata={"k": 1},
    )
    answers["memory changed"] = wire.json(
        "PATCH", f"/v1/memories/{answers['memory']['id']}", {"tags": ["seat", "plane"]}
    )
    gone = wire.memory("Ann was here", session_id=ident(path), embed=False)
    wire("DELETE", f"/v1/memories/{gone['id']}", status=204, X_StateBase_Reason="Wrong")
    answers["memory gone"] = gone
    for scope in ({}, {"agent_id": "rows-bot"}, {"user_id": "ann"}):
        wire.memory("Window seats are at the wing", **scope)
    unowned = wire.session()
    wire.made(f"{unowned}/memories", {"content": "Of this session alone", "embed": False})
    wire.get(f"/v1/memories?query=window+seats&session_id={ident(path)}&threshold=0")
    wire.get(f"{unowned}/memories")
    thing = wire.entity(path, attributes={"n": 1})
    answers["entity"] = thing
    wire.json("PUT", f"/v1/entities/{thing['id']}", {"attributes": {"m": 2}})
    wire("DELETE", f"/v1/entities/{thing['id']}", status=204)
    answers["note"] = wire.made(
        "/v1/traces", {"action": "tool_call.failed", "session_id": ident(path), "details": {"tool": "pay"}}
    )
    wire.made("/v1/traces", {"action": "permission_denied"})
    answers["frozen"] = wire.json(
        "PATCH", f"{path}/state", {"state": {"incident": True, "frozen": True}, "reasoning": "Stop"}
    )
    wire.get(path)
    answers["refused"] = agent_wire.error(
        "PATCH", f"{path}/state", {"state": {"a": 9}, "reasoning": "Tried"}, status=423
    )
    answers["rolled back"] = wire.json(
        "POST", f"{path}/state/rollback", {"version": -3, "reason": "Last good"}
    )
    answers["resumed"] = wire.json(
        "PATCH", f"{path}/state", {"state": {"incident": False, "frozen": False}, "reasoning": "Fixed"}
    )
    answers["fork"] = wire.made(f"{path}/fork", {"version": 1})
    deleted = wire.session({"x": 1}, user_id="ann")
    wire.turn(deleted)
    wire("DELETE", deleted, status=204, X_StateBase_Reason="A test")
    key = wire.made(
        "/v1/keys", {"name": "Ends", "scopes": ["traces:read"], "owner_id": "o", "expires_days": 1}
    )
    wire("DELETE", f"/v1/keys/{key['id']}", status=204)
    answers["key"] = key
    reads = ("", "/state", "/versions", "/turns", "/context", "/history")
    for read in (path + read for read in reads):
        wire.get(read)
    wire.json("PATCH", f"{unowned}/state", {"state": {}})
    wire.get("/v1/keys?limit=100")
    for trace in [*wire.traces(path), *wire.get("/v1/traces?limit=100")["data"]]:
        wire.trace(trace["id"])
