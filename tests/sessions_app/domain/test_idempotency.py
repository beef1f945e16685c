"""Rule 8: a request sent twice runs once (contract 4.2)."""

from datetime import timedelta

import pytest

from sessions_app import actions, queries
from sessions_app.actions import maintenance
from sessions_app.actions.create import NEVER
from sessions_app.errors import (
    InvalidInput,
    SessionFrozen,
    SessionNotFound,
    StateTooLarge,
    ThawRefused,
    TooLarge,
    VersionConflict,
    VersionNotFound,
)
from sessions_app.models import AgentSession, Trace
from statebase_site.access import idempotency
from statebase_site.access.idempotency import IdempotencyConflict
from statebase_site.access.models import IdempotentAnswer
from statebase_site.base import clock
from tests import factories as make
from tests.documents import typed

DAY = timedelta(hours=24)


def counts():
    return AgentSession.objects.count(), Trace.objects.count(), IdempotentAnswer.objects.count()


def head_of(session):
    names = ("head_version", "updated_at", "turn_count", "frozen_at", "metadata_text", "expires_at")
    return {name: getattr(session, name) for name in names}


CALLS = {
    "create": lambda session, by: actions.create_session(
        agent_id="bot", initial_state={"z": 1.0, "a": 1}, metadata={"m": 1}, by=by
    ),
    "fork": lambda session, by: actions.fork(session_id=session.public_id, version=1, by=by),
    "merge": lambda session, by: actions.update_state(
        session_id=session.public_id, changes={"step": 9.0}, by=by
    ),
    "replace": lambda session, by: actions.update_state(
        session_id=session.public_id, changes={"b": 1}, mode=actions.REPLACE, by=by
    ),
    "turn": lambda session, by: actions.add_turn(
        session_id=session.public_id,
        input=make.text("in"),
        output=make.text("out"),
        state_after={"after": 1},
        by=by,
    ),
    "rollback": lambda session, by: actions.rollback(session_id=session.public_id, version=-1, by=by),
    "freeze": lambda session, by: actions.freeze(session_id=session.public_id, by=by),
    "metadata": lambda session, by: actions.update_session(
        session_id=session.public_id, metadata={"n": 1}, ttl_seconds=60, by=by
    ),
    "note": lambda session, by: actions.create_trace(action="note", session_id=session.public_id, by=by),
}


def made_by(outcome):
    """The rows an outcome names."""
    found = {}
    for name in ("version", "turn", "trace"):
        if hasattr(outcome, name):
            row = getattr(outcome, name)
            found[name] = {
                field.attname: bytes(value)
                if isinstance(value := getattr(row, field.attname), memoryview)
                else value
                for field in row._meta.concrete_fields
                if field.attname != "id"
            }
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_repeated_request_gives_the_same_answer_and_runs_nothing(key, name):
    session = make.session_with_versions(key, 2)
    asking = make.asking(key, key="once")
    first = CALLS[name](session, asking)
    after = counts()
    stored = make.fresh(session)
    again = CALLS[name](session, make.asking(key, key="once"))
    assert (first.replayed, again.replayed) == (False, True)
    assert made_by(again) == made_by(first)
    if hasattr(first, "agent_session"):
        assert again.agent_session.pk == first.agent_session.pk
        assert head_of(again.agent_session) == head_of(first.agent_session)
    assert counts() == after
    assert head_of(make.fresh(session)) == head_of(stored)


@pytest.mark.parametrize("name", [each for each in CALLS if each not in ("create", "note")])
def test_a_replay_says_the_same_after_the_session_moved_on_and_was_frozen(key, name):
    session = make.session_with_versions(key, 2)
    first = CALLS[name](session, make.asking(key, key="once"))
    if name == "freeze":
        actions.resume(session_id=session.public_id, by=key)
    for each in {session.public_id, first.agent_session.public_id}:
        actions.update_state(session_id=each, changes={"later": 1}, by=key)
        actions.update_session(session_id=each, metadata={"later": 1}, ttl_seconds=900, by=key)
        actions.add_turn(session_id=each, input=make.text("in"), output=make.text("out"), by=key)
        actions.freeze(session_id=each, by=key)
    before = counts()
    again = CALLS[name](session, make.asking(key, key="once"))
    assert again.replayed
    assert made_by(again) == made_by(first)
    assert head_of(again.agent_session) == head_of(first.agent_session)
    assert counts() == before
    number = again.agent_session.head_version
    assert typed(queries.document_at(again.agent_session, number).value) == typed(
        queries.document_at(first.agent_session, number).value
    )


