"""The recovery runbook through `sb.incidents`, with both clients against a running server."""

import time
from datetime import UTC, date, datetime

import pytest
from statebase_client.incident_results import Incident

from statebase_client import GateUnmet, NotFound, SessionFrozen, StateBaseError


@pytest.fixture
def corrupted(agent):
    """A session that a tool call corrupted at version 1; its tool call has an effect outside."""

    def make():
        session = agent.sessions.create("travel-agent", initial_state={"destination": "Lisbon"})
        tool = agent.sessions.add_tool_call(session.id, "cancel_booking", {"id": "UA123"}, "done")
        agent.sessions.update_state(session.id, {"destination": None}, "Cancelled it")
        agent.sessions.update_state(session.id, {"attempts": 1})
        return session.id, tool.id

    return make


def test_an_s1_from_filing_to_closing(play, server, agent, corrupted):
    def story(sb):
        session_id, turn_id = corrupted()
        filed = yield sb.incidents.create(
            "Cancelled a booking", "S1", [session_id], summary="Nobody asked", idempotency_key=session_id
        )
        assert isinstance(filed, Incident)
        name = filed.id
        assert name.startswith("INCIDENT-")
        assert (filed.severity, filed["peak_severity"], filed.status) == ("S1", "S1", "contained")
        assert (filed.sessions[0].session_id, filed.sessions[0].frozen) == (session_id, True)
        assert filed.sessions[0].steps.freeze == "done"
        assert (
            yield sb.incidents.create(
                "Cancelled a booking", "S1", [session_id], summary="Nobody asked", idempotency_key=session_id
            )
        ).id == name
        with pytest.raises(SessionFrozen):
            agent.sessions.update_state(session_id, {"attempts": 2})

        traces = yield sb.traces.list(session_id=session_id, limit=1)
        yield sb.incidents.pin(name, session_id, [1, 0], [traces[0].id], "What went wrong")
        yield sb.incidents.add_note(
            name, "Customer called", datetime(2026, 1, 2, tzinfo=UTC), session_id=session_id
        )
        yield sb.incidents.freeze(
            name, session_id, "Still", traffic="human_queue", traffic_note="Ask a person"
        )
        yield sb.incidents.set_divergence(name, session_id, 1, 0, found_how="by eye")
        recovered = yield sb.incidents.rollback(name, session_id)
        assert (recovered.status, recovered.sessions[0].steps["rollback"]) == ("recovered", "done")
        state = yield sb.sessions.get_state(session_id)
        assert (state.state["destination"], state.frozen) == ("Lisbon", True)
        assert state.reasoning.startswith(f"{name}: ")

        with pytest.raises(GateUnmet) as refused:
            yield sb.incidents.resolve(name)
        unmet = [each["code"] for each in refused.value.unmet]
        gates = yield sb.incidents.get_gates(name, "resolved")
        assert ([each.code for each in gates.unmet], gates.met) == (unmet, False)
        assert {"effect_undecided", "session_frozen", "prevention", "scenario"} <= set(unmet)
        yield sb.incidents.decide_effect(name, session_id, turn_id, "compensated", "Booked again")
        yield sb.incidents.set_prevention(name, "No confirmation", missing_checkpoint=True, state_drift=False)
        planned = yield sb.incidents.add_follow_up(
            name, "Ask before cancelling", owner="maria", due=date(2030, 1, 2), kind="checkpoint", blocks=True
        )
        assert (planned.follow_ups[0].due, planned.follow_ups[0].blocks) == ("2030-01-02", True)
        moved = yield sb.incidents.assign_follow_up(name, 1, "jon", "2030-02-03")
        assert (moved.follow_ups[0].owner, moved.follow_ups[0].due) == ("jon", "2030-02-03")
        done = yield sb.incidents.finish_follow_up(name, 1)
        assert done.follow_ups[0].done is True

        fault = {"kind": "state_patch", "patch": {"destination": None}}
        scenario = yield sb.incidents.add_scenario(
            name, "Cancel", session_id, 0, fault, "destination != null"
        )
        waiting = yield sb.scenarios.list(status="waiting", limit=1)
        assert scenario.id in [each.id for each in (yield waiting.iterate())]
        red = yield sb.scenarios.report_run(scenario.id, scenario.runs[0].session_id, "travel@1")
        again = yield sb.scenarios.request_run(scenario.id)
        agent.sessions.update_state(again.session_id, {"destination": "Lisbon"})
        green = yield sb.scenarios.report_run(scenario.id, again.session_id, "travel@2", "green")
        assert (red.outcome, green.outcome) == ("red", "green")
        listed = yield sb.incidents.list_scenarios(name)
        assert listed == [(yield sb.scenarios.get(scenario.id))]
        assert [run.outcome for run in listed[0].runs] == ["red", "green"]

        yield sb.incidents.resume(name, reason="Fixed")
        assert agent.sessions.update_state(session_id, {"attempts": 3}).frozen is False
        resolved = yield sb.incidents.resolve(name)
        assert resolved.status == "resolved"
        assert resolved.resolved_at
        reviewed = yield sb.incidents.update_review(
            name,
            failure_mode="hallucination_corruption",
            missing_checkpoint={"session_id": session_id, "after_version": 0},
            lessons="Ask first.",
            scenario=scenario.id,
        )
        assert (reviewed.failure_mode, reviewed.review["lessons"]) == (
            "hallucination_corruption",
            "Ask first.",
        )
        approved = yield sb.incidents.approve_review(name)
        assert approved.review["approved_at"]
        gates = yield sb.incidents.get_gates(name)
        for gate in {each.code for each in gates.unmet}:
            yield sb.incidents.override(name, gate, "This is a test")
        closed = yield sb.incidents.close(name)
        assert (closed.status, closed.metrics.bad_versions) == ("closed", 2)
        assert closed.metrics.time_to_freeze_s >= 0
        reopened = yield sb.incidents.reopen(name, "It came back")
        assert (reopened.episode, reopened.closed_at) == (2, None)

        timeline = yield sb.incidents.list_timeline(name, limit=2)
        told = [event.text for event in (yield timeline.iterate())]
        assert len(told) > 10
        assert told[0] == "Customer called"  # oldest first, by when it happened
        report = yield sb.incidents.get_postmortem(name)
        assert report.startswith("#")
        assert "Cancelled a booking" in report
        bundle = yield sb.incidents.get_bundle(name)
        assert session_id in str(bundle)

    play(story, server.url, server.full_key)


