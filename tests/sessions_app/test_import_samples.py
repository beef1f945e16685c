"""The published runs in the folder STATEBASE_SAMPLE_RUNS: what is known of them is where it happened."""

import io
import json
import os
from pathlib import Path

import pytest

from sessions_app import actions, queries
from sessions_app.diff import compare
from sessions_app.importers import Unreadable, read_file, run_files
from sessions_app.models import AgentSession
from statebase_site.base.json import same
from tests import factories as make

SAMPLES = os.environ.get("STATEBASE_SAMPLE_RUNS", "")
pytestmark = pytest.mark.skipif(
    not SAMPLES, reason="STATEBASE_SAMPLE_RUNS names no folder of recorded runs, so none were tried"
)


@pytest.fixture
def system(db):
    return make.system(make.project())


class Loaded:
    """What importing a folder, or a file, of the samples gave: each session by its file's name."""

    def __init__(self, system, name):
        self.sessions, self.forks, self.refused = {}, {}, []
        runs = []
        for file in run_files([str(Path(SAMPLES) / name)], io.BytesIO()):
            for found in [file] if isinstance(file, Unreadable) else read_file(file):
                if isinstance(found, Unreadable):
                    self.refused.append((found.line, found.reason))
                else:
                    runs.append(found)
        for run in runs:
            imported = actions.import_run(run=run, by=system)
            assert not imported.already_there
            source = run.metadata["source_file"]
            self.sessions[source.split(".")[0]] = imported.agent_session
            self.forks[source.split(".")[0]] = list(imported.forks)
            for session in (imported.agent_session, *imported.forks):
                assert queries.verify_session(session).ok
        assert all(actions.import_run(run=run, by=system).already_there for run in runs)


def state_at(session, number):
    return queries.document_at(session, number if number >= 0 else session.head_version + 1 + number).value


def turns(session):
    return list(queries.turns_of(session).order_by("number"))


def tool(turn):
    return turn.input.get("tool_metadata", {}).get("name")


def turn_that_made(session, number):
    return queries.turns_of(session).get(public_id=queries.version_row(session, number).turn_id)


@pytest.mark.parametrize("folder", ["swe-agent", "openhands", "who-and-when"])
def test_every_recorded_state_is_a_version(system, folder):
    loaded = Loaded(system, folder)
    assert loaded.refused == []
    with_states = sorted((Path(SAMPLES) / folder).glob("*.states.json"))
    assert with_states
    for path in with_states:
        session = loaded.sessions[path.name.split(".")[0]]
        recorded = json.loads(path.read_text())["versions"]
        assert session.head_version == len(recorded) - 1, path.name
        for number, version in enumerate(recorded):
            assert same(state_at(session, number), version["state"]), (path.name, number)


def test_refused_edits_and_the_recovery_stand_at_their_steps(system):
    loaded = Loaded(system, "swe-agent")
    steps = turns(loaded.sessions["pydicom-1458"])
    assert len(steps) == 12 + 1
    refused = [
        number
        for number, turn in enumerate(steps)
        if turn.output["content"].startswith("Your proposed edit has introduced new syntax error")
    ]
    assert refused == [5, 6, 7]
    assert (tool(steps[8]), tool(steps[-1])) == ("edit", None)
    flag = turns(loaded.sessions["ctf-katy-demonstration"])
    assert flag[14].output["content"] == "Wrong flag!"
    assert "EXECUTION TIMED OUT" in flag[16].output["content"]
    functions = turns(loaded.sessions["marshmallow-1867-function-calling"])
    assert functions[0].input["tool_metadata"]["arguments"] == {"filename": "reproduce.py"}
    assert functions[0].input["tool_metadata"]["id"].startswith("call_")


def test_a_list_of_messages_with_commands_has_ten_of_them(system):
    (session,) = Loaded(system, "mini-swe-agent").sessions.values()
    commands = [turn for turn in turns(session) if tool(turn) == "bash"]
    assert len(commands) == 10
    codes = [turn.metadata.get("return_code") for turn in commands]
    assert codes == [1, 0, 0, 0, 0, 0, 0, 1, 0, None]


def test_the_loop_of_failing_edits_is_where_the_notes_say(system):
    loaded = Loaded(system, "openhands")
    session = loaded.sessions["ponyc-4593"]
    edits = [
        turn
        for turn in turns(session)
        if turn.metadata.get("action") == "edit" and turn.metadata["events"][0] >= 42
    ]
    failed = [turn for turn in edits if turn.output["content"].startswith("ERROR:")]
    assert (len(edits), len(failed)) == (11, 10)
    (landed,) = [turn for turn in edits if turn not in failed]
    assert landed.metadata["events"][1] == 65
    assert turn_that_made(session, 13).metadata["events"][1] == 43
    asked = turns(session)[-1]
    assert (tool(asked), asked.output["type"]) == (None, "text")
    assert asked.metadata["events"] == [1, 70]


