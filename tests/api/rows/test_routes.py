"""The rows of contract 6.1 to 6.4 over a running server: service, sessions, state, turns."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import quote

import httpx
import pytest

from statebase_site.base import json
from tests.api.rows.conftest import ident
from tests.patience import SECONDS

SESSIONS = "/v1/sessions"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# 6.1 Service


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/health", {"status", "timestamp", "version", "uptime_seconds", "services"}),
        ("/health/live", {"status"}),
        ("/health/ready", {"status"}),
        ("/", {"name", "version"}),
        ("/openapi.json", {"openapi", "paths", "components"}),
    ],
)
def test_6_1_service(server, path, fields):
    answer = server.get(path, {"Accept": "*/*"})
    assert (answer.status_code, answer.json().keys() >= fields) == (200, True)
    if path == "/health":
        assert answer.json()["status"] == "healthy"
        assert all(type(each) is dict for each in answer.json()["services"].values())


def test_6_1_the_root_is_the_dashboard_for_who_prefers_html(server):
    answer = httpx.get(server.url, headers={"Accept": "text/html"}, follow_redirects=True, timeout=SECONDS)
    assert answer.headers["Content-Type"].startswith("text/html")


# 6.2 Sessions


@pytest.mark.parametrize(
    ("field", "given", "default", "wrong"),
    [
        ("agent_id", "rows-a", None, 5),
        ("user_id", "u", None, 5),
        ("initial_state", {"a": None}, {}, []),
        ("metadata", {"a": None}, {}, "x"),
        ("ttl_seconds", 60, 86_400, "60"),
    ],
)
def test_6_2_create_row(wire, field, given, default, wrong):
    shown = "state" if field == "initial_state" else field
    least = {"agent_id": "rows-bot"}
    assert wire.made(SESSIONS, {**least, field: given})[shown] == given
    error = wire.error("POST", SESSIONS, {**least, field: wrong}, status=400)
    assert error["param"] == field
    if field == "agent_id":
        assert wire.error("POST", SESSIONS, {}, status=400)["param"] == field
        return
    for absent in ({}, {field: None}):
        made = wire.made(SESSIONS, least | absent)
        assert made[shown] == default
        assert (made["version"], made["frozen"]) == (0, False)
    assert wire.get(f"{SESSIONS}/{made['id']}") == made


def test_6_2_list_row_by_row(wire):
    first = wire.session(agent_id="rows-listed", user_id="l1", metadata={"team": "a", "n": 1})
    second = wire.session(
        {"frozen": True}, agent_id="rows-listed", user_id="l2", metadata={"team": "a", "n": None}
    )
    made = wire.get(second)["created_at"]
    for query, expected in (
        ("", [second, first]),
        ("user_id=l1", [first]),
        ("frozen=true", [second]),
        ("frozen=false", [first]),
        (f"created_after={quote(made)}", [second]),
        (f"created_before={quote(wire.get(first)['created_at'])}", [first]),
        (f"metadata={quote(json.dumps({'team': 'a'}))}", [second, first]),
        (f"metadata={quote(json.dumps({'team': 'a', 'n': None}))}", [second]),
        ("limit=1", [second]),
        (f"starting_after={ident(second)}", [first]),
        ("order=asc", [first, second]),
    ):
        found = wire.get(f"{SESSIONS}?agent_id=rows-listed&{query}")
        assert [each["id"] for each in found["data"]] == [ident(path) for path in expected], query
        assert all(each == wire.get(f"{SESSIONS}/{each['id']}") for each in found["data"])
    wire("DELETE", first, status=204)
    assert [each["id"] for each in wire.get(f"{SESSIONS}?agent_id=rows-listed")["data"]] == [ident(second)]


def test_6_2_change_metadata_row(wire):
    path = wire.session(metadata={"a": {"x": 1}, "b": 1}, ttl_seconds=60)
    before = wire.get(path)
    changed = wire.json("PATCH", path, {"metadata": {"a": {"y": None}}, "ttl_seconds": 600})
    assert changed["metadata"] == {"a": {"y": None}, "b": 1}
    assert (changed["version"], changed["ttl_seconds"]) == (0, 600)
    life = moment(changed["ttl_expires_at"]) - moment(changed["updated_at"])
    assert life == timedelta(seconds=600)
    assert moment(changed["updated_at"]) > moment(before["updated_at"])
    assert wire.actions(path) == ["session.created", "session.updated"]


def test_6_2_delete_row_every_route_of_it_answers_404(server, wire):
    path = wire.stepped(1)
    turn = wire.turn(path)
    memory = wire.memory("Bound", session_id=ident(path))
    thing = wire.entity(path)
    assert wire("DELETE", path, status=204).content == b""
    document = wire("GET", "/openapi.json").json()["paths"]
    of_session = [
        (method.upper(), route)
        for route, methods in document.items()
        if "{session_id}" in route
        for method in methods
    ]
    assert len(of_session) > 20
    for method, route in of_session:
        names = {"session_id": ident(path), "turn_id": turn["id"], "number": "0"}
        address = route.format(**names) + ("?version=0" if route.endswith("preview") else "")
        body = (
            None
            if method == "GET"
            else {"state": {}, "version": 0, "input": "a", "output": "b", "content": "x"}
        )
        if route.endswith("/memories/search"):
            body = {"query": "x"}
        error = wire.error(method, address, body, status=404)
        assert (error["code"], error["param"]) == ("session_not_found", "session_id"), (method, route)
    assert wire.error("GET", f"/v1/turns/{turn['id']}", status=404)["code"] == "turn_not_found"
    assert wire.error("GET", f"/v1/memories/{memory['id']}", status=404)["code"] == "memory_not_found"
    assert wire.error("GET", f"/v1/entities/{thing['id']}", status=404)["code"] == "entity_not_found"
    assert wire.error("GET", f"/v1/traces/{turn['trace_id']}", status=404)["code"] == "trace_not_found"
    (left,) = wire.get(f"/v1/traces?session_id={ident(path)}")["data"]
    assert (left["action"], left["details"]["turn_count"]) == ("session.deleted", 1)


def test_6_2_delete_row_frozen_and_held(wire):
    path = wire.session({"frozen": True})
    assert wire.error("DELETE", path, status=423)["code"] == "session_frozen"
    wire.json("POST", f"{path}/resume")
    filed = wire.made("/v1/incidents", {"title": "Held", "severity": "S3", "sessions": [ident(path)]})
    held = wire.error("DELETE", path, status=409)
    assert (held["code"], held["type"]) == ("session_held", "conflict_error")
    (hold,) = held["holds"]
    assert (hold["label"], hold.keys()) == (filed["id"], {"label", "url"})


def test_6_2_expiry_row(wire, expired):
    for method, route, body in (
        ("GET", "", None),
        ("GET", "/state", None),
        ("PATCH", "/state", {"state": {}}),
        ("PATCH", "", {"ttl_seconds": 60}),
        ("POST", "/turns", {"input": "a", "output": "b"}),
        ("POST", "/fork", {}),
        ("GET", "/export", None),
        ("DELETE", "", None),
    ):
        assert wire.error(method, expired + route, body, status=404)["code"] == "session_not_found"
    assert ident(expired) not in str(wire.get(f"{SESSIONS}?user_id=zed"))
    (trace,) = wire.get(f"/v1/traces?action=session.expired&session_id={ident(expired)}")["data"]
    assert trace["actor"] == "system"
    assert trace["details"].keys() == {"ttl_seconds", "last_activity"}
    # Incident routes excepted: what is over can still be filed (contract 16), and is held from then on.
    filed = wire.made("/v1/incidents", {"title": "Late", "severity": "S3", "sessions": [ident(expired)]})
    assert [each["session_id"] for each in filed["sessions"]] == [ident(expired)]


def test_6_2_expiry_row_a_write_does_not_extend_a_life(wire):
    path = wire.session(ttl_seconds=600)
    ends = wire.get(path)["ttl_expires_at"]
    wire.json("PATCH", f"{path}/state", {"state": {"a": 1}})
    wire.turn(path, state_after={"a": 2})
    wire.json("POST", f"{path}/rollback", {"version": 0})
    assert wire.get(path)["ttl_expires_at"] == ends


@pytest.fixture(scope="module")
def talk(wire):
    """A session with 3 turns and 2 memories, one for its user."""
    path = wire.session({"a": 1}, user_id="rows-talker")
    for number in range(3):
        wire.turn(path, input=f"q{number}", output=f"a{number}")
    wire.memory("Prefers quiet carriages on trains", user_id="rows-talker")
    wire.memory("Allergic to penicillin", session_id=ident(path))
    return path


@pytest.mark.parametrize(
    ("body", "memories", "turns"),
    [
        ({}, 2, 3),
        ({"query": None, "memory_limit": None, "turn_limit": None}, 2, 3),
        ({"memory_limit": 0, "turn_limit": 0}, 0, 0),
        ({"memory_limit": 1, "turn_limit": 1, "query": "quiet carriages"}, 1, 1),
        ({"memory_limit": 21, "turn_limit": 51, "query": "quiet carriages"}, 2, 3),
    ],
)
def test_6_2_context_request_row(wire, talk, body, memories, turns):
    found = wire.json("POST", f"{talk}/context", body)
    mine = [each for each in found["memories"] if each["user_id"] == "rows-talker"]
    assert (len(mine), len(found["recent_turns"])) == (memories, turns)
    address = "&".join(f"{name}={value}" for name, value in body.items() if value is not None)
    assert wire.get(f"{talk}/context?{address.replace(' ', '+')}") == found


@pytest.mark.parametrize(
    ("query", "memories", "turns"),
    [("max_turns=2", 2, 2), ("include_memories=false", 0, 3), ("include_turns=false", 2, 0)],
)
def test_6_2_context_alias_row(wire, talk, query, memories, turns):
    found = wire.get(f"{talk}/context?{query}")
    mine = [each for each in found["memories"] if each["user_id"] == "rows-talker"]
    assert (len(mine), len(found["recent_turns"])) == (memories, turns)


_CONTEXT = {
    "state": lambda found: found["state"] == {"a": 1},
    "memories": lambda found: (
        found["memories"][0]["content"].startswith("Prefers")
        and [each["score"] for each in found["memories"]]
        == sorted((each["score"] for each in found["memories"]), reverse=True)
    ),
    "recent_turns": lambda found: (
        [(each["turn_number"], each["role"], each["content"]) for each in found["recent_turns"]]
        == [(3, "assistant", "a2"), (2, "assistant", "a1"), (1, "assistant", "a0")]
    ),
    "messages": lambda found: (
        [(each["role"], each["content"]) for each in found["messages"]]
        == [(role, f"{letter}{n}") for n in range(3) for role, letter in (("user", "q"), ("assistant", "a"))]
    ),
    "drift_warning": lambda found: found["drift_warning"] is (found["average_relevance"] < 0.5),
    "average_relevance": lambda found: (
        abs(
            found["average_relevance"]
            - sum(each["score"] for each in found["memories"]) / len(found["memories"])
        )
        < 0.001
    ),
    "session_id": lambda found: found["session_id"].startswith("sess_"),
    "version": lambda found: found["version"] == 0,
    "frozen": lambda found: found["frozen"] is False,
}


@pytest.mark.parametrize("field", _CONTEXT)
def test_6_2_context_answer_row(wire, talk, field):
    for query in ("quiet carriages on trains", "quarterly tax report"):
        body = {"query": query, "memory_limit": 1 if query.startswith("quiet") else 5}
        found = wire.json("POST", f"{talk}/context", body)
        if query.startswith("quiet") or field != "memories":
            assert _CONTEXT[field](found), found
    without = wire.json("POST", f"{talk}/context")
    assert {each["score"] for each in without["memories"]} == {0.0}
    assert (without["drift_warning"], wire.get(talk)["version"]) == (False, 0)


def test_6_2_fork_rows(wire):
    path = wire.stepped(3, user_id="u", metadata={"m": 1}, ttl_seconds=600)
    wire.turn(path)
    wire.memory("Bound", session_id=ident(path))
    source = wire.get(path)
    for body, version in (
        (None, 3),
        ({"version": 1}, 1),
        ({"version": -1}, 2),
        ({"new_agent_id": "other"}, 3),
    ):
        made = wire.made(f"{path}/fork", body)
        assert made["id"] == made["new_session_id"] != source["id"]
        assert made["metadata"] == {"forked_from": source["id"], "forked_version": version}
        assert (made["state"], made["version"], made["turn_count"], made["memory_count"]) == (
            {"step": version},
            *(0, 0, 0),
        )
        assert made["agent_id"] == ("other" if body and "new_agent_id" in body else source["agent_id"])
        assert (made["user_id"], made["ttl_seconds"]) == ("u", 600)
        life = moment(made["ttl_expires_at"]) - moment(made["created_at"])
        assert life == timedelta(seconds=600)
        assert wire.actions(f"{SESSIONS}/{made['id']}") == ["session.created"]
    assert wire.get(path) == source
    assert wire.actions(path)[-4:] == ["session.forked"] * 4
    assert wire.error("POST", f"{path}/fork", {"version": 9}, status=404)["code"] == "version_not_found"


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("", ["state", "trace", "turn", "trace"]),
        ("include_state=false", ["trace", "turn", "trace"]),
        ("include_traces=false", ["state", "turn"]),
        ("include_state=false&include_traces=false", ["turn"]),
        ("limit=2", ["state", "trace"]),
    ],
)
def test_6_2_history_row(wire, query, kinds):
    path = wire.session()
    wire.turn(path)
    found = wire.get(f"{path}/history?{query}")
    assert (found["object"], [each["type"] for each in found["data"]]) == ("list", kinds)
    assert found["has_more"] is (query == "limit=2")


# 6.3 State


@pytest.mark.parametrize(
    ("method", "name", "result"),
    [
        ("PATCH", "state", {"a": 1, "b": {"x": None}, "c": None}),
        ("PATCH", "updates", {"a": 1, "b": {"x": None}, "c": None}),
        ("PUT", "state", {"b": {"x": None}, "c": None}),
        ("POST", "state", {"b": {"x": None}, "c": None}),
    ],
)
def test_6_3_update_and_replace_rows(wire, method, name, result):
    path = wire.session({"a": 1, "b": {"y": 1}})
    body = {name: {"b": {"x": None}, "c": None}, "reasoning": "Why", "expected_version": 0}
    made = wire.json(method, f"{path}/state", body)
    assert (made["state"], made["version"], made["reasoning"]) == (result, 1, "Why")
    again = wire.json(method, f"{path}/state", {name: result})
    assert (again["version"], again["state"]) == (2, result)
    conflict = wire.error(method, f"{path}/state", body, status=409)
    assert (conflict["code"], conflict["current_version"]) == ("version_conflict", 2)
    assert wire.error(method, f"{path}/state", {}, status=400)["param"] == "state"
    assert wire.actions(path) == ["session.created", "state.updated", "state.updated"]
    read = wire.get(f"{path}/state?version=-1")
    assert (read["version"], read["state"], read["updated_at"]) == (1, result, made["updated_at"])


_TARGETS = [
    ({"version": 1}, 1),
    ({"version": -3}, 3),
    ({"version": 6}, 6),
    ({"count": 2}, 4),
    ({"turn_id": "TURN"}, 6),
    ({"turn_count": 1}, 6),
    ({"version": 2, "expected_version": 6}, 2),
]


@pytest.mark.parametrize("route", ["rollback", "state/rollback"])
@pytest.mark.parametrize(("body", "target"), _TARGETS, ids=[str(body) for body, _ in _TARGETS])
def test_6_3_rollback_row(wire, route, body, target):
    path = wire.stepped(6)
    turn = wire.turn(path)
    sent = {name: turn["id"] if value == "TURN" else value for name, value in body.items()}
    made = wire.json("POST", f"{path}/{route}", sent, X_StateBase_Reason="From the header")
    assert (made["state"], made["version"], made["from_version"]) == ({"step": target}, 7, 6)
    assert (made["restored_from_version"], made["reason"]) == (target, "From the header")
    assert wire.trace(made["trace_id"])["details"]["requested_version"] is not None
    assert wire.actions(path)[-1] == "state.rolled_back"
    assert len(wire.get(f"{path}/turns")["data"]) == 1
    undone = wire.json("POST", f"{path}/{route}", {"version": -1, "reason": "From the body"})
    assert (undone["state"], undone["reason"]) == ({"step": 6}, "From the body")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"version": 7}, 404, "version_not_found"),
        ({"version": -7}, 404, "version_not_found"),
        ({"version": True}, 400, "invalid_request"),
        ({"version": 1.5}, 400, "invalid_request"),
        ({"version": "3"}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
        ({"count": 0}, 400, "invalid_request"),
        ({"version": 0, "expected_version": 5}, 409, "version_conflict"),
    ],
)
def test_6_3_rollback_row_refused(wire, stepped_six, body, status, code):
    assert wire.error("POST", f"{stepped_six}/rollback", body, status=status)["code"] == code
    assert wire.get(stepped_six)["version"] == 6


@pytest.fixture(scope="module")
def stepped_six(wire):
    return wire.stepped(6)


@pytest.mark.parametrize("route", ["state/history", "versions", "state/versions"])
def test_6_3_versions_rows(wire, stepped_six, route):
    address = f"{stepped_six}/{route}"
    whole = wire.get(address)
    assert (whole["current_version"], whole["session_id"]) == (6, ident(stepped_six))
    assert (whole["first_id"], whole["last_id"]) == ("0", "6")
    for query, numbers in (
        ("limit=2", [0, 1]),
        ("order=desc&limit=2", [6, 5]),
        ("since_version=4", [5, 6]),
        ("starting_after=4", [5, 6]),
        ("order=desc&starting_after=1", [0]),
    ):
        assert [each["version"] for each in wire.get(f"{address}?{query}")["data"]] == numbers, query
    bare = wire.get(f"{address}?include_state=false")["data"]
    assert not any("state" in each for each in bare)
    if route != "state/history":
        for number, found in ((2, 2), (-1, 5), (0, 0)):
            shown = wire.get(f"{address}/{number}")
            assert (shown["version"], shown["state"]) == (found, {"step": found})
        assert wire.error("GET", f"{address}/7", status=404)["code"] == "version_not_found"


# 6.4 Turns

_SIDES = [
    ("x", {"type": "text", "content": "x"}),
    ({"content": "x", "k": 1}, {"type": "text", "content": "x", "k": 1}),
    ({"a": 1, "b": [2]}, {"type": "json", "content": '{"a":1,"b":[2]}', "a": 1, "b": [2]}),
    ({"type": "tool_call", "a": 1}, {"type": "tool_call", "content": '{"a":1}', "a": 1}),
    ({"type": "list", "content": [1, {"b": None}]}, {"type": "list", "content": '[1,{"b":null}]'}),
    ({}, {"type": "json", "content": "{}"}),
]


@pytest.mark.parametrize("field", ["input", "output"])
@pytest.mark.parametrize(("given", "shown"), _SIDES, ids=[json.dumps(given) for given, _ in _SIDES])
def test_6_4_add_row_input_and_output(wire, talk_on, field, given, shown):
    made = wire.turn(talk_on, **{field: given})
    assert made[field] == shown
    assert wire.get(f"{talk_on}/turns/{made['id']}")[field] == shown


@pytest.fixture(scope="module")
def talk_on(wire):
    return wire.session({"a": 1})


@pytest.mark.parametrize(
    ("field", "given", "default", "wrong"),
    [
        ("reasoning", "Because", None, 5),
        ("metadata", {"m": None}, {}, []),
        ("state_before", {"a": 1}, None, "x"),
        ("state_after", {"a": 1}, None, 1),
    ],
)
def test_6_4_add_row(wire, talk_on, field, given, default, wrong):
    assert wire.turn(talk_on, **{field: given})[field] == given
    assert wire.turn(talk_on)[field] == wire.turn(talk_on, **{field: None})[field] == default
    body = {"input": "a", "output": "b", field: wrong}
    assert wire.error("POST", f"{talk_on}/turns", body, status=400)["param"] == field


def test_6_4_list_and_get_rows(wire):
    path = wire.session()
    turns = [wire.turn(path) for _ in range(3)][::-1]
    for query, expected in (
        ("", turns),
        ("limit=1", turns[:1]),
        (f"starting_after={turns[0]['id']}", turns[1:]),
        ("order=asc", turns[::-1]),
    ):
        assert wire.get(f"{path}/turns?{query}")["data"] == expected
    for address in (f"{path}/turns/{turns[0]['id']}", f"/v1/turns/{turns[0]['id']}"):
        assert wire.get(address) == turns[0]
    assert wire.actions(path) == ["session.created", *["turn.added"] * 3]
    for method in ("PUT", "PATCH", "DELETE"):
        assert wire(method, f"{path}/turns/{turns[0]['id']}", {}, status=405).headers["Allow"] == "GET"
