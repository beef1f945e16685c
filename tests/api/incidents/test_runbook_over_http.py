"""The mission's "Incident Recovery" as an incident, filed to closed, through the API of a running server."""

import pytest


@pytest.fixture
def post(http):
    """Sends a body; the answer's JSON, which must have this status."""

    def send(path, body=None, *, status=200, method="POST", client=http, **headers):
        answer = client.request(method, path, json=body or {}, headers=headers)
        assert answer.status_code == status, (path, answer.text)
        return answer.json()

    return send


def test_the_runbook_from_filing_to_closing(http, server, post):
    with server.http(server.agent_key) as agent:

        def as_agent(path, body=None, **options):
            return post(path, body, client=agent, **options)

        # A travel agent cancels a booking that nobody asked it to cancel, and notices itself.
        made = as_agent(
            "/v1/sessions",
            {"agent_id": "travel", "initial_state": {"destination": "Lisbon", "booked": True}},
            status=201,
        )
        session_id = made["id"]
        session = f"/v1/sessions/{session_id}"
        call = {
            "input": {
                "type": "tool_call",
                "content": "cancel_booking",
                "tool_metadata": {"name": "cancel_booking", "arguments": {"id": "UA123"}},
            },
            "output": {"type": "tool_response", "content": "cancelled"},
            "reasoning": "The customer wants another date",
        }
        turn_id = as_agent(f"{session}/turns", call, status=201)["id"]
        for state in ({"destination": None, "booked": False}, {"attempts": 1}):
            as_agent(f"{session}/state", {"state": state}, method="PATCH")

        # 1. Stop the bleeding: an S1 freezes in the request that files it.
        incident = as_agent(
            "/v1/incidents",
            {"title": "Cancelled a booking nobody asked to", "severity": "S1", "sessions": [session_id]},
            status=201,
            **{"Idempotency-Key": f"file {session_id}"},
        )
        path = f"/v1/incidents/{incident['id']}"
        assert (incident["status"], incident["sessions"][0]["frozen"]) == ("contained", True)
        as_agent(f"{session}/state", {"state": {"attempts": 2}}, method="PATCH", status=423)
        as_agent(f"{path}/resume", status=403)
        as_agent(f"{path}/close", status=403)
        post(f"{path}/freeze", {"traffic": "safe_version", "traffic_note": "travel@2.7 takes over."})
        refused = as_agent(f"{session}/state", {"state": {"attempts": 2}}, method="PATCH", status=423)
        assert "travel@2.7 takes over." in str(refused)

        # 2. Reconstruct, from what was done and not from what was said.
        trace = http.get("/v1/traces", params={"session_id": session_id, "action": "state.updated"})
        pinned = {"session_id": session_id, "versions": [0, 1], "traces": [trace.json()["data"][-1]["id"]]}
        assert len(as_agent(f"{path}/pin", pinned)["sessions"][0]["pins"]) == 3
        as_agent(f"{path}/note", {"text": "The customer called.", "occurred_at": "2026-01-01T08:00:00Z"})

        # 3. and 4. Find the divergence, roll back to the last good version.
        post(
            f"{path}/divergence", {"session_id": session_id, "divergence_version": 1, "last_good_version": 0}
        )
        stale = {"session_id": session_id, "expected_version": 2}
        assert post(f"{path}/rollback", stale, status=409)["error"]["code"] == "version_conflict"
        recovered = post(f"{path}/rollback", {"session_id": session_id, "expected_version": 3})
        assert recovered["status"] == "recovered"
        restored = http.get(f"{session}/state").json()["state"]
        assert (restored["destination"], restored["booked"], restored["frozen"]) == ("Lisbon", True, True)
        post(
            f"{path}/effects",
            {
                "session_id": session_id,
                "turn_id": turn_id,
                "disposition": "compensated",
                "note": "Booked again by hand.",
            },
        )

        # 5. Prevent recurrence: the scenario is seen failing, then passing.
        unmet = http.get(f"{path}/gates?to=resolved").json()["unmet"]
        assert [each["code"] for each in unmet] == [
            "session_frozen",
            "prevention",
            "followup_missing",
            "scenario",
        ]
        assert post(f"{path}/resolve", status=409)["error"]["unmet"] == unmet
        post(f"{path}/prevention", {"text": "Cancelling asks nobody", "no_permission_check": True})
        post(
            f"{path}/followups",
            {
                "text": "Ask before cancel_booking",
                "kind": "permission",
                "owner": "maria",
                "due": "2026-02-01",
            },
            status=201,
        )
        scenario = post(
            f"{path}/scenarios",
            {
                "name": "Empty booking",
                "session_id": session_id,
                "fork_version": 0,
                "fault": {"kind": "state_patch", "patch": {"booked": None}},
                "predicate": "booked == `true`",
            },
            status=201,
        )
        scenarios = agent.get("/v1/scenarios?status=waiting").json()["data"]
        [fork] = [each["waiting_session_id"] for each in scenarios if each["id"] == scenario["id"]]
        runs = f"/v1/scenarios/{scenario['id']}/runs"
        failed = {"session_id": fork, "agent_version": "travel@2.8.1", "outcome": "red"}
        as_agent(runs, failed, status=201)
        fork = as_agent(f"/v1/scenarios/{scenario['id']}/fork", status=201)["session_id"]
        as_agent(f"/v1/sessions/{fork}/state", {"state": {"booked": True}}, method="PATCH")
        passed = {"session_id": fork, "agent_version": "travel@2.8.2", "outcome": "green"}
        as_agent(runs, passed, status=201)

        # 6. Resume.
        resumed = post(f"{path}/resume")
        assert resumed["sessions"][0]["frozen"] is False
        as_agent(f"{session}/state", {"state": {"attempts": 0}}, method="PATCH")
        resolved = post(f"{path}/resolve")
        assert resolved["status"] == "resolved"
        assert set(resolved["sessions"][0]["steps"].values()) == {"done"}

        # Post-incident review, and the end.
        review = {
            "failure_mode": "hallucination_corruption",
            "missing_checkpoint": {"session_id": session_id, "after_version": 0},
            "lessons": "Cancelling needs a person.",
            "scenario": scenario["id"],
        }
        post(f"{path}/review", review, method="PATCH")
        post(f"{path}/review/approve")
        assert [each["code"] for each in http.get(f"{path}/gates").json()["unmet"]] == ["watch_window"]
        post(f"{path}/override", {"gate": "watch_window", "reason": "Watched by hand"})
        post(f"{path}/followups/1/done")
        closed = post(f"{path}/close")
        assert closed["status"] == "closed"
        assert closed["sessions"][0]["held"] is False
        metrics = closed["metrics"]
        assert (metrics["bad_versions"], metrics["tool_calls"]) == (2, 1)
        assert all(span >= 0 for name, span in metrics.items() if name.startswith("time_to"))
        told = [each["kind"] for each in http.get(f"{path}/timeline?limit=100").json()["data"]]
        assert told[0] == "note"
        acts = ("filed", "frozen", "rolled_back", "resumed")
        assert [kind for kind in dict.fromkeys(told) if kind in acts] == [*acts]
        assert http.get(f"{path}/postmortem.md").text.startswith("#")
        assert http.get(f"{path}/bundle.json").json()
        as_agent(session, method="DELETE", status=403)
        assert http.delete(session).status_code == 204
        assert http.get(path).json()["sessions"][0]["session_id"] == session_id
