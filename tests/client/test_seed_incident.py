"""The documentation's "Incident Recovery": its blocks in their order, as they stand there."""

from pathlib import Path

import pytest

from statebase_client import PermissionDenied, SessionFrozen
from tests.client.blocks import Document

PAGE = Document(Path(__file__).with_name("incident_recovery.md"))


@pytest.fixture
def session_id(sb):
    """A session whose versions 1 to 3 are good and 4 to 5 went wrong, with a turn beside each."""
    session = sb.sessions.create(agent_id="refund-agent", user_id="u1", initial_state={"refunds": []})
    for number in range(1, 6):
        sb.sessions.add_turn(session.id, f"Request {number}", "Done", reasoning=f"Because {number}")
        refunds = list(range(number)) if number <= 3 else ["everything"]
        sb.sessions.update_state(session.id, {"refunds": refunds, "step": number}, f"Refund {number}")
    return session.id


def test_the_runbook(sb, agent, session_id, capsys):
    names = {"sb": sb, "session_id": session_id}

    PAGE.run("1. Stop the bleeding", **names)
    frozen = sb.sessions.get(session_id)
    assert (frozen.frozen, frozen.version, frozen.state["refunds"]) == (True, 6, ["everything"])
    for write in (
        lambda: agent.sessions.update_state(session_id, {"step": 7}),
        lambda: agent.sessions.update_state(session_id, {**frozen.state, "frozen": False}),
        lambda: agent.sessions.add_turn(session_id, "Go on", "Refunded", state_after={"refunds": []}),
    ):
        with pytest.raises(SessionFrozen) as refused:
            write()
        assert (refused.value.session_id, refused.value.frozen_version) == (session_id, 6)
        assert sb.traces.get(refused.value.trace_id).action == "write.refused"
    for thaw in (
        lambda: PAGE.run("6. Resume", sb=agent, session_id=session_id),
        lambda: agent.sessions.rollback(session_id, 3),
    ):
        with pytest.raises(PermissionDenied) as refused:
            thaw()
        assert refused.value.required_scope == "incident:manage"

    ran = PAGE.run("2. Reconstruct what happened", **names)
    printed = capsys.readouterr().out
    assert [turn.reasoning for turn in ran["turns"]] == [f"Because {number}" for number in range(5, 0, -1)]
    for line in ("Because 1\n", "turn.added {", "state.updated {", "session.frozen {", "write.refused {"):
        assert line in printed
    assert sum(trace.action == "write.refused" for trace in ran["traces"]) == 5

    ran = PAGE.run("3. Find the divergence point", **names)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [
        "0 Initial state",
        *(f"{number} Refund {number}" for number in range(1, 6)),
        "6 INCIDENT: pausing session for investigation",
    ]
    states = [version.state for version in ran["state_versions"]]
    assert "everything" not in states[3]["refunds"]
    assert "everything" in states[4]["refunds"]

    PAGE.run("4. Roll back to the last good state", last_good_version=-3, **names)
    restored = sb.sessions.get_state(session_id)
    assert restored.version == 7
    assert restored.state == {"refunds": [0, 1, 2], "step": 3, "frozen": True, "incident": True}
    assert restored.reasoning == "INCIDENT-2314: rollback to last verified state"
    assert sb.sessions.get_version(session_id, 7).restored_from_version == 3
    [rolled_back] = sb.traces.list(session_id=session_id, action="state.rolled_back")
    assert rolled_back.details["to_version"] == 3
    assert rolled_back.details["while_frozen"] is True
    with pytest.raises(SessionFrozen):
        agent.sessions.update_state(session_id, {"step": 4})

    PAGE.run("6. Resume", **names)
    resumed = sb.sessions.get_state(session_id)
    assert resumed.state == {"refunds": [0, 1, 2], "step": 3, "frozen": False, "incident": False}
    assert resumed.reasoning == "INCIDENT-2314 closed, agent resumed"
    assert agent.sessions.update_state(session_id, {"step": 4}).version == 9
    assert len(PAGE.blocks) == 5


def test_the_rollback_itself_can_be_undone(sb, session_id):
    bad = sb.sessions.get_state(session_id)
    PAGE.run("4. Roll back to the last good state", sb=sb, session_id=session_id, last_good_version=-3)
    assert sb.sessions.get_state(session_id).state["step"] == 2
    undone = sb.sessions.rollback(session_id, -1, reason="It was right after all")
    assert (undone.version, undone.state, undone.reason) == (7, bad.state, "It was right after all")
