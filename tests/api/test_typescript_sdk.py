"""The calls of the official TypeScript SDK 1.2.0 (contract 13), replayed as they go over the wire.

Recorded from its calls through axios: method, address in axios's own quoting, headers and body. `<session>`
and the like stand for an id that an earlier answer told.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlsplit

import pytest
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from tests.patience import SECONDS

JsonObject = dict[str, Any]
T = TypeVar("T")


# What its types promise to every program; fields that they allow to be absent are left out.


class Session(TypedDict):
    object: Literal["session"]
    id: str
    agent_id: str
    created_at: str
    updated_at: str
    state: JsonObject
    memory_count: int
    turn_count: int


class Text(TypedDict):
    type: str
    content: str


class Turn(TypedDict):
    object: Literal["turn"]
    id: str
    session_id: str
    turn_number: int
    input: Text
    output: Text
    created_at: str


class State(TypedDict):
    session_id: str
    version: int
    state: JsonObject
    updated_at: str


class Memory(TypedDict):
    object: Literal["memory"]
    id: str
    content: str
    type: str
    session_id: str
    tags: list[str] | None
    metadata: JsonObject | None
    embedding_id: str | None
    vector_available: bool
    created_at: str


class FoundMemory(TypedDict):
    id: str
    session_id: str
    content: str
    type: str
    score: float


class Found(TypedDict):
    data: list[FoundMemory]
    query: str


class ContextMemory(TypedDict):
    content: str
    type: str
    score: float


class ContextTurn(TypedDict):
    role: Literal["user", "assistant"]
    content: str


class Context(TypedDict):
    state: JsonObject
    memories: list[ContextMemory]
    recent_turns: list[ContextTurn]
    drift_warning: bool
    average_relevance: float


class Listed(TypedDict, Generic[T]):
    data: list[T]
    has_more: bool


@dataclass(frozen=True)
class Call:
    """A request as it was recorded, and its answer: the type the SDK gives it, and what it has to show."""

    sent: str
    body: str | None
    promised: Any
    status: int = 200
    shows: JsonObject = field(default_factory=dict)
    tells: str | None = None
    """The name under which the id of the answer goes on."""


S = "/v1/sessions/<session>"
_CALLS = (
    Call("GET /health", None, JsonObject, shows={"status": "healthy"}),
    Call(
        "POST /v1/sessions",
        '{"agent_id":"ts-agent","user_id":"u-ts","metadata":{"team":"a"},'
        '"initial_state":{"step":0},"ttl_seconds":3600}',
        Session,
        201,
        {"agent_id": "ts-agent", "user_id": "u-ts", "metadata": {"team": "a"}, "state": {"step": 0}},
        "session",
    ),
    Call("POST /v1/sessions", '{"agent_id":"ts-agent"}', Session, 201, {"state": {}}, "other"),
    Call(f"GET {S}", None, Session, shows={"id": "<session>", "state": {"step": 0}}),
    Call("GET /v1/sessions", None, Listed[Session], shows={"first_id": "<other>"}),
    Call(
        "GET /v1/sessions?agent_id=ts-agent&limit=1&starting_after=<other>",
        None,
        Listed[Session],
        shows={"first_id": "<session>", "last_id": "<session>"},
    ),
    Call(
        f"POST {S}/turns",
        '{"input":{"type":"text","content":"Hi & bye, \\"you\\""},'
        '"output":{"type":"tool_result","content":"ü"},"reasoning":"why","metadata":{"m":1}}',
        Turn,
        201,
        {
            "turn_number": 1,
            "input": {"type": "text", "content": 'Hi & bye, "you"'},
            "output": {"type": "tool_result", "content": "ü"},
            "reasoning": "why",
            "metadata": {"m": 1},
        },
    ),
    Call(  # ingest
        f"POST {S}/turns",
        '{"input":{"type":"text","content":"Parity check"},'
        '"output":{"type":"text","content":"Logic synced"}}',
        Turn,
        201,
        {"turn_number": 2, "output": {"type": "text", "content": "Logic synced"}, "metadata": {}},
        "ingested",
    ),
    Call(f"GET {S}/turns", None, Listed[Turn], shows={"first_id": "<ingested>", "has_more": False}),
    Call(f"GET {S}/turns?limit=1", None, Listed[Turn], shows={"last_id": "<ingested>", "has_more": True}),
    Call(f"GET {S}/state", None, State, shows={"version": 0, "state": {"step": 0}}),
    Call(
        f"PATCH {S}/state",
        '{"state":{"step":1},"reasoning":"because"}',
        State,
        shows={"version": 1, "state": {"step": 1}, "reasoning": "because"},
    ),
    Call(f"PATCH {S}/state", '{"state":{"step":null}}', State, shows={"version": 2, "state": {"step": None}}),
    Call(
        f"POST {S}/state/rollback", '{"version":1}', State, shows={"version": 3, "restored_from_version": 1}
    ),
    Call(f"POST {S}/state/rollback", '{"version":-3}', State, shows={"version": 4, "state": {"step": 0}}),
    Call(
        f"POST {S}/fork",
        '{"version":1}',
        Session,
        201,
        {"state": {"step": 1}, "metadata": {"forked_from": "<session>", "forked_version": 1}},
    ),
    Call(f"POST {S}/fork", "{}", Session, 201, {"state": {"step": 0}, "forked_version": 4}),
    Call(
        "POST /v1/memories",
        '{"content":"TS SDK and Python SDK are now twins.","type":"fact","session_id":"<session>",'
        '"tags":["a","b"],"metadata":{"k":1},"embed":true}',
        Memory,
        201,
        {"session_id": "<session>", "tags": ["a", "b"], "vector_available": True},
        "memory",
    ),
    Call(
        "GET /v1/memories?query=twins:+TS+%26+Python,+$5+%5Bx%5D%3F&top_k=5&session_id=<session>"
        "&types=fact,wish&tags=a,b&limit=5&threshold=0.5",
        None,
        Found,
        shows={"query": "twins: TS & Python, $5 [x]?", "first_id": "<memory>"},
    ),
    Call("GET /v1/memories?query=twins", None, Found, shows={"first_id": "<memory>"}),
    Call(
        f"POST {S}/context",
        '{"query":"twins","memory_limit":3,"turn_limit":1}',
        Context,
        shows={"state": {"step": 0}},
    ),
    Call(f"POST {S}/context", "{}", Context, shows={"state": {"step": 0}}),
    Call("DELETE /v1/sessions/<other>", None, None, 204),
)


@pytest.fixture
def send(server):
    """Sends what was recorded: `send("GET /health", None)`; the answer's status, headers and JSON."""
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname, address.port, timeout=SECONDS)

    def send(sent: str, body: str | None) -> tuple[int, Any, Any]:
        method, _, path = sent.partition(" ")
        headers = {
            "Accept": "application/json, text/plain, */*",
            "Content-Type": "application/json",
            "X-API-Key": server.full_key,
            "User-Agent": "axios/1.21.1",
            "Accept-Encoding": "gzip, compress, deflate, br",
        }
        connection.request(method, path, None if body is None else body.encode(), headers)
        answer = connection.getresponse()
        raw = answer.read()
        return answer.status, answer.headers, json.loads(raw) if raw else None

    yield send
    connection.close()


