"""The mission's "Checkpoints & Rollbacks", block by block, with the official SDK against a running server.

Left out are the two blocks that need memories or statistics. What a block stubs (an API, a model) is a
plain function here; each test then checks the effect that the text states.
"""

from datetime import datetime

import httpx
import pytest


def versions(http, session_id):
    """All versions, oldest first."""
    return http.get(f"/v1/sessions/{session_id}/versions").json()["data"]


@pytest.fixture
def session(sb):
    """Version 0 with the initial state, then versions 1 and 2 of the section "Automatic State Versioning"."""
    session = sb.sessions.create(agent_id="travel-agent", initial_state={"step": "gathering_info"})
    sb.sessions.update_state(
        session_id=session.id,
        state={"step": "searching_flights", "destination": "NYC"},
        reasoning="User provided destination",
    )
    sb.sessions.update_state(
        session_id=session.id,
        state={"step": "confirming_booking", "flight_id": "UA123"},
        reasoning="User selected flight",
    )
    return session


def update(sb, session, upto):
    """More versions, up to number `upto`."""
    for number in range(3, upto + 1):
        made = sb.sessions.update_state(session.id, {"step": f"step {number}"}, f"Step {number}")
        assert made.version == number


def test_undo_what_the_model_hallucinated(sb):
    state = {"user_request": "book flight", "destination": "NYC", "dates": "2024-03-15"}
    session = sb.sessions.create(agent_id="travel-agent", initial_state=state)
    corrupted = {"user_request": "cancel everything", "destination": None, "dates": None}
    assert sb.sessions.update_state(session.id, corrupted).state == corrupted
    assert sb.sessions.rollback(session.id, version=0).state == state


def test_every_update_makes_an_immutable_snapshot(sb, http, session):
    found = versions(http, session.id)
    assert [row["version"] for row in found] == [0, 1, 2]
    assert [row["reasoning"] for row in found] == [
        "Initial state",
        "User provided destination",
        "User selected flight",
    ]
    assert [row["state"] for row in found] == [
        {"step": "gathering_info"},
        {"step": "searching_flights", "destination": "NYC"},
        {"step": "confirming_booking", "destination": "NYC", "flight_id": "UA123"},
    ]
    times = [datetime.fromisoformat(row["created_at"]) for row in found]
    assert times == sorted(times)
    for row, action in zip(found, ["session.created", "state.updated", "state.updated"], strict=True):
        trace = http.get(f"/v1/traces/{row['trace_id']}").json()
        assert (trace["action"], trace["session_id"]) == (action, session.id)


def test_roll_back_to_version_3(sb, http, session):
    update(sb, session, 5)
    before = versions(http, session.id)
    restored_state = sb.sessions.rollback(session_id=session.id, version=3)
    assert restored_state.version == 6
    assert restored_state.state == before[3]["state"]
    assert sb.sessions.get_state(session.id).state == before[3]["state"]
    after = versions(http, session.id)
    assert after[:6] == before  # versions 4 and 5 are still there for audit
    assert (after[6]["source"], after[6]["restored_from_version"]) == ("rollback", 3)
    going_on = sb.sessions.update_state(session.id, {"step": "again"}, "Continue from there")
    assert going_on.state == {**before[3]["state"], "step": "again"}


def test_checkpoint_after_tool_calls(sb, session):
    def call_weather_api(city):
        return {"city": city, "celsius": 18.0}

    result = call_weather_api(city="San Francisco")
    sb.sessions.update_state(
        session_id=session.id,
        state={"weather_data": result, "last_tool": "weather_api"},
        reasoning="Cached weather API result",
    )
    assert sb.sessions.get_state(session.id).state["weather_data"] == result


def test_checkpoint_after_user_confirmation(sb, session):
    user_confirmed = True
    if user_confirmed:
        sb.sessions.update_state(
            session_id=session.id,
            state={"booking_confirmed": True, "confirmation_id": "ABC123"},
            reasoning="User confirmed booking",
        )
    just_before = sb.sessions.rollback(session.id, -1)
    assert "booking_confirmed" not in just_before.state
    assert just_before.state["flight_id"] == "UA123"


def test_checkpoint_before_risky_operations(sb, session):
    current_data = {"rows": [1, 2, 3]}

    def delete_user_data(user_id):
        sb.sessions.update_state(session.id, {"rows": None, "user_id": user_id})
        raise RuntimeError("half done")

    made = sb.sessions.update_state(
        session_id=session.id,
        state={"pre_delete_snapshot": current_data},
        reasoning="Checkpoint before deletion",
    )
    with pytest.raises(RuntimeError):
        delete_user_data("u1")
    restored = sb.sessions.rollback(session.id, made.version)
    assert restored.state == made.state


