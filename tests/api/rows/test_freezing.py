"""Contract 7 and 8 over a running server: version rules, freezing, and what is refused meanwhile."""

from __future__ import annotations

import pytest

from tests.api.rows.conftest import ident

CONTROL = {"incident": True, "frozen": True}
THAW = {"incident": False, "frozen": False}


# 7 Version rules


@pytest.mark.parametrize(
    ("before", "after", "makes"),
    [
        (None, None, False),
        ({"a": 1}, None, False),
        (None, {"a": 2}, True),
        (None, {"a": 1}, False),
        ({"a": 2}, {"a": 2}, False),
        ({"a": 9}, {"a": 2}, True),
        ({"a": 9}, {"a": 1}, False),
    ],
)
def test_7_3_when_a_turn_makes_a_version(wire, before, after, makes):
    path = wire.session({"a": 1})
    turn = wire.turn(path, state_before=before, state_after=after, reasoning="Because", expected_version=0)
    assert (turn["state_before"], turn["state_after"], turn["state_version"]) == (before, after, int(makes))
    assert wire.get(path)["version"] == int(makes)
    details = wire.trace(turn["trace_id"])["details"]
    assert details["stale_before"] is (before == {"a": 9} or before == {"a": 2})
    assert details["version"] == (1 if makes else None)
    if makes:
        version = wire.get(f"{path}/versions/1")
        assert (version["state"], version["source"], version["reasoning"]) == (after, "turn", "Because")
        assert (version["trace_id"], version["turn_id"]) == (turn["trace_id"], turn["id"])
    body = {"input": "a", "output": "b", "expected_version": 7}
    assert wire.error("POST", f"{path}/turns", body, status=409)["code"] == "version_conflict"


def test_7_1_what_a_write_returned_is_what_its_version_shows_for_ever(wire):
    path = wire.session({"n": 0})
    made = [wire.json("PATCH", f"{path}/state", {"state": {"n": n}}) for n in range(1, 4)]
    made.append(wire.json("POST", f"{path}/rollback", {"version": -2}))
    assert [each["version"] for each in made] == [1, 2, 3, 4]
    for each in made:
        shown = wire.get(f"{path}/versions/{each['version']}")
        assert (shown["state"], shown["trace_id"]) == (each["state"], each["trace_id"])
    wire.memory("Makes no version", session_id=ident(path))
    assert wire.get(path)["version"] == 4


# 8.1 and 8.2


@pytest.mark.parametrize(
    ("value", "is_frozen"), [(True, True), (1, False), ("true", False), (None, False), ([True], False)]
)
def test_8_1_frozen_is_json_true_alone(wire, value, is_frozen):
    for path in (wire.session({"frozen": value}), wire.session({"a": 1})):
        wire("PATCH", f"{path}/state", {"state": {"frozen": value, "b": 1}})
        session = wire.get(path)
        assert (session["frozen"], session["frozen_at"] is not None) == (is_frozen, is_frozen)


_FREEZES = [
    ("control update", "PATCH", "/state", {"state": CONTROL}),
    ("control update by PUT", "PUT", "/state", {"state": CONTROL}),
    ("control update by POST", "POST", "/state", {"state": {"frozen": True}}),
    ("with more keys", "PATCH", "/state", {"state": {"frozen": True, "b": 1}}),
    ("state_after", "POST", "/turns", {"input": "a", "output": "b", "state_after": {"a": 1, "frozen": True}}),
    ("by name", "POST", "/freeze", {"reason": "Stop"}),
]


@pytest.mark.parametrize(("name", "method", "route", "body"), _FREEZES, ids=[each[0] for each in _FREEZES])
def test_8_2_what_freezes(wire, agent_wire, name, method, route, body):
    path = wire.session({"a": 1})
    agent_wire(method, path + route, body)
    session = wire.get(path)
    assert (session["frozen"], session["version"], session["state"]["a"]) == (True, 1, 1)
    assert wire.actions(path)[-1] == "session.frozen"
    assert wire.get(f"{path}/versions/1")["frozen"] is True
    for again in (CONTROL, {"incident": True}, {"incident": False}):
        before = wire.get(path)["version"]
        made = wire.json("PATCH", f"{path}/state", {"state": again})
        assert (made["version"], made["frozen"]) == (before + 1, True)


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_8_2_resuming_takes_exactly_a_control_update_and_the_right(wire, agent_wire, method):
    path = wire.session({"a": 1})
    wire.json("PATCH", f"{path}/state", {"state": CONTROL})
    for state in (
        {"a": 1, **THAW},
        {"a": 1, "frozen": False, "step": 2},
        {"incident": "over", "frozen": False},
    ):
        assert wire.error(method, f"{path}/state", {"state": state}, status=423)["code"] == "session_frozen"
    refused = agent_wire.error(method, f"{path}/state", {"state": THAW}, status=403)
    assert refused["required_scope"] == "incident:manage"
    made = wire.json(method, f"{path}/state", {"state": THAW, "reasoning": "Fixed"})
    assert (made["state"], made["frozen"]) == ({"a": 1, **THAW}, False)
    assert wire.actions(path)[-2:] == ["state.updated", "session.unfrozen"]
    (unfrozen,) = [each for each in wire.traces(path) if each["action"] == "session.unfrozen"]
    assert unfrozen["details"]["refused_writes"] == 4


