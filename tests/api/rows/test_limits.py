"""The rows of contract 4 over a running server: rates, idempotency, limits."""

from __future__ import annotations

import time

import pytest

from tests.api.rows.conftest import ident

MIB = 1024 * 1024


# 4.1 Rates


def test_4_1_a_key_has_100_requests_a_minute_and_says_so(wire_with):
    limited = wire_with(rate_limit=None)
    headers = limited("GET", "/v1/sessions?limit=1", status=200).headers
    assert (headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]) == ("100", "100")
    assert 0 <= int(headers["X-RateLimit-Reset"]) - time.time() <= 2 + 60


def test_4_1_the_burst_is_twice_the_rate_and_what_is_refused_does_nothing(wire, wire_with):
    limited = wire_with(rate_limit=2)
    body = {"agent_id": "rows-limited"}
    statuses = [limited("POST", "/v1/sessions", body).status_code for _ in range(4)]
    assert statuses == [201] * 4
    refused = limited("POST", "/v1/sessions", body, status=429)
    error = refused.json()["error"]
    assert (error["code"], error["type"]) == ("rate_limit_exceeded", "rate_limit_error")
    assert error["retry_after"] == int(refused.headers["Retry-After"]) >= 1
    assert (refused.headers["X-RateLimit-Limit"], refused.headers["X-RateLimit-Remaining"]) == ("2", "0")
    assert refused.headers["Content-Type"] == "application/json"
    made = wire.get("/v1/sessions?agent_id=rows-limited")["data"]
    assert len(made) == 4
    assert {each["action"] for path in made for each in wire.traces(f"/v1/sessions/{path['id']}")} == {
        "session.created"
    }
    # Freezing is never rate-limited (contract 3).
    frozen = limited.json("POST", f"/v1/sessions/{made[0]['id']}/freeze")
    assert frozen["frozen"] is True


def test_4_1_no_limit_tells_a_large_one(wire):
    headers = wire("GET", "/v1/nowhere", status=404).headers
    assert int(headers["X-RateLimit-Limit"]) >= 1_000_000


# 4.2 Idempotency


def counts(wire, path):
    session = wire.get(path)
    names = ("traces", "versions", "turns", "memories")
    rows = [len(wire.get(f"{path}/{name}?limit=100")["data"]) for name in names]
    entities = wire.get(f"/v1/entities?session_id={ident(path)}")["data"]
    forks = wire.get(f"{path}/lineage")["nodes"]
    return rows, session["version"], len(entities), len(forks)


_WRITES = {
    "create": ("POST", "/v1/sessions", {"agent_id": "rows-once"}),
    "change": ("PATCH", "PATH", {"metadata": {"a": 1}}),
    "merge": ("PATCH", "PATH/state", {"state": {"a": 1}}),
    "replace": ("PUT", "PATH/state", {"state": {"a": 1}}),
    "replace by POST": ("POST", "PATH/state", {"state": {"a": 1}}),
    "rollback": ("POST", "PATH/rollback", {"version": 0}),
    "fork": ("POST", "PATH/fork", {"version": 0}),
    "turn": ("POST", "PATH/turns", {"input": "a", "output": "b", "state_after": {"z": 1}}),
    "memory": ("POST", "/v1/memories", {"content": "once", "session_id": "SESSION"}),
    "memory of session": ("POST", "PATH/memories", {"content": "once"}),
    "memory change": ("PATCH", "/v1/memories/MEMORY", {"tags": ["t"]}),
    "memory change by PUT": ("PUT", "/v1/memory/MEMORY", {"content": "other"}),
    "trace": ("POST", "/v1/traces", {"action": "note", "session_id": "SESSION"}),
    "entity": ("POST", "/v1/entities", {"session_id": "SESSION", "entity_type": "t", "entity_id": "9"}),
    "entity change": ("PUT", "/v1/entities/ENTITY", {"attributes": {"a": 1}}),
    "freeze": ("POST", "PATH/freeze", {}),
    "resume": ("POST", "PATH/resume", {}),
}


