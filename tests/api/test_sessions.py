"""Sessions: create, read, list, change, delete, fork, context (contract 6.2)."""

from datetime import UTC, datetime, timedelta

import pytest

from sessions_app.payloads import answers
from statebase_site.base import clock
from tests.api.shapes import assert_shape

SESSIONS = "/v1/sessions"


def test_a_new_session_has_version_0_with_its_initial_state(api):
    made = api.json(
        "POST",
        SESSIONS,
        {"agent_id": "bot", "user_id": "u", "initial_state": {"a": None}, "metadata": {"k": [1, None]}},
        status=201,
    )
    assert_shape(made, answers.Session)
    assert made["state"] == {"a": None}
    assert made["metadata"] == {"k": [1, None]}
    assert (made["version"], made["turn_count"], made["memory_count"]) == (0, 0, 0)
    assert (made["frozen"], made["frozen_at"], made["forked_from"]) == (False, None, None)
    assert made["ttl_seconds"] == 86_400
    life = datetime.fromisoformat(made["ttl_expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert life == timedelta(days=1)
    assert api.get(f"{SESSIONS}/{made['id']}") == made
    [version] = api.get(f"{SESSIONS}/{made['id']}/versions")["data"]
    assert (version["version"], version["reasoning"], version["source"]) == (0, "Initial state", "create")


def test_fields_that_are_null_count_as_absent(api):
    sent = {"agent_id": "bot", "user_id": None, "metadata": None, "initial_state": None, "ttl_seconds": None}
    made = api.json("POST", SESSIONS, sent | {"unknown": 1}, status=201)
    assert (made["user_id"], made["metadata"], made["state"], made["ttl_seconds"]) == (None, {}, {}, 86_400)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "agent_id"),
        ({"agent_id": None}, "agent_id"),
        ({"agent_id": ""}, "agent_id"),
        ({"agent_id": " \n"}, "agent_id"),
        ({"agent_id": "a" * 256}, "agent_id"),
        ({"agent_id": 5}, "agent_id"),
        ({"agent_id": "a\x00"}, "agent_id"),
        ({"agent_id": "a", "user_id": ""}, "user_id"),
        ({"agent_id": "a", "user_id": "\x00"}, "user_id"),
        ({"agent_id": "a", "initial_state": []}, "initial_state"),
        ({"agent_id": "a", "initial_state": "x"}, "initial_state"),
        ({"agent_id": "a", "metadata": [1]}, "metadata"),
        ({"agent_id": "a", "ttl_seconds": 0}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": -1}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": 2_592_001}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": 10**400}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": True}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": 5.0}, "ttl_seconds"),
        ({"agent_id": "a", "ttl_seconds": "5"}, "ttl_seconds"),
    ],
)
def test_a_wrong_field_is_named(api, body, param):
    error = api.error("POST", SESSIONS, body, status=400)
    assert (error["code"], error["type"], error["param"]) == (
        "invalid_request",
        "invalid_request_error",
        param,
    )
    assert api.get(SESSIONS)["data"] == []


def test_metadata_over_its_limit_is_refused(api):
    body = {"agent_id": "a", "metadata": {"k": "x" * 64 * 1024}}
    assert api.error("POST", SESSIONS, body, status=413)["param"] == "metadata"


def test_a_state_over_its_limit_is_refused(api, settings):
    settings.MAX_STATE_BYTES = 100
    error = api.error("POST", SESSIONS, {"agent_id": "a", "initial_state": {"k": "x" * 100}}, status=413)
    assert (error["code"], error["param"]) == ("payload_too_large", "state")


def test_the_life_of_a_session(api):
    path = api.session(ttl_seconds=60)
    with clock.at(clock.now() + timedelta(seconds=61)):
        assert api.error("GET", path, status=404)["code"] == "session_not_found"
        assert api.get(SESSIONS)["data"] == []
    changed = api.json("PATCH", path, {"ttl_seconds": 600})
    assert changed["ttl_seconds"] == 600
    with clock.at(clock.now() + timedelta(seconds=61)):
        assert api.get(path)["id"] in path


