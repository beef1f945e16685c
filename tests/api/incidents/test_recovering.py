"""Divergence, rollback, effects, correction and resume over the API (contract 16)."""

import pytest


@pytest.fixture
def rolled_back(case):
    for route in ("/freeze", "/rollback"):
        case.act(route)
    return case


def test_the_last_good_version_comes_before_the_divergence(case, api):
    for divergence, last_good in ((2, 2), (1, 2), (3, 1), (2, -1), (2**70, 1), (0, 0), (-1, -2)):
        body = {
            "session_id": case.session_id,
            "divergence_version": divergence,
            "last_good_version": last_good,
        }
        error = api.error("POST", f"{case.path}/divergence", body, status=400)
        assert error["param"] in ("divergence_version", "last_good_version")
    assert case.read()["sessions"][0]["divergence_version"] is None


def test_a_rollback_goes_to_the_last_good_version_and_names_the_incident(rolled_back, api):
    read = rolled_back.read()
    [session] = read["sessions"]
    assert read["status"] == "recovered"
    assert (session["rollback_version"], session["rolled_back_to"]) == (4, 1)
    assert (session["divergence_version"], session["last_good_version"]) == (2, 1)
    version = api.get(f"{rolled_back.session}/versions/4")
    assert version["reasoning"].startswith("INCIDENT-1: ")
    assert version["frozen"] is True
    assert read["metrics"]["bad_versions"] == 1
    assert read["metrics"]["tool_calls"] == 1
    assert read["metrics"]["time_to_rollback_s"] >= read["metrics"]["time_to_freeze_s"] >= 0
    # A second click makes no second version.
    api.json("POST", f"{rolled_back.path}/rollback", {"session_id": rolled_back.session_id})
    assert api.get(rolled_back.session)["version"] == 4


def test_a_rollback_is_refused_where_it_can_not_be_meant(case, api):
    path = f"{case.path}/rollback"
    assert api.error("POST", path, {"session_id": case.session_id}, status=409)["code"] == "rollback_target"
    case.act("/divergence")
    body = {"session_id": case.session_id, "expected_version": 7}
    error = api.error("POST", path, body, status=409)
    assert (error["code"], error["current_version"]) == ("version_conflict", 2)
    for version in (9, -9, 2**70):
        body = {"session_id": case.session_id, "version": version}
        assert api.error("POST", path, body, status=404)["code"] == "version_not_found"
    body = {"session_id": case.session_id, "version": 2}
    assert api.error("POST", path, body, status=409)["code"] == "rollback_target"
    assert api.get(case.session)["version"] == 2


def test_undoing_the_rollback_elsewhere_turns_the_step_red(rolled_back, api):
    api.json("POST", f"{rolled_back.session}/rollback", {"version": 3})
    assert rolled_back.steps()["rollback"] == "regressed"
    assert rolled_back.read()["status"] == "open"


def test_every_effect_gets_a_disposition(rolled_back, api):
    [effect] = rolled_back.read()["sessions"][0]["effects"]
    assert (effect["tool"], effect["turn_id"], effect["arguments"]) == ("refund", rolled_back.turn_id, {})
    assert effect["disposition"] is None
    assert "effect_undecided" in rolled_back.unmet()
    body = {"session_id": rolled_back.session_id, "turn_id": effect["turn_id"]}
    read = api.json(
        "POST", f"{rolled_back.path}/effects", {**body, "disposition": "reversed", "note": "Paid"}
    )
    [effect] = read["sessions"][0]["effects"]
    assert (effect["disposition"], effect["note"]) == ("reversed", "Paid")
    assert "effect_undecided" not in rolled_back.unmet()
    error = api.error("POST", f"{rolled_back.path}/effects", {**body, "disposition": "gone"}, status=400)
    assert error["param"] == "disposition"
    body = {"session_id": rolled_back.session_id, "turn_id": "turn_x", "disposition": "reversed"}
    assert api.error("POST", f"{rolled_back.path}/effects", body, status=404)["param"] == "turn_id"


def test_an_s3_is_corrected_instead(api, filed):
    session = api.session_with_versions(1)
    session_id = session.rpartition("/")[2]
    path = filed(severity="S3", sessions=[session_id])
    assert api.get(path)["status"] == "contained"
    body = {"session_id": session_id, "version": -1, "text": "Told the customer"}
    read = api.json("POST", f"{path}/correction", body)
    assert read["status"] == "recovered"
    assert read["sessions"][0]["correction_version"] == 0
    for version in (2, 2**70):
        api.error("POST", f"{path}/correction", {**body, "version": version}, status=404)


def test_resuming_names_the_incident_and_who_may_not(rolled_back, api, agent):
    agent.error("POST", f"{rolled_back.path}/resume", b"{broken", status=403)
    read = api.json("POST", f"{rolled_back.path}/resume", {"reason": "All is well"})
    assert read["sessions"][0]["frozen"] is False
    assert read["watch_until"] > read["updated_at"]
    version = api.get(f"{rolled_back.session}/versions/5")
    assert version["reasoning"] == "INCIDENT-1: All is well"
    agent.json("PATCH", f"{rolled_back.session}/state", {"state": {"refunds": 3}})


def test_a_resume_sent_again_lets_nothing_go_on_that_was_frozen_since(rolled_back, api):
    api.json("POST", f"{rolled_back.path}/resume", {}, Idempotency_Key="k")
    api.json("POST", f"{rolled_back.session}/freeze")
    again = api("POST", f"{rolled_back.path}/resume", {}, status=200, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    assert api.get(rolled_back.session)["frozen"] is True


def test_a_session_of_two_incidents_asks_for_confirmation(case, api, filed):
    filed(title="The same, seen elsewhere", severity="S1", sessions=[case.session_id])
    case.act("/divergence")
    for route in ("/rollback", "/resume"):
        body = {"session_id": case.session_id}
        error = api.error("POST", case.path + route, body, status=409)
        assert error["code"] == "gate_unmet"
        assert [each["code"] for each in error["unmet"]] == ["shared_session"]
        assert "INCIDENT-3" in error["unmet"][0]["message"]
        api.error("POST", case.path + route, {**body, "confirm": "yes"}, status=400)
        api.json("POST", case.path + route, {**body, "confirm": True})
    assert api.get(case.session)["frozen"] is False
