"""Lineage, verification and history of a session over the API (contract 6.2, 15)."""

from __future__ import annotations

from django.db import connection

from sessions_app import triggers
from sessions_app.models import AgentSession, StateVersion


def test_a_lineage_lists_the_whole_family_from_any_member(api):
    root = api.session({"a": 1})
    child = api.json("POST", f"{root}/fork", {}, status=201)["id"]
    grandchild = api.json("POST", f"/v1/sessions/{child}/fork", {}, status=201)["id"]
    api.session()
    for member in (root[13:], child, grandchild):
        answer = api.get(f"/v1/sessions/{member}/lineage")
        assert answer["root"] == root[13:]
        assert [(each["session_id"], each["parent"], each["depth"]) for each in answer["nodes"]] == [
            (root[13:], None, 0),
            (child, root[13:], 1),
            (grandchild, child, 2),
        ]


def test_a_chain_that_holds_is_said_to_and_one_that_was_tampered_with_names_the_place(api):
    session = api.session_with_versions(3)
    assert api.get(f"{session}/verify") == {
        "object": "verification",
        "ok": True,
        "versions": 4,
        "traces": 4,
        "first_bad": None,
    }
    made = AgentSession.objects.get(public_id=session[13:])
    with connection.cursor() as cursor:
        _drop_guard(cursor)
        cursor.execute(
            "UPDATE sessions_app_stateversion SET reasoning = 'x' WHERE agent_session_id = %s AND number = 2",
            [made.pk],
        )
    answer = api.get(f"{session}/verify")
    assert answer["ok"] is False
    assert (answer["first_bad"]["kind"], answer["first_bad"]["version"]) == ("version", 2)
    assert StateVersion.objects.get(agent_session=made, number=2).reasoning == "x"


def _drop_guard(cursor):
    name = next(each for each in triggers.names() if each == "sessions_app_stateversion_keep_update")
    of_table = "" if connection.vendor == "sqlite" else " ON sessions_app_stateversion"
    cursor.execute(f"DROP TRIGGER {name}{of_table}")


def test_a_history_merges_versions_turns_and_traces_oldest_first(api, with_scopes):
    session = api.session({"n": 0})
    api.json("POST", f"{session}/turns", {"input": "a", "output": "b", "state_after": {"n": 1}}, status=201)
    api.json("PATCH", f"{session}/state", {"state": {"n": 2}})
    answer = api.get(f"{session}/history")
    assert [each["type"] for each in answer["data"]] == [
        "state",
        "trace",
        "state",
        "turn",
        "trace",
        "state",
        "trace",
    ]
    moments = [each["timestamp"] for each in answer["data"]]
    assert moments == sorted(moments)
    assert [each["item"]["state"]["n"] for each in answer["data"] if each["type"] == "state"] == [0, 1, 2]
    assert answer["has_more"] is False
    short = api.get(f"{session}/history?limit=2&include_traces=false")
    assert [each["type"] for each in short["data"]] == ["state", "state"]
    assert short["has_more"] is True
    ids = [each["id"] for each in answer["data"]]
    for cursor in ids:  # also where rows of several kinds share a moment
        later = api.get(f"{session}/history?starting_after={cursor}")["data"]
        assert [each["id"] for each in later] == ids[ids.index(cursor) + 1 :]
    error = api.error("GET", f"{session}/history?starting_after=turn_none", status=400)
    assert error["param"] == "starting_after"
    turns = api.get(f"{session}/history?include_state=false&include_traces=false")["data"]
    assert [each["type"] for each in turns] == ["turn"]
    blind = with_scopes("sessions:read").get(f"{session}/history")["data"]
    assert {each["type"] for each in blind} == {"state", "turn"}
