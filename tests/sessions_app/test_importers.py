"""The pure readers of recorded runs: what becomes of a chat, and how what can't be read is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers import RecordedState, RecordedTurn, Run, Unreadable
from sessions_app.importers.source import line_of
from tests.documents import documents, scalars
from tests.recordings import fault, one_run, read

pytestmark = pytest.mark.once


def call(name, arguments, call_id="c1", beside=None):
    """An assistant's message that calls one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": beside,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(content, call_id="c1", name="lookup"):
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


BOOKING = [
    {"role": "system", "content": "You book tables."},
    user("A table for two, please."),
    call("think", {"thought": "I need the free tables first."}, "t1"),
    result("", "t1", "think"),
    call("lookup", {"seats": 2}),
    result('{"free": ["A4"]}'),
    assistant("A4 is free. Shall I book it?"),
    user("Yes."),
    call("book", {"table": "A4"}, "c2", beside="The user agreed."),
    result("booked", "c2", "book"),
    assistant("Done."),
    user("Thanks!"),
]
STATES = {
    "run": "booking",
    "how": "replayed",
    "versions": [
        {"after_message_index": 0, "reason": "at first", "state": {"booked": []}},
        {"after_message_index": 9, "reason": "after book", "state": {"booked": ["A4"]}},
    ],
    "expected_final_state": {"booked": ["A4"]},
    "diff_expected_vs_actual": [],
}


# What a chat becomes ------------------------------------------------------------------------------------


def test_an_exchange_is_the_users_message_and_the_last_answer_before_the_next_one():
    run = one_run([user("Hi"), assistant("One moment."), assistant("Hello!"), user("Bye"), assistant("Bye.")])
    first, second = run.steps
    assert first.input == {"type": "text", "content": "Hi"}
    assert first.output["content"] == "Hello!"
    assert [said["content"] for said in first.output["earlier"]] == ["One moment."]
    assert (second.input["content"], second.output["content"]) == ("Bye", "Bye.")


def test_a_tool_call_is_a_turn_in_the_shape_of_the_official_sdk():
    run = one_run(BOOKING)
    turn = run.steps[0]
    assert turn.input["type"] == "tool_call"
    assert turn.input["tool_metadata"] == {"name": "lookup", "arguments": {"seats": 2}, "id": "c1"}
    assert turn.output == {
        "type": "tool_response",
        "content": '{"free": ["A4"]}',
        "output": {"free": ["A4"]},
    }


def test_turns_stand_in_the_order_in_which_they_ended():
    contents = [turn.input["content"] for turn in one_run(BOOKING).steps]
    assert contents[0].startswith("Call tool lookup")
    assert contents[1] == "A table for two, please."
    assert contents[2].startswith("Call tool book")
    assert contents[3:] == ["Yes.", "Thanks!"]


def test_a_thought_is_the_reasoning_of_what_follows_it_and_no_turn_of_its_own():
    run = one_run(BOOKING)
    assert run.steps[0].reasoning == "I need the free tables first."
    assert run.steps[1].reasoning is None
    assert not any("think" in step.input["content"] for step in run.steps)


def test_text_beside_a_tool_call_is_its_reasoning():
    assert one_run(BOOKING).steps[2].reasoning == "The user agreed."


def test_the_last_message_may_have_no_answer():
    last = one_run(BOOKING).steps[-1]
    assert last.output == {"type": "none", "content": ""}
    assert last.metadata["answered"] is False


def test_turns_name_the_messages_they_come_from():
    lookup, exchange = one_run(BOOKING).steps[:2]
    assert (lookup.metadata["exchange"], lookup.metadata["messages"]) == (1, [4, 5])
    assert (exchange.metadata["exchange"], exchange.metadata["messages"]) == (1, [1, 6])


def test_a_call_id_that_comes_twice_is_answered_each_time():
    run = one_run([user("Go"), call("a", {}), result("first"), call("b", {}), result("second")])
    named = [(turn.input["tool_metadata"]["name"], turn.output["output"]) for turn in run.steps[:2]]
    assert named == [("a", "first"), ("b", "second")]


