"""Importing a recorded run: the whole of it or nothing, once, and for ever."""

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis.extra.django import TestCase

from sessions_app import actions, queries
from sessions_app.errors import InvalidInput, PermissionRefused, StateTooLarge
from sessions_app.importers import Branch, RecordedState, RecordedTurn, Run
from sessions_app.limits import METADATA_BYTES, REASONING_BYTES
from sessions_app.models import AgentSession, Trace
from statebase_site.base import clock
from statebase_site.base.errors import DomainError
from tests import factories as make
from tests.recordings import read
from tests.recordings.spoilt import spoilt

NINE = datetime(2025, 3, 1, 9, tzinfo=UTC)


def said(question, answer, **fields):
    return RecordedTurn(make.text(question), make.text(answer), **fields)


def recorded(*steps, fingerprint="f" * 64, **fields):
    given = {"agent_id": "booker", "user_id": "ann", "metadata": {"task": 1}, "initial_state": {"n": 0}}
    return Run(**(given | fields), steps=steps, fingerprint=fingerprint)


@pytest.fixture
def system(db):
    return make.system(make.project())


def load(run, by):
    return actions.import_run(run=run, by=by).agent_session


def test_a_run_becomes_a_session_with_its_turns_and_versions(system):
    made = load(
        recorded(
            said("Hi", "Hello"),
            said("Book it", "Done", reasoning="As asked", metadata={"m": 1}, state_after={"n": 1}),
            RecordedState({"n": 2}, "By the clock"),
        ),
        system,
    )
    assert (made.agent_id, made.user_id, made.metadata) == ("booker", "ann", {"task": 1})
    versions = list(queries.versions_of(made).order_by("number"))
    assert [(each.kind, each.reasoning) for each in versions] == [
        ("create", "Initial state"),
        ("turn", "As asked"),
        ("replace", "By the clock"),
    ]
    assert [queries.document_at(made, number).value for number in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]
    turns = list(queries.turns_of(made).order_by("number"))
    assert [(each.number, each.state_version) for each in turns] == [(1, 0), (2, 1)]
    assert turns[1].public_id == versions[1].turn_id
    assert turns[1].metadata == {"m": 1}
    assert queries.verify_session(make.fresh(made)).ok


def test_the_session_as_returned_is_the_session_as_stored(system):
    made = load(recorded(said("Hi", "Hello", state_after={"n": 1})), system)
    stored = make.fresh(made)
    assert (stored.head_version, stored.turn_count, stored.updated_at) == (1, 1, made.updated_at)


def test_it_is_like_the_same_steps_taken_one_by_one(system):
    """Written at once, yet the rows are those of the ordinary actions."""
    states = [{"n": number, "text": "x" * 400} for number in range(1, 150)]
    imported = load(recorded(*(RecordedState(state, "Step") for state in states)), system)
    by_hand = make.session(system, {"n": 0}, agent_id="booker")
    for state in states:
        make.update(by_hand, state, by=system, mode=actions.REPLACE, reasoning="Step")

    def columns(of):
        fields = (
            "number",
            "kind",
            "encoding",
            "keyframe",
            "body",
            "changes_text",
            "first_paths_text",
            "sha256",
        )
        rows = queries.versions_of(of).order_by("number").values_list(*fields)
        return [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in rows]

    assert columns(imported) == columns(by_hand)


def test_an_imported_session_never_expires(system):
    made = load(recorded(), system)
    with clock.at(clock.now() + timedelta(days=4000)):
        assert make.fresh(made).status == "running"


def test_the_same_run_again_is_the_same_session(system):
    first = actions.import_run(run=recorded(said("Hi", "Hello")), by=system)
    again = actions.import_run(run=recorded(said("Hi", "Hello")), by=system)
    assert (first.already_there, again.already_there) == (False, True)
    assert first.agent_session.pk == again.agent_session.pk
    assert AgentSession.objects.count() == 1
    assert make.fresh(first.agent_session).turn_count == 1