def test_metadata_is_merged_by_top_level_key_and_makes_no_version(api):
    path = api.session(metadata={"a": {"x": 1}, "b": 1})
    changed = api.json("PATCH", path, {"metadata": {"a": {"y": None}, "c": 3}})
    assert_shape(changed, answers.Session)
    assert changed["metadata"] == {"a": {"y": None}, "b": 1, "c": 3}
    assert list(changed["metadata"]) == ["a", "b", "c"]
    assert changed["version"] == 0
    assert api.json("PATCH", path, {})["metadata"] == changed["metadata"]
    trace = api.get(f"{path}/traces?order=asc&action=session.updated")["data"][0]
    assert trace["details"]["metadata_diff"]["added"]["c"] == 3


def test_a_deleted_session_is_gone_with_all_its_routes(api, with_scopes):
    path = api.session_with_versions(1)
    turn = api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    answer = api("DELETE", path, status=204)
    assert answer.content == b""
    for route in ("", "/state", "/versions", "/versions/0", "/turns", f"/turns/{turn['id']}", "/traces"):
        assert api.error("GET", path + route, status=404)["code"] == "session_not_found", route
    for method, route, body in (
        ("PATCH", "/state", {"state": {}}),
        ("POST", "/turns", {"input": "a", "output": "b"}),
        ("POST", "/rollback", {"version": 0}),
        ("POST", "/fork", None),
        ("POST", "/context", None),
        ("PATCH", "", {}),
        ("DELETE", "", None),
    ):
        assert api.error(method, path + route, body, status=404)["param"] == "session_id", route
    assert api.get(SESSIONS)["data"] == []
    assert api.error("GET", f"/v1/turns/{turn['id']}", status=404)["code"] == "turn_not_found"
    [tombstone] = api.get("/v1/traces?action=session.deleted")["data"]
    assert tombstone["details"] == {
        "session_id": path.rpartition("/")[2],
        "reason": None,
        "turn_count": 1,
        "memory_count": 0,
    }
    assert [row["action"] for row in api.get("/v1/traces")["data"] if row["session_id"]] == [
        "session.deleted"
    ]


# Fork


def test_a_fork_starts_from_a_version_and_leaves_the_source_as_it_was(api):
    path = api.session_with_versions(3)
    api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    source = api.get(path)
    made = api.json("POST", f"{path}/fork", {"version": 1}, status=201)
    assert_shape(made, answers.ForkedSession)
    assert made["new_session_id"] == made["id"] != source["id"]
    assert made["state"] == {"step": 1}
    assert made["metadata"] == {"forked_from": source["id"], "forked_version": 1}
    assert (made["forked_from"], made["forked_version"]) == (source["id"], 1)
    assert (made["version"], made["turn_count"], made["agent_id"]) == (0, 0, source["agent_id"])
    assert api.get(path) == source
    assert [t["action"] for t in api.get(f"{path}/traces?limit=1")["data"]] == ["session.forked"]
    [version] = api.get(f"{SESSIONS}/{made['id']}/versions")["data"]
    assert version["source"] == "fork"
    assert source["id"] in version["reasoning"]
    assert "1" in version["reasoning"]


@pytest.mark.parametrize(
    ("body", "state"),
    [(None, 3), ({}, 3), ({"version": None}, 3), ({"version": -1}, 2), ({"version": 0}, 0)],
)
def test_the_version_that_is_forked(api, body, state):
    path = api.session_with_versions(3)
    made = api.json("POST", f"{path}/fork", body, status=201)
    assert (made["state"], made["metadata"]["forked_version"]) == ({"step": state}, state)


@pytest.mark.parametrize("version", [4, -4, 10**30, -(10**30)])
def test_a_version_that_does_not_exist_is_not_forked(api, version):
    path = api.session_with_versions(3)
    error = api.error("POST", f"{path}/fork", {"version": version}, status=404)
    assert (error["code"], error["param"]) == ("version_not_found", "version")


@pytest.mark.parametrize("version", [True, 1.5, 1.0, "1", [], {}])
def test_a_version_is_an_integer(api, version):
    path = api.session_with_versions(1)
    for route in ("/fork", "/rollback", "/state/rollback"):
        assert api.error("POST", path + route, {"version": version}, status=400)["param"] == "version"


def test_a_fork_may_have_another_agent(api):
    path = api.session()
    assert api.json("POST", f"{path}/fork", {"new_agent_id": "b"}, status=201)["agent_id"] == "b"


# Context


