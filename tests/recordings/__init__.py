"""Small records of runs, one of each format that is imported, and how the readers are asked for them."""

import copy
import json

from sessions_app.importers import RecordedTurn, Run, RunFile, Unreadable, read_file
from tests.recordings import benchmarks, exports, frameworks, logs


def read(document, states=None, name="run.json"):
    """All that a file gives; `document` is its bytes, or what is written into it as JSON."""
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    beside = states if states is None or isinstance(states, bytes) else json.dumps(states).encode()
    return list(read_file(RunFile(name, content, "run.states.json", beside)))


def one_run(document, states=None, name="run.json"):
    (run,) = read(document, states, name)
    assert isinstance(run, Run), run
    return run


def fault(document, states=None, name="run.json"):
    (found,) = read(document, states, name)
    assert isinstance(found, Unreadable), found
    return found


def as_lines(records):
    """The bytes of a file of JSON lines."""
    return "\n".join(json.dumps(each) for each in records).encode()


def example(name):
    """A record of this format, for a test to change."""
    return copy.deepcopy(EXAMPLES[name])


def calls(steps):
    """The tool, the arguments and the output of each turn that is a tool call."""
    return [
        (
            step.input["tool_metadata"]["name"],
            step.input["tool_metadata"]["arguments"],
            step.output.get("output"),
        )
        for step in steps
        if isinstance(step, RecordedTurn) and step.input["type"] == "tool_call"
    ]


def words(steps):
    """What was asked and answered in each turn that is no tool call."""
    return [
        (step.input["content"], step.output["content"])
        for step in steps
        if isinstance(step, RecordedTurn) and step.input["type"] != "tool_call"
    ]


EXAMPLES = {
    "swe-agent": benchmarks.SWE_AGENT,
    "mini-swe-agent": benchmarks.MINI_SWE_AGENT,
    "langgraph": frameworks.LANGGRAPH,
    "openhands": frameworks.OPENHANDS,
    "adk": frameworks.ADK,
    "who-and-when": benchmarks.WHO_AND_WHEN,
    "toolbench": benchmarks.TOOLBENCH,
    "agentdojo": benchmarks.AGENTDOJO,
    "claude-code": logs.CLAUDE_CODE,
    "codex": logs.CODEX,
    "langfuse": logs.LANGFUSE,
    "opentelemetry-genai": logs.OTEL,
    "statebase": exports.STATEBASE,
}
