"""A real worker that is killed in the middle of sending, and one that is told to stop (contract 11)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from threading import Event

import pytest
from django.conf import settings
from django.db.models import F

from statebase_site.webhooks import delivering
from statebase_site.webhooks.models import LOST_AFTER, Delivery
from tests import factories
from tests.patience import SECONDS


@pytest.fixture
def start_worker(database_url, tmp_path):
    """Starts `manage.py worker` on the test's database; killed after the test where it still runs."""
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "STATEBASE_HOME": str(tmp_path),
        "STATEBASE_WEBHOOK_PRIVATE_NETWORKS": "1",
    }
    started = []

    def start() -> subprocess.Popen:
        command = [sys.executable, "manage.py", "worker"]
        started.append(subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.wait(SECONDS)


@pytest.mark.concurrency
@pytest.mark.slow
def test_what_a_killed_worker_was_sending_is_sent_again_and_a_stopped_one_ends_it(receiver, start_worker):
    by = factories.full_key(factories.project())
    factories.webhook(by, "session.created", url=receiver.url)
    let_go = Event()

    def hold(connection):
        assert let_go.wait(SECONDS)
        connection.sendall(receiver.answer)

    receiver.behave = hold
    factories.session(by, {"n": 1})
    first = start_worker()
    assert receiver.arrived.wait(SECONDS)
    first.kill()
    first.wait(SECONDS)
    row = Delivery.objects.get()
    assert (row.state, row.tries, row.attempts) == ("pending", 0, [])
    assert delivering.claim(8) == []  # for all anybody knows it is on its way

    # Some time later.
    Delivery.objects.update(next_try_at=F("next_try_at") - LOST_AFTER)
    receiver.arrived.clear()
    second = start_worker()
    assert receiver.arrived.wait(SECONDS)
    second.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):  # it waits for the answer that is under way
        second.wait(0.2)
    let_go.set()
    assert second.wait(SECONDS) == 0
    row.refresh_from_db()
    assert (row.state, row.tries) == ("delivered", 1)
    assert [each.json["id"] for each in receiver.received] == [row.event_id] * 2
    assert len({each.body for each in receiver.received}) == 1
