"""Records of runs as agent frameworks keep them."""

# LangGraph ----------------------------------------------------------------------------------------------


def checkpoint(number, after, values, source="loop"):
    """One checkpoint, a second after the one before it."""

    def at(place):
        return {"configurable": {"thread_id": "t1", "checkpoint_ns": "", "checkpoint_id": f"c{place}"}}

    return {
        "values": values,
        "next": [],
        "config": at(number),
        "metadata": {"source": source, "step": number},
        "created_at": f"2025-03-01T09:00:{number:02}+00:00",
        "parent_config": None if after is None else at(after),
    }


# Oldest first: the table is booked wrongly in c4, and rightly on the line that leaves c3 with c6.
LANGGRAPH_STEPS = [
    checkpoint(1, None, {"message_refs": [], "table_ref": None}, "input"),
    checkpoint(2, 1, {"message_refs": [0], "table_ref": 0}),
    checkpoint(3, 2, {"message_refs": [0, 1], "table_ref": 0}),
    checkpoint(4, 3, {"message_refs": [0, 1, 2], "table_ref": 1}),
    checkpoint(5, 4, {"message_refs": [0, 1, 2, 3], "table_ref": 1}),
    checkpoint(6, 3, {"message_refs": [0, 1, 2], "table_ref": 2}, "update"),
    checkpoint(7, 6, {"message_refs": [0, 1, 2, 4], "table_ref": 2}),
]
LANGGRAPH = {
    "thread_id": "t1",
    "note": "kept small",
    "messages": [
        {"role": "user", "content": "A table for two."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "k1", "function": {"name": "book", "arguments": '{"seats": 2}'}}],
        },
        {"role": "tool", "tool_call_id": "k1", "name": "book", "content": "ok"},
        {"role": "assistant", "content": "Table nine is yours."},
        {"role": "assistant", "content": "Table four is yours."},
    ],
    "tables": [{"booked": []}, {"booked": ["T9"]}, {"booked": ["T4"]}],
    "history": LANGGRAPH_STEPS[::-1],
}


# OpenHands ----------------------------------------------------------------------------------------------


def event(number, source, **fields):
    return {"id": number, "timestamp": f"2025-03-01T09:00:{number:02}.5", "source": source, **fields}


OPENHANDS = {
    "instance_id": "shop-1",
    "metadata": {"agent_class": "CodeActAgent"},
    "error": None,
    "history": [
        event(0, "agent", action="system", args={"content": "You mend shops."}),
        event(1, "user", action="message", args={"content": "The till is wrong."}),
        event(2, "user", action="recall", args={"query": "till"}),
        event(4, "environment", observation="recall", cause=2, content="found", extras={}),
        event(
            5,
            "agent",
            action="run",
            args={"command": "ls", "thought": "Look around."},
            tool_call_metadata={"function_name": "execute_bash", "tool_call_id": "k1"},
        ),
        event(
            6, "agent", observation="run", cause=5, content="till.py", extras={"metadata": {"exit_code": 0}}
        ),
        event(7, "agent", action="think", args={"thought": "It is the till."}),
        event(8, "agent", observation="think", cause=7, content="Your thought has been logged."),
        event(9, "agent", action="run", args={"command": "rm till.py"}),
        event(10, "agent", observation="error", content="Not allowed."),
        event(11, "environment", observation="agent_state_changed", extras={"agent_state": "finished"}),
        event(
            12, "agent", action="finish", args={"final_thought": "It stays wrong.", "task_completed": "false"}
        ),
    ],
}


# ADK ----------------------------------------------------------------------------------------------------


def said_by(author, parts, number, **fields):
    return {
        "id": f"e{number}",
        "author": author,
        "content": {"parts": parts, "role": "model"},
        "timestamp": 1_740_819_600 + number + 0.25,
        **fields,
    }


ADK = {
    "id": "s1",
    "appName": "booker",
    "userId": "ann",
    "events": [
        said_by("user", [{"text": "A table for two."}], 0),
        said_by("greeter", [{"function_call": {"name": "book", "args": {"seats": 2}}}], 1),
        said_by(
            "greeter",
            [{"function_response": {"name": "book", "response": {"table": "T4"}}}],
            2,
            options={"update_context": {"booked": ["T4"]}, "function_call_event_id": "e1"},
        ),
        said_by("greeter", [{"text": "Half"}], 3, partial=True),
        said_by("greeter", [{"text": "Table four is yours."}], 4, actions={"stateDelta": {"seats": "2"}}),
    ],
}
