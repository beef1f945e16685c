"""`manage.py import_runs` and `manage.py verify_history`, as somebody types them."""

import io
import json
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from sessions_app import queries
from sessions_app.diff import compare, resolve
from sessions_app.models import AgentSession, StateVersion
from statebase_site.base.json import same
from tests import factories as make
from tests.recordings import EXAMPLES, as_lines, example

CHAT = {
    "task_id": 7,
    "traj": [
        {"role": "user", "content": "Cancel A4."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "cancel", "arguments": '{"table": "A4"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "cancelled"},
        {"role": "assistant", "content": "Done."},
    ],
}
STATES = {
    "versions": [
        {"after_message_index": 0, "state": {"booked": ["A4"]}},
        {"after_message_index": 2, "reason": "after cancel", "state": {"booked": []}},
    ]
}


@pytest.fixture
def project(db):
    return make.project("Acme")


@pytest.fixture
def folder(tmp_path):
    """Two runs, one of them with states, among files that are none."""
    deeper = tmp_path / "deeper"
    deeper.mkdir()
    (tmp_path / "one.json").write_text(json.dumps(CHAT))
    (tmp_path / "one.states.json").write_text(json.dumps(STATES))
    (deeper / "two.traj.json").write_text(json.dumps(CHAT["traj"]))
    (tmp_path / "README.md").write_text("# Runs")
    (tmp_path / ".hidden.json").write_text("{")
    return tmp_path


class Ran:
    """What a command said, and whether it failed."""

    def __init__(self, *arguments):
        output, errors = io.StringIO(), io.StringIO()
        try:
            call_command(*map(str, arguments), stdout=output, stderr=errors)
            self.failed, self.summary = False, output.getvalue().splitlines()[-1]
        except CommandError as error:
            self.failed, self.summary = True, str(error)
        self.output, self.errors = output.getvalue(), errors.getvalue()


def import_runs(*arguments):
    return Ran("import_runs", *arguments)


def test_a_folder_is_read_with_all_below_it_and_each_run_has_its_line(project, folder):
    ran = import_runs(folder)
    assert (ran.failed, ran.summary, ran.errors) == (False, "2 loaded, 0 already there, 0 failed.", "")
    of_one, of_two = sorted(ran.output.splitlines()[:2], reverse=True)
    assert "one.json: loaded as sess_" in of_one
    assert of_one.endswith("2 turns, 2 versions")
    assert "two.traj.json: loaded as sess_" in of_two
    assert of_two.endswith("2 turns, 1 version")


def test_twice_is_not_double(project, folder):
    import_runs(folder)
    again = import_runs(folder)
    assert (again.failed, again.summary) == (False, "0 loaded, 2 already there, 0 failed.")
    assert AgentSession.objects.count() == 2


def test_files_named_one_by_one_bring_their_states_once(project, folder):
    ran = import_runs(*sorted(folder.glob("one*.json")))
    assert (ran.failed, ran.summary) == (False, "1 loaded, 0 already there, 0 failed.")
    assert AgentSession.objects.get().head_version == 1


def test_standard_input_is_a_file_too(project, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CHAT).encode())))
    ran = import_runs("-")
    assert "standard input: loaded as sess_" in ran.output
    assert AgentSession.objects.get().metadata["source_file"] == "standard input"


def test_a_broken_file_is_named_and_the_others_still_load(project, folder):
    (folder / "a-binary.json").write_bytes(b"\x00\x01\x02")
    (folder / "b-cut.json").write_text('[\n{"role": "user", "content": "Hi')
    (folder / "c-empty.json").write_text("")
    (folder / "d-other.json").write_text('{"kind": "other"}')
    (folder / "e-latin.json").write_bytes('["é"]'.encode("latin-1"))
    (folder / "f.states.json").write_text(json.dumps(STATES))
    ran = import_runs(folder)
    assert ran.failed
    assert ran.summary == "2 loaded, 0 already there, 6 failed."
    expected = [
        f"{folder}/a-binary.json: The file is binary",
        f"{folder}/b-cut.json:2: The JSON is malformed",
        f"{folder}/c-empty.json: The file is empty",
        f"{folder}/d-other.json: The format is unknown; known are: claude-code, ",
        f"{folder}/e-latin.json:1: The file is not UTF-8",
        f"{folder}/f.states.json: It holds the states of a run, but that run is not beside it.",
    ]
    for line, beginning in zip(ran.errors.splitlines(), expected, strict=True):
        assert line.startswith(beginning)


def test_paths_that_are_not_there_and_folders_without_runs_are_named(project, tmp_path):
    ran = import_runs(tmp_path / "nowhere.json", tmp_path)
    assert ran.summary == "0 loaded, 0 already there, 2 failed."
    assert "nowhere.json: It can't be read: No such file or directory." in ran.errors
    assert f"{tmp_path}: No recorded runs are in this folder" in ran.errors