def test_several_calls_of_one_message_are_told_apart_by_their_ids():
    both = call("a", {}, "c1")
    both["tool_calls"] += call("b", {}, "c2")["tool_calls"]
    run = one_run([user("Go"), both, result("of b", "c2"), result("of a", "c1"), assistant("Done")])
    named = [(turn.input["tool_metadata"]["name"], turn.output["output"]) for turn in run.steps[:2]]
    assert named == [("b", "of b"), ("a", "of a")]


def test_a_call_without_result_and_a_result_without_call_are_kept_and_say_so():
    unanswered, exchange = one_run([user("Go"), call("a", {})]).steps
    assert (unanswered.output["type"], unanswered.metadata["answered"]) == ("none", False)
    assert exchange.input["content"] == "Go"
    orphan = one_run([user("Go"), result("from nowhere", "c9")]).steps[0]
    assert (orphan.output["output"], orphan.metadata["call_recorded"]) == ("from nowhere", False)


def test_arguments_that_are_no_json_are_kept_as_they_are():
    broken = call("a", {})
    broken["tool_calls"][0]["function"]["arguments"] = '{"table": '
    run = one_run([user("Go"), broken, result("?")])
    assert run.steps[0].input["tool_metadata"]["arguments"] == '{"table": '


def test_the_older_function_call_is_read_as_well():
    run = one_run(
        [
            user("Go"),
            {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
            {"role": "function", "name": "old", "content": "ok"},
        ]
    )
    assert (run.steps[0].input["tool_metadata"]["name"], run.steps[0].output["output"]) == ("old", "ok")


def test_content_in_parts_is_joined_and_kept():
    parts = [{"type": "text", "text": "What is"}, {"type": "image_url"}, {"type": "text", "text": "this?"}]
    asked = one_run([user(parts), assistant("A cat.")]).steps[0].input
    assert asked == {"type": "text", "content": "What is\nthis?", "parts": parts}


def test_what_stands_around_the_messages_is_metadata():
    document = {
        "task_id": 26,
        "trial": 3,
        "reward": 0.0,
        "info": {"task": {"user_id": "ann_lee_1"}},
        "traj": BOOKING,
    }
    run = one_run(document, STATES, name="folder/run.json")
    assert (run.agent_id, run.user_id) == ("tau-bench", "ann_lee_1")
    assert run.metadata == {
        "source_file": "run.json",
        "format": "openai-chat",
        "times": "not recorded",
        "task_id": 26,
        "trial": 3,
        "reward": 0.0,
        "info": {"task": {"user_id": "ann_lee_1"}},
        "states": {"how": "replayed", "diff_expected_vs_actual": []},
        "system_prompt": "You book tables.",
    }


@pytest.mark.parametrize("wrap", [lambda chat: chat, lambda chat: {"messages": chat, "model": "gpt-4o"}])
def test_a_bare_list_and_messages_are_chats_too(wrap):
    run = one_run(wrap(BOOKING))
    assert len(run.steps) == 5
    assert run.agent_id in ("chat", "gpt-4o")


# States beside it ---------------------------------------------------------------------------------------


def test_a_version_belongs_to_the_turn_after_which_it_holds():
    run = one_run(BOOKING, STATES)
    assert run.initial_state == {"booked": []}
    assert [step.state_after for step in run.steps] == [None, None, {"booked": ["A4"]}, None, None]
    assert run.steps[2].reasoning == "The user agreed."


def test_a_turn_without_reasoning_takes_the_reason_of_the_states_file():
    chat = [user("Go"), call("lookup", {}), result("ok")]
    states = {"versions": [{"state": {}}, {"after_message_index": 2, "reason": "looked", "state": {"n": 1}}]}
    assert one_run(chat, states).steps[0].reasoning == "looked"


def test_a_version_that_no_turn_made_is_a_step_of_its_own():
    states = {
        "versions": [
            {"after_message_index": 0, "state": {"n": 0}},
            {"after_message_index": 7, "reason": "by the clock", "state": {"n": 1}},
            {"after_message_index": 99, "state": {"n": 2}},
        ]
    }
    steps = one_run(BOOKING, states).steps
    alone = [(place, step) for place, step in enumerate(steps) if isinstance(step, RecordedState)]
    assert alone == [(2, RecordedState({"n": 1}, "by the clock")), (6, RecordedState({"n": 2}))]


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        (None, "no list"),
        ([], "no list"),
        ([1], "not an object"),
        ([{"after_message_index": 0, "state": [1]}], "no object `state`"),
        ([{"state": {}}, {"state": {}}], "no number `after_message_index`"),
        ([{"state": {}}, {"after_message_index": True, "state": {}}], "no number"),
        (
            [{"after_message_index": 5, "state": {}}, {"after_message_index": 3, "state": {}}],
            "before the version",
        ),
    ],
)
def test_faults_of_the_states_are_named_in_their_own_file(versions, reason):
    found = fault(BOOKING, {"versions": versions})
    assert found.name == "run.states.json"
    assert reason in found.reason


