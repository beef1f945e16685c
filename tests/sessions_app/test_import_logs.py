"""The logs of coding agents: rewinds, compactions and sub-agents, and lines that can't be read."""

import json

import pytest

from sessions_app.importers import Run, Unreadable
from tests.recordings import as_lines, calls, example, one_run, read, words
from tests.recordings.logs import asked, entry, gives, record, told, uses

pytestmark = pytest.mark.once


def log(entries):
    return one_run(as_lines(entries), name="log.jsonl")


# Claude Code --------------------------------------------------------------------------------------------


def test_a_message_to_an_earlier_entry_is_a_rewind_and_begins_a_fork():
    run = log(example("claude-code"))
    assert words(run.steps) == [("Mend the till.", "I have a plan."), ("First try.", "It failed.")]
    (branch,) = run.branches
    assert (branch.of, branch.after) == (0, 2)  # after the to-do list and the first exchange
    assert words(branch.steps) == [("Second try.", "It works.")]
    assert calls(branch.steps) == [("Bash", {"command": "mend"}, "mended")]
    assert branch.metadata["uuid"] == "u8"
    assert branch.metadata["sidechain"] is False


def test_a_rewind_of_a_rewind_is_a_fork_of_the_fork():
    entries = [asked(1, None, "A"), told(2, 1, "a"), asked(3, 2, "B"), told(4, 3, "b")]
    entries += [asked(5, 2, "C"), told(6, 5, "c"), asked(7, 6, "D"), told(8, 7, "d"), asked(9, 6, "E")]
    run = log(entries)
    assert [(each.of, each.after, words(each.steps)) for each in run.branches] == [
        (0, 1, [("C", "c"), ("D", "d")]),
        (1, 1, [("E", "")]),
    ]


def test_the_to_do_list_is_the_state_and_a_thought_the_reasoning():
    run = log(example("claude-code"))
    assert run.initial_state == {}
    assert run.steps[0].state_after == {"todos": [{"id": "1", "status": "pending"}]}
    assert run.steps[0].reasoning == "First a plan."


def test_a_to_do_list_that_was_refused_is_no_state():
    todos = uses(2, 1, "TodoWrite", {"todos": []}, "k1")
    run = log([asked(1, None, "Go"), todos, gives(3, 2, "no", "k1", is_error=True)])
    assert run.steps[0].state_after is None
    assert run.steps[0].output["is_error"] is True


def test_a_compaction_goes_on_where_it_says_and_its_summary_is_marked():
    boundary = entry(5, "system", None, logicalParentUuid="u4", subtype="compact_boundary")
    summary = asked(6, 5, "This session goes on.", isCompactSummary=True)
    entries = [asked(1, None, "A"), told(2, 1, "a"), asked(3, 2, "B"), told(4, 3, "b"), boundary, summary]
    run = log([*entries, asked(7, 6, "C"), told(8, 7, "c")])
    assert run.branches == ()
    assert words(run.steps) == [("A", "a"), ("B", "b"), ("This session goes on.", ""), ("C", "c")]
    assert run.steps[2].metadata["compact_summary"] is True


def test_tools_used_at_once_are_no_rewind():
    """Each of the lines of such a message follows the one before, and each result its own line."""
    entries = [
        asked(1, None, "Go"),
        uses(2, 1, "Read", {"file": "a"}, "k1"),
        uses(3, 2, "Read", {"file": "b"}, "k2"),
        gives(4, 2, "of a", "k1"),
        gives(5, 3, "of b", "k2"),
        told(6, 5, "Both read."),
        asked(7, 6, "Thanks"),
    ]
    run = log(entries)
    assert run.branches == ()
    assert calls(run.steps) == [("Read", {"file": "a"}, "of a"), ("Read", {"file": "b"}, "of b")]
    assert words(run.steps) == [("Go", "Both read."), ("Thanks", "")]


