"""Records of runs as benchmarks and their agents keep them."""

import json

# SWE-agent and mini-SWE-agent ---------------------------------------------------------------------------

SWE_AGENT = {
    "environment": "shop",
    "trajectory": [
        {
            "action": "open till.py\n",
            "observation": "1: total = 1",
            "response": "Let me look.\n```\nopen till.py\n```",
            "thought": "Let me look.",
            "state": '{"open_file": "till.py", "working_dir": "/shop"}',
        },
        {
            "action": "edit 1:1\ntotal = 2\nend_of_edit\n",
            "observation": "1: total = 2",
            "response": "Fix it.",
            "thought": "Fix it.",
            "state": '{"open_file": "till.py", "working_dir": "/shop"}\n',
        },
        {
            "action": "cd tests && submit",
            "observation": "diff",
            "response": "Done.",
            "thought": "Done.",
            "state": '{"open_file": "n/a", "working_dir": "/shop/tests"}',
        },
    ],
    "history": [
        {"role": "system", "content": "You mend shops."},
        {"role": "user", "content": "An example.", "is_demo": True},
        {"role": "user", "content": "The till is wrong."},
    ],
    "info": {"exit_status": "submitted", "submission": "the diff"},
}

MINI_SWE_AGENT = [
    {"role": "system", "content": "One command at a time."},
    {"role": "user", "content": "The till is wrong."},
    {"role": "assistant", "content": "I look.\n\n```bash\ncat till.py\n```"},
    {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno such file\n</output>"},
    {"role": "assistant", "content": "I list.\n\n```mswea_bash_command\nls\n```"},
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\nshop\n</output>"},
    {"role": "assistant", "content": "It is not here."},
]


# Who&When -----------------------------------------------------------------------------------------------

WHO_AND_WHEN = {
    "question": "How many stops?",
    "ground_truth": "10",
    "mistake_agent": "Assistant",
    "mistake_step": "6",
    "mistake_reason": "It counted wrongly.",
    "history": [
        {"role": "human", "content": "How many stops?"},
        {"role": "Orchestrator (thought)", "content": "Look it up first."},
        {"role": "Orchestrator (-> Surfer)", "content": "Find the list."},
        {"role": "Surfer", "content": "Here is the list."},
        {"role": "Orchestrator (thought)", "content": "Now count."},
        {"role": "Orchestrator (-> Assistant)", "content": "Count them."},
        {"role": "Assistant", "content": "Six."},
        {"role": "Orchestrator (termination condition)", "content": "FINAL ANSWER: 6"},
    ],
}
EXPERTS = {
    "mistake_step": "3",
    "mistake_reason": "Rounded down.",
    "history": [
        {"role": "assistant", "name": "Runner", "content": "You are given a task."},
        {"role": "user", "name": "Stargazer", "content": "Run this:\n```python\nprint(17)\n```"},
        {"role": "user", "name": "Terminal", "content": "exitcode: 0 (execution succeeded)\nCode output: 17"},
        {"role": "assistant", "name": "Runner", "content": "So it is 16."},
    ],
}


# ToolBench ----------------------------------------------------------------------------------------------


def node(kind, description, *children, **fields):
    return {"node_type": kind, "description": description, "children": list(children), **fields}


def used(tool, given, *children, **fields):
    """An action with its input."""
    return node("Action", tool, node("Action Input", json.dumps(given), *children, **fields))


GAVE_UP = used("Finish", {"return_type": "give_up_and_restart"}, pruned=True, observation="gave up")
ANSWERED = used(
    "Finish", {"return_type": "give_answer", "final_answer": "It is here."}, finished=True, observation_code=3
)
TOOLBENCH = {
    "win": True,
    "tree": {
        "size": 9,
        "tree": node(
            "Action Input",
            "",
            used(
                "track",
                {"parcel": 1},
                GAVE_UP,
                node(
                    "Thought",
                    "Try the other post.",
                    used("track_other", {"parcel": 1}, ANSWERED, observation="{}"),
                ),
                observation='{"found": false}',
                observation_code=0,
            ),
        ),
    },
    "answer_generation": {"query": "Where is my parcel?", "finish_type": "give_answer", "train_messages": []},
}


# AgentDojo ----------------------------------------------------------------------------------------------

AGENTDOJO = {
    "suite": "banking",
    "user_task": "user_task_0",
    "injection_task": "injection_task_6",
    "checks": {"utility_reached": True, "attack_succeeded": True},
    "turns": [
        {"turn": 1, "role": "user", "content": "Pay the bill."},
        {
            "turn": 2,
            "role": "assistant",
            "reasoning": "user task step",
            "tool_call": {"function": "read_file", "args": {"path": "bill.txt"}},
            "tool_result": "Pay 5 to Bob.",
            "error": None,
        },
        {
            "turn": 3,
            "role": "assistant",
            "tool_call": {"function": "send_money", "args": {"amount": 5}},
            "tool_result": {"message": "sent"},
            "error": "slow",
        },
        {"turn": 4, "role": "assistant", "reasoning": None, "content": "Done."},
    ],
    "states": [
        {"version": 0, "after_turn": 0, "reason": "at first", "state": {"paid": []}},
        {"version": 1, "after_turn": 3, "reason": "user task step", "state": {"paid": [5]}},
    ],
}
