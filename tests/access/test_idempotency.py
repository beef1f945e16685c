"""A request sent twice is answered twice and carried out once (contract 4.2)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from statebase_site.access.actor import IdempotencyKey, RequestFacts, key_actor
from statebase_site.access.idempotency import (
    IdempotencyConflict,
    IdempotencyRaced,
    forget_old,
    recall,
    remember,
)
from statebase_site.access.models import IdempotentAnswer
from statebase_site.base import clock
from tests.access.people import a_key, a_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def by():
    request = RequestFacts(
        method="POST", path="/v1/sessions", idempotency=IdempotencyKey("once", body_sha256="a" * 64)
    )
    return replace(key_actor(a_key(a_project())[0]), request=request)


def with_request(by, **changes):
    return replace(by, request=replace(by.request, **changes))


def test_the_first_request_is_new_and_the_second_gets_what_it_made(by):
    assert recall(by) is None
    remember(by, {"session": "sess_1", "big": 12345678901234567890123})
    assert recall(by) == {"session": "sess_1", "big": 12345678901234567890123}


def test_without_a_key_nothing_is_kept(by):
    plain = with_request(by, idempotency=None)
    remember(plain, {"session": "sess_1"})
    assert recall(plain) is None
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "PATCH"},
        {"path": "/v1/traces"},
        {"idempotency": IdempotencyKey("once", body_sha256="b" * 64)},
    ],
)
def test_the_same_key_for_another_request_is_refused(by, changes):
    remember(by, {"session": "sess_1"})
    with pytest.raises(IdempotencyConflict) as refused:
        recall(with_request(by, **changes))
    assert refused.value.code == "idempotency_conflict"


def test_the_same_key_of_another_owner_is_another(by):
    remember(by, {"session": "sess_1"})
    stranger = replace(key_actor(a_key(a_project("Other"))[0]), request=by.request)
    assert recall(stranger) is None
    remember(stranger, {"session": "sess_2"})
    assert recall(by) == {"session": "sess_1"}


def test_after_24_hours_the_key_is_free_again(by):
    with clock.at(datetime.now(UTC) - timedelta(hours=24, minutes=1)):
        remember(by, {"session": "sess_1"})
    assert recall(by) is None
    remember(by, {"session": "sess_2"})
    assert recall(by) == {"session": "sess_2"}
    assert IdempotentAnswer.objects.count() == 1


def test_within_24_hours_it_is_not_forgotten(by):
    with clock.at(datetime.now(UTC) - timedelta(hours=23, minutes=59)):
        remember(by, {"session": "sess_1"})
    assert forget_old() == 0
    assert recall(by) == {"session": "sess_1"}


def test_the_worker_forgets_what_is_older(by):
    with clock.at(datetime.now(UTC) - timedelta(hours=25)):
        remember(by, {"session": "sess_1"})
    assert forget_old() == 1


def test_who_loses_the_race_is_told_and_their_transaction_lives_on(by):
    remember(by, {"session": "sess_1"})
    with transaction.atomic():
        with pytest.raises(IdempotencyRaced):
            remember(by, {"session": "sess_2"})
        assert recall(by) == {"session": "sess_1"}
