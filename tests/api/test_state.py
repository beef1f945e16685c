"""State: read, merge, replace, roll back, versions (contract 6.3, 7)."""

import pytest

from sessions_app.api import state as state_api
from sessions_app.payloads import answers
from tests.api.shapes import assert_shape


def test_an_update_merges_top_level_keys(api):
    path = api.session({"a": {"x": 1}, "b": 1})
    made = api.json("PATCH", f"{path}/state", {"state": {"a": {"y": None}, "c": None}, "reasoning": "Why"})
    assert_shape(made, answers.WrittenState)
    assert made["state"] == {"a": {"y": None}, "b": 1, "c": None}
    assert list(made["state"]) == ["a", "b", "c"]
    assert (made["version"], made["new_version"], made["previous_version"]) == (1, 1, 0)
    assert (made["success"], made["reasoning"], made["frozen"]) == (True, "Why", False)
    session = api.get(path)
    assert made["created_at"] == session["created_at"]
    assert made["updated_at"] == session["updated_at"] >= made["created_at"]
    read = api.get(f"{path}/state")
    assert_shape(read, answers.State)
    assert read["data"] == read["state"] == made["state"] == session["state"]
    assert "data" not in made
    assert read["trace_id"] == made["trace_id"]
    trace = api.get(f"/v1/traces/{made['trace_id']}")
    assert trace["action"] == "state.updated"
    assert trace["details"] == {
        "version": 1,
        "previous_version": 0,
        "mode": "merge",
        "reasoning": "Why",
        "state_diff": {
            "added": {"/a/y": None, "c": None},
            "removed": {"/a/x": 1},
            "modified": {},
        },
    }


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_replacement_is_the_whole_state(api, method):
    path = api.session({"a": 1, "b": 1})
    made = api.json(method, f"{path}/state", {"state": {"c": 1}})
    assert_shape(made, answers.WrittenState)
    assert made["state"] == {"c": 1}
    assert api.get(f"{path}/versions/1")["source"] == "replace"


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_every_update_makes_one_version_also_when_nothing_changed(api, method):
    path = api.session({"a": 1})
    for number in (1, 2, 3):
        assert api.json(method, f"{path}/state", {"state": {"a": 1}})["version"] == number


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_updates_is_another_name_of_state(api, method):
    path = api.session()
    assert api.json(method, f"{path}/state", {"updates": {"a": 1}})["state"] == {"a": 1}
    assert api.json(method, f"{path}/state", {"updates": {"b": 1}, "state": {"a": 2}})["state"] == {"a": 2}
    assert api.json(method, f"{path}/state", {"updates": {"a": 3}, "state": None})["state"] == {"a": 3}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "state"),
        (None, "state"),
        ({"state": None}, "state"),
        ({"state": []}, "state"),
        ({"state": "x"}, "state"),
        ({"state": {}, "reasoning": 5}, "reasoning"),
        ({"state": {}, "reasoning": "\x00"}, "reasoning"),
        ({"state": {}, "expected_version": "1"}, "expected_version"),
        ({"state": {}, "expected_version": True}, "expected_version"),
    ],
)
def test_a_wrong_field_is_named(api, body, param):
    path = api.session()
    for method in ("PATCH", "PUT", "POST"):
        assert api.error(method, f"{path}/state", body, status=400)["param"] == param, method
    assert api.get(path)["version"] == 0


def test_a_reasoning_over_its_limit_is_refused(api):
    path = api.session()
    body = {"state": {}, "reasoning": "x" * (16 * 1024 + 1)}
    assert api.error("PATCH", f"{path}/state", body, status=413)["param"] == "reasoning"


def test_what_merges_add_up_to_has_a_limit(api, settings):
    settings.MAX_STATE_BYTES = 100
    path = api.session({"a": "x" * 60})
    error = api.error("PATCH", f"{path}/state", {"state": {"b": "x" * 60}}, status=413)
    assert (error["code"], error["param"]) == ("payload_too_large", "state")
    assert api.get(path)["version"] == 0


def test_an_update_may_name_the_version_it_expects(api):
    path = api.session_with_versions(2)
    for method, route in (("PATCH", "/state"), ("PUT", "/state"), ("POST", "/state")):
        error = api.error(method, path + route, {"state": {}, "expected_version": 1}, status=409)
        assert (error["code"], error["type"]) == ("version_conflict", "conflict_error")
        assert (error["param"], error["current_version"]) == ("expected_version", 2)
    error = api.error("POST", f"{path}/rollback", {"version": 0, "expected_version": 10**40}, status=409)
    assert error["code"] == "version_conflict"
    assert api.json("PATCH", f"{path}/state", {"state": {}, "expected_version": 2})["version"] == 3


