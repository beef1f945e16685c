"""Erasing a user: nothing of them stays in any table, and nobody else loses anything (contract 6.9)."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from django.db import connection

from sessions_app import queries
from sessions_app.models import AgentSession, Memory, Trace
from statebase_site.base import clock, json
from statebase_site.base.clock import isoformat
from statebase_site.webhook_data import data_of
from statebase_site.webhooks import delivering
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Attempt, Delivery
from tests.api.test_exports import exported

USER = "zquser@example.org"
MARK = "zqmark"


def where_found(*texts):
    """Each table and column, of all there are, that holds one of the texts."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                for name, value in zip(names, row, strict=True):
                    raw = value.tobytes() if isinstance(value, memoryview) else value
                    shown = raw.decode("latin-1") if isinstance(raw, bytes) else str(raw)
                    if any(text in shown for text in texts):
                        found.add(f"{table}.{name}")
    return found


def lived(api, user=USER, mark=MARK):
    """The path of a session of the user in which everything was written that can be."""
    session = api.session({"secret": mark, "n": 0}, user_id=user, metadata={"name": mark})
    api.json("PATCH", session, {"metadata": {"later": mark}}, Idempotency_Key=f"k-{user}")
    turn = {
        "input": mark,
        "output": {"type": "tool_response", "content": mark},
        "state_after": {"secret": mark},
    }
    api.json("POST", f"{session}/turns", {**turn, "reasoning": mark, "metadata": {"m": mark}}, status=201)
    bound = {"content": f"{mark} likes tea", "session_id": session[13:], "tags": [mark]}
    api.json("POST", "/v1/memories", bound, status=201)
    entity = {"session_id": session[13:], "entity_type": mark, "entity_id": "1", "attributes": {mark: mark}}
    api.json("POST", "/v1/entities", entity, status=201)
    note = {"session_id": session[13:], "action": f"note.{mark}", "details": {"d": mark}}
    api.json("POST", "/v1/traces", note, status=201)
    api.json("POST", f"{session}/freeze", {"reason": mark})
    api.error("PATCH", f"{session}/state", {"state": {"a": mark}, "reasoning": mark}, status=423)
    api.json("POST", f"{session}/resume", {"reason": mark})
    return session


def hears_all(api):
    """A webhook of the key's project that hears of everything."""
    body = {"url": "https://example.org/hook", "events": list(Event)}
    api.json("POST", "/v1/webhooks", body, status=201)


def echo_all_deliveries():
    """Let every delivery be tried once, and answered with an error that repeats what it was told."""
    for delivery in Delivery.objects.all():
        body = delivering.body_of(delivery, data_of)
        said = body.decode() if body else None
        delivery.attempts_text = json.dumps([asdict(Attempt(isoformat(clock.now()), 1.0, 500, None, said))])
        delivery.next_try_at, delivery.tries = clock.now(), 1
        delivery.save()


