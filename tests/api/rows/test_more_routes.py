"""The rows of contract 6.5 to 6.9 over a running server: from memories to users."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from statebase_site.base import json
from tests.api.rows.conftest import ident
from tests.patience import until

BOTH_NAMES = ("/v1/memories", "/v1/memory")


# 6.5 Memories


@pytest.mark.parametrize(
    ("field", "given", "default", "wrong"),
    [
        ("content", "x" * 10_000, None, ""),
        ("type", "fact", "general", 5),
        ("session_id", "OWN", "", 5),
        ("user_id", "u", None, " "),
        ("agent_id", "a", None, " "),
        ("tags", ["a", "b"], [], "a"),
        ("metadata", {"a": None}, {}, []),
    ],
)
@pytest.mark.parametrize("path", BOTH_NAMES)
def test_6_5_add_row(wire, path, field, given, default, wrong):
    given = ident(wire.session()) if given == "OWN" else given
    made = wire.made(path, {"content": "x", field: given})
    assert made[field] == given
    assert wire.get(f"{path}/{made['id']}") == made
    assert wire.error("POST", path, {"content": "x", field: wrong}, status=400)["param"] == field
    if field == "content":
        assert wire.error("POST", path, {}, status=400)["param"] == field
        error = wire.error("POST", path, {"content": "x" * 10_001}, status=413)
        assert (error["code"], error["param"]) == ("content_too_large", "content")
        return
    assert wire.made(path, {"content": "x"})[field] == wire.made(path, {"content": "x", field: None})[field]
    assert wire.made(path, {"content": "x"})[field] == default
    if field == "type":
        assert wire.made(path, {"content": "x", "memory_type": "wish"})["type"] == "wish"
    if field == "session_id":
        error = wire.error("POST", path, {"content": "x", "session_id": "sess_unknown"}, status=404)
        assert error["code"] == "session_not_found"


def test_6_5_add_row_embed(wire):
    path = wire.session()
    seen = wire.made(f"{path}/memories", {"content": "Prefers window seats"})
    hidden = wire.made(f"{path}/memories", {"content": "Prefers window seats", "embed": False})
    assert (seen["vector_available"], bool(seen["embedding_id"])) == (True, True)
    assert (hidden["vector_available"], hidden["embedding_id"]) == (False, None)
    found = wire.json("POST", f"{path}/memories/search", {"query": "window seats", "scope": "session"})
    assert [each["id"] for each in found["data"]] == [seen["id"]]
    session = wire.get(path)
    assert (session["memory_count"], session["version"]) == (2, 0)
    assert wire.actions(path) == ["session.created", "memory.created", "memory.created"]


@pytest.mark.parametrize(
    ("body", "scope"),
    [
        ({"session_id": "USER'S"}, "user"),
        ({"user_id": "u", "agent_id": "a", "session_id": "OWN"}, "user"),
        ({"session_id": "OWN", "agent_id": "a"}, "session"),
        ({"agent_id": "a"}, "agent"),
        ({}, "global"),
    ],
)
def test_6_5_scope_row(wire, body, scope):
    fields = {"user_id": "u"} if body.get("session_id") == "USER'S" else {}
    if "session_id" in body:
        body = body | {"session_id": ident(wire.session(**fields))}
    assert wire.memory("x", **body)["scope"] == scope


@pytest.fixture(scope="module")
def crowd(wire):
    """The path of Ann's session, beside another of hers, one of Bob's, and one of nobody's."""
    mine = wire.session(user_id="rows-ann", agent_id="rows-crowd")
    hers = wire.session(user_id="rows-ann", agent_id="rows-crowd")
    bobs = wire.session(user_id="rows-bob", agent_id="rows-crowd")
    nobodys = wire.session(agent_id="rows-crowd")
    said = "Zebra stripes are black, says"
    for name, fields in {
        "mine": {"session_id": ident(mine)},
        "hers": {"session_id": ident(hers), "tags": ["t"]},
        "user": {"user_id": "rows-ann", "type": "fact"},
        "agent": {"agent_id": "rows-crowd"},
        "global": {},
        "bob": {"user_id": "rows-bob"},
        "bobs": {"session_id": ident(bobs)},
        "bob in mine": {"session_id": ident(mine), "user_id": "rows-bob"},
        "nobodys": {"session_id": ident(nobodys)},
        "another agent": {"agent_id": "rows-other"},
    }.items():
        wire.memory(f"{said} {name}", **fields)
    wire.memory("Quarterly tax report is due", session_id=ident(mine))
    return mine


