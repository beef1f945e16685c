"""Traces of spans: Langfuse's exports and OpenTelemetry's GenAI attributes."""

import json
from datetime import UTC, datetime

import pytest

from sessions_app.importers import RecordedState
from tests.recordings import calls, example, fault, one_run, words
from tests.recordings.logs import WEATHER_CALL, in_parts, observation, span

pytestmark = pytest.mark.once

NINE = datetime(2025, 3, 1, 9, tzinfo=UTC)


def test_a_trace_is_an_exchange_and_its_tools_are_turns_with_the_models_call_ids():
    run = one_run(example("langfuse"))
    assert calls(run.steps) == [("weather", {"city": "Rome"}, "sunny")]
    assert run.steps[0].input["tool_metadata"]["id"] == "k1"
    assert run.steps[0].reasoning == "I ask the tool."
    assert run.steps[0].at == NINE.replace(second=2, microsecond=500_000)
    assert words(run.steps) == [("Weather in Rome?", "Sunny.")]
    assert (run.agent_id, run.user_id, run.started_at) == ("forecaster", "ann", NINE)
    assert run.metadata["sessionId"] == "s1"
    assert run.metadata["scores"] == [{"name": "toxicity", "value": 0, "comment": "none", "source": None}]


def test_the_output_of_a_graphs_node_is_a_state_at_its_time():
    run = one_run(example("langfuse"))
    (state,) = [step for step in run.steps if isinstance(step, RecordedState)]
    assert state.state == {"messages": ["sunny"]}
    assert state.at == NINE.replace(second=3, microsecond=500_000)
    assert run.initial_state == {}


def test_a_span_with_the_name_of_a_called_tool_is_that_tool():
    document = example("langfuse")
    for each in document["observations"]:
        if each["type"] == "TOOL":
            each["type"] = "SPAN"
    assert calls(one_run(document).steps) == [("weather", {"city": "Rome"}, "sunny")]


def test_a_trace_without_input_and_output_says_what_its_models_were_told_and_said():
    document = example("langfuse")
    document["trace"] |= {"input": None, "output": None}
    assert words(one_run(document).steps) == [("Weather in Rome?", "Sunny.")]


def test_equal_times_keep_the_order_of_the_record():
    document = example("langfuse")
    document["observations"] = [
        observation(number, "TOOL", f"tool{number}", {}, number, 1) for number in range(2, 9)
    ]
    assert [name for name, _, _ in calls(one_run(document).steps)] == [f"tool{n}" for n in range(2, 9)]


@pytest.mark.parametrize(
    "output",
    [
        {"role": "assistant", "tool_calls": [WEATHER_CALL]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "k1", "name": "weather", "input": {"city": "Rome"}}],
        },
        {
            "output": [
                {"type": "function_call", "call_id": "k1", "name": "weather", "arguments": '{"city":"Rome"}'}
            ]
        },
        json.loads(
            in_parts("assistant", {"type": "tool_call", "id": "k1", "name": "weather", "arguments": {}})
        ),
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [WEATHER_CALL]}}]},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["x", "AIMessage"],
            "kwargs": {
                "content": "",
                "tool_calls": [{"id": "k1", "name": "weather", "args": {"city": "Rome"}}],
            },
        },
    ],
)
def test_the_call_id_is_found_in_the_output_of_any_library(output):
    document = example("langfuse")
    document["observations"][1]["output"] = json.dumps(output)
    assert one_run(document).steps[0].input["tool_metadata"]["id"] == "k1"


def test_a_trace_without_observations_is_named():
    assert "format is unknown" in fault({"trace": {"id": "t1"}, "observations": []}).reason
    assert (
        "Observation 1 is not an object"
        in fault({"trace": {"id": "t1"}, "observations": [observation(1, "SPAN", "a", 1, 2, 3), 7]}).reason
    )


# OpenTelemetry ------------------------------------------------------------------------------------------


def test_the_genai_attributes_of_spans_are_read():
    run = one_run(example("opentelemetry-genai"))
    assert calls(run.steps) == [("weather", {"city": "Rome"}, {"sky": "clear"})]
    assert run.steps[0].input["tool_metadata"]["id"] == "k1"
    assert words(run.steps) == [("Weather in Rome?", "Sunny.")]
    assert (run.agent_id, run.started_at) == ("forecaster", NINE.replace(second=1))
    assert run.metadata["gen_ai.conversation.id"] == "s1"


def test_each_trace_is_an_exchange_in_the_order_in_which_they_began():
    def asked(words, seconds, trace):
        given = {"gen_ai.input.messages": in_parts("user", {"type": "text", "content": words})}
        return span("invoke_agent", seconds, "invoke_agent", trace=trace, **given)

    spans = [asked("Second", 5, "b" * 32), asked("First", 3, "a" * 32)]
    run = one_run({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert words(run.steps) == [("First", ""), ("Second", "")]
    assert run.metadata["trace_ids"] == ["a" * 32, "b" * 32]


def test_faults_of_an_export_are_named():
    document = example("opentelemetry-genai")
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["traceId"] = 5
    assert "no text `traceId`" in fault(document).reason
    assert "no list `spans`" in fault({"resourceSpans": [{"scopeSpans": [{}]}]}).reason