def test_a_run_on_the_step_limit_has_an_error_and_no_answer_and_its_exit_code_changes_type(system):
    loaded = Loaded(system, "openhands")
    session = loaded.sessions["ponyc-4588"]
    assert "maximum iteration" in session.metadata["error"]
    assert turns(session)[-1].output == {"type": "none", "content": ""}
    codes = [state_at(session, number)["last_exit_code"] for number in range(session.head_version + 1)]
    assert {type(code) for code in codes} == {int, str}
    assert session.created_at.isoformat() == "2025-04-30T17:56:40.640800+00:00"
    finished = loaded.sessions["ponyc-4595"]
    assert state_at(finished, -1)["last_exit_code"] == 127
    assert turns(finished)[-1].output["type"] == "text"
    gui = loaded.sessions["todo-app-gui"]
    states = [state_at(gui, number)["agent_state"] for number in range(gui.head_version + 1)]
    assert states == ["loading", "init", "running", "awaiting_user_input"]


def test_the_corrected_line_is_a_fork_at_the_checkpoint_with_cursor_29(system):
    loaded = Loaded(system, "langgraph")
    ((session,), ((fork,),)) = (loaded.sessions.values(), loaded.forks.values())
    assert (session.head_version, fork.head_version) == (34, 4)
    assert (fork.forked_from, fork.forked_version) == (session.public_id, 30)
    assert state_at(fork, 0)["cursor"] == 29
    assert same(state_at(fork, 0), state_at(session, 30))
    beside = Path(SAMPLES) / "tau-bench" / "airline-task26-trial3-fail.states.json"
    expected = json.loads(beside.read_text())["expected_final_state"]
    changes = compare(state_at(session, -1)["booking"], state_at(fork, -1)["booking"]).changes
    assert [(each["path"], each["old"], each["new"]) for each in changes] == [
        (
            "/reservations/M20IZO/payment_history/1/payment_id",
            "credit_card_4959530",
            "credit_card_9074831",
        )
    ]
    assert same(
        state_at(fork, -1)["booking"]["reservations"]["M20IZO"]["payment_history"],
        expected["reservations"]["M20IZO"]["payment_history"],
    )
    assert tool(turn_that_made(fork, 2)) == "update_reservation_flights"
    assert fork.created_at > session.updated_at


def test_changes_of_the_context_are_applied_in_order_and_keep_their_types(system):
    session = Loaded(system, "adk").sessions["context-update"]
    assert session.head_version == 1
    assert state_at(session, 0) == {}
    assert state_at(session, 1)["data_four"] == ["1", "hello", "3.14"]
    assert state_at(session, 1)["data_two"] == "3.141529"
    assert tool(turn_that_made(session, 1)) == "update_fc"
    context = session.metadata["context"]
    assert same(state_at(session, 1), {key: value for key, value in context.items() if key != "_time"})


def test_the_step_that_people_found_wrong_is_marked(system):
    loaded = Loaded(system, "who-and-when")
    marked = {
        name: [turn.metadata for turn in turns(session) if "annotated_mistake" in turn.metadata]
        for name, session in loaded.sessions.items()
    }
    agents = {name: [each["agent"] for each in found] for name, found in marked.items()}
    assert agents == {name: [loaded.sessions[name].metadata["mistake_agent"]] for name in loaded.sessions}
    for name, (found,) in marked.items():
        first, last = found["history"]
        assert first <= int(loaded.sessions[name].metadata["mistake_step"]) <= last
    small = loaded.sessions["magentic-043"]
    assert state_at(small, 3)["ledger"]["is_request_satisfied"]["answer"] is True


def test_dead_branches_are_forks_where_they_left(system):
    loaded = Loaded(system, "toolbench")
    found, gave_up = (
        loaded.sessions[f"dfs-{name}"] for name in ("product-news-search", "parcel-tracking-gave-up")
    )
    first, second, third = loaded.forks["dfs-product-news-search"]
    assert [(each.forked_from, each.forked_version) for each in (first, second, third)] == [
        (found.public_id, 2),
        (first.public_id, 1),
        (second.public_id, 1),
    ]
    assert len(state_at(found, -1)["path"]) == found.head_version == 4
    assert "phone case" in turns(found)[-1].output["content"]
    assert [tool(turn) for turn in turns(gave_up)] == [None]
    assert turns(gave_up)[0].output["type"] == "none"
    first, second, third = loaded.forks["dfs-parcel-tracking-gave-up"]
    assert [(each.forked_from, each.forked_version) for each in (first, second, third)] == [
        (gave_up.public_id, 0),
        (first.public_id, 1),
        (gave_up.public_id, 0),
    ]