def names(found):
    return {each["content"].rpartition("says ")[2] for each in found["data"] if "says" in each["content"]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"mine", "hers", "user", "agent", "global"}),
        ({"scope": "session"}, {"mine", "bob in mine"}),
        ({"tags": "t,u"}, {"hers"}),
        ({"tags": ["t"]}, {"hers"}),
        ({"type": "fact"}, {"user"}),
        ({"types": "fact,wish"}, {"user"}),
        ({"agent_id": "rows-crowd"}, {"agent"}),
        ({"user_id": "rows-ann"}, {"mine", "hers", "user"}),
    ],
)
def test_6_5_search_row_and_what_a_session_selects(wire, crowd, fields, expected):
    """Over all routes of a search; ruling R22."""
    body = {"query": "zebra stripes", "session_id": ident(crowd), "limit": 50, **fields}
    address = "&".join(
        f"{name}={quote(str(each))}"
        for name, value in body.items()
        for each in (value if isinstance(value, list) else [value])
    )
    answers = [
        *(wire.get(f"{path}{route}?{address}") for path in BOTH_NAMES for route in ("", "/search")),
        *(wire.json("POST", f"{path}/search", body) for path in BOTH_NAMES),
        wire.json("POST", f"{crowd}/memories/search", {**body, "session_id": None}),
    ]
    for found in answers:
        assert names(found) == expected
        assert (found["object"], found["query"], found["has_more"]) == ("list", "zebra stripes", False)
        scores = [each["score"] for each in found["data"]]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("query", "most", "param"),
    [
        ("limit=2", 2, None),
        ("top_k=3", 3, None),
        ("limit=2&top_k=3", 2, None),
        ("limit=1000", 5, None),
        ("", 5, None),
        ("threshold=0", 10, None),
        ("threshold=1.5", 0, "threshold"),
        ("threshold=x", 0, "threshold"),
        ("limit=0", 0, "limit"),
        ("limit=x", 0, "limit"),
    ],
)
def test_6_5_search_row_limits_and_threshold(wire, crowd, query, most, param):
    address = f"/v1/memories?query=zebra+stripes&session_id={ident(crowd)}&{query}"
    if param:
        assert wire.error("GET", address, status=400)["param"] == param
    else:
        found = wire.get(address)["data"]
        assert len(found) == most or (query == "threshold=0" and 5 < len(found) < most)
        assert query == "threshold=0" or min(each["score"] for each in found) >= 0.7
    for empty in ("", "query=", "query=+"):
        path = "/v1/memories/search" if not empty else "/v1/memories"
        assert wire.error("GET", f"{path}?{empty}", status=400)["param"] == "query"


def test_6_5_scores_are_calibrated(wire, crowd):
    content = "Quarterly tax report is due"
    best = wire.get(f"/v1/memories?query={quote(content)}&session_id={ident(crowd)}&threshold=0")["data"]
    assert (best[0]["content"], best[0]["score"] >= 0.95) == (content, True)
    assert all(each["score"] < 0.7 for each in best[1:])
    ten = wire.session()
    for number in range(12):
        wire.made(f"{ten}/memories", {"content": f"Zebra number {number}"})
    found = wire.get(f"/v1/memories?query=zebra+number&session_id={ident(ten)}&scope=session")["data"]
    assert len(found) == 10
    ties = [each["created_at"] for each in found if each["score"] == found[0]["score"]]
    assert ties == sorted(ties, reverse=True)


