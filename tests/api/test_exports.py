"""Whole sessions as one document, and what comes back of it; all data of a user (contract 6.9, 15)."""

from __future__ import annotations

from hashlib import sha256

import pytest
from django.core.management import CommandError, call_command

from sessions_app import queries
from sessions_app.models import AgentSession, Entity, Memory, Trace
from statebase_site.base import json
from tests import factories as make


def exported(api, path):
    """The document, its digest checked."""
    answer = api("GET", path, status=200)
    document = json.parse(b"".join(answer.streaming_content))
    without = {key: value for key, value in document.items() if key != "sha256"}
    assert document["sha256"] == sha256(json.dumps(without).encode()).hexdigest()
    return document


@pytest.fixture
def storied(api):
    """A session with everything that can happen to one."""
    state = {"n": 0, "exact": [1, 1.0, -0.0, 12345678901234567890, "a\x00b", "ü"], "z": {}, "a": None}
    session = api.session(state, user_id="ann", metadata={"team": "a"})
    api.json("PATCH", f"{session}/state", {"state": {"n": 1}, "reasoning": "One"})
    api.json("PUT", f"{session}/state", {"state": {"n": 2, "only": True}, "reasoning": "Two"})
    api.json(
        "POST",
        f"{session}/turns",
        {
            "input": {"type": "text", "content": "Hi", "extra": 1},
            "output": "Hello",
            "reasoning": "Three",
            "metadata": {"m": 1},
            "state_before": {"n": "stale"},
            "state_after": {"n": 3},
        },
        status=201,
    )
    api.json("POST", f"{session}/turns", {"input": "No", "output": "change"}, status=201)
    memory = {"content": "Ann likes tea", "session_id": session[13:], "tags": ["t"], "metadata": {"c": 1.0}}
    api.json("POST", "/v1/memories", memory, status=201)
    entity = {"session_id": session[13:], "entity_type": "cup", "entity_id": "1", "attributes": {"hot": True}}
    api.json("POST", "/v1/entities", entity, status=201)
    api.json("PATCH", f"{session}/state", {"state": {"frozen": True, "incident": True}, "reasoning": "Stop"})
    api.error("POST", f"{session}/turns", {"input": "tried", "output": "this"}, status=423)
    api.json("POST", f"{session}/rollback", {"version": 1, "reason": "Back"})
    api.json("POST", f"{session}/resume", {"reason": "Go"})
    note = {"session_id": session[13:], "action": "tool_call.failed", "details": {"tool": "kettle"}}
    api.json("POST", "/v1/traces", note, status=201)
    api.json("PATCH", f"{session}/state", {"state": {"n": 9}})
    return session


def test_an_export_holds_everything_and_names_what_the_key_may_not_see(api, with_scopes, stranger, storied):
    document = exported(api, f"{storied}/export")
    listed = api.get(f"{storied}/versions")["data"]
    for version, shown in zip(document["versions"], listed, strict=True):
        assert version.items() >= shown.items()
        assert version["sha256"] == sha256(json.dumps(version["state"]).encode()).hexdigest()
    assert [each["turn_number"] for each in document["turns"]] == [1, 2]
    first = document["turns"][0]
    assert (first["state_before"], first["state_after_version"]) == ({"n": "stale"}, 3)
    assert (first["stale_before"], first["input"]["extra"]) == (True, 1)
    assert [each["content"] for each in document["memories"]] == ["Ann likes tea"]
    assert [each["attributes"] for each in document["entities"]] == [{"hot": True}]
    assert "tried" in document["refused_writes"][0]["attempted"]
    chained = [each for each in document["traces"] if each["source"] == "system"]
    assert [each["position"] for each in chained] == list(range(1, document["session"]["chain_length"] + 1))
    assert chained[-1]["hash"] == document["session"]["chain_hash"]
    assert document["omitted"] == []
    assert exported(api, f"{storied}/export") == document

    partial = exported(with_scopes("sessions:read"), f"{storied}/export")
    assert partial["omitted"] == ["memories", "traces", "refused_writes"]
    assert not partial.keys() & {"memories", "traces", "refused_writes"}
    stranger.error("GET", f"{storied}/export", status=404)
    assert api.error("GET", "/v1/sessions/sess_x/export", status=404)["code"] == "session_not_found"
    with_scopes("traces:read").error("GET", f"{storied}/export", status=403)


