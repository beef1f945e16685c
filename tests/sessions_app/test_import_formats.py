"""What becomes of a run in each of the formats: turns, states, forks, and what is said of them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions_app.importers import READERS, RecordedState, RecordedTurn
from tests.recordings import EXAMPLES, as_lines, calls, example, fault, one_run, read, words
from tests.recordings.benchmarks import EXPERTS, GAVE_UP, node
from tests.recordings.frameworks import LANGGRAPH_STEPS, checkpoint

pytestmark = pytest.mark.once

NINE = datetime(2025, 3, 1, 9, tzinfo=UTC)


def states(steps):
    """The states that steps leave behind, where they leave one."""
    left = [step.state_after if isinstance(step, RecordedTurn) else step.state for step in steps]
    return [state for state in left if state is not None]


def seconds(steps):
    return [(step.at - NINE).total_seconds() for step in steps]


def test_each_format_has_its_reader_and_its_example():
    assert {reader.NAME for reader in READERS} == {*EXAMPLES, "openai-chat"}


def test_the_documentation_lists_the_formats():
    document = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    listed = [line.split("`")[1] for line in document.splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(reader.NAME for reader in READERS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_format_is_known_by_what_is_in_the_file(name):
    run = one_run(example(name), name="standard input")
    assert run.metadata["format"] == name
    assert run.steps
    assert run.metadata["source_file"] == "standard input"


@pytest.mark.parametrize("name", [name for name in EXAMPLES if isinstance(EXAMPLES[name], dict)])
def test_several_runs_in_one_file_are_read_one_by_one(name):
    first, second = read(as_lines([example(name), example(name)]), name="runs.jsonl")
    assert first.steps == second.steps == one_run(example(name)).steps


# SWE-agent ----------------------------------------------------------------------------------------------


def test_a_step_of_swe_agent_is_a_tool_call_with_its_thought_and_the_task_an_exchange():
    run = one_run(example("swe-agent"))
    assert calls(run.steps) == [
        ("open", {"command": "open till.py\n"}, "1: total = 1"),
        ("edit", {"command": "edit 1:1\ntotal = 2\nend_of_edit\n"}, "1: total = 2"),
        ("cd", {"command": "cd tests && submit"}, "diff"),
    ]
    assert [step.reasoning for step in run.steps] == ["Let me look.", "Fix it.", "Done.", None]
    assert words(run.steps) == [("The till is wrong.", "the diff")]
    assert [step.metadata["steps"] for step in run.steps] == [[0, 0], [1, 1], [2, 2], [-1, 2]]
    assert run.metadata["system_prompt"] == "You mend shops."
    assert run.metadata["times"] == "not recorded"


def test_the_state_of_the_shell_is_a_version_where_it_changed_as_text_or_as_an_object():
    for state in ('{"open_file": "n/a", "working_dir": "/shop/tests"}', {"open_file": "n/a"}):
        document = example("swe-agent")
        document["trajectory"][2]["state"] = state
        run = one_run(document)
        assert run.initial_state == {"open_file": "till.py", "working_dir": "/shop"}
        assert [step.state_after is not None for step in run.steps] == [False, False, True, False]
        assert run.steps[2].state_after["open_file"] == "n/a"


def test_states_beside_a_trajectory_come_before_its_own():
    versions = [{"after_step": 0, "state": {"n": 0}}, {"after_step": 1, "reason": "edit", "state": {"n": 1}}]
    run = one_run(example("swe-agent"), {"how": "counted", "versions": versions})
    assert run.initial_state == {"n": 0}
    assert states(run.steps) == [{"n": 1}]
    assert run.steps[1].state_after == {"n": 1}
    assert run.metadata["states"] == {"how": "counted"}


def test_an_agent_that_calls_functions_keeps_their_names_arguments_and_ids():
    document = example("swe-agent")
    for number, step in enumerate(document["trajectory"]):
        function = {"name": "edit", "arguments": f'{{"line": {number}}}'}
        message = {"role": "assistant", "action": step["action"]}
        document["history"].append(message | {"tool_calls": [{"id": f"k{number}", "function": function}]})
    run = one_run(document)
    assert [each[:2] for each in calls(run.steps)] == [("edit", {"line": number}) for number in range(3)]
    assert run.steps[2].input["tool_metadata"]["id"] == "k2"


def test_a_step_without_action_is_named_with_its_line():
    document = example("swe-agent")
    del document["trajectory"][1]["action"]
    assert "Step 1 has no text `action`" in fault(document).reason


def test_the_code_block_of_mini_swe_agent_is_a_tool_call_and_what_it_returned_the_result():
    run = one_run(example("mini-swe-agent"))
    assert [each[:2] for each in calls(run.steps)] == [
        ("bash", {"command": "cat till.py"}),
        ("bash", {"command": "ls"}),
    ]
    assert [step.metadata.get("return_code") for step in run.steps] == [1, 0, None]
    assert [step.reasoning for step in run.steps] == ["I look.", "I list.", None]
    assert words(run.steps) == [("The till is wrong.", "It is not here.")]


# LangGraph ----------------------------------------------------------------------------------------------


def test_each_checkpoint_is_a_version_at_its_time():
    run = one_run(example("langgraph"))
    assert run.initial_state == {"messages": [], "table": None}
    assert run.started_at == NINE.replace(second=1)
    tables = [state["table"]["booked"] for state in states(run.steps)]
    assert tables == [[], [], ["T9"], ["T9"]]
    assert [len(state["messages"]) for state in states(run.steps)] == [1, 2, 3, 4]
    assert seconds(run.steps) == [2, 3, 4, 5]
    assert calls(run.steps) == [("book", {"seats": 2}, "ok")]
    assert run.metadata["thread_id"] == "t1"
    assert "tables" not in run.metadata


def test_a_checkpoint_that_follows_an_earlier_one_begins_a_fork_there():
    run = one_run(example("langgraph"))
    (branch,) = run.branches
    assert (branch.of, branch.after) == (0, 2)
    assert [state["table"]["booked"] for state in states(branch.steps)] == [["T4"], ["T4"]]
    assert words(branch.steps) == [("A table for two.", "Table four is yours.")]
    assert seconds(branch.steps) == [6, 7]
    assert branch.metadata["checkpoint_id"] == "c6"


def test_the_order_of_a_history_does_not_matter_and_it_may_stand_alone():
    whole = example("langgraph")
    newest_first = one_run(whole)
    oldest_first = one_run(whole | {"history": whole["history"][::-1]})
    assert newest_first.steps == oldest_first.steps
    assert newest_first.branches == oldest_first.branches
    alone = one_run([checkpoint(1, None, {"n": 1}), checkpoint(2, 1, {"n": 2})])
    assert (alone.initial_state, states(alone.steps)) == ({"n": 1}, [{"n": 2}])


def test_messages_of_langchain_are_read_as_they_are_serialised():
    spoken = [
        {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "Hi"}},
        {"type": "ai", "content": "", "tool_calls": [{"name": "book", "args": {"seats": 2}, "id": "k1"}]},
        {"type": "tool", "content": "ok", "tool_call_id": "k1"},
        {"type": "ai", "content": "Booked."},
        "no message",
    ]
    history = [checkpoint(1, None, {"messages": []}), checkpoint(2, 1, {"messages": spoken})]
    run = one_run(history)
    assert calls(run.steps) == [("book", {"seats": 2}, "ok")]
    assert words(run.steps) == [("Hi", "Booked.")]


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        ([*LANGGRAPH_STEPS[:2], checkpoint(9, 8, {"message_refs": []})], "that the record does not have"),
        ([*LANGGRAPH_STEPS[:2], LANGGRAPH_STEPS[1]], "stands twice"),
        ([LANGGRAPH_STEPS[0], checkpoint(2, 1, {"message_refs": [99]})], "no place in the list `messages`"),
        ([LANGGRAPH_STEPS[0], checkpoint(2, 1, [])], "not an object"),
    ],
)
def test_faults_of_a_history_are_named(history, reason):
    assert reason in fault(example("langgraph") | {"history": history}).reason


# OpenHands ----------------------------------------------------------------------------------------------


def test_an_action_and_the_observation_that_it_caused_are_a_tool_call():
    run = one_run(example("openhands"))
    assert calls(run.steps) == [
        ("execute_bash", {"command": "ls"}, "till.py"),
        ("unknown", {}, "Not allowed."),
        ("run", {"command": "rm till.py"}, None),
    ]
    looked, refused, _, task = run.steps[:4]
    assert looked.input["tool_metadata"]["id"] == "k1"
    assert (looked.reasoning, looked.metadata["exit_code"]) == ("Look around.", 0)
    assert looked.metadata["events"] == [5, 6]
    assert refused.metadata["call_recorded"] is False
    assert words([task]) == [("The till is wrong.", "It stays wrong.")]
    assert run.agent_id == "CodeActAgent"


def test_times_without_a_zone_are_read_as_utc_and_the_session_says_so():
    run = one_run(example("openhands"))
    assert run.started_at == NINE.replace(microsecond=500_000)
    assert run.steps[0].at == NINE.replace(second=6, microsecond=500_000)
    assert run.metadata["times"] == "recorded without a zone, read as UTC"


def test_the_agents_own_state_is_the_state_unless_there_are_states_beside():
    assert one_run(example("openhands")).initial_state == {"agent_state": "finished"}
    versions = [{"after_event_id": 6, "state": {"n": 0}}, {"after_event_id": 12, "state": {"n": 1}}]
    run = one_run(example("openhands"), {"versions": versions})
    assert (run.initial_state, states(run.steps)) == ({"n": 0}, [{"n": 1}])
    assert run.steps[-1].state_after == {"n": 1}


def test_a_list_of_events_alone_is_a_run_too_and_ids_may_skip_but_not_go_back():
    events = example("openhands")["history"]
    assert len(one_run(events).steps) == 4
    events[3]["id"] = 1
    assert "no number `id` above 2" in fault(events).reason


# ADK ----------------------------------------------------------------------------------------------------


def test_the_changes_of_adks_events_are_applied_one_after_the_other():
    run = one_run(example("adk"))
    assert run.initial_state == {}
    assert states(run.steps) == [{"booked": ["T4"]}, {"booked": ["T4"], "seats": "2"}]
    assert calls(run.steps) == [("book", {"seats": 2}, {"table": "T4"})]
    assert words(run.steps) == [("A table for two.", "Table four is yours.")]
    assert [step.at.second for step in run.steps] == [2, 4]
    assert run.steps[0].at == NINE.replace(second=2, microsecond=250_000)
    assert (run.agent_id, run.user_id) == ("booker", "ann")


# Who&When -----------------------------------------------------------------------------------------------


def test_what_an_orchestrator_hands_over_is_a_turn_with_its_thoughts():
    run = one_run(example("who-and-when"))
    assert words(run.steps) == [
        ("Find the list.", "Here is the list."),
        ("Count them.", "Six."),
        ("How many stops?", "FINAL ANSWER: 6"),
    ]
    assert [step.reasoning for step in run.steps] == ["Look it up first.", "Now count.", None]
    assert [step.metadata.get("agent") for step in run.steps] == ["Surfer", "Assistant", None]


def test_the_mistake_that_people_found_stands_at_its_turn():
    assert [step.metadata.get("annotated_mistake") for step in one_run(example("who-and-when")).steps] == [
        None,
        "It counted wrongly.",
        None,
    ]


def test_a_terminal_that_runs_code_is_a_tool_with_that_code():
    run = one_run(EXPERTS)
    assert [each[:2] for each in calls(run.steps)] == [("Terminal", {"code": ["print(17)\n"]})]
    assert run.steps[1].metadata["exit_code"] == 0
    assert [step.metadata.get("annotated_mistake") for step in run.steps] == [
        None,
        None,
        "Rounded down.",
        None,
    ]
    assert words(run.steps)[-1] == ("You are given a task.", "")


def test_the_states_beside_it_stand_between_the_turns():
    versions = [
        {"after_history_index": 1, "state": {"done": False}},
        {"after_history_index": 4, "reason": "rewritten", "state": {"done": True}},
    ]
    run = one_run(example("who-and-when"), {"versions": versions})
    assert run.initial_state == {"done": False}
    assert run.steps[1] == RecordedState({"done": True}, "rewritten")


# ToolBench ----------------------------------------------------------------------------------------------


def test_the_path_to_the_answer_is_the_run_and_a_dead_branch_a_fork():
    run = one_run(example("toolbench"))
    assert calls(run.steps) == [
        ("track", {"parcel": 1}, {"found": False}),
        ("track_other", {"parcel": 1}, {}),
    ]
    assert run.steps[1].reasoning == "Try the other post."
    assert words(run.steps) == [("Where is my parcel?", "It is here.")]
    (branch,) = run.branches
    assert (branch.of, branch.after) == (0, 1)
    assert words(branch.steps) == [("Where is my parcel?", "give_up_and_restart")]
    assert branch.metadata["pruned"] is True


def test_the_state_of_a_search_is_its_path_from_the_root():
    run = one_run(example("toolbench"))
    assert run.initial_state == {"path": []}
    first = {"action": "track", "input": {"parcel": 1}, "observation_code": 0}
    assert states(run.steps)[0] == {"path": [first]}
    assert [len(state["path"]) for state in states(run.steps)] == [1, 2, 3]


def test_where_no_branch_answered_all_are_dead_and_leave_the_question_open():
    document = example("toolbench")
    document["tree"]["tree"] = node("Action Input", "", GAVE_UP, node("Thought", "Once more.", GAVE_UP))
    run = one_run(document)
    assert words(run.steps) == [("Where is my parcel?", "")]
    assert [(each.of, each.after) for each in run.branches] == [(0, 1), (0, 1)]


# AgentDojo ----------------------------------------------------------------------------------------------


def test_the_environment_of_agentdojo_is_the_state_after_the_turn_that_changed_it():
    run = one_run(example("agentdojo"))
    assert run.initial_state == {"paid": []}
    assert [step.state_after for step in run.steps] == [None, {"paid": [5]}, None]
    assert calls(run.steps) == [
        ("read_file", {"path": "bill.txt"}, "Pay 5 to Bob."),
        ("send_money", {"amount": 5}, {"message": "sent"}),
    ]
    assert run.steps[1].output["error"] == "slow"
    assert run.metadata["checks"] == {"utility_reached": True, "attack_succeeded": True}
    document = example("agentdojo")
    del document["states"][1]["after_turn"]
    assert "no number `after_turn`" in fault(document).reason