def test_a_fault_of_the_states_names_its_line():
    states = '{"versions": [\n  {"state": {}},\n  {"after_message_index": 1}\n]}'
    assert fault(BOOKING, states.encode()).line == 3


# The same run, and several in one file ------------------------------------------------------------------


def test_the_fingerprint_is_of_the_content_not_of_name_or_spacing():
    once = one_run(BOOKING, STATES)
    again = one_run(json.dumps(BOOKING, indent=4).encode(), STATES, name="elsewhere.json")
    other = one_run([*BOOKING, assistant("Bye")], STATES)
    assert once.fingerprint == again.fingerprint
    assert len({once.fingerprint, other.fingerprint, one_run(BOOKING).fingerprint}) == 3


def test_a_list_of_runs_is_read_one_by_one_and_a_broken_one_does_not_hinder_the_next():
    good, bad = {"messages": BOOKING}, {"messages": [user("Hi"), {"role": "nobody"}]}
    first, second, third = read(json.dumps([good, bad, good], indent=1).encode())
    assert isinstance(first, Run)
    assert isinstance(third, Run)
    assert isinstance(second, Unreadable)
    assert (first.name, third.name) == ("run.json#0", "run.json#2")
    assert first.fingerprint == one_run(good).fingerprint


def test_json_lines_are_read_one_by_one_and_a_broken_line_is_named():
    line = json.dumps({"messages": BOOKING})
    text = f"{line}\n\n{{broken\n{line}\n".encode()
    for name in ("runs.jsonl", "standard input"):
        broken, first, second = read(text, name=name)
        assert (broken.name, broken.line) == (name, 3)
        assert isinstance(first, Run)
        assert isinstance(second, Run)


def test_a_fault_in_one_of_several_lines_names_that_line():
    line, bad = json.dumps({"messages": BOOKING}), json.dumps({"messages": [user("Hi"), 7]})
    _, found = read(f"{line}\n{bad}".encode(), name="runs.jsonl")
    assert found.line == 2
    assert "Message 1" in found.reason


# What can't be read -------------------------------------------------------------------------------------

