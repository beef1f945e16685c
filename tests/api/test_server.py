"""What only a really running server shows: raw HTTP, the official SDK, many clients at once."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse

import httpx
import pytest
from statebase import AsyncStateBase, StateBase

from statebase_site.base import json
from tests.patience import SECONDS


def raw(server, request: bytes) -> bytes:
    """Send bytes as they are; everything that comes back until the server closes."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
        return received


def test_both_forms_of_an_address_are_one_for_every_method(http):
    made = http.post("/v1/sessions/", json={"agent_id": "bot"})
    assert made.status_code == 201
    path = f"/v1/sessions/{made.json()['id']}"
    for method, route, body in (
        ("GET", "/", None),
        ("PATCH", "/", {}),
        ("GET", "/state/", None),
        ("PATCH", "/state/", {"state": {"a": 1}}),
        ("PUT", "/state/", {"state": {"a": 1}}),
        ("POST", "/state/rollback/", {"version": 0}),
        ("POST", "/turns/", {"input": "a", "output": "b"}),
        ("POST", "/context/", {}),
        ("GET", "/versions/", None),
        ("GET", "/versions/0/", None),
        ("DELETE", "/", None),
    ):
        answer = http.request(method, path + route, json=body)
        assert answer.status_code in (200, 201, 204), (method, route, answer.text)
    assert http.get("/v1/sessions/").json()["data"] is not None
    assert http.get("/v1/nowhere/").status_code == 404


def test_headers_that_no_answer_lacks(http, server):
    for answer in (
        http.get("/v1/sessions"),
        http.get("/v1/sessions/sess_unknown"),
        http.get("/v1/nowhere"),
        http.put("/v1/sessions", json={}),
        http.post("/v1/sessions", content=b"{broken"),
        http.delete("/v1/traces/trace_x"),
        server.get("/v1/sessions"),
    ):
        headers = answer.headers
        assert headers["X-Request-Id"].startswith("req_")
        assert float(headers["X-StateBase-Latency"]) >= 0
        assert headers["Content-Type"] == "application/json"
        limits = [headers.get(f"X-RateLimit-{name}") for name in ("Limit", "Remaining", "Reset")]
        if answer.status_code == 401:
            assert limits == [None, None, None]
        else:
            assert 0 <= int(limits[1]) <= int(limits[0])
            assert int(limits[2]) > 1_700_000_000
        if answer.status_code >= 400:
            assert answer.json()["error"]["request_id"] == headers["X-Request-Id"]