def test_6_5_list_row(wire):
    path = wire.session(user_id="rows-lister")
    made = [
        wire.memory(f"n{n}", session_id=ident(path), type=kind, tags=[tag])
        for n, (kind, tag) in enumerate([("fact", "a"), ("wish", "b"), ("fact", "b")])
    ]
    free = wire.memory("free", user_id="rows-lister")
    ids = [each["id"] for each in made][::-1]
    session = f"session_id={ident(path)}"
    for address, expected in (
        (f"/v1/memories?{session}", ids),
        (f"/v1/memory?{session}", ids),
        (f"{path}/memories", ids),
        ("/v1/memories?user_id=rows-lister", [free["id"], *ids]),
        (f"/v1/memories?{session}&type=fact", [ids[0], ids[2]]),
        (f"/v1/memories?{session}&types=fact,wish", ids),
        (f"/v1/memories?{session}&tags=b", ids[:2]),
        (f"/v1/memories?{session}&limit=1", ids[:1]),
        (f"/v1/memories?{session}&starting_after={ids[0]}", ids[1:]),
    ):
        assert [each["id"] for each in wire.get(address)["data"]] == expected, address


@pytest.mark.parametrize("path", BOTH_NAMES)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_6_5_update_and_delete_rows(wire, path, method):
    session = wire.session()
    made = wire.memory("Likes tea", session_id=ident(session), tags=["a"], metadata={"a": 1})
    one = f"{path}/{made['id']}"
    for body, changed in (
        ({}, {}),
        ({"type": "fact"}, {"type": "fact"}),
        ({"tags": ["b"]}, {"tags": ["b"]}),
        ({"metadata": {"b": None}}, {"metadata": {"a": 1, "b": None}}),
        ({"content": "Likes coffee"}, {"content": "Likes coffee"}),
    ):
        before = wire.get(one)
        after = wire.json(method, one, body)
        same = set(before) - {"version", "updated_at", "embedding_id", *changed}
        assert {name: after[name] for name in same} == {name: before[name] for name in same}
        assert {name: after[name] for name in changed} == changed
        assert after["version"] == before["version"] + 1
    found = wire.get(f"/v1/memories?query=coffee&session_id={ident(session)}&scope=session")["data"]
    assert [each["id"] for each in found] == [made["id"]]
    assert wire("DELETE", one, status=204).content == b""
    assert wire.error("GET", one, status=404)["code"] == "memory_not_found"
    assert wire.get(session)["memory_count"] == 0
    assert wire.actions(session)[-1] == "memory.deleted"


# 6.6 Traces


@pytest.fixture(scope="module")
def audited(wire):
    path = wire.session(user_id="rows-audited")
    wire.json("PATCH", f"{path}/state", {"state": {"a": 1}})
    wire.turn(path)
    wire.memory("x", session_id=ident(path))
    wire.made("/v1/traces", {"action": "error", "session_id": ident(path)})
    return path


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["error", "memory.created", "turn.added", "state.updated", "session.created"]),
        ("order=asc&limit=2", ["session.created", "state.updated"]),
        ("user_id=rows-audited&action=error", ["error"]),
        ("user_id=nobody", []),
        ("resource_type=turn", ["turn.added"]),
        ("resource_id=SELF&action=state.updated", ["state.updated"]),
        ("action=state.update", ["state.updated"]),
        ("action=state_update", ["state.updated"]),
        ("action=turn.add", ["turn.added"]),
        ("action=memory.create", ["memory.created"]),
        ("action=session.create", ["session.created"]),
        ("created_after=FUTURE", []),
        ("start_time=FUTURE", []),
        ("created_before=PAST", []),
        ("end_time=PAST", []),
        ("starting_after=SECOND", ["turn.added", "state.updated", "session.created"]),
    ],
)
def test_6_6_list_row(wire, audited, query, expected):
    named = {
        "SELF": ident(audited),
        "FUTURE": quote((datetime.now(UTC) + timedelta(hours=1)).isoformat()),
        "PAST": str((datetime.now(UTC) - timedelta(hours=1)).timestamp()),
        "SECOND": wire.get(f"{audited}/traces?limit=2")["last_id"],
    }
    for name, value in named.items():
        query = query.replace(name, value)
    for address in (
        f"/v1/traces?session_id={ident(audited)}&",
        f"{audited}/traces?",
        f"/v1/traces/sessions/{ident(audited)}/traces?",
    ):
        assert [each["action"] for each in wire.get(address + query)["data"]] == expected


