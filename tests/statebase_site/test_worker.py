"""The worker's loop goes on whatever happens, until it is told to stop."""

import threading

import pytest
from django.db import OperationalError

from sessions_app.actions import maintenance
from statebase_site import worker

# The loop looks after the connections of its process, so it meets the test's.
pytestmark = pytest.mark.django_db


def test_a_round_that_fails_is_logged_and_tried_again(monkeypatch, caplog):
    stop = threading.Event()
    rounds = []

    def second_one_works() -> int:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            raise OperationalError("the database is away")
        stop.set()
        return 0

    monkeypatch.setattr(maintenance, "run_once", second_one_works)
    monkeypatch.setattr(worker, "SECONDS_BETWEEN_ROUNDS", 0)
    worker.run(stop)
    assert rounds == [0, 1]
    assert "the database is away" in caplog.text


def test_while_there_is_work_it_does_not_wait(monkeypatch):
    stop = threading.Event()
    left = [3, 2, 1, 0]

    def some_of_it() -> int:
        if len(left) == 1:
            stop.set()
        return left.pop(0)

    monkeypatch.setattr(maintenance, "run_once", some_of_it)
    monkeypatch.setattr(worker, "SECONDS_BETWEEN_ROUNDS", 3600)
    worker.run(stop)
    assert left == []
