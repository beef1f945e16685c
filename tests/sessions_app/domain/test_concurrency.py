"""Rules 1, 5 and 8 with real threads and real processes on one database."""

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest
from django.conf import settings
from django.db import connection

from sessions_app import actions, queries, store
from sessions_app.actions import maintenance
from sessions_app.errors import SessionFrozen, SessionNotFound, VersionConflict
from sessions_app.models import AgentSession, EvidenceHold, RefusedWrite, StateVersion, Trace, Turn
from statebase_site.access.idempotency import IdempotencyConflict
from tests import factories as make
from tests.crowds import Crowd, crowd, no_errors
from tests.patience import SECONDS, until

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
on_postgresql = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite lets one writer in at a time"
)


@pytest.fixture
def key():
    return make.full_key(make.project())


def numbers_of(model, session):
    return list(
        model.objects.filter(agent_session=session).order_by("number").values_list("number", flat=True)
    )


def fits(session):
    verification = queries.verify_session(make.fresh(session))
    assert verification.ok, verification.first_bad


# Threads ------------------------------------------------------------------------------------------------


def test_20_threads_merge_800_keys_and_none_is_lost(key):
    session = make.session(key, {})

    def write(place):
        versions = []
        for number in range(40):
            version = make.update(session, {f"{place}-{number}": number}, by=key)
            versions.append((version.number, f"{place}-{number}"))
        return versions

    written = [each for results in no_errors(crowd(20, write)) for each in results]
    assert sorted(number for number, _ in written) == list(range(1, 801))
    assert numbers_of(StateVersion, session) == list(range(801))
    session = make.fresh(session)
    assert len(queries.document_at(session, 800).value) == 800
    keys = dict(written)
    before = {}
    for number, document in queries.documents_at(session, range(801)):
        if number:
            before[keys[number]] = int(keys[number].split("-")[1])
        assert document.value == before
    fits(session)


def test_turns_of_many_threads_are_numbered_without_gaps(key):
    session = make.session(key, {"n": 0})

    def write(place):
        return [
            make.turn(session, by=key, state_after={"n": f"{place}-{number}"} if number % 2 else None).number
            for number in range(10)
        ]

    results = no_errors(crowd(8, write))
    assert sorted(number for each in results for number in each) == list(range(1, 81))
    assert numbers_of(Turn, session) == list(range(1, 81))
    assert make.fresh(session).head_version == 40
    fits(session)


@pytest.mark.parametrize("stop", ["freeze", "turn", "delete"])
def test_once_the_stop_is_answered_nothing_is_written(key, stop):
    session = make.session(key, {"n": 0})
    all_write = threading.Semaphore(0)

    def hammer(place):
        versions, number = [], 0
        while True:
            try:
                version = make.update(session, {f"{place}": number}, by=key)
            except (SessionFrozen, SessionNotFound) as refusal:
                return versions, refusal
            versions.append(version.number)
            number += 1
            if number == 3:
                all_write.release()

    writers = Crowd(8, hammer)
    for _ in range(8):
        assert all_write.acquire(timeout=SECONDS)
    if stop == "freeze":
        last = make.freeze(session, by=key).number
    elif stop == "turn":
        last = make.turn(session, by=key, state_after={"frozen": True}).state_version
    else:
        actions.delete_session(session_id=session.public_id, by=key)
        last = AgentSession.objects.get(pk=session.pk).head_version
    at_the_answer = StateVersion.objects.filter(agent_session=session).count()
    results = no_errors(writers.end())
    assert at_the_answer == last + 1
    assert numbers_of(StateVersion, session) == list(range(last + 1))
    written = sorted(number for versions, _ in results for number in versions)
    assert written == list(range(1, last if stop != "delete" else last + 1))
    if stop != "delete":
        named = {refusal.extras["trace_id"] for _, refusal in results}
        assert set(RefusedWrite.objects.values_list("trace_id", flat=True)) == named
        assert len(named) == 8
        assert RefusedWrite.objects.exclude(attempted=None).count() == 1  # the body was the same
    fits(session)


def test_of_two_rollbacks_that_expect_the_same_version_one_wins(key):
    session = make.session_with_versions(key, 3)
    for head in range(3, 11):
        results = crowd(
            3, lambda place, h=head: make.rollback(session, place, by=key, expected_version=h).number
        )
        assert sorted(each for each in results if isinstance(each, int)) == [head + 1]
        assert sum(isinstance(each, VersionConflict) for each in results) == 2
    assert make.fresh(session).rollback_count == 8


