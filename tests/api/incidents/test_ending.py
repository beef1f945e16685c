"""Command, exemptions, overrides, and the ends of an incident over the API (contract 16)."""

from tests import factories


def test_command_goes_to_people_who_may(case, api, project):
    factories.membership(project, "viewer", "vic")
    assert api.json("POST", f"{case.path}/commander", {"name": "maria"})["commander"] == "maria"
    assert api.error("POST", f"{case.path}/commander", {"name": "nobody"}, status=404)["param"] == "name"
    assert api.error("POST", f"{case.path}/commander", {"name": "vic"}, status=400)["param"] == "name"
    assert case.read()["commander"] == "maria"


def test_an_exemption_and_an_override_are_shown_with_their_reasons(case, api, with_scopes):
    body = {"session_id": case.session_id, "step": "freeze", "reason": "Gone already"}
    [session] = api.json("POST", f"{case.path}/exempt", body)["sessions"]
    assert session["steps"]["freeze"] == "exempt"
    assert session["exemptions"][0]["reason"] == "Gone already"
    assert api.error("POST", f"{case.path}/exempt", {**body, "step": "panic"}, status=400)["param"] == "step"
    assert api.error("POST", f"{case.path}/exempt", {**body, "reason": " "}, status=400)["param"] == "reason"
    responder = with_scopes("sessions:write", "incident:manage")
    gate = {"gate": "scenario", "reason": "No staging"}
    assert responder.error("POST", f"{case.path}/override", gate, status=403)["required_scope"] == "*"
    read = api.json("POST", f"{case.path}/override", gate)
    assert [(each["gate"], each["reason"]) for each in read["overrides"]] == [("scenario", "No staging")]
    assert "scenario" not in case.unmet()
    assert api.error("POST", f"{case.path}/override", gate, status=400)["param"] == "gate"


def test_resolving_closing_and_reopening(case, api):
    case.override_all("resolved")
    case.act("/freeze")
    assert case.unmet() == ["session_frozen"]
    api.json("POST", f"{case.path}/resume")
    read = api.json("POST", f"{case.path}/resolve", Idempotency_Key="r")
    assert (read["status"], read["resolved_at"] is not None) == ("resolved", True)
    assert read["review_due"] is not None
    assert case.unmet("resolved") == []
    case.override_all("closed")
    read = api.json("POST", f"{case.path}/close", Idempotency_Key="c")
    assert (read["status"], read["closed_at"] is not None) == ("closed", True)
    assert read["sessions"][0]["held"] is False
    assert read["metrics"]["time_to_close_s"] >= read["metrics"]["time_to_resolve_s"]
    assert case.unmet("closed") == []
    for route, key in (("resolve", "r"), ("close", "c")):
        again = api("POST", f"{case.path}/{route}", status=200, Idempotency_Key=key)
        assert again["Idempotency-Replayed"] == "true"
    old = read["metrics"]
    read = api.json("POST", f"{case.path}/reopen", {"reason": "It happened again"})
    assert (read["status"], read["episode"], read["closed_at"]) == ("open", 2, None)
    assert read["sessions"][0]["held"] is True
    assert [each["metrics"] for each in read["earlier_episodes"]] == [old]
    assert (
        api.error("POST", f"{case.path}/reopen", {"reason": "Again"}, status=409)["code"] == "cannot_reopen"
    )


def test_declining_may_let_the_sessions_go_on(case, api):
    case.act("/freeze")
    body = {"reason": "A drill", "resume_sessions": True}
    read = api.json("POST", f"{case.path}/decline", body, Idempotency_Key="k")
    assert (read["status"], read["sessions"][0]["frozen"]) == ("declined", False)
    api.json("POST", f"{case.path}/reopen", {"reason": "It was none"})
    case.act("/freeze")
    again = api("POST", f"{case.path}/decline", body, status=200, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    assert api.get(case.session)["frozen"] is True


def test_a_duplicate_is_merged_with_its_sessions(case, api):
    case.act("/pin")
    read = api.json("POST", f"{case.path}/merge", {"into": "INCIDENT-2"})
    assert (read["status"], read["duplicate_of"]) == ("duplicate", "INCIDENT-2")
    target = api.get("/v1/incidents/INCIDENT-2")
    assert [each["session_id"] for each in target["sessions"]] == [case.session_id]
    assert len(target["sessions"][0]["pins"]) == 2
    assert target["count"] == 2
    assert api.get("/v1/incidents?status=duplicate")["data"][0]["id"] == "INCIDENT-1"
    other = "/v1/incidents/INCIDENT-2/merge"
    assert api.error("POST", other, {"into": "INCIDENT-2"}, status=400)["param"] == "into"
    assert api.error("POST", other, {"into": "INCIDENT-9"}, status=404)["code"] == "incident_not_found"
    assert api.error("POST", other, {"into": "INCIDENT-1"}, status=409)["code"] == "incident_ended"
