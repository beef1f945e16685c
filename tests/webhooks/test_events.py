"""What webhooks hear of each act, and are told: the object as it was right after it (contract 11)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.core.management import call_command

from sessions_app import actions
from sessions_app.actions import maintenance
from sessions_app.models import AgentSession
from statebase_site.base import clock, json
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Delivery
from tests import factories
from tests.api.test_erasure import where_found
from tests.api.test_exports import exported
from tests.webhooks.conftest import work
from tests.webhooks.receiver import answer

PATHS = {
    "session": "/v1/sessions/",
    "turn": "/v1/turns/",
    "trace": "/v1/traces/",
    "memory": "/v1/memories/",
    "incident": "/v1/incidents/",
}
# The object that each event tells of.
KINDS = {
    "session": "session",
    "turn": "turn",
    "memory": "memory",
    "incident": "incident",
    "trace": "trace",
    "write": "trace",
}
WRONG_TURN = {"input": "a"}
TURN = {"input": "a", "output": {"type": "text", "content": "b", "more": 1.0}, "metadata": {"m": None}}


@pytest.fixture
def heard(api, receiver, webhook):
    """Every event that came since it was last asked, in one webhook that hears of everything."""
    webhook(*Event)

    def since() -> list[dict]:
        work()
        come = [each.json for each in receiver.received]
        receiver.received.clear()
        return come

    since()
    return since


def names(events) -> Counter:
    return Counter(each["type"] for each in events)


def expected(text: str) -> Counter:
    """`"session.updated 2"` is that event, and two traces."""
    *events, traces = text.split()
    return Counter({**Counter(events), "trace.created": int(traces)})


def check_data(api, events) -> None:
    """Each tells of the right kind of object, and says of it what the API says now."""
    for event in events:
        data = event["data"]
        assert data["object"] == KINDS[event["type"].partition(".")[0]], event
        answer = api("GET", PATHS[data["object"]] + data["id"])
        if answer.status_code == 200:
            now = json.parse(answer.content)
            if data["object"] == "incident":  # read alone, it has details that lists leave out
                rows = api.get("/v1/incidents?limit=100")["data"]
                (now,) = [each for each in rows if each["id"] == data["id"]]
            assert json.dumps(data) == json.dumps(now), event["type"]


STATE = "{s}/state"
ACTS = [
    # name, method, path, body, status, the events and the number of traces
    (
        "create",
        "POST",
        "/v1/sessions",
        {"agent_id": "a", "initial_state": {"n": 1}},
        201,
        "session.created 1",
    ),
    (
        "create frozen",
        "POST",
        "/v1/sessions",
        {"agent_id": "a", "initial_state": {"frozen": True}},
        201,
        "session.created session.frozen 2",
    ),
    ("update", "PATCH", STATE, {"state": {"n": 2}, "reasoning": "why"}, 200, "session.updated 1"),
    ("update nothing", "PATCH", STATE, {"state": {}}, 200, "session.updated 1"),
    ("replace", "PUT", STATE, {"state": {"n": 3}}, 200, "session.updated 1"),
    ("replace by POST", "POST", STATE, {"state": {"n": 4}}, 200, "session.updated 1"),
    ("metadata", "PATCH", "{s}", {"metadata": {"m": 1}}, 200, "session.updated 1"),
    ("life", "PATCH", "{s}", {"ttl_seconds": 60}, 200, "session.updated 1"),
    ("turn", "POST", "{s}/turns", TURN, 201, "turn.added 1"),
    (
        "turn with a version",
        "POST",
        "{s}/turns",
        {**TURN, "state_before": {"n": 4}, "state_after": {"n": 5}},
        201,
        "turn.added session.updated 1",
    ),
    ("turn with the same state", "POST", "{s}/turns", {**TURN, "state_after": {"n": 5}}, 201, "turn.added 1"),
    (
        "rollback",
        "POST",
        "{s}/rollback",
        {"version": -1, "reason": "wrong"},
        200,
        "session.updated trace.rollback 1",
    ),
    ("fork", "POST", "{s}/fork", {"version": 0}, 201, "session.created 2"),
    ("memory", "POST", "{s}/memories", {"content": "likes tea"}, 201, "memory.created 1"),
    ("free memory", "POST", "/v1/memories", {"content": "x", "user_id": "u"}, 201, "memory.created 1"),
    (
        "entity",
        "POST",
        "/v1/entities",
        {"session_id": "{id}", "entity_type": "a", "entity_id": "b", "attributes": {}},
        201,
        "1",
    ),
    ("note", "POST", "/v1/traces", {"action": "note.kept", "session_id": "{id}"}, 201, "1"),
    ("error", "POST", "/v1/traces", {"action": "error", "details": {"d": 1}}, 201, "trace.error 1"),
    (
        "failed",
        "POST",
        "/v1/traces",
        {"action": "tool_call.failed", "session_id": "{id}"},
        201,
        "trace.error 1",
    ),
    ("dot error", "POST", "/v1/traces", {"action": "net.error"}, 201, "trace.error 1"),
    ("not an error", "POST", "/v1/traces", {"action": "error.cleared"}, 201, "1"),
    ("not failed", "POST", "/v1/traces", {"action": "failed"}, 201, "1"),
    ("key", "POST", "/v1/keys", {"name": "k"}, 201, "1"),
    ("invalid", "PATCH", STATE, {"state": 5}, 400, "0"),
    ("wrong turn", "POST", "{s}/turns", WRONG_TURN, 400, "0"),
    ("conflict", "PATCH", STATE, {"state": {}, "expected_version": 0}, 409, "0"),
    ("unknown version", "POST", "{s}/rollback", {"version": 99}, 404, "0"),
    ("read", "GET", "{s}/context", None, 200, "0"),
    ("freeze", "POST", "{s}/freeze", {"reason": "mad"}, 200, "session.updated session.frozen 2"),
    ("freeze again", "POST", "{s}/freeze", None, 200, "session.updated 1"),
    ("refused update", "PATCH", STATE, {"state": {"n": 9}}, 423, "write.refused 1"),
    ("refused turn", "POST", "{s}/turns", TURN, 423, "write.refused 1"),
    ("refused memory", "POST", "{s}/memories", {"content": "x"}, 423, "write.refused 1"),
    ("refused metadata", "PATCH", "{s}", {"metadata": {}}, 423, "write.refused 1"),
    ("refused deletion", "DELETE", "{s}", None, 423, "write.refused 1"),
    (
        "rollback while frozen",
        "POST",
        "{s}/rollback",
        {"version": 0},
        200,
        "session.updated trace.rollback 1",
    ),
    ("note while frozen", "POST", "{s}/../../traces", None, 404, "0"),
    ("resume", "POST", "{s}/resume", None, 200, "session.updated session.unfrozen 2"),
    (
        "turn that freezes",
        "POST",
        "{s}/turns",
        {**TURN, "state_after": {"frozen": True}},
        201,
        "turn.added session.updated session.frozen 2",
    ),
    (
        "control update",
        "PATCH",
        STATE,
        {"state": {"frozen": False}},
        200,
        "session.updated session.unfrozen 2",
    ),
]


def test_each_act_is_heard_of_once_with_the_object_as_it_then_is(api, agent, heard):
    session = api.session({"n": 0}, user_id="ann")
    heard()
    for name, method, path, body, status, events in ACTS:
        text = json.dumps(body).replace("{id}", session[13:]) if body else None
        api(method, path.replace("{s}", session), text.encode() if text else None, status=status)
        come = heard()
        assert names(come) == expected(events), name
        check_data(api, come)
    # A replayed request did nothing, and nothing is heard of it.
    for again in range(2):
        api("PATCH", f"{session}/state", {"state": {"x": 1}}, status=200, Idempotency_Key="k")
        assert names(heard()) == expected("0" if again else "session.updated 1")
    api.json("POST", f"{session}/freeze")
    heard()
    agent("POST", f"{session}/resume", status=403)
    assert names(heard()) == expected("write.refused 1")
    memory = api.get("/v1/memories")["data"][0]["id"]
    api.json("PATCH", f"/v1/memories/{memory}", {"tags": ["t"]})
    api("DELETE", f"/v1/memories/{memory}", status=204)
    entity = api.get("/v1/entities")["data"][0]["id"]
    api.json("POST", f"{session}/resume")
    api("DELETE", f"/v1/entities/{entity}", status=204)
    assert names(heard()) == expected("session.updated session.unfrozen 5")


def test_the_end_of_a_session_its_return_and_its_purge(api, project, heard, settings):
    session = api.session({"n": 1}, ttl_seconds=60)
    before = api.get(session)
    heard()
    api("DELETE", session, status=204)
    come = heard()
    assert names(come) == expected("session.deleted 1")
    (told,) = [each["data"] for each in come if each["type"] == "session.deleted"]
    assert {**told, "updated_at": before["updated_at"]} == before
    actions.restore_deleted_session(session_id=session[13:], by=factories.full_key(project))
    come = heard()
    assert names(come) == expected("session.updated 2")  # the second is that of the new key
    check_data(api, come)

    later = clock.now() + timedelta(seconds=61)
    with clock.at(later):
        assert maintenance.expire_due() == 1
        assert maintenance.expire_due() == 0
        come = heard()
    assert names(come) == expected("session.expired 1")
    with clock.at(later + timedelta(days=settings.PURGE_EXPIRED_AFTER_DAYS, seconds=1)):
        maintenance.purge_due()
        come = heard()
    assert names(come) == expected("1")
    assert come[0]["data"]["action"] == "session.deleted"
    assert not Delivery.objects.filter(session_public_id=session[13:]).exclude(event="trace.created").exists()


def test_a_webhook_that_comes_late_is_told_of_each_change_as_it_was(api, heard):
    session = api.session({"n": 0, "huge": 2**80, "tiny": 5e-324, "text": "é\x00☃"}, metadata={"m": 0})
    heard()
    then = []
    for number in (1, 2, 3):
        api.json("PATCH", f"{session}/state", {"state": {"n": number}})
        then.append(api.get(session))
        api.json("PATCH", session, {"metadata": {"m": number}})
        then.append(api.get(session))
    api.json("POST", f"{session}/freeze")
    then += [api.get(session)] * 2
    api.json("POST", f"{session}/resume")
    then += [api.get(session)] * 2
    api("DELETE", session, status=204)
    told = [each["data"] for each in heard() if each["type"].startswith("session.")]
    assert [json.dumps(each) for each in told[:-1]] == [json.dumps(each) for each in then]
    assert [each["version"] for each in told] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]
    assert told[-1]["state"] == {**then[-1]["state"]}


def test_what_is_gone_is_not_told_and_its_trace_says_nothing_of_it(api, heard, receiver):
    memory = api.json("POST", "/v1/memories", {"content": "a secret wish"}, status=201)["id"]
    api("DELETE", f"/v1/memories/{memory}", status=204)
    come = heard()
    assert names(come) == expected("2")
    assert "wish" not in str(come)
    assert Delivery.objects.get(event="memory.created").state == "dropped"

    session = api.session({"n": 1}, user_id="ann")
    api("DELETE", "/v1/users/ann", status=204)
    come = heard()
    assert [each["data"]["action"] for each in come] == ["session.deleted", "user.erased"]
    api.get("/v1/traces")
    assert session[13:] in str(come)
    assert "ann" not in str([each["data"]["user_id"] for each in come])


def test_a_deleted_memory_stays_in_no_answer(api, heard, receiver):
    api.session({"n": 0}, user_id="ann")
    session = api.session({"n": 0}, user_id="bob")
    heard()
    receiver.behave = lambda connection: connection.sendall(answer(500, receiver.received[-1].body[-400:]))
    for path in (f"{session}/memories", "/v1/memories"):
        memory = api.json("POST", path, {"content": "a secret wish", "agent_id": "a"}, status=201)["id"]
        work()
        assert where_found("secret wish") >= {"webhooks_delivery.attempts"}
        api("DELETE", f"/v1/memories/{memory}", status=204)
        assert where_found("secret wish") == set()


def test_of_an_import_only_the_new_session_is_told(api, project, heard, tmp_path):
    session = api.session({"n": 0}, user_id="ann")
    api.json("PATCH", f"{session}/state", {"state": {"n": 1}})
    api.json("POST", f"{session}/turns", TURN, status=201)
    api.json("POST", f"{session}/memories", {"content": "likes tea"}, status=201)
    api.json("POST", "/v1/traces", {"action": "tool.failed", "session_id": session[13:]}, status=201)
    document = exported(api, f"{session}/export")
    heard()
    file = tmp_path / "export.json"
    file.write_text(json.pretty(document))
    call_command("import_runs", str(file), project=project.slug)
    made = AgentSession.objects.exclude(public_id=session[13:]).get()
    come = heard()
    assert names(come) == expected("session.created 1")
    assert come[-1]["data"]["id"] == made.public_id
    assert made.head_version == 1


def test_each_webhook_hears_only_what_it_asked_for_of_its_own_project(api, stranger, webhook, receiver):
    ids = {
        "mine": webhook("session.created").public_id,
        "turns": webhook("turn.added", url=receiver.url + "&turns").public_id,
        "theirs": webhook("session.created", url=receiver.url + "&theirs", by=stranger).public_id,
    }
    session = api.session({"n": 0})
    api.json("POST", f"{session}/turns", TURN, status=201)
    rows = Delivery.objects.values_list("webhook__public_id", "event")
    assert sorted(rows) == sorted([(ids["mine"], "session.created"), (ids["turns"], "turn.added")])
    api("PATCH", f"/v1/webhooks/{ids['turns']}", {"is_active": False}, status=200)
    api.json("POST", f"{session}/turns", TURN, status=201)
    assert rows.count() == 2
    work()  # what waited for the paused one waits on
    assert sorted(rows.filter(state="pending")) == [(ids["turns"], "turn.added")]
    api("PATCH", f"/v1/webhooks/{ids['turns']}", {"is_active": True}, status=200)
    work()
    assert [each.json["type"] for each in receiver.received] == ["session.created", "turn.added"]

    both = [webhook("session.deleted").public_id for _ in range(2)]
    api("DELETE", session, status=204)
    assert len(set(rows.filter(webhook__public_id__in=both).values_list("event_id"))) == 1


def test_an_incident_is_heard_of_as_it_goes(api, heard):
    """Only what it reached: that it fell back, was declined or merged is no event."""
    session = api.session({"refunds": 1})
    for number in (1, 2):
        api.json("PATCH", f"{session}/state", {"state": {"refunds": number, "step": number}})
    other = api.session({"refunds": 5})
    heard()

    def of_incident(events) -> list[tuple[str, str, str]]:
        check_data(api, events)
        found = [each for each in events if each["type"].startswith("incident.")]
        return [(each["type"][9:], each["data"]["id"], each["data"]["status"]) for each in found]

    def act(route: str, body=None, status: int = 200, reference: str = "INCIDENT-1"):
        api("POST", f"/v1/incidents/{reference}{route}", body, status=status)
        return of_incident(heard())

    report = {"title": "Refunded twice", "sessions": [session[13:]], "dedup_key": "r"}
    api.json("POST", "/v1/incidents", report, status=201)
    assert of_incident(heard()) == [("filed", "INCIDENT-1", "triage")]
    api.json("POST", "/v1/incidents", report)  # the same once more
    assert of_incident(heard()) == []
    assert act("/severity", {"severity": "S2"}) == [("severity", "INCIDENT-1", "open")]
    assert act("/note", {"text": "Called the customer."}) == []
    assert act("/freeze") == [("contained", "INCIDENT-1", "contained")]
    divergence = {"session_id": session[13:], "divergence_version": 2, "last_good_version": 1}
    assert act("/divergence", divergence) == []
    assert act("/rollback", {"session_id": session[13:]}) == [("recovered", "INCIDENT-1", "recovered")]
    # Somebody resumes it beside the incident.
    api.json("POST", f"{session}/resume", {"confirm": True})
    assert act("/note", {"text": "Hm."}) == []
    assert api.get("/v1/incidents/INCIDENT-1")["status"] == "open"
    assert act("/freeze") == [("recovered", "INCIDENT-1", "recovered")]
    assert act("/resume") == []
    for to in ("resolved", "closed"):
        for code in {each["code"] for each in api.get(f"/v1/incidents/INCIDENT-1/gates?to={to}")["unmet"]}:
            if code != "not_resolved":
                assert act("/override", {"gate": code, "reason": "A drill"}) == []
    assert act("/resolve") == [("resolved", "INCIDENT-1", "resolved")]
    assert act("/resolve") == []
    assert act("/close") == [("closed", "INCIDENT-1", "closed")]
    assert act("/close") == []
    assert act("/reopen", {"reason": "It came back"}) == [("reopened", "INCIDENT-1", "open")]

    two = {"title": "Another", "severity": "S1", "sessions": [other[13:]]}
    api.json("POST", "/v1/incidents", two, status=201)
    come = heard()
    assert of_incident(come) == [
        ("filed", "INCIDENT-2", "contained"),
        ("contained", "INCIDENT-2", "contained"),
    ]
    assert Counter(each["type"] for each in come)["session.frozen"] == 1
    # The merged one is heard of no more; the other is an S1 from now on.
    assert act("/merge", {"into": "INCIDENT-1"}, reference="INCIDENT-2") == [
        ("severity", "INCIDENT-1", "contained"),
        ("contained", "INCIDENT-1", "contained"),
    ]
    api.json("POST", "/v1/incidents", {"title": "Nothing"}, status=201)
    assert of_incident(heard()) == [("filed", "INCIDENT-3", "triage")]
    assert act("/decline", {"reason": "A test"}, reference="INCIDENT-3") == []