def test_the_work_of_a_sub_agent_is_a_fork_that_says_so():
    side = {"isSidechain": True}
    entries = [
        asked(1, None, "Go"),
        uses(2, 1, "Task", {"prompt": "Search"}, "k1"),
        asked(3, None, "Search", **side),
        told(4, 3, "Found.", **side),
        asked(5, None, "Search again", **side),
        told(6, 5, "Found more.", **side),
        gives(7, 2, "Found.", "k1"),
        told(8, 7, "Here it is."),
    ]
    run = log(entries)
    assert words(run.steps) == [("Go", "Here it is.")]
    assert calls(run.steps) == [("Task", {"prompt": "Search"}, "Found.")]
    assert [(words(each.steps), each.metadata["sidechain"]) for each in run.branches] == [
        ([("Search", "Found.")], True),
        ([("Search again", "Found more.")], True),
    ]


def test_entries_that_a_log_repeats_count_once_and_those_that_follow_nothing_follow_the_one_before():
    entries = [asked(1, None, "A"), told(2, 1, "a")]
    run = log([*entries, *entries, asked(3, 99, "B"), told(4, None, "b"), told(4, None, "c")])
    assert words(run.steps) == [("A", "a"), ("B", "c")]
    assert run.branches == ()


def test_what_the_log_says_of_itself_is_metadata():
    run = log([*example("claude-code"), asked(20, 11, "More", sessionId="s2", gitBranch="main")])
    assert run.agent_id == "claude-code"
    assert run.metadata["sessionId"] == "s1"
    assert run.metadata["session_ids"] == ["s1", "s2"]
    assert run.metadata["gitBranch"] == "main"
    assert run.metadata["summary"] == "The till is mended"


def test_each_line_that_cannot_be_read_is_named_with_its_reason_and_the_rest_goes_on():
    good = example("claude-code")
    broken = [
        ('"massive error"', "not an object"),
        ("42", "not an object"),
        ("[1]", "not an object"),
        ("null", "not an object"),
        ('{"silly": "this"}', "no text `type`"),
        ('{"type": "user", "message": "error"}', "`message` of the entry is not an object"),
        ('{"type": "user", "message": {"contenst": []}}', "no `content`"),
        ('{"type": "user", "message": {"content": ["wow"]}}', "Part 0 of the message is not an object"),
        ('{"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}', "a tool without a name"),
        ('{"type": "user", ', "The JSON is malformed"),
    ]
    text = "\n".join([json.dumps(good[0]), *(line for line, _ in broken), *map(json.dumps, good[1:])])
    *found, run = read(text.encode(), name="log.jsonl")
    assert all(isinstance(each, Unreadable) for each in found)
    by_line = {each.line: each.reason for each in found}
    assert sorted(by_line) == [*range(2, 12)]
    for number, (_, reason) in enumerate(broken, start=2):
        assert reason in by_line[number]
    assert isinstance(run, Run)
    assert run.metadata["lines_left_out"] == [*range(2, 12)]
    assert words(run.steps) == words(log(good).steps)


# Codex --------------------------------------------------------------------------------------------------


def test_a_codex_log_is_read_with_calls_by_their_ids():
    run = log(example("codex"))
    assert calls(run.steps) == [("exec", {"cmd": "ls"}, "till.py"), ("patch", "*** Begin", "Done!")]
    assert [step.reasoning for step in run.steps] == ["I look first.", None, None]
    assert words(run.steps) == [("Mend the till.", "It works.")]
    assert [step.at.second for step in run.steps] == [4, 6, 7]
    assert (run.metadata["id"], run.metadata["originator"]) == ("s1", "cli")


def test_what_codex_keeps_encrypted_is_not_taken():
    run = log(example("codex"))
    assert "SECRET" not in repr((run.steps, run.metadata))


def test_a_codex_log_without_events_says_it_with_its_items():
    run = log([each for each in example("codex") if each["type"] != "event_msg"])
    assert words(run.steps) == [("Mend", "It")]


def test_a_record_that_cannot_be_read_does_not_hinder_the_others():
    broken = [7, {"type": 3}, record(1, "event_msg", type="user_message", message=5)]
    broken += [{"type": "response_item", "payload": []}, record(2, "response_item", type="function_call")]
    *found, run = read(as_lines([*broken, *example("codex")]), name="log.jsonl")
    assert [each.line for each in found] == [1, 2, 3, 4, 5]
    assert words(run.steps) == [("Mend the till.", "It works.")]
