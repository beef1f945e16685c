"""What many do at the same moment happens once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from django.db import connection, transaction

from statebase_site.access import actions
from statebase_site.access.actor import IdempotencyKey, RequestFacts, key_actor, person_actor
from statebase_site.access.errors import KeyRevokedAlready, LastAdmin, SignInLinkSpent
from statebase_site.access.idempotency import IdempotencyRaced, recall, remember
from statebase_site.access.models import IdempotentAnswer, Membership
from tests.access.people import a_key, a_member, a_project

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]

THREADS = 8


def all_at_once(act):
    """What `act(n)` returned or raised in each of several threads that start together."""
    together = Barrier(THREADS)

    def run(number):
        together.wait()
        try:
            return act(number)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_a_sign_in_link_signs_in_one():
    ada = a_member(a_project())
    token = actions.create_sign_in_token(ada)
    outcomes = all_at_once(lambda _: actions.use_sign_in_token(token))
    assert outcomes.count(ada) == 1
    assert sum(isinstance(outcome, SignInLinkSpent) for outcome in outcomes) == THREADS - 1


def test_a_request_with_one_key_is_remembered_once():
    by = replace(
        key_actor(a_key(a_project())[0]),
        request=RequestFacts(
            method="POST", path="/v1/sessions", idempotency=IdempotencyKey("once", "a" * 64)
        ),
    )

    def carry_out(number):
        with transaction.atomic():
            remember(by, {"session": number})
        return number

    outcomes = all_at_once(carry_out)
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert sum(isinstance(outcome, IdempotencyRaced) for outcome in outcomes) == THREADS - 1
    assert recall(by) == {"session": winner}
    assert IdempotentAnswer.objects.count() == 1


def test_of_admins_who_remove_each_other_one_stays():
    project = a_project()
    admins = [a_member(project, name=f"admin{n}").memberships.get() for n in range(THREADS)]
    by = person_actor(admins[0])
    outcomes = all_at_once(lambda n: actions.remove_member(member=admins[n], by=by))
    assert outcomes.count(None) == THREADS - 1
    assert sum(isinstance(outcome, LastAdmin) for outcome in outcomes) == 1
    assert Membership.objects.filter(project=project, role="admin").count() == 1


def test_a_key_is_revoked_by_one():
    key, _ = a_key(a_project())
    by = key_actor(key)
    outcomes = all_at_once(lambda _: actions.revoke_key(key=key, by=by))
    assert outcomes.count(key) == 1
    assert sum(isinstance(outcome, KeyRevokedAlready) for outcome in outcomes) == THREADS - 1
