"""Filing an incident over the API (contract 16)."""

from datetime import timedelta

import pytest

from incidents_app.models import Incident, TimelineEvent
from incidents_app.payloads import answers
from sessions_app.models import AgentSession
from statebase_site.base import clock
from tests.api.shapes import assert_shape


def file(api, status=201, **fields):
    fields.setdefault("title", "Deleted a booking")
    return api.json("POST", "/v1/incidents", fields, status=status)


@pytest.fixture
def session_id(api):
    return api.session_with_versions(2).rpartition("/")[2]


def test_an_incident_waits_in_triage_without_a_severity(api):
    made = file(api, summary="Seen by a customer", no_session_reason="Found in the provider's logs")
    assert_shape(made, answers.IncidentInFull)
    assert (made["id"], made["status"], made["severity"]) == ("INCIDENT-1", "triage", None)
    assert (made["peak_severity"], made["count"], made["episode"]) == (None, 1, 1)
    assert (made["commander"], made["duplicate_of"], made["dedup_key"]) == (None, None, None)
    assert made["no_session_reason"] == "Found in the provider's logs"
    assert set(made["metrics"].values()) == {None}
    assert file(api)["id"] == "INCIDENT-2"


def test_s1_freezes_every_session_in_the_same_request(api, agent, session_id):
    other = api.session().rpartition("/")[2]
    made = file(agent, severity="S1", sessions=[session_id, other, session_id])
    assert made["status"] == "contained"
    assert [(each["session_id"], each["frozen"], each["failure"]) for each in made["sessions"]] == [
        (session_id, True, None),
        (other, True, None),
    ]
    steps = made["sessions"][0]["steps"]
    assert (steps["freeze"], steps["reconstruct"], steps["resume"]) == ("done", "pending", "pending")
    assert made["metrics"]["time_to_freeze_s"] >= 0
    refused = agent.error("PATCH", f"/v1/sessions/{session_id}/state", {"state": {"a": 1}}, status=423)
    assert "INCIDENT-1" in str(refused)
    # As the API's frozen sessions are, it is evidence, too.
    error = api.error("DELETE", f"/v1/sessions/{other}", status=423)
    assert error["code"] == "session_frozen"


def test_an_expired_session_can_be_filed_and_recovered(api, session_id):
    AgentSession.objects.update(expires_at=clock.now() - timedelta(hours=1))
    assert api("GET", f"/v1/sessions/{session_id}").status_code == 404
    made = file(api, severity="S1", sessions=[session_id])
    assert made["sessions"][0]["frozen"] is True
    path = f"/v1/incidents/{made['id']}"
    body = {"session_id": session_id, "divergence_version": 2, "last_good_version": 1}
    api.json("POST", f"{path}/divergence", body)
    assert api.json("POST", f"{path}/rollback", {"session_id": session_id})["status"] == "recovered"
    assert api.json("POST", f"{path}/resume")["sessions"][0]["frozen"] is False


def test_the_same_dedup_key_is_counted_while_it_is_open(api, session_id):
    first = file(api, dedup_key="loop-7", severity="S3")
    again = file(api, 200, dedup_key="loop-7", title="And again", sessions=[session_id])
    assert (again["id"], again["count"], again["title"]) == (first["id"], 2, "Deleted a booking")
    assert [each["session_id"] for each in again["sessions"]] == [session_id]
    api.json("POST", f"/v1/incidents/{first['id']}/decline", {"reason": "A drill"})
    assert file(api, dedup_key="loop-7")["id"] == "INCIDENT-2"


def test_what_an_agent_files_in_a_loop_is_one_incident(agent, session_id):
    made = [
        file(agent, 201 if number == 1 else 200, title=f"Try {number}", sessions=[session_id])
        for number in (1, 2, 3)
    ]
    assert {each["id"] for each in made} == {"INCIDENT-1"}
    assert made[-1]["count"] == 3


def test_filed_twice_under_one_key_it_is_one(api, session_id):
    body = {"title": "Once", "severity": "S1", "sessions": [session_id]}
    first = api("POST", "/v1/incidents", body, status=201, Idempotency_Key="k")
    again = api("POST", "/v1/incidents", body, status=201, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    body["dedup_key"] = "d"
    api("POST", "/v1/incidents", body, status=201, Idempotency_Key="l")
    counted = api("POST", "/v1/incidents", body, status=200, Idempotency_Key="m")
    assert "Idempotency-Replayed" not in counted
    replayed = api("POST", "/v1/incidents", body, status=200, Idempotency_Key="m")
    assert replayed["Idempotency-Replayed"] == "true"
    assert Incident.objects.count() == 2


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "title"),
        ({"title": " "}, "title"),
        ({"title": "a" * 201}, "title"),
        ({"title": "a\x00"}, "title"),
        ({"title": 7}, "title"),
        ({"title": "a", "severity": "S5"}, "severity"),
        ({"title": "a", "severity": 1}, "severity"),
        ({"title": "a", "failure_mode": "bad luck"}, "failure_mode"),
        ({"title": "a", "sessions": "sess_a"}, "sessions"),
        ({"title": "a", "sessions": [7]}, "sessions.0"),
        ({"title": "a", "sessions": [None]}, "sessions.0"),
        ({"title": "a", "sessions": [f"sess_{n}" for n in range(1001)]}, "sessions"),
        ({"title": "a", "dedup_key": "a" * 256}, "dedup_key"),
        ({"title": "a", "summary": ["b"]}, "summary"),
    ],
)
def test_bad_input_files_nothing(api, fields, param):
    error = api.error("POST", "/v1/incidents", fields, status=400)
    assert (error["code"], error["param"]) == ("invalid_request", param)
    assert not Incident.objects.exists()
    assert not TimelineEvent.objects.exists()


def test_a_session_that_is_not_there_is_not_found(api, agent, stranger, session_id):
    foreign = stranger.session().rpartition("/")[2]
    for wrong in ("sess_unknown", foreign, "sess_\x01"):
        body = {"title": "a", "sessions": [session_id, wrong], "severity": "S1"}
        error = api.error("POST", "/v1/incidents", body, status=404)
        assert (error["code"], error["param"]) == ("session_not_found", "session_id")
    assert not Incident.objects.exists()
    assert api.get(f"/v1/sessions/{session_id}")["frozen"] is False
    assert api.error("POST", "/v1/incidents", {"title": "a", "summary": "x" * 20_000}, status=413)


def test_reading_keys_file_nothing(with_scopes):
    reader = with_scopes("sessions:read")
    assert reader.error("POST", "/v1/incidents", b"{broken", status=403)["required_scope"] == "sessions:write"
