"""Logs of coding agents, and traces."""

import json

# Claude Code and Codex ----------------------------------------------------------------------------------


def entry(number, kind, after, content=None, **fields):
    """A line of Claude Code's log."""
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": after and f"u{after}",
        "sessionId": "s1",
        "isSidechain": False,
        "timestamp": f"2025-03-01T09:{number:02}:00.000Z",
        "cwd": "/shop",
        **({"message": {"role": kind, "content": content}} if content is not None else {}),
        **fields,
    }


def asked(number, after, words, **fields):
    return entry(number, "user", after, words, **fields)


def told(number, after, words, **fields):
    return entry(number, "assistant", after, [{"type": "text", "text": words}], **fields)


def uses(number, after, tool, given, call_id, **fields):
    part = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
    return entry(number, "assistant", after, [part], **fields)


def gives(number, after, content, call_id, **fields):
    part = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return entry(number, "user", after, [part | fields])


CLAUDE_CODE = [
    asked(1, None, "Mend the till."),
    entry(2, "assistant", 1, [{"type": "thinking", "thinking": "First a plan."}]),
    uses(3, 2, "TodoWrite", {"todos": [{"id": "1", "status": "pending"}]}, "k1"),
    gives(4, 3, "Todos have been modified.", "k1"),
    told(5, 4, "I have a plan."),
    asked(6, 5, "First try."),
    told(7, 6, "It failed."),
    asked(8, 5, "Second try."),
    uses(9, 8, "Bash", {"command": "mend"}, "k2"),
    gives(10, 9, [{"type": "text", "text": "mended"}], "k2"),
    told(11, 10, "It works."),
    {"type": "summary", "summary": "The till is mended", "leafUuid": "u11"},
]

CODEX_TIME = "2025-03-01T09:00:0{}.000Z"


def record(number, kind, **payload):
    return {"timestamp": CODEX_TIME.format(number), "type": kind, "payload": payload}


CODEX = [
    record(0, "session_meta", id="s1", cwd="/shop", originator="cli"),
    record(1, "event_msg", type="user_message", message="Mend the till."),
    record(1, "response_item", type="message", role="user", content=[{"type": "input_text", "text": "Mend"}]),
    record(
        2,
        "response_item",
        type="reasoning",
        summary=[{"type": "summary_text", "text": "I look first."}],
        encrypted_content="SECRET",
    ),
    record(3, "response_item", type="function_call", name="exec", arguments='{"cmd": "ls"}', call_id="k1"),
    record(4, "response_item", type="function_call_output", call_id="k1", output="till.py"),
    record(5, "response_item", type="custom_tool_call", name="patch", input="*** Begin", call_id="k2"),
    record(
        6,
        "response_item",
        type="custom_tool_call_output",
        call_id="k2",
        output=[{"type": "output_text", "text": "Done!"}],
    ),
    record(7, "event_msg", type="agent_message", message="It works."),
    record(
        7, "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "It"}]
    ),
    record(8, "something_new", anything=1),
]


# Traces -------------------------------------------------------------------------------------------------


def observation(number, kind, name, given, output, seconds, **fields):
    packed = {key: json.dumps(value) for key, value in (("input", given), ("output", output))}
    return {
        "id": f"o{number}",
        "type": kind,
        "name": name,
        "startTime": f"2025-03-01T09:00:0{seconds}.000Z",
        "endTime": f"2025-03-01T09:00:0{seconds}.500Z",
        "parentObservationId": "o1" if number > 1 else None,
        "level": "DEFAULT",
        "metadata": json.dumps(fields.pop("metadata", {})),
        **packed,
        **fields,
    }


WEATHER_CALL = {"id": "k1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
LANGFUSE = {
    "trace": {
        "id": "t1",
        "name": "Agent workflow",
        "timestamp": "2025-03-01T09:00:00.000Z",
        "userId": "ann",
        "sessionId": "s1",
        "input": json.dumps(json.dumps({"messages": [{"role": "user", "content": "Weather in Rome?"}]})),
        "output": json.dumps({"role": "assistant", "content": [{"type": "text", "text": "Sunny."}]}),
        "metadata": json.dumps({"attributes": {"gen_ai.agent.name": "forecaster"}}),
        "scores": [{"name": "toxicity", "value": 0, "comment": "none", "projectId": "p"}],
    },
    "observations": [
        observation(
            4,
            "GENERATION",
            "model",
            [],
            {"role": "assistant", "content": [{"type": "text", "text": "Sunny."}]},
            5,
        ),
        observation(
            2,
            "GENERATION",
            "model",
            [{"role": "user", "content": "Weather in Rome?"}],
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "I ask the tool."}],
                "tool_calls": [WEATHER_CALL],
            },
            1,
        ),
        observation(3, "TOOL", "weather", {"city": "Rome"}, "sunny", 2),
        observation(5, "SPAN", "tools", {}, {"messages": ["sunny"]}, 3, metadata={"langgraph_node": "tools"}),
    ],
}


def span(name, seconds, operation, trace="a" * 32, **attributes):
    fields = {"gen_ai.operation.name": operation} | attributes
    return {
        "traceId": trace,
        "spanId": f"{seconds:016}",
        "parentSpanId": "" if operation == "invoke_agent" else f"{1:016}",
        "name": name,
        "startTimeUnixNano": str((1_740_819_600 + seconds) * 10**9),
        "endTimeUnixNano": str((1_740_819_600 + seconds) * 10**9 + 5 * 10**8),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in fields.items()],
    }


def in_parts(role, *parts):
    return json.dumps([{"role": role, "parts": list(parts)}])


OTEL = {
    "resourceSpans": [
        {
            "resource": {},
            "scopeSpans": [
                {
                    "spans": [
                        span(
                            "invoke_agent forecaster",
                            1,
                            "invoke_agent",
                            **{
                                "gen_ai.agent.name": "forecaster",
                                "gen_ai.conversation.id": "s1",
                                "gen_ai.input.messages": in_parts(
                                    "user", {"type": "text", "content": "Weather in Rome?"}
                                ),
                                "gen_ai.output.messages": in_parts(
                                    "assistant", {"type": "text", "content": "Sunny."}
                                ),
                            },
                        ),
                        span(
                            "execute_tool weather",
                            2,
                            "execute_tool",
                            **{
                                "gen_ai.tool.name": "weather",
                                "gen_ai.tool.call.id": "k1",
                                "gen_ai.tool.call.arguments": '{"city": "Rome"}',
                                "gen_ai.tool.call.result": '{"sky": "clear"}',
                            },
                        ),
                    ]
                }
            ],
        }
    ]
}
