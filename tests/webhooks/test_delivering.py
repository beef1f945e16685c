"""The worker's part: at least once, again after pauses that grow, and nobody waits for a slow address."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from sessions_app import actions
from statebase_site.base import clock
from statebase_site.webhook_data import data_of
from statebase_site.webhooks import actions as webhook_actions
from statebase_site.webhooks import delivering, sending
from statebase_site.webhooks.errors import CannotSendAgain
from statebase_site.webhooks.models import Delivery, Webhook
from tests import factories
from tests.crowds import crowd, no_errors
from tests.patience import SECONDS, until
from tests.webhooks.conftest import work
from tests.webhooks.receiver import Receiver, answer


def only() -> Delivery:
    return Delivery.objects.get()


@contextmanager
def due():
    """At the moment when the one delivery is due."""
    with clock.at(only().next_try_at):
        yield


def test_pauses_grow_the_body_stays_and_in_the_end_it_is_given_up(api, webhook, receiver, project):
    webhook("session.created")
    receiver.answer = answer(503, b"Later.")
    session = api.session({"n": 0, "big": 2**70})
    pauses = []
    while only().state == "pending":
        with due():
            (sent,) = work()
            assert work() == []
            if sent.next_try_at:
                pauses.append(sent.next_try_at - clock.now())
        # Whatever happens meanwhile is not told.
        api.json("PATCH", f"{session}/state", {"state": {"n": len(pauses)}})
    assert (sent.state, sent.tries, sent.next_try_at) == ("failed", 7, None)
    assert [(each.status, each.said) for each in sent.attempts] == [(503, "Later.")] * 7
    assert pauses == sorted(set(pauses)) == list(delivering.PAUSES)
    bodies = {each.body for each in receiver.received}
    assert len(receiver.received) == 7
    assert len(bodies) == 1
    assert {each.headers["x-statebase-delivery"] for each in receiver.received} == {sent.event_id}
    assert {each.headers["x-statebase-signature"] for each in receiver.received} == {
        receiver.received[0].headers["x-statebase-signature"]
    }

    by = factories.full_key(project)
    again = webhook_actions.send_again(delivery=sent, by=by)
    assert (again.state, again.tries) == ("pending", 0)
    with pytest.raises(CannotSendAgain):
        webhook_actions.send_again(delivery=again, by=by)
    receiver.answer = answer(204)
    work()
    assert (only().state, only().tries, len(only().attempts)) == ("delivered", 1, 8)
    webhook_actions.send_again(delivery=only(), by=by)
    work()
    assert {each.body for each in receiver.received} == bodies
    assert len(receiver.received) == 9
    assert only().attempts[-1].succeeded


def test_a_failure_is_tried_again_and_a_success_is_not(api, webhook, receiver):
    webhook("session.created")
    receiver.answer = b"what?"
    api.session()
    work()
    assert (only().state, only().attempts[0].fault) == ("pending", "What answers there does not speak HTTP.")
    receiver.answer = answer(202)
    with due():
        work()
    assert (only().state, only().tries, only().next_try_at) == ("delivered", 2, None)
    with clock.at(clock.now() + timedelta(days=3)):
        assert work() == []


def test_networks_that_became_private_are_refused_when_it_is_sent(api, webhook, receiver, settings):
    webhook("session.created")
    api.session()
    settings.WEBHOOK_PRIVATE_NETWORKS = False
    work()
    assert receiver.received == []
    assert "private network (127.0.0.1)" in only().attempts[0].fault
    settings.WEBHOOK_PRIVATE_NETWORKS = True
    with due():
        work()
    assert only().state == "delivered"


def test_a_deleted_webhook_is_sent_nothing_more(api, webhook, receiver):
    path = f"/v1/webhooks/{webhook('session.created').public_id}"
    for _ in range(2):
        api.session()
    (on_its_way,) = delivering.claim(1)
    api("DELETE", path, status=204)
    assert set(Delivery.objects.values_list("state", "next_try_at")) == {("dropped", None)}
    delivering.deliver(on_its_way, data_of)  # claimed a moment before
    assert set(Delivery.objects.values_list("state", "attempts_text")) == {("dropped", "[]")}
    api.session()
    assert work() == []
    assert Delivery.objects.count() == 2


def test_what_a_worker_lost_is_sent_by_another_and_its_late_outcome_counts_for_nothing(
    api, webhook, receiver
):
    webhook("session.created")
    api.session()
    (lost,) = delivering.claim(8)
    assert delivering.claim(8) == []
    with clock.at(lost.next_try_at - timedelta(seconds=1)):
        assert delivering.claim(8) == []
    with clock.at(lost.next_try_at):
        (taken,) = delivering.claim(8)
        delivering.deliver(taken, data_of)
    receiver.answer = answer(500)
    delivering.deliver(lost, data_of)
    assert (only().state, only().tries, len(only().attempts)) == ("delivered", 1, 1)
    assert [each.json["id"] for each in receiver.received] == [lost.event_id] * 2


def test_few_of_one_webhook_are_sent_at_a_time_and_others_come_past_it(api, webhook):
    slow, quick = webhook("turn.added"), webhook("session.updated")
    session = api.session()
    for number in range(6):
        turn = {"input": "a", "output": "b", "state_after": {"n": number}}
        api.json("POST", f"{session}/turns", turn, status=201)
    first = delivering.claim(delivering.SENDERS)
    assert Counter(each.webhook_id for each in first) == {slow.pk: 2, quick.pk: 2}
    under_way = Counter({slow.pk: 2, quick.pk: 1})
    (next_one,) = delivering.claim(8, under_way=under_way)
    assert next_one.webhook_id == quick.pk
    assert len(delivering.claim(1)) == 1
    # Oldest first.
    numbers = [each.pk for each in first if each.webhook_id == quick.pk]
    assert numbers == sorted(numbers)


def test_old_deliveries_are_forgotten_but_for_those_that_wait(api, webhook, settings):
    settings.WEBHOOK_DELIVERY_DAYS = 2
    sent, paused, gone = (webhook("session.created") for _ in range(3))
    api.session()
    api.json("PATCH", f"/v1/webhooks/{paused.public_id}", {"is_active": False})
    work()
    Delivery.objects.filter(webhook=gone).update(state="pending", next_try_at=clock.now())
    type(gone).objects.filter(pk=gone.pk).update(deleted_at=clock.now())
    api.session()
    with clock.at(clock.now() + timedelta(days=1)):
        assert delivering.forget_old() == 0
    Delivery.objects.filter(pk__in=Delivery.objects.order_by("-id")[:1]).update(
        created_at=clock.now() + timedelta(days=9)
    )
    with clock.at(clock.now() + timedelta(days=2, seconds=1)):
        # What was sent, what waits for a webhook that is gone, and that webhook.
        assert delivering.forget_old() == 3
        assert delivering.forget_old() == 0
    assert set(Delivery.objects.values_list("webhook", "state")) == {
        (sent.pk, "pending"),
        (paused.pk, "pending"),
    }


def test_who_has_nothing_to_send_takes_no_lock(api, webhook):
    webhook("session.created")
    with CaptureQueriesContext(connection) as ran:
        assert delivering.claim(8) == []
    assert len(ran) == 1
    assert "UPDATE" not in ran[0]["sql"]


# With real connections ----------------------------------------------------------------------------------


@pytest.fixture
def committed(transactional_db, receiver):
    """An actor of a project with one webhook that hears of new sessions, in committed rows."""
    by = factories.full_key(factories.project("Committed"))
    factories.webhook(by, "session.created", url=receiver.url)
    return by


@pytest.fixture
def loop():
    """Runs the sending loop on a thread; ended after the test."""
    stop = threading.Event()
    threads = []

    def start():
        threads.append(threading.Thread(target=delivering.run, args=(stop, data_of)))
        threads[-1].start()
        return threads[-1]

    start.stop = stop
    yield start
    stop.set()
    for each in threads:
        each.join(SECONDS)
        assert not each.is_alive()
    gc.collect()  # the database connections of its threads


@pytest.mark.concurrency
def test_several_workers_never_send_the_same_at_the_same_time(committed, receiver):
    for number in range(12):
        factories.session(committed, {"n": number})

    def worker(place):
        claims = []
        while claimed := delivering.claim(delivering.SENDERS):
            claims += claimed
            for each in claimed:
                delivering.deliver(each, data_of)
        return [each.event_id for each in claims]

    results = no_errors(crowd(4, worker))
    claims = Counter(event for result in results for event in result)
    # A worker that found all due ones claimed ends; what is left is for the next.
    while rest := delivering.claim(8):
        for each in rest:
            delivering.deliver(each, data_of)
            claims[each.event_id] += 1
    assert set(claims.values()) == {1}
    assert Counter(each.json["id"] for each in receiver.received) == claims
    assert len(claims) == 12


@pytest.mark.concurrency
def test_the_loop_passes_slow_addresses_and_survives_a_database_that_is_away(
    committed, receiver, loop, monkeypatch, caplog
):
    slow = Receiver()
    slow.behave = lambda connection: slow.ended.wait(SECONDS)
    for _ in range(3):
        factories.webhook(committed, "session.created", url=slow.url)
    real, times = delivering.claim, []

    def away_at_first(*args, **more):
        times.append(1)
        if len(times) == 1:
            raise OperationalError("the database is away")
        return real(*args, **more)

    monkeypatch.setattr(delivering, "claim", away_at_first)
    monkeypatch.setattr(delivering, "_SECONDS_BETWEEN_LOOKS", 0.05)
    try:
        for number in range(5):
            factories.session(committed, {"n": number})
        loop()
        until(lambda: len(receiver.received) == 5)
        assert len(slow.received) == 3 * delivering.SENDERS_OF_ONE
        assert "the database is away" in caplog.text
        loop.stop.set()
    finally:
        slow.ended.set()
        slow.end()


@pytest.mark.concurrency
def test_many_dead_addresses_with_much_to_hear_keep_nobody_waiting(committed, receiver, loop, monkeypatch):
    monkeypatch.setattr(sending, "SECONDS_MOST", 1.5)
    monkeypatch.setattr(delivering, "SLOW_MS", 1_000)
    live = Webhook.objects.get()
    dead = Receiver()
    dead.behave = lambda connection: dead.ended.wait(SECONDS)
    for _ in range(8):
        factories.webhook(committed, "session.created", url=dead.url)
    with transaction.atomic():
        for number in range(15):
            factories.session(committed, {"n": number})
    # What the live one has to hear is the last in line.
    Delivery.objects.filter(webhook=live).update(next_try_at=clock.now())
    try:
        loop()
        until(lambda: len(receiver.received) == 15)
        assert Delivery.objects.filter(tries__gt=0).exclude(webhook=live).count() < 8 * 15 / 2
        loop.stop.set()
    finally:
        dead.ended.set()
        dead.end()


@pytest.mark.concurrency
def test_a_fault_of_our_own_is_logged_and_tried_again_later(committed, receiver, caplog):
    factories.session(committed)
    (claimed,) = delivering.claim(8)

    def broken(delivery):
        raise KeyError("a mistake")

    delivering._deliver_and_let_go(claimed, broken)
    assert "a mistake" in caplog.text
    assert (only().state, only().tries, receiver.received) == ("pending", 0, [])
    with due():
        assert len(work()) == 1


@pytest.mark.concurrency
def test_a_write_that_is_not_committed_is_not_sent(committed, receiver):
    with transaction.atomic():
        factories.session(committed)
        assert no_errors(crowd(1, lambda place: delivering.claim(8))) == [[]]
        transaction.set_rollback(True)
    assert delivering.claim(8) == []
    actions.create_session(agent_id="a", by=committed)
    assert len(work()) == 1
    assert len(receiver.received) == 1