def test_6_6_by_session_get_and_create_rows(wire, audited):
    assert wire.get("/v1/traces?session_id=sess_unknown")["data"] == []
    for address in ("/v1/sessions/sess_unknown/traces", "/v1/traces/sessions/sess_unknown/traces"):
        assert wire.error("GET", address, status=404)["code"] == "session_not_found"
    many = wire.session()
    for _ in range(51):
        wire.made("/v1/traces", {"action": "session.escalated", "session_id": ident(many)})
    assert len(wire.get(f"{many}/traces")["data"]) == 50
    assert len(wire.get(f"/v1/traces?session_id={ident(many)}")["data"]) == 20
    body = {
        "action": "tool_call.failed",
        "session_id": ident(many),
        "details": {"a": None},
        "metadata": {"n": 1.0},
    }
    made = wire.made("/v1/traces", body)
    assert (made["source"], made["details"], made["metadata"]) == ("client", {"a": None}, {"n": 1.0})
    assert wire.trace(made["id"]) == made
    for wrong in ({}, {"action": "state.updated"}, {"action": "write.refused"}, {"action": 5}):
        assert wire.error("POST", "/v1/traces", wrong, status=400)["param"] == "action"
    assert wire.error("POST", "/v1/traces", {**body, "session_id": "sess_x"}, status=404)["code"] == (
        "session_not_found"
    )
    wire.json("POST", f"{many}/freeze")
    wire.made("/v1/traces", body)
    for method in ("PUT", "PATCH", "DELETE"):
        assert wire(method, f"/v1/traces/{made['id']}", {}, status=405).headers["Allow"] == "GET"


# 6.7 Entities


def test_6_7_entities_rows(wire):
    path = wire.session()
    made = wire.entity(path, attributes={"a": 1, "b": {"c": 1}})
    other = wire.entity(path, entity_id="2", entity_type="person")
    one = f"/v1/entities/{made['id']}"
    changed = wire.json("PUT", one, {"attributes": {"b": None}})
    assert (changed["attributes"], changed["version"]) == ({"a": 1, "b": None}, 2)
    assert wire.get(one) == changed
    of_session = f"/v1/entities?session_id={ident(path)}"
    for query, expected in (
        ("", [other["id"], made["id"]]),
        ("&entity_type=order", [made["id"]]),
        ("&limit=1", [other["id"]]),
        (f"&starting_after={other['id']}", [made["id"]]),
    ):
        assert [each["id"] for each in wire.get(of_session + query)["data"]] == expected
    body = {"session_id": ident(path), "entity_type": "order", "entity_id": "1"}
    assert wire.error("POST", "/v1/entities", body, status=409)["code"] == "already_exists"
    assert wire.error("POST", "/v1/entities", {**body, "session_id": "sess_x"}, status=404)["code"] == (
        "session_not_found"
    )
    for field in body:
        wrong = {name: value for name, value in body.items() if name != field}
        assert wire.error("POST", "/v1/entities", wrong, status=400)["param"] == field
    assert wire.error("PUT", one, {}, status=400)["param"] == "attributes"
    wire("DELETE", one, status=204)
    assert wire.error("GET", one, status=404)["code"] == "entity_not_found"


# 6.8 Keys and statistics


@pytest.mark.parametrize(
    ("field", "given", "default", "wrong"),
    [
        ("name", "Rows", None, ""),
        ("rate_limit", 7, 100, -1),
        ("expires_at", "2050-01-01T00:00:00.000000Z", None, "soon"),
        ("expires_days", 3, None, 0),
        ("owner_id", "o", None, 5),
        ("scopes", ["traces:read"], ["*"], ["root"]),
    ],
)
@pytest.mark.parametrize(("path", "status"), [("/v1/keys", 201), ("/v1/dashboard/keys", 200)])
def test_6_8_make_key_row(wire, path, status, field, given, default, wrong):
    made = wire.json("POST", path, {"name": "Rows", field: given}, status=status)
    assert made["full_key"].startswith("sb_")
    shown = "expires_at" if field == "expires_days" else field
    if field == "expires_days":
        life = datetime.fromisoformat(made[shown]) - datetime.fromisoformat(made["created_at"])
        assert abs(life - timedelta(days=3)) < timedelta(seconds=60)
    else:
        assert made[shown] == given
    assert wire.error("POST", path, {"name": "Rows", field: wrong}, status=400)["param"] == field
    if field == "name":
        assert wire.error("POST", path, {}, status=400)["param"] == field
    else:
        assert wire.json("POST", path, {"name": "Rows"}, status=status)[shown] == default
    listed = wire.get("/v1/keys?limit=100")
    assert listed["object"] == "list"
    plain = json.parse(wire("GET", "/v1/dashboard/keys").content)
    assert type(plain) is list
    (mine,) = [each for each in plain if each["id"] == made["id"]]
    assert mine in listed["data"]
    assert mine["full_key"] is None