def test_two_projects_each_have_their_own(system):
    mine = load(recorded(), system)
    other = load(recorded(), make.system(make.project("Other")))
    assert mine.pk != other.pk


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_of_two_imports_at_once_one_makes_it_and_the_other_finds_it():
    project = make.project()
    barrier, outcomes = Barrier(2), []

    def work():
        barrier.wait()
        try:
            steps = [said("Hi", "Hello") for _ in range(20)]
            outcomes.append(actions.import_run(run=recorded(*steps), by=make.system(project)))
        finally:
            connection.close()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.already_there for each in outcomes) == [False, True]
    assert AgentSession.objects.get().turn_count == 20


def test_a_run_that_cannot_be_stored_leaves_nothing(system, settings):
    settings.MAX_STATE_BYTES = 1024
    with pytest.raises(StateTooLarge):
        load(recorded(said("Hi", "Hello"), RecordedState({"text": "x" * 2000})), system)
    assert not AgentSession.objects.exists()
    assert not Trace.objects.exists()


def test_recorded_times_are_kept(system):
    made = load(
        recorded(
            said("Hi", "Hello", at=NINE + timedelta(minutes=1)),
            said("Go", "Gone", at=NINE + timedelta(minutes=9), state_after={"n": 1}),
            started_at=NINE,
        ),
        system,
    )
    turns = queries.turns_of(made).order_by("number")
    assert [turn.created_at - NINE for turn in turns] == [timedelta(minutes=1), timedelta(minutes=9)]
    assert (made.created_at, made.updated_at) == (NINE, NINE + timedelta(minutes=9))


def test_without_times_the_order_stands_and_nothing_is_invented(system):
    with clock.at(NINE):
        made = load(recorded(*(said(str(number), "ok") for number in range(5))), system)
    times = [turn.created_at for turn in queries.turns_of(made).order_by("number")]
    assert times == [NINE + timedelta(microseconds=number) for number in range(1, 6)]


def test_a_reasoning_over_its_limit_is_shortened_and_kept_whole_in_the_output(system):
    thought = "ü" * REASONING_BYTES
    made = load(recorded(said("Hi", "Hello", reasoning=thought)), system)
    turn = queries.turns_of(made).get()
    assert len(turn.reasoning.encode()) <= REASONING_BYTES
    assert turn.reasoning.endswith("(shortened at import)")
    assert turn.output["reasoning_in_full"] == thought


def test_a_reasoning_with_nul_is_stored_without_it(system):
    made = load(recorded(said("Hi", "Hello", reasoning="a\x00b")), system)
    assert queries.turns_of(made).get().reasoning == "a\ufffdb"


def test_metadata_over_its_limit_loses_its_largest_value_and_says_so(system):
    made = load(recorded(metadata={"task": 26, "prompt": "x" * METADATA_BYTES}), system)
    assert made.metadata["task"] == 26
    assert made.metadata["prompt"].startswith("left out at import: 65,")


def test_a_freeze_in_the_middle_is_refused_with_what_to_do(system):
    frozen = RecordedState({"frozen": True})
    with pytest.raises(InvalidInput, match="Rename the key"):
        load(recorded(frozen, said("Hi", "Hello")), system)
    assert not AgentSession.objects.exists()


def test_a_freeze_at_the_end_freezes(system):
    assert load(recorded(RecordedState({"frozen": True})), system).is_frozen


def test_a_key_that_may_only_read_imports_nothing(system):
    with pytest.raises(PermissionRefused):
        load(recorded(), make.key_with(system.project, "sessions:read"))
    assert not AgentSession.objects.exists()


# Branches -----------------------------------------------------------------------------------------------


