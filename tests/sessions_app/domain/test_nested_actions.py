"""An action that calls others is one action: one transaction, one answer, one piece of evidence."""

import pytest

from sessions_app import actions, queries
from sessions_app.errors import SessionFrozen, SessionNotFound, ThawRefused
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace
from statebase_site.access.idempotency import IdempotencyConflict, recall, remember
from statebase_site.access.models import IdempotentAnswer
from tests import factories as make


@actions.action
def copy_step(*, source, target, by):
    """Write a number to one session and then to another."""
    if made := recall(by):
        return made
    numbers = [
        actions.update_state(session_id=each.public_id, changes={"step": 7}, by=by.part()).version.number
        for each in (source, target)
    ]
    remember(by, {"numbers": numbers})
    return {"numbers": numbers}


@pytest.fixture
def two(key):
    return make.session(key, {"step": 0}), make.session(key, {"step": 0})


def written():
    return StateVersion.objects.count(), Trace.objects.exclude(action="write.refused").count()


def test_a_refusal_by_a_freeze_takes_all_along_and_keeps_its_evidence(two, key):
    running, frozen = two
    make.freeze(frozen, by=key)
    before = written()
    body = {"state": {"step": 7}, "reasoning": "Copying"}
    asking = make.asking(key, path="/v1/copy", method="POST", body=body, key="once")
    with pytest.raises(SessionFrozen) as refused:
        copy_step(source=running, target=frozen, by=asking)
    assert written() == before
    kept = RefusedWrite.objects.get()
    assert (kept.agent_session, kept.operation, kept.path) == (frozen, "state.update", "/v1/copy")
    assert kept.reasoning == "Copying"
    assert kept.trace_id == refused.value.extras["trace_id"]
    assert Trace.objects.get(public_id=kept.trace_id).details["operation"] == "state.update"
    assert not IdempotentAnswer.objects.exists()  # tried again after the resume, it is done
    for each in two:
        assert queries.verify_session(make.fresh(each)).ok
    make_running = actions.resume(session_id=frozen.public_id, by=key)
    assert make_running.version.number == 2
    assert copy_step(source=running, target=frozen, by=asking) == {"numbers": [1, 3]}


def test_each_refusal_leaves_one_piece_of_evidence(two, key):
    running, frozen = two
    make.freeze(frozen, by=key)
    for _ in range(2):
        with pytest.raises(SessionFrozen):
            copy_step(source=running, target=frozen, by=make.asking(key))
    assert RefusedWrite.objects.count() == 2
    assert Trace.objects.filter(action="write.refused", agent_session=frozen).count() == 2


def test_another_refusal_takes_all_along_and_leaves_no_evidence(two, key):
    source, gone = two
    actions.delete_session(session_id=gone.public_id, by=key)
    before = written()
    with pytest.raises(SessionNotFound):
        copy_step(source=source, target=gone, by=key)
    assert written() == before
    assert not RefusedWrite.objects.exists()


def test_the_outer_action_alone_answers_for_the_idempotency_key(two, key):
    source, target = two
    asking = make.asking(key, key="once", method="POST", path="/v1/copy")
    first = copy_step(source=source, target=target, by=asking)
    assert copy_step(source=source, target=target, by=asking) == first == {"numbers": [1, 1]}
    assert IdempotentAnswer.objects.count() == 1
    assert make.fresh(source).head_version == make.fresh(target).head_version == 1
    other = make.asking(key, key="once", method="POST", path="/v1/copy", body=b"[]")
    with pytest.raises(IdempotencyConflict):
        copy_step(source=source, target=target, by=other)


def test_a_part_names_the_same_actor_and_request(two, key):
    source, target = two
    asking = make.asking(key, key="once")
    copy_step(source=source, target=target, by=asking)
    traces = Trace.objects.filter(action="state.updated")
    assert {each.request_id for each in traces} == {asking.request.request_id}
    assert {each.actor_label for each in traces} == {key.label}


def test_after_a_refused_outer_action_the_next_keeps_evidence_again(two, key, agent):
    """Whether an action is under way is forgotten with it, also where it failed."""
    running, frozen = two
    make.freeze(frozen, by=key)
    with pytest.raises(SessionFrozen):
        copy_step(source=running, target=frozen, by=key)
    with pytest.raises(ThawRefused) as refused:
        actions.resume(session_id=frozen.public_id, by=agent)
    assert refused.value.extras["trace_id"]
    assert RefusedWrite.objects.count() == 2
    assert AgentSession.objects.get(pk=running.pk).head_version == 0


def test_what_an_outer_action_overcomes_is_written(two, key):
    """A savepoint holds each inner action: a refused one leaves the others as they are."""

    @actions.action
    def as_far_as_possible(*, by):
        done = []
        for each in two:
            try:
                actions.update_state(session_id=each.public_id, changes={"step": 7}, by=by)
                done.append(each.public_id)
            except SessionFrozen:
                continue
        return done

    running, frozen = two
    make.freeze(frozen, by=key)
    assert as_far_as_possible(by=key) == [running.public_id]
    assert make.fresh(running).head_version == 1
    assert queries.verify_session(make.fresh(frozen)).ok