def test_nothing_of_an_erased_user_stays_and_nobody_else_loses_anything(api, stranger):
    for key in (api, stranger):
        hears_all(key)
    session = lived(api)
    fork = api.json("POST", f"{session}/fork", {}, status=201)["id"]
    deleted = api.session({"x": MARK}, user_id=USER)
    api("DELETE", deleted, status=204, X_StateBase_Reason=MARK)
    free = {"content": f"{MARK} is allergic", "user_id": USER, "tags": [MARK]}
    api.json("POST", "/v1/memories", free, status=201)
    bobs = lived(api, "bob", "bobmark")
    elsewhere = api.json("POST", "/v1/memories", {**free, "session_id": bobs[13:]}, status=201)["id"]
    theirs = lived(stranger, USER, "othermark")
    incident = api.json(
        "POST", "/v1/incidents", {"title": "Broken", "severity": "S3", "sessions": [session[13:]]}, status=201
    )["id"]
    api.json("POST", f"/v1/incidents/{incident}/pin", {"session_id": session[13:], "versions": [0, 1]})
    before = exported(api, f"{bobs}/export")

    held = api.error("DELETE", f"/v1/users/{USER}", status=409)
    assert (held["code"], [each["label"] for each in held["holds"]]) == ("session_held", [incident])
    assert AgentSession.objects.filter(user_id=USER).count() == 4
    api.json("POST", f"/v1/incidents/{incident}/decline", {"reason": "A test"})

    echo_all_deliveries()
    assert "webhooks_delivery.attempts" in where_found(MARK, USER)
    on_its_way = Delivery.objects.filter(memory_id=elsewhere, event="memory.created").get()
    api("DELETE", f"/v1/users/{USER}", status=204)
    assert stranger.get(theirs)["state"]["secret"] == "othermark"
    stranger("DELETE", f"/v1/users/{USER}", status=204)
    # One that is answered only now, and one of before that is sent after all.
    delivering._write(on_its_way, attempts_text=json.dumps([asdict(Attempt("", 1, 500, None, MARK))]))
    for delivery in Delivery.objects.all():
        body = delivering.body_of(delivery, data_of) or b""
        assert MARK not in body.decode()
        assert USER not in body.decode()
    assert where_found(MARK, USER, "othermark") == set()
    assert "webhooks_delivery.attempts" in where_found("bobmark")

    for gone in (session[13:], fork, deleted[13:]):
        api.error("GET", f"/v1/sessions/{gone}", status=404)
        tombstone = api.get(f"/v1/traces?session_id={gone}")["data"]
        assert [(each["action"], each["user_id"]) for each in tombstone] == [("session.deleted", None)]
    erased = api.get("/v1/traces?action=user.erased")["data"]
    assert [each["details"] for each in erased] == [{"sessions": 3, "memories_elsewhere": 2, "traces": 1}]

    # Of Bob's session only the memory of the erased user went, and its trace says so.
    after = exported(api, f"{bobs}/export")
    assert after["versions"] == before["versions"]
    assert after["turns"] == before["turns"]
    assert [each["user_id"] for each in after["memories"]] == ["bob"]
    assert after["traces"][-1]["action"] == "memory.deleted"
    assert after["traces"][-1]["resource_id"] == elsewhere
    assert after["session"]["memory_count"] == 1
    assert queries.verify_session(AgentSession.objects.get()).ok
    assert api.get(f"/v1/incidents/{incident}")["status"] == "declined"


def test_an_erasure_is_refused_whole_while_frozen_and_without_the_scopes(api, with_scopes, agent):
    session = lived(api)
    other = api.session(user_id=USER)
    api.json("POST", f"{other}/freeze")
    bobs = api.session(user_id="bob")
    mine = {"content": f"{MARK} knows Bob", "user_id": USER, "session_id": bobs[13:]}
    api.json("POST", "/v1/memories", mine, status=201)
    path = f"/v1/users/{USER}"

    refused = api.error("DELETE", path, status=423)
    assert (refused["code"], refused["session_id"]) == ("session_frozen", other[13:])
    api.json("POST", f"{other}/resume")
    api.json("POST", f"{bobs}/freeze")
    assert api.error("DELETE", path, status=423)["session_id"] == bobs[13:]
    assert USER not in str(list(Trace.objects.filter(session_public_id=bobs[13:]).values()))
    api.json("POST", f"{bobs}/resume")
    for scopes, missing in (
        (("memory:write", "sessions:write"), "sessions:delete"),
        (("sessions:delete", "sessions:read"), "memory:write"),
    ):
        assert with_scopes(*scopes).error("DELETE", path, status=403)["required_scope"] == missing
    agent.error("DELETE", path, status=403)
    assert api.get(session)["memory_count"] == 1
    assert Memory.objects.filter(user_id=USER).count() == 2
    api("DELETE", path, status=204)
    # The refusal in Bob's session names nobody.
    assert where_found(MARK, USER) == set()


@pytest.mark.parametrize("user", ["nobody", "org%2Fteam%2Fann", "%00"])
def test_erasing_nobody_does_nothing(api, user):
    count = Trace.objects.count()
    api("DELETE", f"/v1/users/{user}", status=204)
    assert Trace.objects.count() == count