def test_relative_rollbacks_are_reckoned_under_the_lock(key):
    session = make.session_with_versions(key, 1)
    versions = no_errors(crowd(8, lambda place: make.rollback(session, -1, by=key)))
    assert {version.number: version.restored_from for version in versions} == {
        number: number - 2 for number in range(2, 10)
    }


@pytest.mark.parametrize("name", ["create", "update", "turn", "fork", "note"])
def test_one_idempotency_key_in_many_threads_runs_once(key, name):
    session = make.session(key, {"a": 0})
    before = (AgentSession.objects.count(), Trace.objects.count())

    def call(place):
        by = make.asking(key, key="once")
        match name:
            case "create":
                return actions.create_session(agent_id="bot", by=by)
            case "update":
                return actions.update_state(session_id=session.public_id, changes={"a": 1}, by=by)
            case "turn":
                return actions.add_turn(
                    session_id=session.public_id, input=make.text("in"), output=make.text("out"), by=by
                )
            case "fork":
                return actions.fork(session_id=session.public_id, by=by)
        return actions.create_trace(action="note", session_id=session.public_id, by=by)

    outcomes = no_errors(crowd(10, call))
    assert sorted(outcome.replayed for outcome in outcomes) == [False] + [True] * 9
    made = {
        "create": lambda outcome: outcome.agent_session.public_id,
        "update": lambda outcome: outcome.version.number,
        "turn": lambda outcome: outcome.turn.public_id,
        "fork": lambda outcome: outcome.agent_session.public_id,
        "note": lambda outcome: outcome.trace.public_id,
    }
    assert len({made[name](outcome) for outcome in outcomes}) == 1
    sessions, traces = AgentSession.objects.count() - before[0], Trace.objects.count() - before[1]
    assert (sessions, traces) == {"create": (1, 1), "fork": (1, 2)}.get(name, (0, 1))
    fits(session)


def test_one_idempotency_key_for_different_requests_runs_one_of_them(key):
    session = make.session(key, {"a": 0})

    def call(place):
        by = make.asking(key, key="once", body={"state": {"a": place}})
        return actions.create_session(agent_id=f"bot-{place}", by=by)

    results = crowd(6, call)
    assert sum(isinstance(each, IdempotencyConflict) for each in results) == 5
    assert AgentSession.objects.exclude(pk=session.pk).count() == 1


def test_forks_taken_while_others_write_are_whole(key):
    session = make.session(key, {"left": 0, "right": 0})

    def work(place):
        if place < 4:
            for number in range(15):
                make.update(session, {"left": f"{place}-{number}", "right": f"{place}-{number}"}, by=key)
            return []
        return [actions.fork(session_id=session.public_id, by=key).agent_session for _ in range(10)]

    forks = [fork for result in no_errors(crowd(6, work)) for fork in result]
    assert len(forks) == 20
    source = make.fresh(session)
    for fork in forks:
        state = queries.document_at(fork, 0)
        assert state.value["left"] == state.value["right"]
        assert state.text == queries.document_at(source, fork.forked_version).text
    assert numbers_of(StateVersion, session) == list(range(61))
    fits(session)


def test_holds_of_one_label_are_one(key):
    session = make.session(key)
    hold = {"session_id": session.public_id, "label": "INCIDENT-1"}
    no_errors(crowd(6, lambda place: actions.hold(**hold, url="/", by=key)))
    assert EvidenceHold.objects.count() == 1
    assert make.fresh(session).open_holds == 1
    results = crowd(6, lambda place: actions.release(**hold, by=key))
    assert sum(isinstance(each, EvidenceHold) for each in results) == 1
    assert make.fresh(session).open_holds == 0


