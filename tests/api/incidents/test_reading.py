"""Reading incidents over the API: always what is true at that moment (contract 16)."""

import pytest
from django.db import connection

from incidents_app.payloads import answers
from tests.api.shapes import assert_shape


@pytest.fixture
def statements():
    """Counts the statements of a call."""

    def count(call):
        found = []

        def note(execute, sql, params, many, context):
            if not sql.startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")):
                found.append(sql)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            call()
        return len(found)

    return count


def test_the_list_is_paged_newest_first(case, api, filed):
    paths = [filed(title=f"Number {number}") for number in range(3)]
    names = [*[path.rpartition("/")[2] for path in paths][::-1], "INCIDENT-2", "INCIDENT-1"]
    first = api.get("/v1/incidents?limit=2")
    assert_shape(first, answers.List[answers.Incident])
    assert [each["id"] for each in first["data"]] == names[:2]
    assert (first["has_more"], first["first_id"], first["last_id"]) == (True, names[0], names[1])
    second = api.get(f"/v1/incidents?limit=100&starting_after={names[1]}")
    assert [each["id"] for each in second["data"]] == names[2:]
    assert second["has_more"] is False
    assert [each["id"] for each in api.get("/v1/incidents?order=asc")["data"]] == names[::-1]
    for cursor in ("INCIDENT-99", "7", "", "INCIDENT-%00", "INCIDENT-" + "9" * 400):
        error = api.error("GET", f"/v1/incidents?starting_after={cursor}", status=400)
        assert error["param"] == "starting_after"


def test_the_list_can_be_narrowed(case, filed):
    api = case.api
    case.act("/review")
    filed(title="Other", severity="S4", sessions=[case.other_id])

    def found(query):
        return [each["id"] for each in api.get(f"/v1/incidents?{query}")["data"]]

    assert found("severity=S2") == ["INCIDENT-1"]
    assert found("status=triage") == ["INCIDENT-2"]
    assert found(f"session_id={case.other_id}") == ["INCIDENT-3"]
    assert found("session_id=sess_unknown") == []
    assert found("failure_mode=state_drift") == ["INCIDENT-1"]
    assert found("created_after=2099-01-01") == []
    assert found("created_before=2099-01-01&severity=S4") == ["INCIDENT-3"]
    for name, value in (
        ("status", "frozen"),
        ("severity", "S9"),
        ("failure_mode", "luck"),
        ("created_after", "soon"),
        ("limit", "0"),
        ("session_id", "%00"),
    ):
        assert api.error("GET", f"/v1/incidents?{name}={value}", status=400)["param"] == name


def test_each_project_has_its_own(case, stranger):
    assert stranger.get("/v1/incidents")["data"] == []
    for route in ("", "/gates", "/timeline", "/scenarios"):
        error = stranger.error("GET", case.path + route, status=404)
        assert (error["code"], error["param"]) == ("incident_not_found", "incident_id")
    for wrong in ("INCIDENT-99", "12", "INCIDENT-x", "INCIDENT-%00", "INCIDENT-" + "9" * 300):
        assert case.api.error("GET", f"/v1/incidents/{wrong}", status=404)["code"] == "incident_not_found"
    assert case.api.get("/v1/incidents/incident-1")["id"] == "INCIDENT-1"


def test_either_scope_reads(case, with_scopes):
    for scope in ("sessions:read", "incident:manage"):
        reader = with_scopes(scope)
        for route in ("", "/gates", "/timeline", "/scenarios"):
            reader.get(case.path + route)
        reader.get("/v1/incidents")
        reader.get("/v1/scenarios")
    error = with_scopes("traces:read").error("GET", case.path, status=403)
    assert error["required_scope"] == "sessions:read"


