"""The audit trail (contract 6.6, 10)."""

import pytest

from sessions_app.enums import Action
from sessions_app.payloads import answers
from tests.api.shapes import assert_shape


def test_a_trace_says_who_did_what_through_which_request(api):
    path = api.session({"a": 1}, user_id="u")
    answer = api("PATCH", f"{path}/state", {"state": {"b": 1}}, status=200)
    [trace] = api.get("/v1/traces?action=state.updated")["data"]
    assert_shape(trace, answers.Trace)
    assert trace["actor"] == api.key[: len(trace["actor"])] != api.key
    assert (trace["session_id"], trace["user_id"]) == (path.rpartition("/")[2], "u")
    assert (trace["resource_type"], trace["resource_id"]) == ("state", path.rpartition("/")[2])
    assert trace["metadata"]["request_id"] == answer["X-Request-Id"] == trace["context"]["request_id"]
    assert trace["metadata"]["latency_ms"] > 0
    assert trace["context"]["api_key_id"] == trace["actor_id"]
    assert trace["timestamp"] == trace["created_at"]
    assert (trace["source"], trace["ip_address"]) == ("system", "127.0.0.1")
    assert api.get(f"/v1/traces/{trace['id']}") == trace


def test_reads_are_not_traced(api):
    path = api.session()
    before = api.get(f"{path}/traces")["data"]
    for route in ("", "/state", "/versions", "/turns", "/diff?left=0&right=0"):
        api.get(path + route)
    api.json("POST", f"{path}/context")
    assert api.get(f"{path}/traces")["data"] == before


def test_filters(api):
    path = api.session(user_id="u")
    api.json("PATCH", f"{path}/state", {"state": {"a": 1}})
    turn = api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    api.session()
    session_id = path.rpartition("/")[2]
    for query, expected in (
        (f"session_id={session_id}", ["turn.added", "state.updated", "session.created"]),
        ("user_id=u", ["turn.added", "state.updated", "session.created"]),
        ("user_id=u&action=turn.added", ["turn.added"]),
        (f"resource_type=turn&resource_id={turn['id']}", ["turn.added"]),
        ("session_id=sess_unknown", []),
        ("session_id=%E2%82%AC", []),
        ("action=nothing.such", []),
        ("action=state.update", ["state.updated"]),
        ("action=state_update", ["state.updated"]),
        ("action=turn.add", ["turn.added"]),
        ("action=session.create", ["session.created", "session.created"]),
    ):
        found = api.get(f"/v1/traces?{query}")["data"]
        assert [row["action"] for row in found] == expected, query
    for name in ("session_id", "user_id", "action", "resource_type", "resource_id"):
        assert api.error("GET", f"/v1/traces?{name}=a%00", status=400)["param"] == name


def test_the_traces_of_a_session(api):
    path = api.session()
    session_id = path.rpartition("/")[2]
    api.session()
    for address in (f"{path}/traces", f"/v1/traces/sessions/{session_id}/traces"):
        found = api.get(address)
        assert_shape(found, answers.List[answers.Trace])
        assert [row["session_id"] for row in found["data"]] == [session_id]
    for address in ("/v1/sessions/sess_x/traces", "/v1/traces/sessions/sess_x/traces"):
        assert api.error("GET", address, status=404)["code"] == "session_not_found"
    error = api.error("GET", "/v1/traces/trace_x", status=404)
    assert (error["code"], error["param"]) == ("trace_not_found", "trace_id")


def test_a_client_may_add_a_note(api):
    path = api.session(user_id="u")
    session_id = path.rpartition("/")[2]
    body = {
        "session_id": session_id,
        "action": "tool_call.failed",
        "details": {"tool": "pay", "none": None},
        "metadata": {"n": 1.0},
    }
    made = api.json("POST", "/v1/traces", body, status=201)
    assert_shape(made, answers.Trace)
    assert (made["source"], made["action"]) == ("client", "tool_call.failed")
    assert (made["session_id"], made["user_id"]) == (session_id, "u")
    assert (made["details"], made["metadata"]) == (body["details"], body["metadata"])
    assert api.get(f"/v1/traces/{made['id']}") == made
    assert api.get(f"{path}/traces?limit=1")["data"] == [made]
    alone = api.json("POST", "/v1/traces", {"action": "permission_denied"}, status=201)
    assert (alone["session_id"], alone["details"], alone["metadata"]) == (None, {}, {})
    error = api.error("POST", "/v1/traces", body | {"session_id": "sess_x"}, status=404)
    assert error["code"] == "session_not_found"


@pytest.mark.parametrize("action", [*Action.values, "", " ", "a" * 256, "a\x00", 5, None])
def test_a_name_that_no_note_may_have(api, action):
    assert api.error("POST", "/v1/traces", {"action": action}, status=400)["param"] == "action"


@pytest.mark.parametrize("field", ["details", "metadata"])
def test_a_note_holds_objects(api, field):
    assert api.error("POST", "/v1/traces", {"action": "a", field: [1]}, status=400)["param"] == field


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_traces_never_change(api, method):
    made = api.json("POST", "/v1/traces", {"action": "note"}, status=201)
    assert api(method, f"/v1/traces/{made['id']}", {}, status=405)["Allow"] == "GET"
    assert api(method, f"{api.session()}/traces", {}, status=405)["Allow"] == "GET"
    assert set(api(method, "/v1/traces", {}, status=405)["Allow"].split(", ")) == {"GET", "POST"}