# 8.3 While frozen


@pytest.fixture(scope="module")
def frozen(wire):
    """The path of a frozen session with something of everything."""
    path = wire.session({"a": 1}, user_id="rows-frozen")
    wire.turn(path)
    wire.memory("Bound", session_id=ident(path))
    wire.entity(path)
    wire.json("PATCH", f"{path}/state", {"state": CONTROL})
    return path


@pytest.mark.parametrize(
    "route",
    [
        *("", "/state", "/versions", "/versions/0", "/turns", "/traces", "/context", "/memories", "/history"),
        *("/export", "/lineage", "/verify", "/diff", "/rollback/preview?version=0"),
    ],
)
def test_8_3_allowed_every_read(wire, frozen, route):
    assert wire("GET", frozen + route).status_code == 200


def test_8_3_allowed_search_forks_notes_and_free_memories(wire, frozen):
    assert wire.json("POST", f"{frozen}/memories/search", {"query": "bound"})["data"]
    assert wire.json("POST", f"{frozen}/context", {"query": "bound"})["frozen"] is True
    fork = wire.made(f"{frozen}/fork")
    assert (fork["frozen"], fork["state"]) == (False, {"a": 1, **THAW})
    wire.json("PATCH", f"/v1/sessions/{fork['id']}/state", {"state": {"runs": True}})
    wire.made("/v1/traces", {"action": "note", "session_id": ident(frozen)})
    free = wire.memory("Not bound", user_id="rows-frozen")
    wire.json("PATCH", f"/v1/memories/{free['id']}", {"tags": ["t"]})
    wire("DELETE", f"/v1/memories/{free['id']}", status=204)


_REFUSED = [
    ("state.update", "PATCH", "PATH/state", {"state": {"b": 1}, "reasoning": "Tried"}),
    ("state.update", "PATCH", "PATH/state", {"updates": {"b": 1}}),
    ("state.update", "PATCH", "PATH/state", {"state": {"a": 1, **THAW}}),
    ("state.replace", "PUT", "PATH/state", {"state": {"b": 1}}),
    ("state.replace", "POST", "PATH/state", {"state": {"b": 1}}),
    ("turn.add", "POST", "PATH/turns", {"input": "a", "output": "b"}),
    ("turn.add", "POST", "PATH/turns", {"input": "a", "output": "b", "state_after": {"a": 2}}),
    ("memory.add", "POST", "/v1/memories", {"content": "x", "session_id": "SESSION"}),
    ("memory.add", "POST", "PATH/memories", {"content": "x"}),
    ("memory.update", "PATCH", "/v1/memories/MEMORY", {"content": "x"}),
    ("memory.update", "PUT", "/v1/memory/MEMORY", {"tags": []}),
    ("memory.delete", "DELETE", "/v1/memories/MEMORY", None),
    ("entity.write", "POST", "/v1/entities", {"session_id": "SESSION", "entity_type": "t", "entity_id": "2"}),
    ("entity.write", "PUT", "/v1/entities/ENTITY", {"attributes": {}}),
    ("entity.write", "DELETE", "/v1/entities/ENTITY", None),
    ("session.update", "PATCH", "PATH", {"metadata": {"a": 1}}),
    ("session.update", "PATCH", "PATH", {"ttl_seconds": 60}),
    ("session.delete", "DELETE", "PATH", None),
]