def test_several_workers_do_each_thing_once(key, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    deleted = [make.session_with_versions(key, 1) for _ in range(5)]
    for session in deleted:
        actions.delete_session(session_id=session.public_id, by=key)
    expired = [make.session(key, {"a": 1}, ttl_seconds=60) for _ in range(5)]
    AgentSession.objects.filter(pk__in=[each.pk for each in expired]).update(expires_at=expired[0].created_at)
    no_errors(crowd(4, lambda place: maintenance.run_once()))
    assert Trace.objects.filter(action="session.expired").count() == 5
    tombstones = Trace.objects.filter(action="session.deleted", agent_session=None)
    assert sorted(tombstones.values_list("session_public_id", flat=True)) == sorted(
        session.public_id for session in deleted
    )
    assert not AgentSession.objects.filter(pk__in=[each.pk for each in deleted]).exists()


# Who waits for whom -------------------------------------------------------------------------------------


@on_postgresql
@pytest.mark.parametrize(
    "name", ["a note on the same session", "a write to another session", "a new session"]
)
def test_while_a_session_is_locked_others_go_on(key, name):
    session, other = make.session(key), make.session(key)
    calls = {
        "a note on the same session": lambda: actions.create_trace(
            action="note", session_id=session.public_id, by=key
        ),
        "a write to another session": lambda: make.update(other, {"a": 1}, by=key),
        "a new session": lambda: make.session(key),
    }
    with store.write_transaction():
        store.lock(session.project_id, session.public_id)
        no_errors(crowd(1, lambda place: calls[name]()))  # while the lock is held


# Processes ----------------------------------------------------------------------------------------------


_HAMMER = "tests.sessions_app.domain.hammer"


class Hammers:
    """Processes that write to one session."""

    def __init__(self, session, by, count, times, url):
        environment = os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "statebase_site.settings"}
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", _HAMMER, session.public_id, by.id, f"process-{place}", str(times)],
                cwd=settings.BASE_DIR,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for place in range(count)
        ]

    def __enter__(self):
        with ExitStack() as stack:
            for process in self._processes:
                stack.enter_context(process)
                stack.callback(process.kill)
            for process in self._processes:
                assert process.stdout.readline() == "ready\n"
            for process in self._processes:
                process.stdin.write("\n")
                process.stdin.flush()
            self._stack = stack.pop_all()
        return self

    def results(self):
        return [json.loads(process.communicate(timeout=SECONDS)[0]) for process in self._processes]

    def __exit__(self, *error):
        self._stack.close()


def test_processes_lose_nothing_and_leave_no_gap(key, database_url):
    session = make.session(key, {})
    with Hammers(session, key, 3, 40, database_url) as hammers:
        results = hammers.results()
    assert sorted(number for each in results for number in each["versions"]) == list(range(1, 121))
    assert sorted(number for each in results for number in each["turns"]) == list(range(1, 121))
    assert numbers_of(StateVersion, session) == list(range(121))
    assert numbers_of(Turn, session) == list(range(1, 121))
    session = make.fresh(session)
    assert queries.document_at(session, 120).value == {
        f"process-{place}-{number}": number for place in range(3) for number in range(40)
    }
    fits(session)


def test_a_freeze_is_exact_for_other_processes_too(key, database_url):
    session = make.session(key, {})
    with Hammers(session, key, 2, 0, database_url) as hammers:
        while make.fresh(session).head_version < 20:
            pass
        last = make.freeze(session, by=key).number
        at_the_answer = (numbers_of(StateVersion, session), numbers_of(Turn, session))
        results = hammers.results()
    assert [each["refused"] for each in results] == [1, 1]
    assert (numbers_of(StateVersion, session), numbers_of(Turn, session)) == at_the_answer
    assert at_the_answer[0] == list(range(last + 1))
    assert sorted(number for each in results for number in each["versions"]) == list(range(1, last))
    assert RefusedWrite.objects.count() == 2
    fits(session)


@on_postgresql
def test_a_note_that_comes_while_its_session_is_removed_is_told_that_it_is_gone(key):
    session = make.session(key)
    removed = threading.Event()

    def remove_or_note(place):
        if place == 0:
            with store.write_transaction():
                maintenance.remove_sessions(AgentSession.objects.filter(pk=session.pk))
                removed.set()
                until_somebody_waits_for_a_lock()
            return None
        assert removed.wait(SECONDS)
        return actions.create_trace(action="late", session_id=session.public_id, by=key)

    _, error = crowd(2, remove_or_note)
    assert isinstance(error, SessionNotFound)
    assert not Trace.objects.filter(action="late").exists()


def until_somebody_waits_for_a_lock():
    with connection.cursor() as cursor:
        until(lambda: cursor.execute("SELECT pid FROM pg_locks WHERE NOT granted").fetchone())