def test_lists_severities_and_ends(play, server, corrupted):
    def story(sb):
        session_id, _ = corrupted()
        key = f"alarm-{time.monotonic_ns()}"
        filed = yield sb.incidents.create("Odd answers", dedup_key=key, no_session_reason="Not known yet")
        again = yield sb.incidents.create("Odd answers", dedup_key=key, no_session_reason="Not known yet")
        assert (again.id, again.count, again.status, again.severity) == (filed.id, 2, "triage", None)
        yield sb.incidents.add_session(filed.id, session_id)
        raised = yield sb.incidents.set_severity(filed.id, "S3")
        assert (raised.severity, raised.sessions[0].frozen) == ("S3", False)
        corrected = yield sb.incidents.add_correction(filed.id, session_id, "Told the customer")
        assert corrected.sessions[0].steps.rollback == "done"
        exempted = yield sb.incidents.exempt(filed.id, session_id, "reconstruct", "Nothing to see")
        assert exempted.sessions[0].steps.reconstruct == "exempt"
        lowered = yield sb.incidents.set_severity(filed.id, "S4", "Only cosmetic")
        assert (lowered.severity, lowered.peak_severity) == ("S4", "S3")
        found = yield sb.incidents.list(
            status=lowered.status,
            severity="S4",
            session_id=session_id,
            created_after=filed.created_at,
            limit=1,
        )
        assert [each.id for each in (yield found.iterate())] == [filed.id]
        with pytest.raises(StateBaseError) as nobody:
            yield sb.incidents.set_commander(filed.id, "nobody")
        assert nobody.value.param == "name"

        other = yield sb.incidents.create("The same", "S4", [session_id])
        merged = yield sb.incidents.merge(other.id, filed.id)
        assert (merged.status, merged.duplicate_of) == ("duplicate", filed.id)
        declined = yield sb.incidents.decline(filed.id, "As designed", resume_sessions=True)
        assert declined.status == "declined"
        with pytest.raises(NotFound) as missing:
            yield sb.incidents.get("INCIDENT-999999")
        assert missing.value.code == "incident_not_found"

    play(story, server.url, server.full_key)