def test_the_injection_is_versions_1_to_3_and_the_bill_version_4(system):
    loaded = Loaded(system, "agentdojo-scripted")
    bank = loaded.sessions["banking-bill-injection"]
    sent = [turn_that_made(bank, number).input["tool_metadata"]["arguments"] for number in range(1, 5)]
    assert [each["recipient"] for each in sent] == ["US133000000121212121212"] * 3 + [
        "UK12345678901234567890"
    ]
    assert [turn_that_made(bank, number).metadata["turns"] for number in range(1, 5)] == [
        [each, each] for each in range(3, 7)
    ]
    assert bank.head_version == 4
    assert bank.metadata["checks"] == {"utility_reached": True, "attack_succeeded": True}
    assert loaded.sessions["slack-link-injection"].head_version == 3


def test_a_rewind_is_a_fork_and_the_compaction_no_gap(system):
    loaded = Loaded(system, "coding-agent-logs/claude-code-rewind-and-compact.jsonl")
    ((session,), ((fork,),)) = (loaded.sessions.values(), loaded.forks.values())
    asked = [[turn.input["content"] for turn in turns(each)] for each in (session, fork)]
    assert asked[0] == ["Start", "First attempt"]
    assert (asked[1][:2], asked[1][-1]) == (["Second attempt", "Keep going"], "After compaction")
    assert fork.forked_from == session.public_id
    assert session.created_at.isoformat() == "2025-07-01T10:00:00+00:00"


def test_each_line_of_the_broken_log_is_named_and_the_rest_is_there(system):
    loaded = Loaded(system, "coding-agent-logs/claude-code-edge-cases.jsonl")
    assert [line for line, _ in loaded.refused] == [10, 11, 13, 14, 15, 16, 18]
    (session,) = loaded.sessions.values()
    assert session.metadata["lines_left_out"] == [10, 11, 13, 14, 15, 16, 18]
    failing, *_ = [turn for turn in turns(session) if tool(turn) == "FailingTool"]
    assert failing.output["is_error"] is True
    assert "العربية" in turns(session)[-1].input["content"]


def test_the_to_do_list_grows_version_by_version(system):
    (session,) = Loaded(system, "coding-agent-logs/claude-code-todowrite.jsonl").sessions.values()
    assert session.head_version == 3
    lengths = [len(state_at(session, number)["todos"]) for number in range(1, 4)]
    assert lengths == [5, 5, 6]


def test_codex_calls_keep_their_ids_and_no_secret(system):
    (session,) = Loaded(system, "coding-agent-logs/codex-rollout.jsonl").sessions.values()
    ids = [turn.input.get("tool_metadata", {}).get("id") for turn in turns(session)]
    assert ids == ["call-structured-001", "call-custom-001", "call-mcp-001", None]
    stored = [turn.input_text + turn.output_text + (turn.reasoning or "") for turn in turns(session)]
    assert "MUST_NOT_RENDER" not in "".join(stored) + session.metadata_text


def test_traces_of_four_libraries_have_their_tools_with_ids(system):
    loaded = Loaded(system, "langfuse")
    called = {
        name.rsplit("-", 3)[0]: [
            turn.input["tool_metadata"]["id"] for turn in turns(session) if tool(turn) is not None
        ]
        for name, session in loaded.sessions.items()
    }
    assert {name: len(ids) for name, ids in called.items()} == {
        "claude-agent": 2,
        "langgraph-js": 1,
        "microsoft-agent": 1,
        "openai-agents": 1,
    }
    assert all(call_id for ids in called.values() for call_id in ids)
    graph = next(session for name, session in loaded.sessions.items() if name.startswith("langgraph"))
    reasons = [queries.version_row(graph, number).reasoning for number in range(1, graph.head_version + 1)]
    assert reasons == [f"Output of node {node}" for node in ("model_request", "tools", "model_request")]
    for session in loaded.sessions.values():
        assert "Weather" in turns(session)[-1].input["content"].title()


def test_the_whole_folder_loads_and_only_the_broken_lines_are_refused(system):
    loaded = Loaded(system, ".")
    assert [line for line, _ in loaded.refused] == [10, 11, 13, 14, 15, 16, 18]
    files = [
        path
        for path in Path(SAMPLES).rglob("*.json*")
        if path.is_file() and not path.name.endswith(".states.json")
    ]
    forks = sum(len(each) for each in loaded.forks.values())
    assert len(loaded.sessions) == len(files)
    assert AgentSession.objects.count() == len(files) + forks
    assert forks == 1 + 1 + 3 + 3