@pytest.mark.parametrize("name", _WRITES)
def test_4_2_a_write_sent_twice_runs_once(wire, agent_wire, name):
    path = wire.stepped(1)
    memory = wire.memory("kept", session_id=ident(path))["id"]
    entity = wire.entity(path)["id"]
    method, route, body = _WRITES[name]
    if name == "resume":
        wire.json("POST", f"{path}/freeze")
    route = route.replace("PATH", path).replace("MEMORY", memory).replace("ENTITY", entity)
    body = {field: ident(path) if value == "SESSION" else value for field, value in body.items()}
    key = f"{name}-{ident(path)}"
    first = wire(method, route, body, Idempotency_Key=key)
    assert first.status_code in (200, 201)
    assert "Idempotency-Replayed" not in first.headers
    before = counts(wire, path)
    again = wire(method, route, body, Idempotency_Key=key)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (first.status_code, "true")
    assert again.content == first.content
    assert counts(wire, path) == before
    other = {**body, "another": 1}
    error = wire.error(method, route, other, status=409, Idempotency_Key=key)
    assert (error["code"], error["type"]) == ("idempotency_conflict", "conflict_error")
    if name in ("merge", "turn", "memory of session"):
        # The replay holds after a freeze, too; and another API key has keys of its own.
        wire.json("POST", f"{path}/freeze")
        again = wire(method, route, body, Idempotency_Key=key)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert agent_wire.error(method, route, body, status=423, Idempotency_Key=key)


def test_4_2_only_a_success_is_remembered(wire):
    path = wire.session()
    key = {"Idempotency_Key": f"later-{path}"}
    wire.error("POST", f"{path}/rollback", {"version": 1}, status=404, **key)
    wire.json("PATCH", f"{path}/state", {"state": {}})
    assert wire.json("POST", f"{path}/rollback", {"version": 1}, **key)["version"] == 2


@pytest.mark.parametrize(("key", "status"), [("k" * 255, 201), ("k" * 256, 400), ("", 400)])
def test_4_2_a_key_has_1_to_255_characters(wire, key, status):
    body = {"agent_id": "rows-bot", "metadata": {"for": "the key"}}
    wire("POST", "/v1/sessions", body, status=status, Idempotency_Key=key)


# 4.3 Limits


@pytest.mark.parametrize(
    ("seconds", "status"), [(0, 400), (1, 201), (2_592_000, 201), (2_592_001, 400), (-1, 400)]
)
def test_4_3_ttl_seconds(wire, seconds, status):
    body = {"agent_id": "rows-bot", "ttl_seconds": seconds}
    assert wire("POST", "/v1/sessions", body).status_code == status
    changed = 200 if status == 201 else status
    assert wire("PATCH", wire.session(), {"ttl_seconds": seconds}).status_code == changed


def test_4_3_what_was_imported_never_expires(wire, imported):
    session = wire.get(imported)
    assert (session["ttl_seconds"], session["ttl_expires_at"]) == (None, None)


@pytest.mark.parametrize("length", [0, 1, 10_000, 10_001])
def test_4_3_memory_content(wire, length):
    status = {0: 400, 10_001: 413}.get(length, 201)
    assert wire("POST", "/v1/memories", {"content": "é" * length}).status_code == status


@pytest.mark.parametrize(("name", "default", "most"), [("memory_limit", 5, 20), ("turn_limit", 10, 50)])
def test_4_3_limits_of_a_context(wire, name, default, most):
    path = wire.session(user_id=f"rows-{name}")
    for number in range(most + 1):
        if name == "turn_limit":
            wire.turn(path)
        else:
            wire.memory(f"Number {number}", user_id=f"rows-{name}")
    field = "recent_turns" if name == "turn_limit" else "memories"
    for given, expected in ((None, default), (0, 0), (most, most), (most + 1, most), (1000, most)):
        assert len(wire.json("POST", f"{path}/context", {name: given})[field]) == expected


