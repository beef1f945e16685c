"""The mission's "Incident Recovery", step by step, with the official SDK against a running server."""

import httpx
import pytest


@pytest.fixture
def session_id(sb):
    """A session whose versions 1 to 3 are good and 4 to 6 went wrong, with a turn beside each."""
    session = sb.sessions.create(agent_id="refund-agent", user_id="u1", initial_state={"refunds": []})
    for number in range(1, 7):
        sb.sessions.add_turn(session.id, f"Request {number}", "Done", reasoning=f"Because {number}")
        good = number <= 3
        sb.sessions.update_state(
            session.id,
            {"refunds": list(range(number)) if good else ["everything"], "step": number},
            f"Refund {number}",
        )
    return session.id


def test_the_runbook(sb, http, server, session_id):
    # 1. Stop the bleeding.
    frozen = sb.sessions.update_state(
        session_id=session_id,
        state={"incident": True, "frozen": True},
        reasoning="INCIDENT: pausing session for investigation",
    )
    assert frozen.version == 7
    assert frozen.state == {"refunds": ["everything"], "step": 6, "incident": True, "frozen": True}
    with server.sdk(server.agent_key) as agent:
        for write in (
            lambda: agent.sessions.update_state(session_id, {"step": 7}),
            lambda: agent.sessions.update_state(session_id, {**frozen.state, "frozen": False}),
            lambda: agent.sessions.add_turn(session_id, "Go on", "Refunded"),
        ):
            with pytest.raises(httpx.HTTPStatusError) as refused:
                write()
            error = refused.value.response.json()["error"]
            assert refused.value.response.status_code == 423
            assert (error["code"], error["frozen_version"]) == ("session_frozen", 7)
            kept = http.get(f"/v1/traces/{error['trace_id']}").json()
            assert (kept["action"], kept["details"]["code"]) == ("write.refused", "session_frozen")
        for thaw in (
            lambda: agent.sessions.update_state(session_id, {"incident": False, "frozen": False}),
            lambda: agent.sessions.rollback(session_id, 3),
        ):
            with pytest.raises(httpx.HTTPStatusError) as refused:
                thaw()
            assert refused.value.response.status_code == 403

    # 2. Reconstruct what happened.
    turns = sb.sessions.list_turns(session_id=session_id, limit=100)
    assert [t.reasoning for t in turns] == [f"Because {number}" for number in range(6, 0, -1)]
    traces = http.get("/v1/traces", params={"session_id": session_id, "limit": 100}).json()["data"]
    told = [(tr["action"], tr["details"].get("version")) for tr in traces if tr["action"] == "state.updated"]
    assert told == [("state.updated", number) for number in range(7, 0, -1)]
    assert sum(tr["action"] == "write.refused" for tr in traces) == 5

    # 3. Find the divergence point.
    found = http.get(f"/v1/sessions/{session_id}/versions").json()["data"]
    assert [(v["version"], v["reasoning"]) for v in found][3:5] == [(3, "Refund 3"), (4, "Refund 4")]
    assert all(v["created_at"] for v in found)
    difference = http.get(f"/v1/sessions/{session_id}/diff?left=3&right=4").json()
    assert "everything" in str(difference["changes"])

    # 4. Roll back to the last good state: at version 7, four checkpoints back is version 3.
    sb.client.headers["X-StateBase-Reason"] = "INCIDENT-2314: rollback to last verified state"
    restored = sb.sessions.rollback(session_id=session_id, version=-4)
    assert restored.version == 8
    assert restored.state == {"refunds": [0, 1, 2], "step": 3, "frozen": True, "incident": True}
    version = http.get(f"/v1/sessions/{session_id}/versions/8").json()
    assert version["reasoning"] == "INCIDENT-2314: rollback to last verified state"
    assert (version["source"], version["restored_from_version"], version["frozen"]) == ("rollback", 3, True)
    with server.sdk(server.agent_key) as agent, pytest.raises(httpx.HTTPStatusError):
        agent.sessions.update_state(session_id, {"step": 4})

    # 6. Resume.
    resumed = sb.sessions.update_state(
        session_id=session_id,
        state={"incident": False, "frozen": False},
        reasoning="INCIDENT-2314 closed, agent resumed",
    )
    assert resumed.state == {"refunds": [0, 1, 2], "step": 3, "frozen": False, "incident": False}
    with server.sdk(server.agent_key) as agent:
        assert agent.sessions.update_state(session_id, {"step": 4}).version == 10
    [unfrozen] = http.get(f"/v1/traces?session_id={session_id}&action=session.unfrozen").json()["data"]
    assert unfrozen["details"]["refused_writes"] == 6
    assert unfrozen["details"]["frozen_version"] == 7


def test_a_rollback_can_be_undone(sb, session_id):
    bad = sb.sessions.get_state(session_id)
    sb.sessions.rollback(session_id, -3)
    assert sb.sessions.get_state(session_id).state["step"] == 3
    undone = sb.sessions.rollback(session_id, -1)
    assert (undone.version, undone.state) == (8, bad.state)


def test_the_reproduction_runs_in_a_fork(sb, session_id):
    sb.sessions.update_state(session_id, {"incident": True, "frozen": True})
    reproduction = sb.sessions.fork(session_id, version=3)
    assert reproduction.state == {"refunds": [0, 1, 2], "step": 3}
    assert sb.sessions.update_state(reproduction.id, {"refunds": "fault injected"}).version == 1
    assert sb.sessions.get(session_id).state["frozen"] is True