def branched(**fields):
    """Two turns; a branch leaves after the first, and another leaves that branch."""
    return recorded(
        said("Hi", "Hello", state_after={"n": 1}),
        said("Book it", "Done", state_after={"n": 2}),
        branches=(
            Branch(0, 1, (said("Cancel it", "Cancelled", state_after={"n": 10}),), {"leaf": "b"}),
            Branch(1, 1, (said("Again", "No"), RecordedState({"n": 20}))),
            Branch(0, 0, (said("Bye", "Bye"),)),
        ),
        **fields,
    )


def test_branches_become_forks_with_their_lineage(system):
    imported = actions.import_run(run=branched(), by=system)
    run, (first, second, third) = imported.agent_session, imported.forks
    assert [(each.forked_from, each.forked_version, each.lineage_depth) for each in imported.forks] == [
        (run.public_id, 1, 1),
        (first.public_id, 1, 2),
        (run.public_id, 0, 1),
    ]
    assert {each.lineage_root for each in imported.forks} == {run.public_id}
    states = [
        [queries.document_at(each, number).value["n"] for number in range(each.head_version + 1)]
        for each in (run, first, second, third)
    ]
    assert states == [[0, 1, 2], [1, 10], [10, 20], [0]]
    assert [each.turn_count for each in (run, first, second, third)] == [2, 1, 1, 1]
    for each in (run, first, second, third):
        assert queries.verify_session(make.fresh(each)).ok


def test_a_fork_is_of_the_same_agent_and_user_and_says_what_the_record_says(system):
    run, fork = (lambda it: (it.agent_session, it.forks[0]))(actions.import_run(run=branched(), by=system))
    assert (fork.agent_id, fork.user_id, fork.expires_at) == ("booker", "ann", None)
    assert fork.metadata == {"leaf": "b", "forked_from": run.public_id, "forked_version": 1}


def test_a_fork_begins_when_its_first_step_happened(system):
    later = NINE + timedelta(hours=1)
    run = recorded(
        said("Hi", "Hello", at=NINE),
        started_at=NINE,
        branches=(Branch(0, 1, (said("Bye", "Bye", at=later),)),),
    )
    assert actions.import_run(run=run, by=system).forks[0].created_at == later


def test_the_same_run_again_makes_no_second_forks(system):
    actions.import_run(run=branched(), by=system)
    assert actions.import_run(run=branched(), by=system).already_there
    assert AgentSession.objects.count() == 4


def test_a_branch_that_cannot_be_stored_leaves_nothing_of_its_run(system, settings):
    settings.MAX_STATE_BYTES = 20
    too_large = Branch(0, 1, (said("Bye", "Bye", state_after={"n": "x" * 30}),))
    with pytest.raises(StateTooLarge):
        load(recorded(said("Hi", "Hello"), branches=(too_large,)), system)
    assert not AgentSession.objects.exists()


def test_a_freeze_in_the_middle_of_a_branch_is_refused(system):
    steps = (RecordedState({"frozen": True}), said("Hi", "Hello"))
    with pytest.raises(InvalidInput, match="Rename the key"):
        load(recorded(branches=(Branch(0, 0, steps),)), system)


def test_metadata_of_a_fork_over_the_limit_lose_their_largest_value(system):
    run = recorded(branches=(Branch(0, 0, (), {"task": 1, "prompt": "x" * (METADATA_BYTES - 40)}),))
    (fork,) = actions.import_run(run=run, by=system).forks
    assert fork.metadata["task"] == 1
    assert fork.metadata["prompt"].startswith("left out at import: 65,")


class SpoiltRecords(TestCase):
    """A class because hypothesis rolls back each of its examples only there."""

    @settings(max_examples=30)
    @given(spoilt())
    def test_what_can_be_read_of_a_spoilt_record_is_stored_or_refused_with_a_reason(self, document):
        by = make.system(make.project())
        for run in read(document):
            if isinstance(run, Run):
                try:
                    imported = actions.import_run(run=run, by=by)
                except DomainError:
                    continue
                for each in (imported.agent_session, *imported.forks):
                    assert queries.verify_session(each).ok
