"""The documentation's "Checkpoints & Rollbacks": each block as it stands there, against a running server.

What a block takes as given (a model, an API) is a plain function here; each test then checks the effect that
the page states.
"""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from statebase_client import NotFound
from tests.client.blocks import Document

PAGE = Document(Path(__file__).with_name("checkpoints_and_rollbacks.md"))


@pytest.fixture
def session(sb):
    """At version 2, by the page's first block with the client."""
    return PAGE.run("How It Works: Automatic State Versioning", sb=sb)["session"]


@pytest.fixture
def session_at(sb, session):
    """Brings the session to a version; its state says `step 3` at version 3 and so on."""

    def bring(upto):
        for number in range(3, upto + 1):
            made = sb.sessions.update_state(session.id, {"step": f"step {number}"}, f"Step {number}")
            assert made.version == number
        return sb.sessions.get(session.id)

    return bring


def test_every_block_of_the_page_is_run():
    here = Path(__file__).read_text()
    assert len(PAGE.blocks) == 16
    assert [heading for heading in PAGE.blocks if f'"{heading}"' not in here] == []


def test_what_a_model_corrupts_can_be_undone(sb):
    corrupted = PAGE.run("The Problem: Non-Deterministic Failures")["state"]
    assert corrupted == {"user_request": "cancel everything", "destination": None, "dates": None}
    good = {"user_request": "book flight", "destination": "NYC", "dates": "2024-03-15"}
    session = sb.sessions.create(agent_id="travel-agent", initial_state=good)
    assert sb.sessions.update_state(session.id, corrupted).state == corrupted
    assert sb.sessions.rollback(session.id, -1).state == good


def test_every_update_is_an_immutable_snapshot(sb, session):
    versions = sb.sessions.list_versions(session.id)
    assert [(v.version, v.reasoning, v.state) for v in versions] == [
        (0, "Initial state", {"step": "gathering_info"}),
        (1, "User provided destination", {"step": "searching_flights", "destination": "NYC"}),
        (
            2,
            "User selected flight",
            {"step": "confirming_booking", "destination": "NYC", "flight_id": "UA123"},
        ),
    ]
    assert [sb.traces.get(v.trace_id).action for v in versions] == [
        "session.created",
        "state.updated",
        "state.updated",
    ]
    times = [datetime.fromisoformat(v.created_at) for v in versions]
    assert times == sorted(times)


def test_roll_back_to_version_3(sb, session_at):
    session = session_at(5)
    before = [(v.version, v.state) for v in sb.sessions.list_versions(session.id)]
    restored_state = PAGE.run("Rollback: Undo to a Previous Version", sb=sb, session=session)[
        "restored_state"
    ]
    assert (restored_state.version, restored_state.restored_from_version) == (6, 3)
    assert restored_state.state == before[3][1] == sb.sessions.get_state(session.id).state
    after = [(v.version, v.state) for v in sb.sessions.list_versions(session.id)]
    assert after == [*before, (6, before[3][1])]  # 4 and 5 are still there for audit
    assert sb.sessions.update_state(session.id, {"step": "on"}).state == {**before[3][1], "step": "on"}


def test_checkpoint_after_tool_calls(sb, session):
    weather = {"celsius": 18.0, "rain": None}
    PAGE.run(
        "Strategy 1: Checkpoint After Tool Calls",
        sb=sb,
        session=session,
        call_weather_api=lambda city: {**weather, "city": city},
    )
    kept = sb.sessions.get_state(session.id)
    assert kept.state["weather_data"] == {**weather, "city": "San Francisco"}
    assert (kept.version, kept.reasoning) == (3, "Cached weather API result")
    sb.sessions.update_state(session.id, {"weather_data": None}, "What was done with it failed")
    assert sb.sessions.rollback(session.id, -1).state == kept.state  # to retry without another call


@pytest.mark.parametrize("confirmed", [True, False])
def test_checkpoint_after_user_confirmation(sb, session, confirmed):
    PAGE.run(
        "Strategy 2: Checkpoint After User Confirmation", sb=sb, session=session, user_confirmed=confirmed
    )
    state = sb.sessions.get_state(session.id)
    assert (state.version, state.state.get("confirmation_id")) == ((3, "ABC123") if confirmed else (2, None))
    if confirmed:
        assert "booking_confirmed" not in sb.sessions.rollback(session.id, -1).state


def test_checkpoint_before_risky_operations(sb, session):
    def delete_user_data(user_id):
        sb.sessions.update_state(session.id, {"pre_delete_snapshot": None, "user_id": user_id})

    names = {"current_data": {"rows": [1, 2]}, "delete_user_data": delete_user_data, "user_id": "u1"}
    PAGE.run("Strategy 3: Checkpoint Before Risky Operations", sb=sb, session=session, **names)
    *_, checkpoint, deleted = sb.sessions.list_versions(session.id)
    assert (checkpoint.reasoning, deleted.state["user_id"]) == ("Checkpoint before deletion", "u1")
    back = sb.sessions.rollback(session.id, checkpoint.version).state
    assert back["pre_delete_snapshot"] == {"rows": [1, 2]}
    assert "user_id" not in back


