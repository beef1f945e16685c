"""Contract 9 and 10 over a running server: what each scope grants, what each of the server's traces tells."""

from __future__ import annotations

import pytest

from sessions_app.enums import Action
from tests.api.rows.conftest import ident

TURN = {"input": "a", "output": "b"}

GRANTED = {
    "sessions:read": [
        ("GET", "/v1/sessions", None),
        *(
            ("GET", f"PATH{part}", None)
            for part in (
                "",
                "/state",
                "/versions",
                "/versions/0",
                "/turns",
                "/turns/TURN",
                "/context",
                "/history",
            )
        ),
        ("POST", "PATH/context", {}),
        ("GET", "/v1/turns/TURN", None),
        ("GET", "/v1/entities", None),
        ("GET", "/v1/entities/ENTITY", None),
        ("GET", "/v1/dashboard/stats", None),
        *(("GET", f"PATH/{part}", None) for part in ("diff?left=0&right=0", "lineage", "verify", "export")),
    ],
    "sessions:write": [
        ("POST", "/v1/sessions", {"agent_id": "rows-bot"}),
        ("PATCH", "PATH", {"metadata": {}}),
        ("PATCH", "PATH/state", {"state": {}}),
        ("PUT", "PATH/state", {"state": {}}),
        ("POST", "PATH/rollback", {"version": 0}),
        ("POST", "PATH/fork", {}),
        ("POST", "PATH/turns", TURN),
        ("POST", "/v1/entities", {"session_id": "SESSION", "entity_type": "t", "entity_id": "2"}),
        ("PUT", "/v1/entities/ENTITY", {"attributes": {}}),
        ("POST", "/v1/traces", {"action": "note"}),
        ("POST", "PATH/freeze", {}),
    ],
    "sessions:delete": [("DELETE", "PATH", None)],
    "memory:read": [
        ("GET", "/v1/memories", None),
        ("GET", "/v1/memories?query=x", None),
        ("POST", "/v1/memories/search", {"query": "x"}),
        ("GET", "/v1/memories/MEMORY", None),
        ("GET", "PATH/memories", None),
    ],
    "memory:write": [
        ("POST", "/v1/memories", {"content": "x"}),
        ("PATCH", "/v1/memories/MEMORY", {"tags": []}),
        ("DELETE", "/v1/memories/MEMORY", None),
    ],
    "traces:read": [
        ("GET", "/v1/traces", None),
        ("GET", "/v1/traces/TRACE", None),
        ("GET", "PATH/traces", None),
    ],
    "keys:manage": [
        ("GET", "/v1/keys", None),
        ("GET", "/v1/dashboard/keys", None),
        ("POST", "/v1/keys", {"name": "More", "scopes": ["keys:manage"]}),
    ],
}


@pytest.mark.parametrize("scope", GRANTED)
def test_9_a_scope_grants_its_row_and_no_other(wire, wire_with, scope):
    path = wire.session({"a": 1})
    turn = wire.turn(path)
    names = {
        "TURN": turn["id"],
        "TRACE": turn["trace_id"],
        "ENTITY": wire.entity(path)["id"],
        "MEMORY": wire.memory("x", session_id=ident(path))["id"],
        "PATH": path,
        "SESSION": ident(path),
    }

    def ask(by, method, address, body):
        for name, value in names.items():
            address = address.replace(name, value)
        sent = body and {field: names.get(str(value), value) for field, value in body.items()}
        return by(method, address, sent)

    scoped = wire_with(scopes=[scope])
    for other, calls in GRANTED.items():
        if other != scope:
            answer = ask(scoped, *calls[-1])
            assert (answer.status_code, answer.json()["error"]["required_scope"]) == (403, other)
    for call in GRANTED[scope]:
        assert ask(scoped, *call).status_code in (200, 201, 204), call