@pytest.mark.parametrize(
    ("operation", "method", "route", "body"), _REFUSED, ids=[f"{one} {two}" for one, _, two, _ in _REFUSED]
)
def test_8_3_and_8_5_refused_with_evidence(wire, frozen, operation, method, route, body):
    memory = wire.get(f"{frozen}/memories")["data"][0]["id"]
    entity = wire.get(f"/v1/entities?session_id={ident(frozen)}")["data"][0]["id"]
    address = route.replace("PATH", frozen).replace("MEMORY", memory).replace("ENTITY", entity)
    sent = body and {name: ident(frozen) if value == "SESSION" else value for name, value in body.items()}
    sent = sent and {**sent, "row": f"{method} {route} {sorted(body)}"}  # the same body is kept once
    before, known = wire.get(frozen), len(wire.traces(frozen))
    error = wire.error(method, address, sent, status=423)
    assert (error["code"], error["type"]) == ("session_frozen", "frozen_error")
    assert (error["session_id"], error["frozen_at"]) == (before["id"], before["frozen_at"])
    assert wire.get(frozen) == before
    assert len(wire.traces(frozen)) == known + 1
    evidence = wire.trace(error["trace_id"])
    details = evidence["details"]
    assert (evidence["action"], evidence["session_id"]) == ("write.refused", before["id"])
    assert (details["operation"], details["method"], details["path"]) == (operation, method, address)
    assert (details["code"], len(details["attempted_sha256"])) == ("session_frozen", 64)
    assert details["attempted"] == sent or (sent is None and not details["attempted"])
    assert details["reasoning"] == (sent or {}).get("reasoning")
    frozen_since = (details["frozen_at"], details["frozen_version"])
    assert frozen_since == (before["frozen_at"], error["frozen_version"])


def test_8_5_a_large_attempt_is_kept_in_part_and_the_same_once(wire):
    path = wire.session(CONTROL)
    body = {"state": {"k": "x" * 20_000}}
    first, second = (wire.error("PATCH", f"{path}/state", body, status=423)["trace_id"] for _ in range(2))
    kept, named = wire.trace(first)["details"], wire.trace(second)["details"]
    assert (kept["attempted_truncated"], len(kept["attempted"])) == (True, 16 * 1024)
    assert kept["attempted"].startswith('{"state":{"k":"xxx')
    assert named["attempted"] is None
    assert named["attempted_sha256"] == kept["attempted_sha256"]


def test_8_3_a_life_moves_on_by_the_time_spent_frozen(wire):
    path = wire.session({"a": 1}, ttl_seconds=600)
    ends = wire.get(path)["ttl_expires_at"]
    frozen_at = wire.json("POST", f"{path}/freeze")["updated_at"]
    assert wire.get(path)["frozen_at"] == frozen_at
    wire.json("POST", f"{path}/resume")
    assert wire.get(path)["ttl_expires_at"] > ends


# 8.4 Rollback, fork and the control keys


def test_8_4_rollback_while_frozen_stays_frozen_and_needs_the_right(wire, agent_wire):
    path = wire.stepped(2)
    wire.json("PATCH", f"{path}/state", {"state": CONTROL})
    refused = agent_wire.error("POST", f"{path}/rollback", {"version": 0}, status=403)
    assert refused["required_scope"] == "incident:manage"
    assert wire.trace(refused["trace_id"])["details"]["operation"] == "state.rollback"
    made = wire.json("POST", f"{path}/rollback", {"version": 0})
    assert (made["state"], made["frozen"]) == ({"step": 0, **CONTROL}, True)
    assert wire.trace(made["trace_id"])["details"]["while_frozen"] is True
    wire.json("POST", f"{path}/resume")
    # While running: exactly the snapshot, but that it is not frozen.
    for version, state in ((1, {"step": 1}), (3, {"step": 2, **THAW})):
        made = agent_wire.json("POST", f"{path}/rollback", {"version": version})
        assert (made["state"], made["frozen"]) == (state, False)
        assert wire.trace(made["trace_id"])["details"]["while_frozen"] is False
        assert wire.made(f"{path}/fork", {"version": version})["state"] == state


def test_8_4_the_incident_label_is_carried_only_where_it_is_true(wire):
    path = wire.session({"a": 1})
    wire.json("PATCH", f"{path}/state", {"state": {"frozen": True}})
    assert wire.json("POST", f"{path}/rollback", {"version": 0})["state"] == {"a": 1, "frozen": True}
    wire.json("PATCH", f"{path}/state", {"state": {"frozen": False}})
    assert wire.json("POST", f"{path}/rollback", {"version": 1})["state"] == {"a": 1, "frozen": False}