@pytest.mark.parametrize("path", ["/v1/keys", "/v1/dashboard/keys"])
def test_6_8_end_key_row(wire, wire_with, path):
    ends = wire_with(name="Ends")
    ends("GET", "/v1/sessions", status=200)
    made = [each for each in wire.get("/v1/keys")["data"] if each["name"] == "Ends" and each["is_active"]]
    assert wire("DELETE", f"{path}/{made[0]['id']}", status=204).content == b""
    until(lambda: ends("GET", "/v1/sessions").status_code == 401)
    assert wire.error("DELETE", f"{path}/key_unknown", status=404)["code"] == "key_not_found"


def test_6_8_a_key_gives_no_scope_that_it_lacks(wire_with):
    manager = wire_with(scopes=["keys:manage"])
    error = manager.error("POST", "/v1/keys", {"name": "More", "scopes": ["sessions:read"]}, status=403)
    assert (error["code"], error["required_scope"]) == ("permission_denied", "sessions:read")


def test_6_8_statistics_row(wire):
    before = wire.get("/v1/dashboard/stats")["stats"]
    path = wire.session()
    wire.turn(path)
    wire.memory("x", session_id=ident(path))
    wire.entity(path)
    wire.json("POST", f"{path}/rollback", {"version": 0})
    wire.json("POST", f"{path}/freeze")
    found = wire.get("/v1/dashboard/stats")
    after = found["stats"]
    assert {name: after[name] - before[name] for name in after if type(after[name]) is int} == {
        "total_sessions": 1,
        "total_turns": 1,
        "total_memories": 1,
        "total_entities": 1,
        "active_sessions_24h": 1,
        "storage_usage_bytes": after["storage_usage_bytes"] - before["storage_usage_bytes"],
        "rollbacks_24h": 1,
        "sessions_24h": 1,
        "frozen_sessions": 1,
    }
    assert after["storage_usage_bytes"] > before["storage_usage_bytes"]
    assert after["rollback_rate_24h"] == pytest.approx(after["rollbacks_24h"] / after["sessions_24h"])
    assert after["rollback_health"] in ("healthy", "elevated", "warning", "critical")
    assert {frozenset(each) for each in found["recent_activity"]} == {frozenset({"timestamp", "count"})}


# 6.9 Users


def test_6_9_users_rows(wire):
    user = "/v1/users/rows%2Ferased"
    path = wire.session({"secret": "s"}, user_id="rows/erased")
    wire.turn(path, input="mine")
    free = wire.memory("Also mine", user_id="rows/erased")
    kept = wire.memory("Not mine", user_id="rows-kept")
    document = wire.get(f"{user}/export")
    assert [each["session"]["id"] for each in document["sessions"]] == [ident(path)]
    assert [each["id"] for each in document["memories"]] == [free["id"]]
    wire.json("POST", f"{path}/freeze")
    assert wire.error("DELETE", user, status=423)["code"] == "session_frozen"
    wire.json("POST", f"{path}/resume")
    assert wire("DELETE", user, status=204).content == b""
    assert wire.error("GET", path, status=404)["code"] == "session_not_found"
    assert wire.error("GET", f"/v1/memories/{free['id']}", status=404)["code"] == "memory_not_found"
    assert wire.get(f"/v1/memories/{kept['id']}") == kept
    assert wire.get(f"{user}/export")["sessions"] == []
    assert wire.get("/v1/traces?user_id=rows/erased")["data"] == []