def test_what_happens_outside_shows_at_once(case, api):
    case.act("/freeze")
    assert (case.read()["status"], case.steps()["freeze"]) == ("contained", "done")
    assert case.steps()["rollback"] == "pending"
    api.json("POST", f"{case.session}/resume")
    # A list writes nothing down, and yet tells what is so.
    [listed] = api.get("/v1/incidents?severity=S2")["data"]
    assert (listed["status"], listed["sessions"][0]["frozen"]) == ("open", False)
    assert listed["sessions"][0]["steps"]["freeze"] == "regressed"
    assert "resumed" in listed["sessions"][0]["step_notes"]["freeze"]
    read = case.read()
    assert (read["status"], read["sessions"][0]["steps"]["freeze"]) == ("open", "regressed")
    outside = [each for each in case.timeline() if each["kind"] == "outside"]
    assert [each["alarm"] for each in outside] == [True]
    assert case.session.rpartition("/")[2] in outside[0]["text"]
    # Read again, nothing new is told.
    count = len(case.timeline())
    case.read()
    assert len(case.timeline()) == count


def test_the_status_that_a_list_is_narrowed_by_is_the_present_one(case, api):
    case.act("/freeze")
    api.json("POST", f"{case.session}/resume")
    assert api.get("/v1/incidents?status=contained")["data"] == []
    [found] = api.get("/v1/incidents?status=open")["data"]
    assert (found["id"], found["status"]) == ("INCIDENT-1", "open")


def test_gates_tell_what_a_press_would_be_refused_for(case, api):
    gates = api.get(f"{case.path}/gates?to=resolved")
    assert_shape(gates, answers.Gates)
    assert (gates["to"], gates["met"]) == ("resolved", False)
    assert gates["unmet"][0] == {
        "code": "freeze",
        "session_id": case.session_id,
        "message": f"Freeze {case.session_id}, or exempt it.",
    }
    error = api.error("POST", f"{case.path}/resolve", status=409)
    assert (error["code"], error["unmet"]) == ("gate_unmet", gates["unmet"])
    closing = api.get(f"{case.path}/gates")
    assert closing["to"] == "closed"
    assert "not_resolved" in case.unmet("closed")
    assert api.error("POST", f"{case.path}/close", status=409)["unmet"] == closing["unmet"]
    assert api.error("GET", f"{case.path}/gates?to=open", status=400)["param"] == "to"
    case.act("/decline")
    assert case.unmet("closed") == ["incident_ended"]


def test_the_timeline_is_paged_oldest_first(case, api):
    api.json("POST", f"{case.path}/note", {"text": "Before", "occurred_at": "2020-01-01T00:00:00Z"})
    api.json("POST", f"{case.path}/note", {"text": "Now"})
    whole = case.timeline()
    assert_shape(api.get(f"{case.path}/timeline"), answers.List[answers.IncidentEvent])
    assert whole[0]["text"] == "Before"
    assert whole[0]["backdated"] is True
    assert whole[-1]["text"] == "Now"
    assert sorted(whole, key=lambda each: (each["occurred_at"], each["sequence"])) == whole
    paged, after = [], ""
    while True:
        page = api.get(f"{case.path}/timeline?limit=2{after}")
        paged += page["data"]
        if not page["has_more"]:
            break
        after = f"&starting_after={page['last_id']}"
    assert paged == whole
    assert api.get(f"{case.path}/timeline?order=desc")["data"] == whole[::-1]
    for cursor in (
        "5",
        "INCIDENT-1:99",
        "INCIDENT-2:1",
        "INCIDENT-1:",
        "INCIDENT-1:-1",
        "INCIDENT-1:" + "9" * 99,
    ):
        error = api.error("GET", f"{case.path}/timeline?starting_after={cursor}", status=400)
        assert error["param"] == "starting_after"


def test_a_list_takes_as_many_queries_for_many_as_for_one(api, filed, statements):
    for _ in range(3):
        session = api.session_with_versions(2).rpartition("/")[2]
        other = api.session().rpartition("/")[2]
        path = filed(severity="S1", sessions=[session, other])
        body = {"session_id": session, "divergence_version": 2, "last_good_version": 1}
        api.json("POST", f"{path}/divergence", body)
        api.json("POST", f"{path}/rollback", {"session_id": session})
        api.json("POST", f"{path}/followups", {"text": "Check"}, status=201)
    one = statements(lambda: api.get("/v1/incidents?limit=1"))
    many = statements(lambda: api.get("/v1/incidents?limit=3"))
    assert many == one <= 14
    few = statements(lambda: api.get(path))
    for _ in range(2):
        added = api.session().rpartition("/")[2]
        api.json("POST", f"{path}/sessions", {"session_id": added})
    assert statements(lambda: api.get(path)) == few <= 32
