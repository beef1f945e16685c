"""A failure-injection scenario as a pytest file that stands alone: red until the agent is fixed.

Whatever people or agents wrote goes into it as a quoted literal, so that no name or state can become code.
"""

from __future__ import annotations

import textwrap

from incidents_app.masking import mask
from incidents_app.models import Scenario
from statebase_site.base import json
from statebase_site.base.json import JsonValue

_INDENT = " " * 4


def scenario_file(scenario: Scenario) -> str:
    """The source of the file. Secrets in the recorded states and the fault are masked."""
    bad = scenario.bad_state_text
    return (
        _HEAD
        + "\n".join(
            (
                f"INCIDENT = {scenario.incident.reference!r}",
                f"SCENARIO = {scenario.public_id!r}",
                f"NAME = {_text(scenario.name)}",
                f"AGENT_ID = {_text(scenario.agent_id)}",
                f"SESSION_ID = {scenario.session_id!r}",
                f"FORK_VERSION = {scenario.fork_version}",
                "",
                "# What goes wrong on the fork.",
                f"FAULT = {_json(json.parse_stored(scenario.fault_text))}",
                "",
                "# JMESPath over the state; it must hold after the agent has run.",
                f"PREDICATE = {_text(scenario.predicate)}",
                "",
                "# The state at the fork, before anything went wrong.",
                f"GOOD_STATE = {_json(json.parse_stored(scenario.good_state_text))}",
                "",
                "# The state that the agent left behind in the incident.",
                f"BAD_STATE = {_json(json.parse_stored(bad)) if bad is not None else None}",
            )
        )
        + _BODY
    )


def file_name(scenario: Scenario) -> str:
    """A name under which pytest finds it."""
    return f"test_incident_{scenario.incident.number}_{scenario.public_id}.py"


def _text(text: str) -> str:
    """A text as a literal of Python: characters that can't be seen are written as escapes."""
    return repr(text)


def _json(value: JsonValue) -> str:
    """A JSON document as Python that reads it, a line of it in each literal."""
    lines = json.pretty(mask(value).value).splitlines(keepends=True)
    return "json.loads(\n" + "".join(f"{_INDENT}{_text(line)}\n" for line in lines) + ")"


_HEAD = textwrap.dedent('''\
    """A failure-injection test, written from an incident. It needs pytest and jmespath.

    Red until the agent is fixed: by default it judges the state that was recorded in the incident.

    * STATEBASE_STATE_AFTER: the state to judge instead, as JSON, or the path of a file that holds it.
    * STATEBASE_AGENT: a function to run first, as `package.module:function`. It is called with the client of
      the official SDK (`pip install statebase`), the id of a fresh fork, and FAULT; the fork's state
      afterwards is judged. STATEBASE_URL and STATEBASE_API_KEY say where the server is. A fault of the state
      is in the fork already; a fault of a tool is for the function to play.
    """

    import importlib
    import json
    import os
    from pathlib import Path

    import jmespath
    import jmespath.exceptions
    import pytest

''')

_BODY = textwrap.dedent('''


    def holds(state):
        """Whether PREDICATE is true of a state: null, false and what is empty are not."""
        try:
            found = jmespath.search(PREDICATE, state)
        except (jmespath.exceptions.JMESPathError, TypeError, ValueError):
            return False
        return found is not None and found is not False and found not in ("", [], {})


    def state_of_a_run(function):
        """Fork the session, inject the fault, let the agent run, and read what it leaves behind."""
        from statebase import StateBase

        module, _, name = function.partition(":")
        url, key = os.environ["STATEBASE_URL"], os.environ["STATEBASE_API_KEY"]
        with StateBase(api_key=key, base_url=url) as client:
            fork = client.sessions.fork(SESSION_ID, FORK_VERSION)
            if FAULT["kind"] == "state_patch":
                client.sessions.update_state(fork.id, FAULT["patch"], reasoning="Fault injected: " + NAME)
            getattr(importlib.import_module(module), name)(client, fork.id, FAULT)
            return client.sessions.get_state(fork.id).state


    @pytest.fixture
    def state_after():
        """The state to judge."""
        if os.environ.get("STATEBASE_AGENT"):
            return state_of_a_run(os.environ["STATEBASE_AGENT"])
        given = os.environ.get("STATEBASE_STATE_AFTER")
        if given:
            is_json = given.lstrip().startswith(("{", "["))
            return json.loads(given if is_json else Path(given).read_text(encoding="utf-8"))
        if BAD_STATE is None:
            pytest.fail("No state was recorded: set STATEBASE_AGENT or STATEBASE_STATE_AFTER.")
        return BAD_STATE


    def test_the_predicate_tells_the_recorded_failure():
        if BAD_STATE is None:
            pytest.skip("No state was recorded in the incident.")
        assert not holds(BAD_STATE), "PREDICATE holds in the incident's own bad state: sharpen it"


    def test_it_does_not_happen_again(state_after):
        assert holds(state_after), INCIDENT + ": " + PREDICATE + " does not hold"
''')
