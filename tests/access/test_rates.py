"""The bucket of a key: twice its rate at once, its rate from then on, whoever counts (contract 4.1)."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as some

from statebase_site.access import rates
from statebase_site.access.models import RateBucket
from statebase_site.base import clock
from tests.access.people import a_key, a_project
from tests.access.test_at_once import all_at_once
from tests.patience import SECONDS

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def key(db):
    return a_key(a_project(), rate_limit=30)[0]


def passed_at(key, seconds, most=10_000):
    """How many of `most` requests pass at a moment."""
    with clock.at(START + timedelta(seconds=seconds)):
        return sum(rates.take(key).allowed for _ in range(most))


def test_twice_the_rate_passes_at_once_and_then_what_grows_back(key):
    assert passed_at(key, 0) == 60
    assert passed_at(key, 1.9) == 0
    assert passed_at(key, 2) == 1
    assert passed_at(key, 61) == 29
    assert passed_at(key, 1_000) == 60


def test_who_sends_just_the_rate_is_never_refused(key):
    assert sum(passed_at(key, number * 2, 1) for number in range(300)) == 300


def test_an_answer_tells_what_is_left_and_when_all_is_back(key):
    start = int(START.timestamp())
    with clock.at(START):
        told = [rates.take(key) for _ in range(61)]
    assert [each.remaining for each in told] == [30] * 30 + [*range(29, -1, -1), 0]
    assert [each.reset - start for each in told] == [*range(2, 122, 2), 120]
    assert [each.retry_after for each in told] == [0] * 60 + [2]


def test_a_limit_asks_the_database_once_for_many_requests(key, django_assert_max_num_queries):
    with django_assert_max_num_queries(5), clock.at(START):
        for _ in range(3):
            assert rates.take(key).allowed
    passed_at(key, 0)
    with django_assert_max_num_queries(1):  # however often a refused client tries
        assert passed_at(key, 0.5) == 0


@pytest.fixture
def processes(key, monkeypatch):
    """Ways to take a request, each with a memory of its own and one bucket in the database."""
    monkeypatch.setattr(rates, "connection", SimpleNamespace(vendor="shared"))
    memories = [{}, {}, {}]

    def take(number):
        monkeypatch.setattr(rates, "_leases", memories[number])
        return rates.take(key).allowed

    def forget():
        RateBucket.objects.all().delete()
        for memory in memories:
            memory.clear()

    return SimpleNamespace(take=take, forget=forget)


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    steps=some.lists(
        some.tuples(some.integers(0, 2), some.integers(1, 40), some.sampled_from([0, 0.5, 3, 20, 200])),
        max_size=25,
    )
)
def test_processes_together_never_pass_more_than_one_bucket(processes, steps):
    processes.forget()
    now, passed = 0.0, []
    for number, times, pause in steps:
        now += pause
        with clock.at(START + timedelta(seconds=now)):
            passed += [now for _ in range(times) if processes.take(number)]
    for first, begin in enumerate(passed):
        for last, end in enumerate(passed[first:], first):
            assert last - first + 1 <= 60 + (end - begin) / 2 + 0.01


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_threads_share_one_bucket():
    key = a_key(a_project(), rate_limit=100)[0]
    assert sum(all_at_once(lambda _: passed_at(key, 0))) == 200


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True)
def test_several_processes_share_one_bucket(database_url, tmp_path):
    if connection.vendor == "sqlite":
        pytest.skip("On SQLite the server is one process.")
    key = a_key(a_project(), rate_limit=100)[0]
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "statebase_site.settings",
        "STATEBASE_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "tests.access.rate_hammer", key.public_id, str(START.timestamp())]
    hammers = [
        subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        for hammer in hammers:
            assert hammer.stdout.readline() == "ready\n"
        for hammer in hammers:
            hammer.stdin.write("go\n")
            hammer.stdin.flush()
        assert sum(int(hammer.communicate(timeout=SECONDS)[0]) for hammer in hammers) == 200
    finally:
        for hammer in hammers:
            hammer.kill()
            hammer.wait()