def test_an_export_comes_back_as_it_was_and_once(api, storied, tmp_path, capsys):
    document = exported(api, f"{storied}/export")
    elsewhere = make.project("Elsewhere")
    file = tmp_path / "export.json"
    file.write_text(json.pretty(document))
    for _ in range(2):
        call_command("import_runs", str(file), project="elsewhere")
    assert "1 already there" in capsys.readouterr().out
    copy = AgentSession.objects.get(project=elsewhere)
    original = AgentSession.objects.get(public_id=storied[13:])

    def versions(of):
        columns = ("number", "reasoning", "created_at", "sha256", "frozen", "restored_from", "kind")
        rows = queries.versions_of(of).values_list(*columns)
        return [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in rows]

    def turns(of):
        columns = ("number", "input_text", "output_text", "reasoning", "metadata_text", "created_at")
        more = ("state_version", "state_before_version", "state_after_version", "stale_before")
        rows = list(queries.turns_of(of))
        states = queries.states_of_turn(of, rows)
        return list(queries.turns_of(of).values_list(*columns, *more)), list(states.values())

    assert versions(copy) == versions(original)
    assert turns(copy) == turns(original)
    assert (copy.agent_id, copy.user_id, copy.created_at) == ("support-bot", "ann", original.created_at)
    assert copy.metadata.items() >= {"team": "a"}.items()
    assert (copy.rollback_count, copy.memory_count, copy.is_frozen) == (1, 1, False)
    memory = Memory.objects.get(agent_session=copy)
    assert (memory.content, memory.tags, memory.metadata) == ("Ann likes tea", ["t"], {"c": 1.0})
    assert memory.created_at == Memory.objects.get(agent_session=original).created_at
    assert Entity.objects.get(agent_session=copy).attributes == {"hot": True}
    note = Trace.objects.get(agent_session=copy, source="client")
    assert (note.action, note.details) == ("tool_call.failed", {"tool": "kettle"})
    assert queries.verify_session(copy).ok

    # Nobody brings in what the session never was.
    for spoil in (
        lambda it: it["versions"][2]["state"].update(n=7),
        lambda it: it["versions"].pop(1),
        lambda it: it["turns"].pop(),
    ):
        spoilt = json.parse(json.dumps(document))
        spoil(spoilt)
        file.write_text(json.dumps(spoilt))
        with pytest.raises(CommandError, match="1 failed"):
            call_command("import_runs", str(file), project="elsewhere")
        assert "SHA-256" in capsys.readouterr().err
    # With a digest that fits, what does not fit together is still refused.
    for spoil, said in (
        (lambda it: it["versions"][2]["state"].update(n=7), "version 2"),
        (lambda it: it["versions"].pop(1), "Version 1 is missing"),
        (lambda it: it["turns"].pop(0), "Turn 1 is missing"),
        (lambda it: it["turns"][0].update(state_version=2), "inconsistent"),
        (lambda it: it["turns"][0].update(input={"type": "text"}), "`content`"),
        (lambda it: it["versions"][5].update(restored_from_version=8), "restore a later one"),
    ):
        spoilt = json.parse(json.dumps(document))
        spoil(spoilt)
        del spoilt["sha256"]
        spoilt["sha256"] = sha256(json.dumps(spoilt).encode()).hexdigest()
        file.write_text(json.dumps(spoilt))
        with pytest.raises(CommandError, match="1 failed"):
            call_command("import_runs", str(file), project="elsewhere")
        assert said in capsys.readouterr().err
    assert AgentSession.objects.filter(project=elsewhere).count() == 1


def test_a_fork_comes_back_as_a_session_of_its_own(api, tmp_path):
    source = api.session({"n": 1})
    fork = f"/v1/sessions/{api.json('POST', f'{source}/fork', {}, status=201)['id']}"
    api.json("PATCH", f"{fork}/state", {"state": {"frozen": True}})
    file = tmp_path / "fork.json"
    file.write_text(json.dumps(exported(api, f"{fork}/export")))
    make.project("Elsewhere")
    call_command("import_runs", str(file), project="elsewhere")
    copy = AgentSession.objects.get(project__slug="elsewhere")
    assert (copy.is_frozen, copy.head_version, copy.metadata["forked_from"]) == (True, 1, source[13:])
    assert "Forked from version 0" in queries.version_row(copy, 0).reasoning


def test_an_export_of_a_user_holds_all_that_names_them(api, with_scopes, stranger, storied):
    mine = {"content": "Ann is allergic", "user_id": "ann"}
    free = api.json("POST", "/v1/memories", mine, status=201)["id"]
    other = api.session(user_id="bob")
    bound = api.json("POST", "/v1/memories", {**mine, "session_id": other[13:]}, status=201)["id"]
    api.json("POST", "/v1/memories", {"content": "Bob's own", "user_id": "bob"}, status=201)
    deleted = api.session({"gone": True}, user_id="ann")
    api("DELETE", deleted, status=204)
    document = exported(api, "/v1/users/ann/export")
    assert [each["session"]["id"] for each in document["sessions"]] == [storied[13:], deleted[13:]]
    assert document["sessions"][0] == exported(api, f"{storied}/export")
    assert [each["id"] for each in document["memories"]] == [free, bound]
    assert [(each["action"], each["resource_id"]) for each in document["traces"]] == [
        ("memory.created", free)
    ]
    assert "Bob" not in json.dumps(document)

    assert exported(stranger, "/v1/users/ann/export")["sessions"] == []
    assert exported(api, "/v1/users/org%2Fann/export")["user_id"] == "org/ann"
    for missing in ("sessions:read", "memory:read", "traces:read"):
        held = {"sessions:read", "memory:read", "traces:read"} - {missing}
        refused = with_scopes(*held).error("GET", "/v1/users/ann/export", status=403)
        assert refused["required_scope"] == missing


def test_a_running_server_streams_an_export_and_erases(http):
    made = http.post(
        "/v1/sessions", json={"agent_id": "a", "user_id": "zed", "initial_state": {"n": 0}}
    ).json()
    session = f"/v1/sessions/{made['id']}"
    long = "x" * 20_000
    for number in range(40):
        http.patch(f"{session}/state", json={"state": {"n": number, "long": f"{number}{long}"}})
    answer = http.get(f"{session}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["content-disposition"] == f'attachment; filename="{made["id"]}.json"'
    assert {"x-request-id", "x-statebase-latency", "x-ratelimit-limit"} <= answer.headers.keys()
    assert [each["state"]["n"] for each in answer.json()["versions"]] == [0, *range(40)]
    assert len(http.get("/v1/users/zed/export").json()["sessions"]) == 1
    assert http.delete("/v1/users/zed").status_code == 204
    assert http.get(session).status_code == 404
    assert http.get("/v1/users/zed/export").json()["sessions"] == []