def test_9_incident_manage_resumes_and_rolls_back_while_frozen_and_the_star_may_all(wire, wire_with):
    path = wire.stepped(1)
    responder = wire_with(scopes=["sessions:write", "incident:manage"])
    responder.json("POST", f"{path}/freeze")
    responder.json("POST", f"{path}/rollback", {"version": 0})
    assert responder.json("POST", f"{path}/resume")["frozen"] is False
    assert wire_with(scopes=["incident:manage"]).error("GET", path, status=403)["required_scope"] == (
        "sessions:read"
    )
    whole = wire_with(scopes=["*"])
    for calls in GRANTED.values():
        for method, address, body in calls:
            if "PATH" not in address and not any(part.isupper() for part in address.split("/")):
                assert whole(method, address, body and {**body, "session_id": None}).status_code != 403


# 10 Traces the server writes

FORKED = {"agent_id", "user_id", "initial_state", "version", "reasoning", "forked_from", "forked_version"}
REFUSED = {
    *("operation", "method", "path", "code", "attempted", "attempted_sha256", "reasoning"),
    *("frozen_at", "frozen_version"),
}
ROWS = {
    "session.created": ("session", FORKED - {"forked_from", "forked_version"}),
    "session.updated": ("session", {"metadata_diff", "ttl_seconds"}),
    "session.deleted": ("session", {"session_id", "reason", "turn_count", "memory_count"}),
    "session.expired": ("session", {"ttl_seconds", "last_activity"}),
    "session.forked": ("session", {"source_session_id", "source_session", "fork_version", "new_session_id"}),
    "session.frozen": ("session", {"version", "reasoning", "incident"}),
    "session.unfrozen": (
        "session",
        {"version", "reasoning", "frozen_at", "frozen_version", "frozen_for_seconds", "refused_writes"},
    ),
    "state.updated": ("state", {"reasoning", "version", "previous_version", "mode", "state_diff"}),
    "state.rolled_back": (
        "state",
        {
            *("from_version", "to_version", "new_version", "reason", "reasoning", "requested_version"),
            *("state_diff", "while_frozen"),
        },
    ),
    "turn.added": (
        "turn",
        {
            *("turn_id", "turn_number", "input_type", "output_type", "input", "output", "reasoning"),
            *("metadata", "version", "state_diff"),
        },
    ),
    "memory.created": ("memory", {"content_preview", "content", "type", "tags", "session_id", "embedded"}),
    "memory.updated": ("memory", {"content_changed", "tags_changed"}),
    "memory.deleted": ("memory", {"content_preview", "reason"}),
    "entity.created": ("entity", {"entity_type", "entity_id", "version"}),
    "entity.updated": ("entity", {"entity_type", "entity_id", "version"}),
    "entity.deleted": ("entity", {"entity_type", "entity_id", "version"}),
    "key.created": ("api_key", {"name", "scopes"}),
    "key.revoked": ("api_key", {"name", "scopes"}),
    "write.refused": (None, REFUSED),
}


@pytest.mark.parametrize("action", ROWS)
def test_10_row(told, action):
    resource_type, fields = ROWS[action]
    rows = [each for each in told.seen["trace"] if each["action"] == action]
    assert rows
    for row in rows:
        assert row["source"] == "system"
        assert row["resource_type"] == resource_type or action == "write.refused"
        assert row["resource_id"]
        assert row["details"].keys() >= fields, row
    assert told.answers["key"]["full_key"] not in str(rows)


@pytest.mark.parametrize("action", Action.values)
def test_10_the_names_are_reserved(wire, action):
    assert wire.error("POST", "/v1/traces", {"action": action}, status=400)["param"] == "action"


def details_of(told, action, **named):
    """The details of the one trace of this action in the story's session whose details hold these."""
    session_id = ident(told.path)
    rows = {
        each["id"]: each["details"]
        for each in told.seen["trace"]
        if each["action"] == action and each["session_id"] == session_id
    }
    (found,) = [row for row in rows.values() if row.items() >= named.items()]
    return found