CHAT = json.dumps({"messages": BOOKING}, indent=1).encode()


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"", None, "empty"),
        (b" \n\t\n", None, "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", None, "binary"),
        (b"PK\x03\x04\x00\x00", None, "binary"),
        (json.dumps(BOOKING).encode("utf-16"), None, "UTF-16"),
        (b'[{"role": "user",\n "content": "caf\xe9"}]', 2, "not UTF-8"),
        (CHAT[: len(CHAT) // 2], CHAT[: len(CHAT) // 2].count(b"\n") + 1, "cut off"),
        (b'{"messages": [\n{"role": "user",, "content": ""}]}', 2, "malformed"),
        (b'{"messages": [\n {"role": "user",\n "content": "x", "n": NaN}]}', 3, "NaN"),
        (b'{"messages": [],\n "messages": []}', 1, "stands twice"),
        (b'{"messages":\n[]}', 2, "no messages"),
        (b'{"messages": [{"role": "user", "content": "a"},\n\n"b"]}', 3, "not an object"),
        (b'[{"role": "user", "content": "a"},\n{"role": "robot"}]', 2, "no known `role`"),
        (b'[{"role": "user",\n"content": 7}]', 2, "text or a list"),
        (b'[{"role": "assistant", "content": "", \n"tool_calls": {}}]', 2, "no list"),
        (b'[{"role": "assistant", "tool_calls": [\n{"function": {}}]}]', 2, "names no function"),
        (b'{"something": "else"}', None, "format is unknown"),
        (b'"text"', None, "format is unknown"),
        (b"[]", None, "format is unknown"),
        (b"[" * 5000, 1, "nested"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line_and_reason(content, line, reason):
    found = fault(content)
    assert reason in found.reason
    assert found.line == line
    assert str(found).startswith(f"run.json:{line}: " if line else "run.json: ")


def test_a_byte_order_mark_does_no_harm():
    assert len(one_run(b"\xef\xbb\xbf" + CHAT).steps) == 5


def test_another_tools_record_that_holds_messages_is_not_taken_for_a_chat():
    assert "unknown" in fault({"messages": BOOKING, "history": []}).reason


def test_the_line_of_a_pointer_is_where_its_value_begins():
    text = '{\n "a/b": [1,\n  {"c": "x"},\n  [true,\n   "y"]]\n}'
    assert line_of(text, "") == 1
    assert line_of(text, "/a~1b/0") == 2
    assert line_of(text, "/a~1b/1/c") == 3
    assert line_of(text, "/a~1b/2/1") == 5
    assert line_of(text, "/a~1b/9") == 2


_roles = st.sampled_from(["system", "user", "assistant", "tool", "function", "robot", "", None, 3])
_functions = st.fixed_dictionaries({}, optional={"name": scalars, "arguments": scalars})
_calls = st.lists(
    st.fixed_dictionaries({}, optional={"id": scalars, "function": st.one_of(_functions, scalars)}),
    max_size=3,
)
_messages = st.fixed_dictionaries(
    {},
    optional={
        "role": _roles,
        "content": documents(4),
        "tool_calls": st.one_of(_calls, scalars),
        "function_call": st.one_of(_functions, scalars),
        "tool_call_id": scalars,
        "name": scalars,
    },
)
_versions = st.fixed_dictionaries(
    {}, optional={"state": documents(3), "after_message_index": st.one_of(st.integers(0, 9), scalars)}
)


@given(
    st.one_of(documents(), st.lists(_messages, max_size=8).map(lambda chat: {"traj": chat})),
    st.one_of(st.none(), documents(5), st.lists(_versions, max_size=4).map(lambda each: {"versions": each})),
)
def test_any_document_gives_runs_or_reasons_and_never_anything_else(document, states):
    for found in read(document, states):
        assert isinstance(found, Run | Unreadable)
        for step in found.steps if isinstance(found, Run) else ():
            assert isinstance(step, RecordedTurn | RecordedState)
            for side in (step.input, step.output) if isinstance(step, RecordedTurn) else ():
                assert isinstance(side["type"], str)
                assert isinstance(side["content"], str)


@given(st.binary(max_size=60), st.sampled_from(["x.json", "x.jsonl", "standard input"]))
def test_any_bytes_give_reasons(content, name):
    assert all(isinstance(found, Unreadable) for found in read(content, name=name))


@given(st.integers(0, len(CHAT) - 2))
def test_a_chat_that_is_cut_anywhere_is_refused(length):
    assert fault(CHAT[:length]).reason
