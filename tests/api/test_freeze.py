"""Freezing, resuming, and what is kept of refused writes (contract section 8)."""

import pytest

from sessions_app.payloads import answers
from statebase_site.access import scopes
from tests.api.shapes import assert_shape

REFUSED = (
    ("PATCH", "/state", {"state": {"a": 2}}, "state.update"),
    ("PATCH", "/state", {"state": {"a": 2, "frozen": False}}, "state.update"),
    ("PATCH", "/state", {"state": {"incident": "text"}}, "state.update"),
    ("PATCH", "/state", {"state": {"frozen": 0}}, "state.update"),
    ("PATCH", "/state", {"state": {}}, "state.update"),
    ("PUT", "/state", {"state": {"a": 2}}, "state.replace"),
    ("POST", "/state", {"state": {"a": 2}}, "state.replace"),
    ("POST", "/turns", {"input": "a", "output": "b"}, "turn.add"),
    ("POST", "/turns", {"input": "a", "output": "b", "state_after": {"a": 3}}, "turn.add"),
    ("PATCH", "", {"metadata": {"a": 1}}, "session.update"),
    ("PATCH", "", {"ttl_seconds": 60}, "session.update"),
    ("DELETE", "", None, "session.delete"),
)


@pytest.fixture
def frozen(api):
    """The path of a session that is frozen at version 2."""
    path = api.session({"a": 1})
    api.json("PATCH", f"{path}/state", {"state": {"b": 2}})
    api.json("PATCH", f"{path}/state", {"state": {"incident": True, "frozen": True}, "reasoning": "Stop"})
    return path


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_a_control_update_never_wipes_data(api, method):
    path = api.session({"a": 1})
    made = api.json(method, f"{path}/state", {"state": {"incident": True, "frozen": True}})
    assert_shape(made, answers.WrittenState)
    assert made["state"] == {"a": 1, "incident": True, "frozen": True}
    assert made["frozen"] is True
    session = api.get(path)
    assert (session["frozen"], session["frozen_at"]) == (True, made["updated_at"])
    made = api.json(method, f"{path}/state", {"state": {"incident": False, "frozen": False}})
    assert (made["state"], made["frozen"]) == ({"a": 1, "incident": False, "frozen": False}, False)
    actions = [trace["action"] for trace in api.get(f"{path}/traces?order=asc")["data"]]
    assert actions == [
        "session.created",
        "state.updated",
        "session.frozen",
        "state.updated",
        "session.unfrozen",
    ]


@pytest.mark.parametrize(("method", "route", "body", "operation"), REFUSED)
def test_a_refused_write_changes_nothing_and_leaves_evidence(api, frozen, method, route, body, operation):
    before = api.get(frozen)
    error = api.error(method, frozen + route, body, status=423)
    assert (error["code"], error["type"]) == ("session_frozen", "frozen_error")
    assert (error["session_id"], error["frozen_version"]) == (before["id"], 2)
    assert error["frozen_at"] == before["frozen_at"]
    assert api.get(frozen) == before
    evidence = api.get(f"/v1/traces/{error['trace_id']}")
    assert_shape(evidence, answers.Trace)
    assert evidence["action"] == "write.refused"
    details = evidence["details"]
    assert (details["operation"], details["method"], details["path"]) == (operation, method, frozen + route)
    assert (details["code"], details["attempted"]) == ("session_frozen", body if body is not None else "")
    assert (details["frozen_at"], details["frozen_version"]) == (before["frozen_at"], 2)


def test_what_stays_possible_while_frozen(api, frozen):
    session_id = frozen.rpartition("/")[2]
    for route in ("", "/state", "/versions", "/versions/0", "/turns", "/traces", "/context", "/diff"):
        api.get(frozen + route)
    assert api.json("POST", f"{frozen}/context")["frozen"] is True
    api.json("POST", "/v1/traces", {"action": "note", "session_id": session_id}, status=201)
    copy = api.json("POST", f"{frozen}/fork", status=201)
    assert (copy["frozen"], copy["state"]) == (
        False,
        {"a": 1, "b": 2, "incident": False, "frozen": False},
    )
    again = api.json("PATCH", f"{frozen}/state", {"state": {"incident": True}})
    assert (again["version"], again["frozen"]) == (3, True)


def test_a_rollback_while_frozen_stays_frozen(api, frozen):
    made = api.json("POST", f"{frozen}/rollback", {"version": 0, "reason": "Last good"})
    assert_shape(made, answers.RolledBackState)
    assert made["state"] == {"a": 1, "frozen": True, "incident": True}
    assert made["frozen"] is True
    assert api.get(f"/v1/traces/{made['trace_id']}")["details"]["while_frozen"] is True
    resumed = api.json("PATCH", f"{frozen}/state", {"state": {"incident": False, "frozen": False}})
    assert resumed["state"] == {"a": 1, "frozen": False, "incident": False}
    # A rollback to the frozen version does not freeze again.
    made = api.json("POST", f"{frozen}/rollback", {"version": 2})
    assert (made["frozen"], made["state"]["frozen"], made["state"]["incident"]) == (False, False, False)


def test_freeze_and_resume_by_name(api):
    path = api.session({"a": 1})
    made = api.json("POST", f"{path}/freeze", {"reason": "Charged twice"})
    assert_shape(made, answers.WrittenState)
    assert (made["state"], made["reasoning"]) == (
        {"a": 1, "incident": True, "frozen": True},
        "Charged twice",
    )
    made = api.json("POST", f"{path}/resume", {"reason": "Done"})
    assert (made["state"], made["reasoning"]) == ({"a": 1, "incident": False, "frozen": False}, "Done")
    api.json("POST", f"{path}/freeze")
    assert api.json("POST", f"{path}/unfreeze")["frozen"] is False
    assert api.error("POST", f"{path}/freeze", {"reason": 5}, status=400)["param"] == "reason"


def test_an_agent_may_freeze_but_not_resume_or_roll_back(api, agent):
    path = api.session({"a": 1})
    assert agent.json("POST", f"{path}/freeze")["frozen"] is True
    for route, body, operation in (
        ("/resume", {}, "state.update"),
        ("/rollback", {"version": 0}, "state.rollback"),
    ):
        error = agent.error("POST", path + route, body, status=403)
        assert (error["code"], error["required_scope"]) == ("permission_denied", scopes.INCIDENT_MANAGE)
        details = api.get(f"/v1/traces/{error['trace_id']}")["details"]
        assert (details["operation"], details["code"]) == (operation, "permission_denied")
    assert api.get(path)["frozen"] is True
    assert api.json("POST", f"{path}/resume")["frozen"] is False
    assert agent.json("POST", f"{path}/rollback", {"version": 0})["frozen"] is False


def test_other_values_under_frozen_do_not_freeze(api):
    for value in (1, "true", None, [True], {"by": "x"}, 1.0):
        assert api.get(api.session({"frozen": value}))["frozen"] is False
    assert api.get(api.session({"frozen": True, "a": 1}))["frozen"] is True
