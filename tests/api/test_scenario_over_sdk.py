"""A downloaded scenario runs an agent on a fork through the official SDK, and judges what it leaves."""

import os
import subprocess
import sys

AGENTS = """
def careless(client, session_id, fault):
    client.sessions.update_state(session_id, {"attempts": 1}, reasoning="Went on as if nothing were wrong")


def careful(client, session_id, fault):
    assert fault == {"kind": "state_patch", "patch": {"destination": None}}
    if client.sessions.get_state(session_id).state["destination"] is None:
        client.sessions.update_state(session_id, {"destination": "Lisbon"}, reasoning="Asked the traveller")
"""


def test_it_is_red_with_the_careless_agent_and_green_with_the_careful_one(tmp_path, sb, http, server):
    session = sb.sessions.create(agent_id="travel", initial_state={"destination": "Lisbon"})
    sb.sessions.update_state(session.id, {"destination": None}, reasoning="Cancelled")

    def post(path, body):
        answer = http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    incident = post(
        "/v1/incidents", {"title": "Lost the destination", "severity": "S1", "sessions": [session.id]}
    )
    path = f"/v1/incidents/{incident['id']}"
    post(f"{path}/divergence", {"session_id": session.id, "divergence_version": 1, "last_good_version": 0})
    scenario = post(
        f"{path}/scenarios",
        {
            "name": "The destination goes missing",
            "session_id": session.id,
            "fork_version": 0,
            "fault": {"kind": "state_patch", "patch": {"destination": None}},
            "predicate": "destination != null",
        },
    )
    test = tmp_path / "test_scenario.py"
    test.write_text(http.get(f"/v1/scenarios/{scenario['id']}/test.py").raise_for_status().text)
    (tmp_path / "agents.py").write_text(AGENTS)

    def run(agent: str) -> subprocess.CompletedProcess:
        variables = {
            "STATEBASE_URL": server.url,
            "STATEBASE_API_KEY": server.full_key,
            "STATEBASE_AGENT": f"agents:{agent}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, test],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
        )

    red, green = run("careless"), run("careful")
    assert (red.returncode, green.returncode) == (1, 0), red.stdout + green.stdout
    assert "destination != null does not hold" in red.stdout
    assert "2 passed" in green.stdout