def test_10_what_the_rows_tell_of_states(told):
    assert details_of(told, "session.created") == {
        "agent_id": "rows-bot",
        "user_id": "ann",
        "initial_state": {"a": 1},
        "version": 0,
        "reasoning": "Initial state",
    }
    merged = details_of(told, "state.updated", version=1)
    assert (merged["reasoning"], merged["previous_version"], merged["mode"]) == ("Why", 0, "merge")
    assert merged["state_diff"] == {
        "added": {"b": {"c": 1}},
        "removed": {},
        "modified": {"a": {"from": 1, "to": 2}},
    }
    replaced = details_of(told, "state.updated", version=2)
    assert (replaced["mode"], replaced["state_diff"]["removed"]) == ("replace", {"b": {"c": 1}})
    restored = details_of(told, "state.rolled_back")
    assert restored["state_diff"]["modified"]["a"] == {"from": 3, "to": 2}
    numbers = ("requested_version", "from_version", "to_version", "new_version", "while_frozen")
    assert [restored[name] for name in numbers] == [-3, 4, 1, 5, True]
    assert restored["reason"] == restored["reasoning"] == "Last good"


def test_10_what_the_rows_tell_of_the_rest(wire, told):
    turn = told.answers["turn with state"]
    added = details_of(told, "turn.added", turn_id=turn["id"])
    assert (added["input"], added["output"], added["reasoning"]) == (turn["input"], turn["output"], "Because")
    assert (added["input_type"], added["output_type"], added["version"]) == ("tool_call", "text", 3)
    assert added["state_diff"]["modified"] == {"a": {"from": 2, "to": 3}}
    without = details_of(told, "turn.added", turn_id=told.answers["turn"]["id"])
    assert (without["version"], without["state_diff"]) == (None, None)
    memory = details_of(told, "memory.created", embedded=True)
    assert memory["content"] == memory["content_preview"] == "Ann prefers window seats"
    assert memory["session_id"] == ident(told.path)
    updated = details_of(told, "memory.updated")
    assert (updated["content_changed"], updated["tags_changed"]) == (False, True)
    deleted = details_of(told, "memory.deleted")
    assert (deleted["content_preview"], deleted["reason"]) == (None, "Wrong")
    changed = details_of(told, "session.updated")
    assert (changed["ttl_seconds"], changed["metadata_diff"]["added"]) == (7200, {"b": 2})
    frozen = details_of(told, "session.frozen")
    assert (frozen["reasoning"], frozen["incident"], frozen["version"]) == ("Stop", True, 4)
    unfrozen = details_of(told, "session.unfrozen")
    assert (unfrozen["reasoning"], unfrozen["frozen_version"], unfrozen["refused_writes"]) == ("Fixed", 4, 1)
    assert unfrozen["frozen_for_seconds"] >= 0
    forked = details_of(told, "session.forked")
    assert forked["source_session_id"] == forked["source_session"] == ident(told.path)
    assert (forked["fork_version"], forked["new_session_id"]) == (1, told.answers["fork"]["id"])
    (made,) = wire.traces(f"/v1/sessions/{told.answers['fork']['id']}")
    assert made["details"].keys() == FORKED
    refused = details_of(told, "write.refused")
    assert (refused["operation"], refused["attempted"]["state"], refused["reasoning"]) == (
        *("state.update", {"a": 9}),
        "Tried",
    )
    assert told.answers["refused"]["trace_id"] in {each["id"] for each in told.seen["trace"]}
    for trace in (each for each in told.seen["trace"] if each["resource_id"] == told.answers["key"]["id"]):
        assert trace["details"] == {"name": "Ends", "scopes": ["traces:read"]}


def test_10_one_row_a_write_and_none_for_a_read(told, wire):
    path = told.path
    before = wire.actions(path)
    for part in ("", "/state", "/versions", "/turns", "/context", "/history", "/export", "/verify"):
        wire("GET", path + part, status=200)
    wire.json("POST", f"{path}/context", {"query": "x"})
    assert wire.actions(path) == before
    assert before == [
        "session.created",
        "session.updated",
        "state.updated",
        "state.updated",
        "turn.added",
        "turn.added",
        "memory.created",
        "memory.updated",
        "memory.created",
        "memory.deleted",
        "entity.created",
        "entity.updated",
        "entity.deleted",
        "tool_call.failed",
        "state.updated",
        "session.frozen",
        "write.refused",
        "state.rolled_back",
        "state.updated",
        "session.unfrozen",
        "session.forked",
    ]