def test_a_turn_makes_a_checkpoint_only_with_a_state(sb, http, session):
    sb.sessions.add_turn(session_id=session.id, input="Hello", output="Hi there!")
    assert sb.sessions.get_state(session.id).version == 2
    # The official SDK can't send state_after: what a client sends that can.
    turn = {
        "input": "Book a flight to NYC",
        "output": "Sure, searching flights...",
        "state_after": {"destination": "NYC", "searching": True},
    }
    http.post(f"/v1/sessions/{session.id}/turns", json=turn).raise_for_status()
    state = sb.sessions.get_state(session.id)
    assert (state.version, state.state) == (3, {"destination": "NYC", "searching": True})
    http.post(f"/v1/sessions/{session.id}/turns", json=turn).raise_for_status()
    assert sb.sessions.get_state(session.id).version == 3  # state_after did not differ


def test_retry_with_a_different_prompt(sb, session):
    def generate(prompt, context):
        assert context["state"]["step"] == "step 4"
        return f"{prompt}: {context['recent_turns'][0]['input']['content']}"

    sb.sessions.add_turn(session.id, "Book it", "Cancelled everything")
    update(sb, session, 5)
    sb.sessions.rollback(session_id=session.id, version=4)
    response = generate(
        prompt="You are a travel agent. Be VERY careful not to delete user data.",
        context=sb.sessions.get_context(session_id=session.id),
    )
    assert response.endswith("Book it")


def test_fall_back_to_a_human(sb, session):
    notified = []
    update(sb, session, 8)
    sb.sessions.rollback(session_id=session.id, version=5)
    sb.sessions.update_state(
        session_id=session.id,
        state={"escalated_to_human": True, "reason": "Agent stuck in loop"},
        reasoning="Automatic escalation after 3 failed attempts",
    )
    notified.append(session.id)
    state = sb.sessions.get_state(session.id)
    assert (state.version, state.state["step"], state.state["escalated_to_human"]) == (10, "step 5", True)


def test_try_another_model(sb, session):
    update(sb, session, 3)
    sb.sessions.rollback(session_id=session.id, version=2)
    sb.sessions.update_state(
        session_id=session.id,
        state={"successful_model": "claude-3.5-sonnet"},
        reasoning="GPT-4 failed, Claude succeeded",
    )
    state = sb.sessions.get_state(session.id).state
    assert (state["step"], state["successful_model"]) == ("confirming_booking", "claude-3.5-sonnet")


def test_fork_from_version_3_of_5(sb, http, session):
    update(sb, session, 5)
    original_session = sb.sessions.get(session.id)
    forked_session = sb.sessions.fork(session_id=original_session.id, version=3)
    assert forked_session.id != original_session.id
    assert forked_session.state == versions(http, session.id)[3]["state"]
    assert forked_session.metadata == {"forked_from": original_session.id, "forked_version": 3}
    assert sb.sessions.get(session.id) == original_session


def test_debug_in_production(sb, session):
    update(sb, session, 10)
    production_session = sb.sessions.get(session.id)
    debug_session = sb.sessions.fork(session_id=production_session.id, version=9)
    sb.sessions.update_state(debug_session.id, {"step": "experiment"})
    sb.sessions.add_turn(debug_session.id, "What if?", "Then this")
    assert sb.sessions.get(session.id) == production_session


def test_checkpoint_by_position(sb, session):
    session_id, state = session.id, {"step": "paranoid"}
    sb.sessions.update_state(session_id, state, reasoning="...")
    is_critical_operation = user_requested_save = True
    if is_critical_operation:
        sb.sessions.update_state(session_id, state, reasoning="...")
    if user_requested_save:
        sb.sessions.update_state(session_id, state, reasoning="User checkpoint")
    assert sb.sessions.get_state(session_id).version == 5  # each update is a snapshot, also of the same state


def test_history_cannot_be_deleted(sb, http, session):
    for method in ("DELETE", "PUT", "PATCH"):
        assert http.request(method, f"/v1/sessions/{session.id}/versions/1").status_code == 405
    with pytest.raises(httpx.HTTPStatusError) as refused:
        sb.sessions.rollback(session.id, 99)
    assert refused.value.response.json()["error"]["code"] == "version_not_found"
    assert len(versions(http, session.id)) == 3