def test_a_context_holds_the_state_and_the_newest_turns(api):
    path = api.session({"a": 1})
    for number in range(12):
        turn = {"input": f"q{number}", "output": {"content": f"a{number}"}, "reasoning": "r"}
        api.json("POST", f"{path}/turns", turn, status=201)
    found = api.json("POST", f"{path}/context")
    assert_shape(found, answers.Context)
    assert found["state"] == {"a": 1}
    assert [turn["turn_number"] for turn in found["recent_turns"]] == list(range(12, 2, -1))
    newest = found["recent_turns"][0]
    assert (newest["role"], newest["content"], newest["input"]["content"]) == ("assistant", "a11", "q11")
    assert found["messages"][-2:] == [
        {"role": "user", "content": "q11"},
        {"role": "assistant", "content": "a11"},
    ]
    assert found["messages"][0] == {"role": "user", "content": "q2"}
    assert (found["memories"], found["drift_warning"], found["average_relevance"]) == ([], False, 0.0)
    assert found["version"] == 0


@pytest.mark.parametrize(
    ("body", "count"),
    [({"turn_limit": 0}, 0), ({"turn_limit": 2}, 2), ({"turn_limit": 1000, "memory_limit": 1000}, 3)],
)
def test_the_limits_of_a_context(api, body, count):
    path = api.session()
    for _ in range(3):
        api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    assert len(api.json("POST", f"{path}/context", body | {"query": "x"})["recent_turns"]) == count


@pytest.mark.parametrize("limit", [-1, True, 1.5, "3"])
def test_a_limit_of_a_context_is_an_integer_from_0(api, limit):
    path = api.session()
    for name in ("turn_limit", "memory_limit"):
        assert api.error("POST", f"{path}/context", {name: limit}, status=400)["param"] == name


def test_a_context_by_get(api):
    path = api.session()
    for _ in range(3):
        api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    for query, count in (
        ("", 3),
        ("?query=hello&memory_limit=5&turn_limit=2", 2),
        ("?max_turns=1", 1),
        ("?include_turns=false&include_memories=false", 0),
    ):
        assert len(api.get(f"{path}/context{query}")["recent_turns"]) == count, query
    for query in ("turn_limit=-1", "turn_limit=x", "max_turns=1.5", "include_turns=maybe"):
        error = api.error("GET", f"{path}/context?{query}", status=400)
        assert error["param"] == query.partition("=")[0]


# Whose it is


def test_what_another_project_owns_does_not_exist(api, stranger):
    path = api.session_with_versions(1)
    turn = api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    for method, route, body in (
        ("GET", "", None),
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("POST", "/fork", {}),
        ("POST", "/context", {}),
        ("GET", "/state", None),
        ("PATCH", "/state", {"state": {}}),
        ("PUT", "/state", {"state": {}}),
        ("POST", "/rollback", {"version": 0}),
        ("POST", "/freeze", {}),
        ("POST", "/resume", {}),
        ("GET", "/versions", None),
        ("GET", "/versions/0", None),
        ("GET", "/turns", None),
        ("POST", "/turns", {"input": "a", "output": "b"}),
        ("GET", "/traces", None),
        ("GET", "/diff", None),
        ("GET", "/rollback/preview?version=0", None),
    ):
        error = stranger.error(method, path + route, body, status=404)
        assert (error["code"], error["param"]) == ("session_not_found", "session_id"), route
    assert stranger.error("GET", f"/v1/turns/{turn['id']}", status=404)["code"] == "turn_not_found"
    assert stranger.error("GET", f"/v1/traces/{turn['trace_id']}", status=404)["code"] == "trace_not_found"
    session_id = path.rpartition("/")[2]
    assert stranger.get(SESSIONS)["data"] == []
    assert stranger.get(f"/v1/traces?session_id={session_id}")["data"] == []
    assert stranger.error("GET", f"{SESSIONS}?starting_after={session_id}", status=400)
    note = {"action": "note", "session_id": session_id}
    assert stranger.error("POST", "/v1/traces", note, status=404)["code"] == "session_not_found"


def test_a_person_reads_times_in_utc_with_z(api):
    made = api.get(api.session())
    for name in ("created_at", "updated_at", "ttl_expires_at"):
        assert made[name].endswith("Z")
        assert datetime.fromisoformat(made[name]).tzinfo == UTC