def test_an_earlier_state(api):
    path = api.session_with_versions(3)
    for version, number in ((0, 0), (2, 2), (3, 3), (-1, 2), (-3, 0)):
        read = api.get(f"{path}/state?version={version}")
        assert_shape(read, answers.State)
        assert (read["version"], read["state"]) == (number, {"step": number})
        for route in ("versions", "state/versions"):
            shown = api.get(f"{path}/{route}/{version}")
            assert_shape(shown, answers.StateVersion)
            assert (shown["version"], shown["state"]) == (number, {"step": number})
            assert shown["trace_id"] == read["trace_id"]
    for version in (4, -4, 10**30):
        for route in ("state?version=", "versions/", "state/versions/"):
            error = api.error("GET", f"{path}/{route}{version}", status=404)
            assert (error["code"], error["param"]) == ("version_not_found", "version")
    for version in ("x", "1.0", "1_0", "", "true"):
        assert api.error("GET", f"{path}/state?version={version}", status=400)["param"] == "version"
    for version in ("x", "1.0", "%00"):
        assert api.error("GET", f"{path}/versions/{version}", status=400)


# Rollback


@pytest.mark.parametrize("route", ["/state/rollback", "/rollback"])
def test_a_rollback_is_a_new_version_with_the_earlier_state(api, route):
    path = api.session_with_versions(5)
    made = api.json("POST", path + route, {"version": 3, "reason": "INCIDENT-2314"})
    assert_shape(made, answers.RolledBackState)
    assert (made["version"], made["state"]) == (6, {"step": 3})
    assert (made["restored_from_version"], made["from_version"], made["previous_version"]) == (3, 5, 5)
    assert made["reason"] == made["reasoning"] == "INCIDENT-2314"
    assert [row["state"]["step"] for row in api.get(f"{path}/versions")["data"]] == [0, 1, 2, 3, 4, 5, 3]
    version = api.get(f"{path}/versions/6")
    assert (version["source"], version["restored_from_version"]) == ("rollback", 3)
    trace = api.get(f"/v1/traces/{made['trace_id']}")
    assert (trace["action"], trace["resource_type"]) == ("state.rolled_back", "state")
    assert trace["details"] == {
        "from_version": 5,
        "to_version": 3,
        "new_version": 6,
        "requested_version": 3,
        "while_frozen": False,
        "reason": "INCIDENT-2314",
        "reasoning": "INCIDENT-2314",
        "state_diff": {"added": {}, "removed": {}, "modified": {"step": {"from": 5, "to": 3}}},
    }
    assert len(api.get(f"{path}/traces?action=state.rolled_back")["data"]) == 1


def test_a_rollback_without_a_reason_says_what_it_restored(api):
    path = api.session_with_versions(2)
    assert "1" in api.json("POST", f"{path}/rollback", {"version": 1})["reasoning"]


def test_a_reason_in_a_header_for_clients_that_cannot_send_it(api):
    path = api.session_with_versions(2)
    header = {"X_StateBase_Reason": "Zurück".encode().decode("latin-1")}
    assert api.json("POST", f"{path}/rollback", {"version": 1}, **header)["reason"] == "Zurück"
    body = {"version": 1, "reason": "Body"}
    assert api.json("POST", f"{path}/rollback", body, **header)["reason"] == "Body"


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"version": 0}, 0),
        ({"version": -0}, 0),
        ({"version": -1}, 5),
        ({"version": -3}, 3),
        ({"version": -6}, 0),
        ({"version": 6}, 6),
        ({"count": 1}, 5),
        ({"count": 6}, 0),
        ({"version": 2, "count": 1}, 2),
        ({"version": None, "count": 2}, 4),
    ],
)
def test_the_version_that_is_restored(api, body, target):
    path = api.session_with_versions(6)
    made = api.json("POST", f"{path}/rollback", body)
    assert (made["restored_from_version"], made["state"]) == (target, {"step": target})
    details = api.get(f"/v1/traces/{made['trace_id']}")["details"]
    assert details["to_version"] == target
    again = api.json("POST", f"{path}/rollback", {"version": -1})
    assert again["state"] == {"step": 6}  # right after a rollback, -1 undoes it