@pytest.mark.parametrize("value", ["", " ", "a" * 256])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/sessions", "agent_id"),
        ("/v1/sessions", "user_id"),
        ("/v1/memories", "type"),
        ("/v1/memories", "user_id"),
        ("/v1/memories", "agent_id"),
        ("/v1/traces", "action"),
        ("/v1/entities", "entity_type"),
    ],
)
def test_4_3_names(wire, path, field, value):
    least = {"agent_id": "a", "content": "x", "action": "a", "session_id": None}
    if path == "/v1/entities":
        least |= {"session_id": "sess_x", "entity_type": "t", "entity_id": "1"}
    assert wire.error("POST", path, {**least, field: value}, status=400)["param"] == field
    if path != "/v1/entities":
        assert wire("POST", path, {**least, field: "a" * 255}).status_code == 201


def test_4_3_request_body(wire):
    fits = b'{"agent_id": "rows-bot"}'.ljust(2 * MIB)
    wire("POST", "/v1/sessions", fits, status=201)
    assert wire.error("POST", "/v1/sessions", fits + b" ", status=413)["code"] == "payload_too_large"


def test_4_3_state_of_a_session_and_a_page_of_versions(wire):
    path = wire.session({"large": "x" * (2 * MIB - 10_000)})
    error = wire.error("PATCH", f"{path}/state", {"state": {"more": "x" * 11_000}}, status=413)
    assert (error["code"], error["param"]) == ("payload_too_large", "state")
    for number in range(4):
        wire.json("PATCH", f"{path}/state", {"state": {"n": number}})
    page = wire.get(f"{path}/versions")
    assert (len(page["data"]), page["has_more"]) == (4, True)
    rest = wire.get(f"{path}/versions?starting_after={page['last_id']}")
    assert ([each["version"] for each in rest["data"]], rest["has_more"]) == ([4], False)
    assert len(wire.get(f"{path}/versions?include_state=false")["data"]) == 5


@pytest.mark.parametrize(
    ("method", "route", "body", "field", "most"),
    [
        ("POST", "/v1/sessions", {"agent_id": "a"}, "metadata", 64),
        ("PATCH", "PATH", {}, "metadata", 64),
        ("POST", "PATH/turns", {"input": "a", "output": "b"}, "metadata", 64),
        ("POST", "/v1/memories", {"content": "a"}, "metadata", 64),
        ("PATCH", "PATH/state", {"state": {}}, "reasoning", 16),
        ("POST", "PATH/turns", {"input": "a", "output": "b"}, "reasoning", 16),
        ("POST", "PATH/rollback", {"version": 0}, "reason", 16),
        ("POST", "PATH/freeze", {}, "reason", 16),
        ("POST", "PATH/resume", {}, "reason", 16),
        ("POST", "PATH/unfreeze", {}, "reason", 16),
        ("POST", "/v1/traces", {"action": "a"}, "metadata", 64),
        ("POST", "/v1/entities", {"session_id": "", "entity_type": "t", "entity_id": "1"}, "attributes", 64),
    ],
)
def test_4_3_metadata_and_reasoning(wire, method, route, body, field, most):
    path = wire.session()
    size = most * 1024
    if "session_id" in body:
        body = body | {"session_id": ident(path)}

    def sized(length):
        text = "x" * length
        return text if "reason" in field else {"k": text[8:]}  # {"k":""} are 8 bytes

    address = route.replace("PATH", path)
    error = wire.error(method, address, {**body, field: sized(size + 1)}, status=413)
    assert error["param"] == field
    assert wire(method, address, {**body, field: sized(size)}).status_code in (200, 201)


def test_4_3_lists_and_traces_show_the_first_500_characters_of_a_reasoning(wire):
    path, long = wire.session(), "é" * 600
    made = wire.json("PATCH", f"{path}/state", {"state": {}, "reasoning": long})
    turn = wire.turn(path, reasoning=long)
    assert wire.get(f"{path}/versions")["data"][1]["reasoning"] == long[:500]
    assert wire.get(f"{path}/turns")["data"][0]["reasoning"] == long[:500]
    assert {each["details"]["reasoning"] for each in wire.traces(path)[1:]} == {long[:500]}
    assert wire.get(f"{path}/versions/1")["reasoning"] == made["reasoning"] == long
    assert wire.get(f"{path}/turns/{turn['id']}")["reasoning"] == long
    assert wire.trace(turn["trace_id"])["details"]["reasoning"] == long
