"""The client as a package of its own: its types, what it needs, and what its README shows."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from statebase_client import SessionFrozen
from tests.client.blocks import Document

PACKAGE = Path(settings.BASE_DIR) / "statebase_client"
WITHOUT_OURS = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "psycopg", "sqlite3", "statebase_site", "sessions_app"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import statebase_client
with statebase_client.StateBase("sb_x"):
    print(statebase_client.__file__)
"""


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    ran = subprocess.run(command, cwd=PACKAGE, env=environment | variables, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.once
def test_its_types_hold_and_tell_a_program_what_it_gets():
    use = Path(__file__).with_name("typed_use.py")
    run(sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "src", str(use), MYPYPATH="src")


@pytest.mark.once
def test_it_needs_neither_django_nor_a_database():
    needed = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["dependencies"]
    assert needed == ["statebase==0.4.1"]
    path = run(sys.executable, "-c", WITHOUT_OURS, PYTHONPATH=str(PACKAGE / "src"))
    assert path.strip() == str(PACKAGE / "src/statebase_client/__init__.py")


@pytest.fixture
def of_the_readme(server):
    """Puts the address and key of the running server in the place of those in the README."""
    places = {"http://127.0.0.1:8000": server.url, "sb_…": server.full_key}
    document = Document(PACKAGE / "README.md")
    for heading, code in document.blocks.items():
        for shown, real in places.items():
            code = code.replace(shown, real)
        document.blocks[heading] = code
    return document


def test_the_readme_undoes_a_change(of_the_readme):
    ran = of_the_readme.run("In a minute")
    with ran["sb"] as sb:
        now = sb.sessions.get_state(ran["session"].id)
    assert (now.version, now.state) == (3, {"step": "gathering_info", "destination": "NYC"})
    assert now.reasoning == "Cancelled by mistake"


def test_the_readme_does_so_with_await_too(of_the_readme, capsys):
    of_the_readme.run("With await")
    assert capsys.readouterr().out.splitlines() == ["session.created", "state.updated", "state.rolled_back"]


def test_the_runbook_of_the_readme_recovers_a_session(of_the_readme, sb, agent, capsys):
    session_id = sb.sessions.create("refund-agent", initial_state={"refunds": []}).id
    for number in range(1, 4):
        agent.sessions.add_turn(session_id, f"Request {number}", "Done", reasoning=f"Because {number}")
        agent.sessions.update_state(session_id, {"refunds": [number] if number < 3 else ["all"]})
    names = of_the_readme.run("The runbook: 1. Stop the bleeding", sb=sb, session_id=session_id)
    with pytest.raises(SessionFrozen):
        agent.sessions.update_state(session_id, {"refunds": ["more"]})
    for step in (
        "2. Reconstruct what happened",
        "3. Find the divergence point",
        "4. Roll back to the last good state",
    ):
        names = of_the_readme.run(f"The runbook: {step}", **names)
    assert "Because 3" in capsys.readouterr().out
    assert sb.sessions.get_state(session_id).state == {"refunds": [2], "frozen": True, "incident": True}
    names = of_the_readme.run("The runbook: 5. Prevent recurrence", **names)
    assert names["rehearsal"].state == {"refunds": [2], "frozen": False, "incident": False}
    of_the_readme.run("The runbook: 6. Resume", **names)
    assert agent.sessions.update_state(session_id, {"refunds": []}).frozen is False
    of_the_readme.run("The same as an incident", **names)
    assert "contained" in capsys.readouterr().out


def test_the_errors_of_the_readme(of_the_readme, sb, agent, capsys):
    session_id = sb.sessions.create("refund-agent").id
    sb.sessions.freeze(session_id)
    of_the_readme.run("Errors", sb=agent, session_id=session_id)
    assert "Frozen since version 1" in capsys.readouterr().out


def test_the_readme_is_told_of_events(of_the_readme, sb, capsys):
    hook = of_the_readme.run("Be told of it", sb=sb)["hook"]
    assert capsys.readouterr().out == f"{hook.secret}\n"
    assert sb.webhooks.get(hook.id).is_active is False
    sb.webhooks.delete(hook.id)


@pytest.mark.once
def test_every_block_of_the_readme_is_run():
    here = Path(__file__).read_text()
    headings = [heading.removeprefix("The runbook: ") for heading in Document(PACKAGE / "README.md").blocks]
    assert len(headings) == 11
    assert [heading for heading in headings if f'{heading}"' not in here] == []