@pytest.mark.parametrize(
    "other", [{"method": "PUT"}, {"path": "/v1/sessions/other"}, {"body": b'{"state":{}}'}], ids=str
)
def test_the_key_of_another_request_is_a_conflict(key, other):
    session = make.session(key)
    actions.update_state(session_id=session.public_id, changes={"a": 1}, by=make.asking(key, key="once"))
    for call in CALLS.values():
        before = counts()
        with pytest.raises(IdempotencyConflict) as refused:
            call(session, make.asking(key, key="once", **other))
        assert refused.value.code == "idempotency_conflict"
        assert counts() == before
    assert make.fresh(session).head_version == 1


def test_another_key_and_another_actor_run_of_their_own(acme, key):
    session = make.session(key)
    for by, name in ((key, "one"), (key, "two"), (make.full_key(acme), "one")):
        actions.update_state(session_id=session.public_id, changes={"a": 1}, by=make.asking(by, key=name))
    assert make.fresh(session).head_version == 3


def test_without_a_key_every_request_runs(key):
    session = make.session(key)
    for _ in range(2):
        actions.update_state(session_id=session.public_id, changes={"a": 1}, by=make.asking(key))
    assert make.fresh(session).head_version == 2
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s, by: make.update(s, {"a": 1}, by=by, expected_version=7), VersionConflict),
        (lambda s, by: make.rollback(s, 99, by=by), VersionNotFound),
        (lambda s, by: make.update(s, {"a": "x" * 3_000_000}, by=by), StateTooLarge),
        (lambda s, by: make.update(s, {}, by=by, reasoning="x" * 20_000), TooLarge),
        (lambda s, by: make.session(by, agent_id=" "), InvalidInput),
    ],
)
def test_a_refusal_is_not_remembered(key, call, error):
    session = make.session(key, {"a": 0})
    with pytest.raises(error):
        call(session, make.asking(key, key="once"))
    assert not IdempotentAnswer.objects.exists()
    assert make.update(session, {"a": 1}, by=make.asking(key, key="once")).number == 1


def test_a_request_refused_by_a_freeze_may_be_tried_again(key, agent):
    session = make.session(key, {"a": 0})
    make.freeze(session, by=key)
    asking = make.asking(agent, key="once")
    with pytest.raises(SessionFrozen):
        make.update(session, {"a": 1}, by=asking)
    with pytest.raises(ThawRefused):
        make.rollback(session, 0, by=asking)
    actions.resume(session_id=session.public_id, by=key)
    assert make.update(session, {"a": 1}, by=asking).number == 3


def test_an_answer_is_kept_for_24_hours(key):
    session = make.session(key, ttl_seconds=NEVER)
    asking = make.asking(key, key="once")
    with clock.at(session.created_at):
        make.update(session, {"a": 1}, by=asking)
    with clock.at(session.created_at + DAY - timedelta(microseconds=1)):
        assert make.update(session, {"a": 1}, by=asking).number == 1
        assert idempotency.forget_old() == 0
    with clock.at(session.created_at + DAY):
        assert make.update(session, {"a": 1}, by=asking).number == 2  # as if it were new
        assert make.update(session, {"a": 1}, by=asking).number == 2
        assert idempotency.forget_old() == 0
    with clock.at(session.created_at + DAY * 2):
        assert idempotency.forget_old() == 1


def test_an_old_key_may_be_used_for_another_request_after_24_hours(key):
    session = make.session(key, ttl_seconds=NEVER)
    with clock.at(session.created_at):
        make.update(session, {"a": 1}, by=make.asking(key, key="once"))
    with clock.at(session.created_at + DAY):
        other = make.asking(key, key="once", body=b'{"other":1}')
        assert make.update(session, {"a": 2}, by=other).number == 2


def test_a_created_session_is_told_again_also_when_it_was_deleted_since(key):
    asking = make.asking(key, method="POST", key="once")
    session = make.session(asking, {"a": 1})
    actions.delete_session(session_id=session.public_id, by=key)
    assert make.session(asking, {"a": 1}).public_id == session.public_id
    assert AgentSession.objects.count() == 1


def test_a_created_session_that_was_purged_since_is_not_made_again(key, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    asking = make.asking(key, method="POST", key="once")
    session = make.session(asking, {"a": 1})
    actions.delete_session(session_id=session.public_id, by=key)
    maintenance.purge_due()
    with pytest.raises(SessionNotFound):
        make.session(asking, {"a": 1})


def test_any_key_of_255_characters_works(key):
    session = make.session(key)
    for name in ("x" * 255, "ü" * 255, "a b", "'; DROP TABLE"):
        for _ in range(2):
            make.update(session, {"a": 1}, by=make.asking(key, key=name))
    assert make.fresh(session).head_version == 4
