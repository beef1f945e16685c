"""Turns (contract 6.4, 7.3)."""

import pytest

from sessions_app.payloads import answers
from tests.api.shapes import assert_shape


def test_a_turn_is_kept_as_it_was_sent(api):
    path = api.session({"a": 1})
    body = {
        "input": {"type": "tool_call", "content": "Call", "tool_metadata": {"name": "pay", "id": None}},
        "output": "Paid",
        "reasoning": "Asked to",
        "metadata": {"tokens": 12, "none": None},
        "state_before": {"a": 1},
        "state_after": {"a": 2, "b": None},
    }
    made = api.json("POST", f"{path}/turns", body, status=201)
    assert_shape(made, answers.Turn)
    assert made["input"] == body["input"]
    assert made["output"] == {"type": "text", "content": "Paid"}
    assert (made["state_before"], made["state_after"]) == (body["state_before"], body["state_after"])
    assert (made["turn_number"], made["state_version"]) == (1, 1)
    assert (made["input_preview"], made["output_preview"]) == ("Call", "Paid")
    for address in (f"{path}/turns/{made['id']}", f"/v1/turns/{made['id']}"):
        assert api.get(address) == made
    assert api.get(f"{path}/turns")["data"] == [made]
    version = api.get(f"{path}/versions/1")
    assert (version["source"], version["turn_id"]) == ("turn", made["id"])
    assert (version["reasoning"], version["trace_id"]) == ("Asked to", made["trace_id"])
    details = api.get(f"/v1/traces/{made['trace_id']}")["details"]
    assert details["input"] == body["input"]
    assert (details["turn_number"], details["version"], details["output_type"]) == (1, 1, "text")
    assert details["state_diff"]["modified"] == {"a": {"from": 1, "to": 2}}


def test_a_turn_without_a_state_makes_no_version(api):
    path = api.session()
    made = api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    assert (made["state_before"], made["state_after"], made["metadata"]) == (None, None, {})
    assert (made["reasoning"], made["state_version"]) == (None, 0)
    session = api.get(path)
    assert (session["version"], session["turn_count"]) == (0, 1)


@pytest.mark.parametrize(
    ("state", "before", "after", "version"),
    [
        ({"a": 1}, None, {"a": 2}, 1),
        ({"a": 1}, None, {"a": 1}, 0),
        ({"a": 1}, {"a": 2}, {"a": 2}, 0),
        ({"a": 1}, {"a": 9}, {"a": 2}, 1),
        ({"a": 1}, {"a": 9}, {"a": 1}, 0),
        ({"a": 1}, {"a": 1}, None, 0),
        ({"a": 1}, None, {"a": 1.0}, 1),
        ({"a": 1}, None, {}, 1),
    ],
)
def test_when_a_turn_makes_a_version(api, state, before, after, version):
    path = api.session(state)
    body = {"input": "a", "output": "b", "state_before": before, "state_after": after}
    made = api.json("POST", f"{path}/turns", body, status=201)
    assert (made["state_before"], made["state_after"]) == (before, after)
    assert made["state_version"] == api.get(path)["version"] == version
    details = api.get(f"/v1/traces/{made['trace_id']}")["details"]
    assert details["stale_before"] is (before is not None and before != state)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"output": "b"}, "input"),
        ({"input": "a"}, "output"),
        ({"input": None, "output": "b"}, "input"),
        ({"input": 5, "output": "b"}, "input"),
        ({"input": ["a"], "output": "b"}, "input"),
        ({"input": "a", "output": True}, "output"),
        ({"input": {"type": 5, "content": "x"}, "output": "b"}, "input.type"),
        ({"input": "a", "output": {"type": ["x"]}}, "output.type"),
        ({"input": "a", "output": "b", "metadata": "x"}, "metadata"),
        ({"input": "a", "output": "b", "reasoning": {}}, "reasoning"),
        ({"input": "a", "output": "b", "reasoning": "\x00"}, "reasoning"),
        ({"input": "a", "output": "b", "state_after": []}, "state_after"),
        ({"input": "a", "output": "b", "state_before": 1}, "state_before"),
        ({"input": "a", "output": "b", "expected_version": 1.0}, "expected_version"),
    ],
)
def test_a_wrong_field_is_named(api, body, param):
    path = api.session()
    assert api.error("POST", f"{path}/turns", body, status=400)["param"] == param
    assert api.get(path)["turn_count"] == 0


def test_a_turn_may_name_the_version_it_expects(api):
    path = api.session_with_versions(2)
    body = {"input": "a", "output": "b", "expected_version": 1}
    assert api.error("POST", f"{path}/turns", body, status=409)["current_version"] == 2
    assert api.json("POST", f"{path}/turns", body | {"expected_version": 2}, status=201)


def test_a_turn_of_another_session_is_not_found(api):
    path, other = api.session(), api.session()
    made = api.json("POST", f"{other}/turns", {"input": "a", "output": "b"}, status=201)
    for address in (f"{path}/turns/{made['id']}", f"{path}/turns/turn_x", "/v1/turns/turn_x"):
        error = api.error("GET", address, status=404)
        assert (error["code"], error["param"]) == ("turn_not_found", "turn_id")
    assert api.error("GET", f"/v1/sessions/sess_x/turns/{made['id']}", status=404)["param"] == "session_id"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_turns_never_change(api, method):
    path = api.session()
    made = api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
    for address in (f"{path}/turns/{made['id']}", f"/v1/turns/{made['id']}"):
        assert api(method, address, {}, status=405)["Allow"] == "GET"
    assert set(api(method, f"{path}/turns", {}, status=405)["Allow"].split(", ")) == {"GET", "POST"}
    assert api.get(f"{path}/turns/{made['id']}") == made