def test_a_rollback_to_a_turn(api):
    path = api.session({"n": 0})
    turns = []
    for number in (1, 2):
        body = {"input": "a", "output": "b", "state_after": {"n": number}}
        turns.append(api.json("POST", f"{path}/turns", body, status=201))
        api.json("PATCH", f"{path}/state", {"state": {"between": number}})
    # Versions: 1 of the first turn, 2 between, 3 of the second turn, 4.
    for body, target in (
        ({"turn_id": turns[0]["id"]}, 1),
        ({"turn_id": turns[1]["id"]}, 3),
        ({"turn_count": 1}, 2),
        ({"turn_count": 2}, 0),
    ):
        assert api.json("POST", f"{path}/rollback", body)["restored_from_version"] == target, body
    for body in ({"turn_id": "turn_unknown"}, {"turn_count": 3}, {"turn_id": "\u20ac"}):
        assert api.error("POST", f"{path}/rollback", body, status=404)["code"] == "turn_not_found"
    other = api.session()
    assert api.error("POST", f"{other}/rollback", {"turn_id": turns[0]["id"]}, status=404)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "version"),
        (None, "version"),
        ({"version": None}, "version"),
        ({"count": 0}, "count"),
        ({"count": -1}, "count"),
        ({"count": True}, "count"),
        ({"turn_count": 0}, "turn_count"),
        ({"turn_id": 5}, "turn_id"),
        ({"version": 0, "reason": 5}, "reason"),
        ({"version": 0, "reason": "\x00"}, "reason"),
    ],
)
def test_a_rollback_must_say_where_to(api, body, param):
    path = api.session_with_versions(1)
    assert api.error("POST", f"{path}/rollback", body, status=400)["param"] == param


@pytest.mark.parametrize("body", [{"version": 7}, {"version": -7}, {"count": 7}, {"version": 10**300}])
def test_a_version_that_does_not_exist_is_not_restored(api, body):
    path = api.session_with_versions(6)
    error = api.error("POST", f"{path}/rollback", body, status=404)
    assert (error["code"], error["param"]) == ("version_not_found", "version")
    assert api.get(path)["version"] == 6


# Versions


@pytest.mark.parametrize("route", ["versions", "state/versions", "state/history"])
def test_the_versions_of_a_session(api, route):
    path = api.session_with_versions(3)
    found = api.get(f"{path}/{route}")
    assert_shape(found, answers.VersionList)
    assert (found["current_version"], path.endswith(found["session_id"])) == (3, True)
    assert (found["first_id"], found["last_id"]) == ("0", "3")
    assert [row["reasoning"] for row in found["data"]] == ["Initial state", "Step 1", "Step 2", "Step 3"]
    assert [row["state"] for row in found["data"]] == [{"step": number} for number in range(4)]
    traces = [api.get(f"/v1/traces/{row['trace_id']}")["details"]["version"] for row in found["data"]]
    assert traces == [0, 1, 2, 3]
    since = api.get(f"{path}/{route}?since_version=1&order=desc")
    assert [row["version"] for row in since["data"]] == [3, 2]
    assert api.get(f"{path}/{route}?since_version=-1")["data"] == found["data"]
    assert api.get(f"{path}/{route}?since_version={10**30}")["data"] == []
    without = api.get(f"{path}/{route}?include_state=false")
    assert_shape(without, answers.VersionList)
    assert all("state" not in row for row in without["data"])
    for query in ("since_version=x", "since_version=1.5", "include_state=maybe"):
        error = api.error("GET", f"{path}/{route}?{query}", status=400)
        assert error["param"] == query.partition("=")[0]


def test_a_page_of_versions_ends_early_where_its_states_are_large(api, monkeypatch):
    monkeypatch.setattr(state_api, "PAGE_BYTES", 2_000)
    path = api.session({"large": "x" * 900})
    for number in range(1, 5):
        api.json("PATCH", f"{path}/state", {"state": {"n": number}})
    found, cursor, pages = [], "", 0
    while True:
        page = api.get(f"{path}/versions?limit=100{cursor}")
        assert len(page["data"]) == 2 or not page["has_more"]
        found += [row["version"] for row in page["data"]]
        pages += 1
        if not page["has_more"]:
            break
        cursor = f"&starting_after={page['last_id']}"
    assert (found, pages) == ([0, 1, 2, 3, 4], 3)
    assert len(api.get(f"{path}/versions?include_state=false")["data"]) == 5
    monkeypatch.setattr(state_api, "PAGE_BYTES", 1)
    assert [row["version"] for row in api.get(f"{path}/versions")["data"]] == [0]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE"])
def test_versions_never_change(api, method):
    path = api.session_with_versions(1)
    for route in ("/versions", "/versions/1", "/state/versions/1", "/state/history"):
        answer = api(method, path + route, {"state": {}}, status=405)
        assert answer["Allow"] == "GET"
        assert answer.json()["error"]["code"] == "method_not_allowed"
    assert api.get(f"{path}/versions/1")["state"] == {"step": 1}
