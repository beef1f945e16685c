"""Causes, follow-ups, scenarios and the review over the API (contract 16)."""

import pytest

from incidents_app.payloads import answers
from tests.api.incidents.conftest import FAULT, SCENARIO
from tests.api.shapes import assert_shape


def test_causes_and_follow_ups(case, api):
    assert case.read()["prevention"] is None
    read = api.json("POST", f"{case.path}/prevention", {"text": "No check", "no_validation": True})
    assert read["prevention"]["no_validation"] is True
    assert read["prevention"]["state_drift"] is False
    body = {"text": "Check amounts", "kind": "validation", "blocks": True}
    [made] = api.json("POST", f"{case.path}/followups", body, status=201)["follow_ups"]
    assert (made["n"], made["owner"], made["due"], made["blocks"], made["done"]) == (
        1,
        None,
        None,
        True,
        False,
    )
    assert "followup_open" in case.unmet()
    read = api.json("PATCH", f"{case.path}/followups/1", {"owner": "maria", "due": "2026-02-01"})
    assert (read["follow_ups"][0]["owner"], read["follow_ups"][0]["due"]) == ("maria", "2026-02-01")
    [made] = api.json("POST", f"{case.path}/followups/1/done")["follow_ups"]
    assert made["done"] is True
    assert "followup_open" not in case.unmet()
    for fields, param in (
        ({"due": "tomorrow"}, "due"),
        ({"due": 20260201}, "due"),
        ({"due": "2026-02-30"}, "due"),
        ({"kind": "hope"}, "kind"),
        ({"blocks": "yes"}, "blocks"),
        ({"owner": "a" * 161}, "owner"),
    ):
        error = api.error("POST", f"{case.path}/followups", {"text": "a", **fields}, status=400)
        assert error["param"] == param
    for number in ("2", "0", "-1", "9" * 30):
        error = api.error("POST", f"{case.path}/followups/{number}/done", status=404)
        assert (error["code"], error["param"]) == ("followup_not_found", "n")
    assert api.error("POST", f"{case.path}/followups/one/done", status=400)["param"] == "n"
    assert len(case.read()["follow_ups"]) == 1


@pytest.fixture
def scenario(case, api):
    body = {**SCENARIO, "session_id": case.session_id, "fault": FAULT}
    made = api.json("POST", f"{case.path}/scenarios", body, status=201)
    assert_shape(made, answers.Scenario)
    return made


