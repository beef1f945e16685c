"""Differences between versions, and the rehearsal of a rollback (contract section 15)."""

import pytest

from sessions_app.diff import apply_patch
from sessions_app.payloads import answers
from statebase_site.access import scopes
from tests.api.shapes import assert_shape


@pytest.fixture
def path(api):
    """The path of a session with three versions, a list among their keys."""
    path = api.session({"cart": [{"id": 1, "n": 1}, {"id": 2}], "step": "a", "gone": None})
    api.json("PUT", f"{path}/state", {"state": {"cart": [{"id": 2}, {"id": 1, "n": 2}], "step": "b"}})
    api.json("PATCH", f"{path}/state", {"state": {"step": 1.0, "new/key": {}}})
    return path


@pytest.mark.parametrize(
    ("query", "left", "right"),
    [
        ("", 1, 2),
        ("?left=0", 0, 2),
        ("?right=1", 0, 1),
        ("?left=0&right=1", 0, 1),
        ("?left=2&right=0", 2, 0),
        ("?left=-2&right=-1", 0, 1),
        ("?left=1&right=1", 1, 1),
    ],
)
def test_two_versions_of_a_session(api, path, query, left, right):
    found = api.get(f"{path}/diff{query}")
    assert_shape(found, answers.Difference)
    session_id = path.rpartition("/")[2]
    assert found["left"] == {"session_id": session_id, "version": left}
    assert found["right"] == {"session_id": session_id, "version": right}
    assert found["equal"] is (left == right)
    old, new = (api.get(f"{path}/versions/{number}")["state"] for number in (left, right))
    assert apply_patch(old, found["patch"]) == new
    assert sum(found["counts"].values()) == len(found["changes"])


def test_what_a_change_says(api, path):
    found = {change["path"]: change for change in api.get(f"{path}/diff?left=1&right=2")["changes"]}
    assert found["/step"] == {
        "op": "changed",
        "path": "/step",
        "from_path": None,
        "old": "b",
        "new": 1.0,
        "old_type": "string",
        "new_type": "number",
    }
    assert (found["/new~1key"]["op"], found["/new~1key"]["old_type"]) == ("added", None)


def test_versions_of_two_sessions(api, path):
    session_id = path.rpartition("/")[2]
    other = api.json("POST", f"{path}/fork", {"version": 0}, status=201)["id"]
    found = api.get(f"/v1/diff?left={session_id}:0&right={other}:0")
    assert_shape(found, answers.Difference)
    assert (found["equal"], found["changes"], found["patch"]) == (True, [], [])
    found = api.get(f"/v1/diff?left={other}:0&right={session_id}:-1")
    assert found["right"] == {"session_id": session_id, "version": 1}
    assert found["equal"] is False


def test_what_cannot_be_compared(api, path, stranger):
    session_id = path.rpartition("/")[2]
    for query in ("left=9", "right=9", "left=-9", "right=-9", f"left={10**30}"):
        assert api.error("GET", f"{path}/diff?{query}", status=404)["code"] == "version_not_found"
    for query, param in (("left=x", "left"), ("right=1.0", "right"), ("right=0", "left"), ("left=", "left")):
        assert api.error("GET", f"{path}/diff?{query}", status=400)["param"] == param
    good = f"{session_id}:0"
    for bad in (session_id, f"{session_id}:", f"{session_id}:x", ":0", "", f"{session_id}:1.0", "a%00:1"):
        assert api("GET", f"/v1/diff?left={bad}&right={good}").status_code in (400, 404)
        assert api("GET", f"/v1/diff?left={good}&right={bad}").status_code in (400, 404)
    assert api.error("GET", "/v1/diff", status=400)["param"] == "left"
    assert api.error("GET", f"/v1/diff?left={good}&right=sess_x:0", status=404)["param"] == "session_id"
    assert api.error("GET", f"/v1/diff?left={good}&right={session_id}:9", status=404)
    mine = stranger.session()
    own = mine.rpartition("/")[2]
    assert stranger.error("GET", f"/v1/diff?left={own}:0&right={good}", status=404)


def test_a_rollback_rehearsed_is_the_rollback_that_follows(api):
    path = api.session({"step": 0, "balance": 100})
    api.json("PATCH", f"{path}/state", {"state": {"step": 1}, "reasoning": "Good"})
    call = {
        "type": "tool_call",
        "content": "Pay",
        "tool_metadata": {"name": "pay", "arguments": {"amount": 5}, "reversibility": "irreversible"},
    }
    body = {"input": call, "output": "ok", "state_after": {"step": 2, "balance": 95}}
    turn = api.json("POST", f"{path}/turns", body, status=201)
    api.json("PATCH", f"{path}/state", {"state": {"step": 3}, "reasoning": "Bad"})
    fork = api.json("POST", f"{path}/fork", {"version": 2}, status=201)
    before = (api.get(path), api.get(f"{path}/traces"))
    preview = api.get(f"{path}/rollback/preview?version=-2")
    assert_shape(preview, answers.RollbackPreview)
    assert (api.get(path), api.get(f"{path}/traces")) == before
    assert (preview["from_version"], preview["to_version"]) == (3, 1)
    assert [row["version"] for row in preview["undone_versions"]] == [2, 3]
    assert [row["id"] for row in preview["turns"]] == [turn["id"]]
    assert preview["effects"] == [
        {
            "turn_id": turn["id"],
            "tool": "pay",
            "arguments": {"amount": 5},
            "reversibility": "irreversible",
        }
    ]
    assert [row["session_id"] for row in preview["forks"]] == [fork["id"]]
    assert (preview["memories"], preview["omitted"]) == ([], [])
    current = api.get(path)["state"]
    made = api.json("POST", f"{path}/rollback", {"version": preview["to_version"]})
    assert apply_patch(current, preview["diff"]["patch"]) == made["state"]


def test_a_rehearsal_while_frozen_shows_that_it_stays_frozen(api):
    path = api.session_with_versions(2)
    api.json("POST", f"{path}/freeze")
    preview = api.get(f"{path}/rollback/preview?version=1")
    assert apply_patch(api.get(path)["state"], preview["diff"]["patch"]) == {
        "step": 1,
        "frozen": True,
        "incident": True,
    }


def test_a_rehearsal_needs_a_version_that_exists(api):
    path = api.session_with_versions(1)
    for query in ("", "?version=x", "?version=1.0", "?version="):
        assert api.error("GET", f"{path}/rollback/preview{query}", status=400)["param"] == "version"
    for version in (2, -2, 10**30):
        error = api.error("GET", f"{path}/rollback/preview?version={version}", status=404)
        assert error["code"] == "version_not_found"


def test_a_key_without_memories_is_told_what_it_does_not_see(api, with_scopes):
    path = api.session_with_versions(1)
    reader = with_scopes(scopes.SESSIONS_READ)
    preview = reader.get(f"{path}/rollback/preview?version=0")
    assert_shape(preview, answers.RollbackPreview)
    assert preview["omitted"] == ["memories"]
    assert "memories" not in preview