def test_only_a_turn_with_a_state_makes_a_checkpoint(sb, session):
    PAGE.run("Controlling Turn-Based Checkpointing", sb=sb, session=session)
    versions = sb.sessions.list_versions(session.id)
    assert len(versions) == 4
    assert versions[3].state == {"destination": "NYC", "searching": True}
    booked, hello = sb.sessions.list_turns(session.id)
    assert (versions[3].turn_id, versions[3].trace_id) == (booked.id, booked.trace_id)
    assert (hello.input.content, hello.state_after, hello.state_version) == ("Hello", None, 2)
    # The page's table: not where `state_after` is what it was before, and not for a memory.
    now = versions[3].state
    sb.sessions.add_turn(session.id, "Thanks", "My pleasure", state_before=now, state_after=now)
    sb.memory.add("Flies from NYC", session_id=session.id)
    assert sb.sessions.get(session.id).version == 3


def test_retry_with_a_different_prompt(sb, session, session_at):
    session_at(5)
    sb.sessions.add_turn(session.id, "Book it", "Cancelled everything")

    def generate(prompt, context):
        return prompt, context["state"], context["recent_turns"][0]["input"]["content"]

    names = {"llm": SimpleNamespace(generate=generate)}
    response = PAGE.run("Pattern 1: Retry with Different Prompt", sb=sb, session=session, **names)["response"]
    prompt, state, last_input = response
    assert prompt.startswith("You are a travel agent.")
    assert (state["step"], last_input) == ("step 4", "Book it")


def test_fall_back_to_a_human(sb, session, session_at):
    session_at(8)
    notified = []
    PAGE.run("Pattern 2: Fallback to Human", sb=sb, session=session, notify_human_agent=notified.append)
    state = sb.sessions.get_state(session.id)
    assert (state.version, state.state["step"]) == (10, "step 5")
    assert state.state["escalated_to_human"] is True
    assert notified == [session.id]


def test_try_another_model(sb, session, session_at):
    session_at(3)
    asked = []
    anthropic = SimpleNamespace(messages=SimpleNamespace(create=lambda **names: asked.append(names)))
    PAGE.run(
        "Pattern 3: A/B Testing Recovery", sb=sb, session=session, anthropic=anthropic, user_message="Book"
    )
    assert asked[0]["messages"][0]["content"] == "Book"
    state = sb.sessions.get_state(session.id).state
    assert (state["step"], state["successful_model"]) == ("confirming_booking", "claude-3.5-sonnet")


def test_fork_from_version_3_of_5(sb, session_at):
    original_session = session_at(5)
    forked_session = PAGE.run("What is Forking?", sb=sb, original_session=original_session)["forked_session"]
    assert forked_session.id != original_session.id
    assert forked_session.state == sb.sessions.get_version(original_session.id, 3).state
    assert forked_session.metadata == {"forked_from": original_session.id, "forked_version": 3}
    assert sb.sessions.get(original_session.id) == original_session


def test_debug_in_production(sb, session_at):
    production_session = session_at(10)
    ran = PAGE.run("Example: Debugging in Production", sb=sb, production_session=production_session)
    debug_session = ran["debug_session"]
    assert debug_session.state["step"] == "step 9"
    sb.sessions.update_state(debug_session.id, {"step": "experiment"})
    sb.sessions.add_turn(debug_session.id, "What if?", "Then this")
    assert sb.sessions.get(production_session.id) == production_session


@pytest.mark.parametrize(
    ("heading", "condition"),
    [
        ("High-Frequency Checkpointing (Paranoid Mode)", None),
        ("Medium-Frequency Checkpointing (Recommended)", "is_critical_operation"),
        ("Low-Frequency Checkpointing (Optimized)", "user_requested_save"),
    ],
)
def test_checkpoint_as_often_as_you_like(sb, session, heading, condition):
    for wanted in (False, True):
        names = {condition: wanted} if condition else {}
        PAGE.run(heading, sb=sb, session_id=session.id, state={"step": "saved"}, **names)
    assert sb.sessions.get_state(session.id).version == (3 if condition else 4)


@pytest.mark.parametrize(("sessions", "alerts"), [(20, []), (19, ["High rollback rate detected"])])
def test_monitor_how_often_agents_are_rolled_back(sb, sessions, alerts):
    agent = f"agent-of-{sessions}"
    began = datetime.now(UTC)
    made = [sb.sessions.create(agent_id=agent, user_id=agent).id for _ in range(sessions)]
    sb.sessions.update_state(made[0], {"step": 1})
    sb.sessions.rollback(made[0], 0)

    def count_rollbacks_last_24h():
        done = sb.traces.list(user_id=agent, action="state.rolled_back", created_after=began, limit=1)
        return len(list(done.iterate()))

    def count_sessions_last_24h():
        return len(list(sb.sessions.list(agent_id=agent, created_after=began, limit=7).iterate()))

    alerted = []
    ran = PAGE.run(
        "Monitoring Rollback Frequency",
        count_rollbacks_last_24h=count_rollbacks_last_24h,
        count_sessions_last_24h=count_sessions_last_24h,
        alert_engineering_team=alerted.append,
    )
    assert ran["rollback_rate"] == 1 / sessions
    assert alerted == alerts


def test_history_stays_whole(sb, session):
    with pytest.raises(NotFound) as refused:
        sb.sessions.rollback(session.id, 99)
    assert refused.value.code == "version_not_found"
    assert len(sb.sessions.list_versions(session.id)) == 3