def test_each_fork_has_its_line_below_that_of_its_run(project, tmp_path):
    (tmp_path / "graph.json").write_text(json.dumps(example("langgraph")))
    ran = import_runs(tmp_path)
    assert (ran.failed, ran.summary) == (False, "1 loaded, 0 already there, 0 failed.")
    run, fork = AgentSession.objects.order_by("lineage_depth")
    of_run, of_fork = ran.output.splitlines()[:2]
    assert of_run.endswith(f"graph.json: loaded as {run.public_id}, 2 turns, 5 versions")
    assert of_fork.endswith(f"its fork {fork.public_id} from v2 of {run.public_id}, 2 turns, 3 versions")
    assert import_runs(tmp_path).summary == "0 loaded, 1 already there, 0 failed."
    assert AgentSession.objects.count() == 2


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_run_of_each_format_loads_whole_and_its_history_fits(project, tmp_path, name):
    (tmp_path / "run.json").write_text(json.dumps(example(name)))
    ran = import_runs(tmp_path)
    assert (ran.failed, ran.errors) == (False, "")
    assert {each.metadata["format"] for each in AgentSession.objects.all()} == {name}
    assert Ran("verify_history").summary == f"{AgentSession.objects.count()} checked, 0 broken."


def test_lines_of_a_log_that_cannot_be_read_are_named_and_the_rest_loads(project, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(as_lines(example("claude-code")[:2]) + b'\n42\n"error"\n')
    ran = import_runs(log)
    assert (ran.failed, ran.summary) == (True, "1 loaded, 0 already there, 2 failed.")
    assert ran.errors.splitlines() == [
        f"{log}:3: The entry is not an object.",
        f"{log}:4: The entry is not an object.",
    ]


def test_a_run_that_does_not_fit_is_named_and_leaves_nothing(project, folder, settings):
    settings.MAX_STATE_BYTES = 10
    ran = import_runs(folder)
    assert ran.summary == "1 loaded, 0 already there, 1 failed."
    assert "one.json: The resulting state has" in ran.errors
    assert AgentSession.objects.count() == 1


def test_a_run_whose_session_was_deleted_says_so(project, folder):
    import_runs(folder / "one.json")
    by = make.system(project)
    make.actions.delete_session(session_id=AgentSession.objects.get().public_id, by=by)
    assert ", which is deleted" in import_runs(folder / "one.json").output


def test_the_project_is_named_where_there_are_several(project, folder):
    other = make.project("Other")
    assert "Name the project" in import_runs(folder).summary
    assert "no project 'nowhere'" in import_runs(folder, "--project", "nowhere").summary
    assert not import_runs(folder, "--project", "other").failed
    assert {each.project_id for each in AgentSession.objects.all()} == {other.pk}


# verify_history -----------------------------------------------------------------------------------------


def test_an_untouched_history_fits(project, folder):
    import_runs(folder)
    ran = Ran("verify_history")
    assert (ran.failed, ran.summary) == (False, "2 checked, 0 broken.")
    assert "2 versions and 3 traces fit" in ran.output


def test_a_row_changed_behind_the_servers_back_is_named(project, folder):
    import_runs(folder)
    tampered = AgentSession.objects.get(head_version=1)
    table = StateVersion._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(f"DROP TRIGGER {table}_keep_update ON {table}")
        else:
            cursor.execute(f"DROP TRIGGER {table}_keep_update")
        cursor.execute(
            f"UPDATE {table} SET reasoning = 'nothing to see' WHERE agent_session_id = %s AND number = 1",
            [tampered.pk],
        )
    ran = Ran("verify_history")
    assert (ran.failed, ran.summary) == (True, "2 checked, 1 broken.")
    (line,) = ran.errors.splitlines()
    assert line.startswith(tampered.public_id)
    assert "the row is not the one that was accepted" in line
    assert "v1" in line
    intact = AgentSession.objects.exclude(pk=tampered.pk).get()
    assert not Ran("verify_history", intact.public_id).failed


def test_a_session_that_is_not_there_is_named(project):
    assert "There is no session sess_none in the project acme." in Ran("verify_history", "sess_none").summary


# The published runs that the folder STATEBASE_SAMPLE_RUNS holds -----------------------------------------

SAMPLES = os.environ.get("STATEBASE_SAMPLE_RUNS", "")
needs_samples = pytest.mark.skipif(
    not SAMPLES, reason="STATEBASE_SAMPLE_RUNS names no folder of recorded runs, so none were tried"
)


@pytest.fixture
def samples(project):
    """The session of each run of the folder's tau-bench, by its name."""
    folder = Path(SAMPLES) / "tau-bench"
    first, again = import_runs(folder), import_runs(folder)
    assert not first.failed, first.errors
    count = len([path for path in folder.glob("*.json") if not path.name.endswith(".states.json")])
    assert again.summary == f"0 loaded, {count} already there, 0 failed."
    sessions = {
        each.metadata["source_file"].removesuffix(".json"): each for each in AgentSession.objects.all()
    }
    assert len(sessions) == count
    return sessions


def states_of(name):
    return json.loads((Path(SAMPLES) / "tau-bench" / f"{name}.states.json").read_text())


def state_at(session, number):
    return queries.document_at(session, number).value


def changed_paths(session, number):
    """What a version changed."""
    return [
        change["path"] for change in compare(state_at(session, number - 1), state_at(session, number)).changes
    ]


def turn_of(session, number):
    """The turn that made a version."""
    return queries.turns_of(session).get(public_id=queries.version_row(session, number).turn_id)


def tool_of(session, number):
    return turn_of(session, number).input["tool_metadata"]["name"]


def users_turn(session, number):
    """Which message of the user, from 1, led to a version."""
    return turn_of(session, number).metadata["exchange"]


@needs_samples
def test_every_version_of_the_samples_is_the_recorded_state_at_the_turn_of_its_tool_call(samples):
    for name, session in samples.items():
        recorded = states_of(name)["versions"]
        assert session.head_version == len(recorded) - 1, name
        for number, version in enumerate(recorded):
            assert same(state_at(session, number), version["state"]), (name, number)
        for number, version in enumerate(recorded[1:], start=1):
            turn = turn_of(session, number)
            assert turn.input["tool_metadata"]["name"] == version["tool"]
            assert turn.metadata["messages"][1] == version["after_message_index"]
            assert queries.version_row(session, number).reasoning == turn.reasoning is not None
        assert queries.verify_session(session).ok


@needs_samples
def test_the_upgrade_on_the_wrong_card_is_version_2_of_its_run(samples):
    session = samples["airline-task26-trial3-fail"]
    assert [version.kind for version in queries.versions_of(session).order_by("number")] == [
        "create",
        "turn",
        "turn",
    ]
    expected = states_of("airline-task26-trial3-fail")["expected_final_state"]
    wrong = compare(expected, state_at(session, 2)).changes
    assert [(each["path"], each["old"], each["new"]) for each in wrong] == [
        (
            "/reservations/M20IZO/payment_history/1/payment_id",
            "credit_card_9074831",
            "credit_card_4959530",
        )
    ]
    assert any(path.startswith("/reservations/M20IZO") for path in changed_paths(session, 2))
    assert all("NQNU5R" in path for path in changed_paths(session, 1))
    assert users_turn(session, 1) == 4
    assert users_turn(session, 2) == 7
    passed = samples["airline-task26-trial2-pass"]
    assert compare(expected, state_at(passed, 2)).equal


@needs_samples
def test_the_snowball_of_bookings_is_versions_1_to_4_of_its_run(samples):
    session = samples["airline-task00-trial3-fail"]
    assert session.head_version == 4
    assert users_turn(session, 1) == 5
    before, after = (state_at(session, number) for number in (0, 1))
    spent = [
        name
        for name in before["profile"]["payment_methods"]
        if name.startswith("certificate") and name not in after["profile"]["payment_methods"]
    ]
    assert len(spent) == 2
    bookings = [
        {
            name
            for name, booking in state_at(session, number)["reservations"].items()
            if booking.get("status") != "cancelled"
        }
        for number in range(5)
    ]
    assert [len(each - bookings[0]) for each in bookings] == [0, 1, 2, 1, 2]
    tools = [tool_of(session, number) for number in range(1, 5)]
    assert tools == ["book_reservation", "book_reservation", "cancel_reservation", "book_reservation"]


@needs_samples
def test_the_run_that_breaks_off_has_a_last_turn_without_output(samples):
    session = samples["airline-task02-trial1-fail"]
    last = queries.turns_of(session).order_by("-number")[0]
    assert last.output == {"type": "none", "content": ""}
    other = samples["airline-task02-trial2-pass"]
    heads = [state_at(each, each.head_version) for each in (session, other)]
    assert same(*heads)


@needs_samples
def test_the_other_failures_stand_where_they_happened(samples):
    cancelled = samples["airline-task25-trial2-fail"]
    assert (tool_of(cancelled, 1), users_turn(cancelled, 1)) == ("cancel_reservation", 4)
    booked = state_at(cancelled, 2)
    assert len(resolve(booked, "/reservations/HATHAT/passengers")) == 2
    wrong_gift_card = samples["airline-task03-trial2-fail"]
    assert users_turn(wrong_gift_card, 2) == 6
    assert tool_of(wrong_gift_card, 2) == "update_reservation_baggages"
    never_cancelled = samples["airline-task10-trial3-fail"]
    for number in range(3):
        state = state_at(never_cancelled, number)
        assert "status" not in state["reservations"]["H9ZU1C"]