def test_a_scenario_is_seen_failing_then_passing(case, api, agent, scenario):
    assert "scenario" in case.unmet()
    waiting = agent.get("/v1/scenarios?status=waiting")
    assert_shape(waiting, answers.List[answers.Scenario])
    assert waiting["data"] == [scenario]
    fork = scenario["waiting_session_id"]
    assert agent.get(f"/v1/sessions/{fork}")["state"] == {"refunds": 9}
    runs = f"/v1/scenarios/{scenario['id']}/runs"
    report = {"session_id": fork, "agent_version": "refunds@1", "outcome": "red"}
    error = agent.error("POST", runs, {**report, "outcome": "green"}, status=409)
    assert (error["code"], error["holds"]) == ("outcome_contradicted", False)
    red = agent.json("POST", runs, report, status=201, Idempotency_Key="k")
    assert_shape(red, answers.ScenarioRun)
    assert (red["outcome"], red["judged_version"], red["agent_version"]) == ("red", 1, "refunds@1")
    again = agent("POST", runs, report, status=201, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    assert agent.get("/v1/scenarios?status=waiting")["data"] == []
    assert agent.get("/v1/scenarios?status=done")["data"][0]["id"] == scenario["id"]

    fresh = agent.json("POST", f"/v1/scenarios/{scenario['id']}/fork", status=201)
    assert_shape(fresh, answers.ScenarioRun)
    assert fresh["outcome"] is None
    error = agent.error("POST", f"/v1/scenarios/{scenario['id']}/fork", status=409)
    assert (error["code"], error["session_id"]) == ("run_waiting", fresh["session_id"])
    agent.json("PATCH", f"/v1/sessions/{fresh['session_id']}/state", {"state": {"refunds": 1}})
    report = {"session_id": fresh["session_id"], "agent_version": "refunds@2"}
    assert agent.json("POST", runs, report, status=201)["outcome"] == "green"
    assert "scenario" not in case.unmet()
    read = agent.get(f"/v1/scenarios/{scenario['id']}")
    assert [each["outcome"] for each in read["runs"]] == ["red", "green"]
    assert case.read()["scenarios"] == agent.get(f"{case.path}/scenarios")["data"] == [read]


def test_scenarios_are_paged_newest_first(case, api, scenario):
    body = {**SCENARIO, "session_id": case.session_id, "fault": {"kind": "tool_error", "tool": "refund"}}
    second = api.json("POST", f"{case.path}/scenarios", body, status=201)
    for address in (f"{case.path}/scenarios", "/v1/scenarios"):
        page = api.get(f"{address}?limit=1")
        assert (page["data"][0]["id"], page["has_more"]) == (second["id"], True)
        page = api.get(f"{address}?limit=1&starting_after={second['id']}")
        assert (page["data"][0]["id"], page["has_more"]) == (scenario["id"], False)
        assert api.get(f"{address}?order=asc")["first_id"] == scenario["id"]
        assert api.error("GET", f"{address}?starting_after=scn_x", status=400)["param"] == "starting_after"
    assert api.error("GET", "/v1/scenarios?status=red", status=400)["param"] == "status"


def test_a_scenario_that_can_not_be_leaves_nothing_behind(case, api):
    case.act("/divergence")
    sessions = len(api.get("/v1/sessions")["data"])
    scenario = {**SCENARIO, "session_id": case.session_id, "fault": FAULT}
    for fields, status, param in (
        ({"fault": {"kind": "luck"}}, 400, "fault.kind"),
        ({"fault": {}}, 400, "fault.kind"),
        ({"fault": {"kind": ["state_patch"]}}, 400, "fault.kind"),
        ({"fault": {"kind": {"a": {"b": []}}}}, 400, "fault.kind"),
        ({"fault": {"kind": "state_patch"}}, 400, "fault.patch"),
        ({"fault": {"kind": "state_patch", "patch": [1]}}, 400, "fault.patch"),
        ({"fault": {"kind": "tool_error"}}, 400, "fault.tool"),
        ({"fault": {"kind": "tool_error", "tool": 7}}, 400, "fault.tool"),
        ({"fault": {"kind": "tool_error", "tool": "a", "how": 1}}, 400, "fault.how"),
        ({"fault": {"kind": "repeat_output", "value": "x" * 70_000}}, 400, "fault"),
        ({"fault": "state_patch"}, 400, "fault"),
        ({"predicate": "refunds =="}, 400, "predicate"),
        ({"predicate": "(" * 900}, 400, "predicate"),
        ({"predicate": "a" * 1001}, 400, "predicate"),
        ({"predicate": ""}, 400, "predicate"),
        ({"name": " "}, 400, "name"),
        ({"fork_version": 2}, 400, "fork_version"),
        ({"fork_version": 2**70}, 404, "version"),
        ({"session_id": "sess_unknown"}, 404, "session_id"),
    ):
        error = api.error("POST", f"{case.path}/scenarios", {**scenario, **fields}, status=status)
        assert error["param"] == param, fields
    assert len(api.get("/v1/sessions")["data"]) == sessions
    assert api.get("/v1/scenarios")["data"] == []


def test_a_run_is_of_a_fork_of_that_session_in_that_project(case, api, agent, stranger, scenario):
    runs = f"/v1/scenarios/{scenario['id']}/runs"
    report = {"session_id": scenario["waiting_session_id"], "agent_version": "a"}
    for path, body in (
        (f"/v1/scenarios/{scenario['id']}", None),
        (f"/v1/scenarios/{scenario['id']}/fork", {}),
        (runs, report),
    ):
        error = stranger.error("GET" if body is None else "POST", path, body, status=404)
        assert (error["code"], error["param"]) == ("scenario_not_found", "scenario_id")
    assert stranger.get("/v1/scenarios")["data"] == []
    assert (
        agent.error("POST", runs, {**report, "session_id": case.other_id}, status=400)["param"]
        == "session_id"
    )
    assert agent.error("POST", runs, {**report, "session_id": "sess_x"}, status=404)
    for fields, param in (
        ({"outcome": "blue"}, "outcome"),
        ({"agent_version": ""}, "agent_version"),
        ({"agent_version": None}, "agent_version"),
        ({"session_id": 7}, "session_id"),
    ):
        assert agent.error("POST", runs, {**report, **fields}, status=400)["param"] == param
    assert agent.get(f"/v1/scenarios/{scenario['id']}") == scenario


def test_the_review_is_written_and_approved(case, api, scenario):
    error = api.error("POST", f"{case.path}/review/approve", status=409)
    assert (error["code"], len(error["unmet"])) == ("gate_unmet", 4)
    review = {
        "failure_mode": "tool_call_failure",
        "missing_checkpoint": {"session_id": case.session_id, "after_version": 1},
        "lessons": "Ask first.",
        "scenario": scenario["id"],
    }
    read = api.json("PATCH", f"{case.path}/review", review)
    assert read["failure_mode"] == "tool_call_failure"
    assert {name: read["review"][name] for name in review} == review
    assert read["review"]["missing"] == []
    approved = api.json("POST", f"{case.path}/review/approve", Idempotency_Key="k")
    assert approved["review"]["approved_at"] is not None
    again = api("POST", f"{case.path}/review/approve", status=200, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    none = {"none": True, "why": "It was frozen in time"}
    read = api.json("PATCH", f"{case.path}/review", {"missing_checkpoint": none})
    assert read["review"]["missing_checkpoint"] == none
    assert read["review"]["approved_at"] is None


def test_a_review_that_can_not_be_changes_nothing(case, api):
    before = case.read()
    for fields, status, param in (
        ({"failure_mode": "luck"}, 400, "failure_mode"),
        ({"missing_checkpoint": {}}, 400, "missing_checkpoint"),
        ({"missing_checkpoint": {"none": True}}, 400, "missing_checkpoint"),
        ({"missing_checkpoint": {"none": True, "why": " "}}, 400, "why"),
        ({"missing_checkpoint": {"session_id": "sess_x"}}, 400, "missing_checkpoint"),
        ({"missing_checkpoint": {"none": 1, "why": "a"}}, 400, "missing_checkpoint.none"),
        ({"missing_checkpoint": "none"}, 400, "missing_checkpoint"),
        ({"missing_checkpoint": {"session_id": "sess_x", "after_version": 1}}, 404, "session_id"),
        ({"missing_checkpoint": {"session_id": case.session_id, "after_version": 2**70}}, 404, "version"),
        ({"scenario": "scn_x"}, 404, "scenario_id"),
        ({"lessons": 7}, 400, "lessons"),
    ):
        error = api.error("PATCH", f"{case.path}/review", {"lessons": "Other", **fields}, status=status)
        assert error["param"] == param, fields
    assert case.read() == before