def test_a_deletion_answers_without_a_body(http):
    made = http.post("/v1/sessions", json={"agent_id": "bot"}).json()
    answer = http.delete(f"/v1/sessions/{made['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "Content-Length" not in answer.headers


def test_a_key_may_come_as_a_bearer_and_x_api_key_counts(server):
    address = "/v1/sessions"
    bearer = {"Authorization": f"Bearer {server.full_key}"}
    assert server.get(address, bearer).status_code == 200
    assert server.get(address, bearer | {"X-API-Key": "sb_wrong"}).status_code == 401
    both = {"Authorization": "Bearer sb_wrong", "X-API-Key": server.full_key}
    assert server.get(address, both).status_code == 200
    for headers in ({}, {"X-API-Key": ""}, {"Authorization": "Basic x"}, {"X-API-Key": "é".encode()}):
        assert server.get(address, headers).status_code == 401


@pytest.mark.parametrize(
    "content_type",
    [
        b"application/json; charset=base64",
        b"application/json; charset=utf-16",
        b"a; x*=base64''%41",
        b"a" * 20_000,
        b"\xff\xfe",
        b"multipart/form-data",
    ],
)
def test_no_content_type_breaks_a_request(http, content_type):
    for query in ("", "?agent_id=%C3%A4", "?x=\u00e4"):
        answer = http.post(
            f"/v1/sessions{query}", content=b'{"agent_id": "bot"}', headers={"Content-Type": content_type}
        )
        assert answer.status_code == 201, answer.text


def test_a_chunked_body_is_read_and_limited(http):
    def chunks(count):
        yield b'{"agent_id": "bot", "initial_state": {"k": "'
        for _ in range(count):
            yield b"x" * 65_536
        yield b'"}}'

    made = http.post("/v1/sessions", content=chunks(8))
    assert made.status_code == 201
    assert len(made.json()["state"]["k"]) == 8 * 65_536
    refused = http.post("/v1/sessions", content=chunks(33))
    assert refused.status_code == 413
    assert refused.json()["error"]["code"] == "payload_too_large"
    assert http.get("/v1/sessions?limit=1").status_code == 200


def test_a_body_over_the_limit_is_refused(http):
    answer = http.post("/v1/sessions", content=b" " * (2 * 1024 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "payload_too_large"
    fits = b'{"agent_id": "bot"}'.ljust(2 * 1024 * 1024)
    assert http.post("/v1/sessions", content=fits).status_code == 201


def test_a_large_state_goes_round(http):
    state = {"items": [{"id": number, "text": "ä" * 40} for number in range(15_000)]}
    made = http.post("/v1/sessions", content=json.dumps({"agent_id": "bot", "initial_state": state}))
    assert made.status_code == 201, made.text[:500]
    path = f"/v1/sessions/{made.json()['id']}"
    assert http.patch(f"{path}/state", json={"state": {"n": 1}}).json()["state"] == {**state, "n": 1}
    pages = http.get(f"{path}/versions").json()
    assert [row["state"] for row in pages["data"]] == [state, {**state, "n": 1}]


@pytest.mark.parametrize("line", ["POST /v1/nowhere", "POST /v1/traces/trace_x", "PUT /v1/sessions"])
def test_a_connection_lasts_where_nobody_asks_for_the_body(server, line):
    """Clients send the body apart: it is on its way when the answer could go out already."""
    host, port = server.url.removeprefix("http://").split(":")
    head = f"Host: {host}:{port}\r\nX-API-Key: {server.full_key}\r\n"
    with socket.create_connection((host, int(port)), timeout=0.3) as connection:
        connection.sendall(f"{line} HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n".encode())
        with pytest.raises(TimeoutError):  # an answer now would be the last of this connection
            connection.recv(1)
        connection.settimeout(SECONDS)
        connection.sendall(b"{}")
        assert status_of_next_answer(connection) in (404, 405)
        connection.sendall(f"GET /v1/traces HTTP/1.1\r\n{head}\r\n".encode())
        assert status_of_next_answer(connection) == 200


def status_of_next_answer(connection: socket.socket) -> int:
    """Read an answer to its end."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def test_broken_http_is_not_the_servers_fault(server):
    key = server.full_key.encode()
    for request in (
        b"GET /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: %s\r\nConnection: close\r\n\r\n" % key,
        b"GET /v1/%%%%ff%%00 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: %s\r\nConnection: close\r\n\r\n" % key,
        b"GET /v1/sessions HTTP/1.1\r\nHost: elsewhere\r\nX-API-Key: %s\r\nConnection: close\r\n\r\n" % key,
    ):
        status = int(raw(server, request).split(b" ")[1])
        assert status < 500, request


def test_no_key_is_needed_for_what_machines_ask(server):
    for path in ("/", "/health", "/health/live", "/health/ready", "/openapi.json"):
        answer = server.get(path, {"Accept": "application/json"})
        assert answer.status_code == 200, path
        assert answer.json()
    assert server.get("/").json().keys() >= {"name", "version"}


# The official SDK


def test_every_call_of_the_sdk(sb: StateBase):
    assert sb.health()["status"] == "healthy"
    session = sb.sessions.create(
        "bot", user_id="u", metadata={"a": 1}, initial_state={"n": 0}, ttl_seconds=60
    )
    assert sb.sessions.get(session.id) == session
    found = sb.sessions.list(agent_id="bot", limit=5, created_after=session.created_at)
    assert session.id in [row["id"] for row in found["data"]]
    assert sb.sessions.update_state(session.id, {"n": 1}, "One").version == 1
    assert sb.sessions.get_state(session.id).state == {"n": 1}
    turn = sb.sessions.add_turn(session.id, "Hello", {"type": "text", "content": "Hi"}, reasoning="Polite")
    assert (turn.turn_number, turn.output.content) == (1, "Hi")
    call = sb.sessions.add_tool_call(session.id, "pay", {"amount": 5}, {"ok": True}, tool_call_id="c1")
    assert call.input.type == "tool_call"
    turns = sb.sessions.list_turns(session.id)
    assert [row.id for row in turns] == [call.id, turn.id]
    assert [row.id for row in sb.sessions.list_turns(session.id, starting_after=call.id)] == [turn.id]
    context = sb.sessions.get_context(session.id, query="pay")
    assert (context["state"], len(context["recent_turns"]), context["memories"]) == ({"n": 1}, 2, [])
    restored = sb.sessions.rollback(session.id, 0)
    assert (restored.version, restored.state) == (2, {"n": 0})
    fork = sb.sessions.fork(session.id, version=1)
    assert (fork.state, fork.metadata) == ({"n": 1}, {"forked_from": session.id, "forked_version": 1})
    assert sb.sessions.fork(session.id).state == {"n": 0}
    sb.sessions.delete(session.id)
    with pytest.raises(httpx.HTTPStatusError) as gone:
        sb.sessions.get(session.id)
    assert gone.value.response.json()["error"]["code"] == "session_not_found"


def test_the_asynchronous_sdk(server):
    async def story():
        async with AsyncStateBase(server.full_key, server.url, SECONDS) as sb:
            session = await sb.sessions.create(agent_id="bot", initial_state={"n": 0})
            await asyncio.gather(*(sb.sessions.update_state(session.id, {f"k{n}": n}) for n in range(12)))
            state = await sb.sessions.get_state(session.id)
            assert (state.version, len(state.state)) == (12, 13)
            assert (await sb.sessions.rollback(session.id, -12)).state == {"n": 0}
            assert (await sb.sessions.add_turn(session.id, "a", "b")).turn_number == 1
            assert len(await sb.sessions.list_turns(session.id)) == 1
            assert (await sb.sessions.fork(session.id, 3)).metadata["forked_version"] == 3
            assert (await sb.sessions.get_context(session.id))["state"] == {"n": 0}
            await sb.sessions.delete(session.id)

    asyncio.run(story())


# Many at once


@pytest.mark.concurrency
def test_concurrent_writes_lose_nothing(http, server):
    path = f"/v1/sessions/{http.post('/v1/sessions', json={'agent_id': 'bot'}).json()['id']}"

    def write(number):
        with server.http() as client:
            versions = [
                client.patch(f"{path}/state", json={"state": {f"k{number}.{each}": each}}).json()["version"]
                for each in range(8)
            ]
            turn = client.post(f"{path}/turns", json={"input": "a", "output": "b"}).json()["turn_number"]
            return versions, turn

    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(write, range(8)))
    assert sorted(number for versions, _ in written for number in versions) == list(range(1, 65))
    assert sorted(turn for _, turn in written) == list(range(1, 9))
    assert len(http.get(f"{path}/state").json()["state"]) == 64


@pytest.mark.concurrency
def test_one_idempotency_key_at_once_runs_once(http, server):
    path = f"/v1/sessions/{http.post('/v1/sessions', json={'agent_id': 'bot'}).json()['id']}"

    def write(_):
        with server.http() as client:
            return client.patch(
                f"{path}/state", json={"state": {"a": 1}}, headers={"Idempotency-Key": f"once-{path}"}
            )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(write, range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert http.get(path).json()["version"] == 1


@pytest.mark.concurrency
def test_after_the_answer_to_a_freeze_nothing_is_written(http, server):
    path = f"/v1/sessions/{http.post('/v1/sessions', json={'agent_id': 'bot'}).json()['id']}"

    def write(_):
        with server.http() as client:
            while client.patch(f"{path}/state", json={"state": {"a": 1}}).status_code == 200:
                pass

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, number) for number in range(4)]
        frozen = http.patch(f"{path}/state", json={"state": {"frozen": True}}).json()
        at_once = http.get(path).json()
        for writer in writers:
            writer.result()
    assert http.get(path).json() == at_once
    assert at_once["version"] == frozen["version"]