def test_each_call_is_answered_as_its_type_promises(send):
    ids: dict[str, str] = {}

    def filled(text: str) -> str:
        for name, told in ids.items():
            text = text.replace(f"<{name}>", told)
        return text

    for call in _CALLS:
        status, headers, answer = send(filled(call.sent), None if call.body is None else filled(call.body))
        assert status == call.status, (call.sent, answer)
        TypeAdapter(call.promised).validate_python(answer, strict=True)
        shown = json.loads(filled(json.dumps(call.shows)))
        assert {name: answer[name] for name in shown} == shown, call.sent
        if call.tells:
            ids[call.tells] = answer["id"]
        if call.sent.endswith("/context"):  # what it gives its callers as `latency_ms`
            assert float(headers["X-StateBase-Latency"]) > 0

    _, _, context = send(filled(f"POST {S}/context"), '{"query":"twins","memory_limit":3,"turn_limit":1}')
    assert [each["content"] for each in context["memories"]] == ["TS SDK and Python SDK are now twins."]
    assert [each["content"] for each in context["recent_turns"]] == ["Logic synced"]
    assert send(filled("GET /v1/sessions/<other>"), None)[0] == 404


def test_a_refusal_tells_what_its_errors_carry(send):
    status, _, refused = send("POST /v1/sessions", "{}")
    assert (status, refused["error"]["param"]) == (400, "agent_id")
    status, headers, refused = send("GET /v1/sessions/sess_none", None)
    assert (status, refused["error"]["code"]) == (404, "session_not_found")
    assert refused["error"]["request_id"] == headers["X-Request-Id"]
