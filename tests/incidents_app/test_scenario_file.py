"""A scenario as a pytest file: it stands alone, is red until the agent is fixed, and quotes what is in it."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from incidents_app.models import Incident, Scenario
from incidents_app.payloads.scenario_file import file_name, scenario_file
from statebase_site.base import json as strict_json
from tests import factories as make
from tests.incidents_app import runbook

SECRET = "hunter2-and-more"
GOOD = {"booked": True, "seats": 2, "db_password": SECRET}


def scenario(**fields) -> Scenario:
    """A scenario that is in no database."""
    given = {
        "public_id": "scn_1",
        "incident": Incident(number=12),
        "name": "Cancels again",
        "session_id": "sess_1",
        "agent_id": "travel-agent",
        "fork_version": 4,
        "fault_text": '{"kind":"tool_error","tool":"search"}',
        "predicate": "booked",
        "good_state_text": strict_json.dumps(GOOD),
        "bad_state_text": strict_json.dumps(GOOD | {"booked": False}),
        "created_at": datetime(2026, 11, 29, tzinfo=UTC),
    }
    return Scenario(**(given | fields))


def constants(source: str) -> dict:
    """What the file says, without running its tests."""
    names: dict = {"__name__": "generated"}
    exec(compile(source, "generated.py", "exec"), names)
    return names


def run_pytest(folder, source: str, **variables: str) -> subprocess.CompletedProcess:
    """pytest on the file, in a folder and a process of its own, with no plugin and nothing of ours."""
    path = folder / file_name(scenario())
    path.write_text(source, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, path],
        cwd=folder,
        env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.once
def test_it_is_red_on_the_recorded_state_and_green_on_a_good_one(tmp_path):
    source = scenario_file(scenario())
    red = run_pytest(tmp_path, source)
    assert red.returncode == 1, red.stdout
    assert "1 failed, 1 passed" in red.stdout
    assert "INCIDENT-12: booked does not hold" in red.stdout
    green = run_pytest(tmp_path, source, STATEBASE_STATE_AFTER=json.dumps(GOOD))
    assert green.returncode == 0, green.stdout
    assert "2 passed" in green.stdout
    kept = tmp_path / "after.json"
    kept.write_text('{"booked": false}')
    assert run_pytest(tmp_path, source, STATEBASE_STATE_AFTER=str(kept)).returncode == 1


@pytest.mark.once
def test_without_a_recorded_state_it_is_red_and_says_what_to_set(tmp_path):
    red = run_pytest(tmp_path, scenario_file(scenario(bad_state_text=None)))
    assert red.returncode == 1
    assert "set STATEBASE_AGENT or STATEBASE_STATE_AFTER" in red.stdout


@pytest.mark.once
def test_a_predicate_that_misses_the_failure_is_found_out(tmp_path):
    blunt = run_pytest(tmp_path, scenario_file(scenario(predicate="seats")))
    assert blunt.returncode == 1
    assert "sharpen it" in blunt.stdout


anything = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    [
        '"""',
        "'''",
        "\\",
        "\\'",
        "'; import os; os._exit(3) #",
        "\n\nraise SystemExit\n",
        "\r",
        "\u2028x",
        "\u202e",
    ]
)
states = st.dictionaries(anything, st.recursive(anything | st.integers() | st.none(), st.lists, max_leaves=5))


@pytest.mark.once
@given(name=anything, agent_id=anything, predicate=anything, state=states, tool=anything)
def test_whatever_was_written_stays_data(name, agent_id, predicate, state, tool):
    source = scenario_file(
        scenario(
            name=name,
            agent_id=agent_id,
            predicate=predicate,
            fault_text=strict_json.dumps({"kind": "tool_error", "tool": tool}),
            bad_state_text=strict_json.dumps(state),
        )
    )
    told = constants(source)
    assert (told["NAME"], told["AGENT_ID"], told["PREDICATE"]) == (name, agent_id, predicate)
    assert told["FAULT"] == {"kind": "tool_error", "tool": tool}
    assert told["BAD_STATE"] == state
    assert [each for each in told if each.startswith("test_")] == [
        "test_the_predicate_tells_the_recorded_failure",
        "test_it_does_not_happen_again",
    ]


@pytest.mark.once
def test_recorded_secrets_are_not_in_it():
    source = scenario_file(scenario(fault_text=strict_json.dumps({"kind": "state_patch", "patch": GOOD})))
    assert SECRET not in source
    assert constants(source)["GOOD_STATE"] == GOOD | {"db_password": "[masked:named:text:16-31]"}


@pytest.fixture(scope="module")
def made(module_db):
    project = make.project("Acme")
    maria = make.person(project, "responder", "maria")
    session = runbook.damaged(make.agent(project))
    incident = runbook.file(maria, session)
    runbook.diverged(incident, session, maria)
    return runbook.scenario(incident, session, maria).scenario


def test_it_is_downloaded_from_the_incident_and_over_the_api(made, client):
    client.force_login(make.user("viewer-of-acme"))
    path = f"/incidents/{made.incident.reference}/scenarios/{made.public_id}/test.py"
    assert client.get(path).status_code == 404
    member = make.membership(made.project, "viewer", "vera").user
    client.force_login(member)
    page = client.get(path)
    assert page["Content-Type"] == "text/x-python; charset=utf-8"
    assert page["Content-Disposition"] == f'attachment; filename="test_incident_1_{made.public_id}.py"'
    assert page["X-Content-Type-Options"] == "nosniff"
    key = make.api_key(made.project)[1]
    answer = Client().get(f"/v1/scenarios/{made.public_id}/test.py", headers={"X-API-Key": key})
    assert (answer.status_code, answer.content) == (200, page.content)
    told = constants(page.content.decode())
    assert (told["SESSION_ID"], told["FORK_VERSION"]) == (made.session_id, 0)
    assert told["BAD_STATE"]["booked"] is False


def test_a_scenario_of_another_incident_is_not_found(made, client):
    maria = make.person(made.project, "responder", "mara")
    other = runbook.file(maria, no_session_reason="None known")
    client.force_login(make.membership(made.project, "viewer", "vera").user)
    path = f"/incidents/{other.reference}/scenarios/{made.public_id}/test.py"
    assert client.get(path).status_code == 404
    foreign = make.api_key(make.project("Other"))[1]
    answer = Client().get(f"/v1/scenarios/{made.public_id}/test.py", headers={"X-API-Key": foreign})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "scenario_not_found")
