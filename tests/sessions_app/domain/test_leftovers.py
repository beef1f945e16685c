"""All of an action is written, or nothing: each of its statements is made to fail in turn (architecture)."""

import pytest
from django.db import connection

from sessions_app import actions, queries
from sessions_app.actions import maintenance
from sessions_app.errors import SessionFrozen
from sessions_app.models import (
    AgentSession,
    EvidenceHold,
    Memory,
    MemoryTag,
    RefusedWrite,
    SessionMetadataPair,
    SessionPath,
    StateVersion,
    Trace,
    Turn,
)
from statebase_site.access.models import ApiKey, IdempotentAnswer, Project
from statebase_site.webhooks.models import Delivery, Webhook
from tests import factories as make
from tests.faults import FailingAt, Injected, fail_each_write

TABLES = (
    AgentSession,
    StateVersion,
    Turn,
    Trace,
    EvidenceHold,
    RefusedWrite,
    SessionMetadataPair,
    SessionPath,
    Memory,
    MemoryTag,
    IdempotentAnswer,
    ApiKey,
    Project,
    Webhook,
    Delivery,
)


def deleted(session, by):
    actions.delete_session(session_id=session.public_id, by=by)


def held(session, by):
    actions.hold(session_id=session.public_id, label="INCIDENT-1", url="/", by=by)


def frozen(session, by):
    make.freeze(session, by=by)


def remembered(session, by):
    actions.add_memory(content="likes tea", session_id=session.public_id, tags=["t"], by=by)


def refused(session, by):
    with pytest.raises(SessionFrozen):
        make.update(session, {"a": 1}, by=by)


# Name: what is there before, and the action.
ACTIONS = {
    "create": (None, lambda s, by: make.session(by, {"a": 1}, metadata={"m": 1, "n": 2})),
    "create frozen": (None, lambda s, by: make.session(by, {"frozen": True})),
    "fork": (None, lambda s, by: actions.fork(session_id=s.public_id, by=by)),
    "merge": (None, lambda s, by: make.update(s, {"a": 1}, by=by)),
    "freeze": (None, frozen),
    "resume": (frozen, lambda s, by: actions.resume(session_id=s.public_id, by=by)),
    "turn": (None, lambda s, by: make.turn(s, by=by)),
    "turn with a version": (None, lambda s, by: make.turn(s, by=by, state_after={"b": 1})),
    "rollback": (None, lambda s, by: make.rollback(s, 0, by=by)),
    "metadata": (
        None,
        lambda s, by: actions.update_session(
            session_id=s.public_id, metadata={"m": 2}, ttl_seconds=60, by=by
        ),
    ),
    "memory": (None, remembered),
    "forget": (
        remembered,
        lambda s, by: actions.delete_memory(memory_id=Memory.objects.get().public_id, by=by),
    ),
    "note": (None, lambda s, by: actions.create_trace(action="note", session_id=s.public_id, by=by)),
    "hold": (None, held),
    "release": (held, lambda s, by: actions.release(session_id=s.public_id, label="INCIDENT-1", by=by)),
    "delete": (None, deleted),
    "restore": (deleted, lambda s, by: actions.restore_deleted_session(session_id=s.public_id, by=by)),
    "purge": (deleted, lambda s, by: maintenance.purge_due()),
    "expire": (
        lambda s, by: AgentSession.objects.filter(pk=s.pk).update(expires_at=s.created_at),
        lambda s, by: maintenance.expire_due(),
    ),
    "index": (None, lambda s, by: maintenance.index_changed_paths()),
    "empty the project": (None, lambda s, by: maintenance.remove_project_content(project=by.project)),
    "new key": (None, lambda s, by: actions.create_key(name="k", by=by)),
    "refusal": (frozen, refused),
    "new webhook": (None, lambda s, by: make.webhook(by)),
    "pause a webhook": (
        None,
        lambda s, by: actions.update_webhook(
            webhook_id=Webhook.objects.get().public_id, is_active=False, by=by
        ),
    ),
    "end a webhook": (
        None,
        lambda s, by: actions.delete_webhook(webhook_id=Webhook.objects.get().public_id, by=by),
    ),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_failure_at_any_statement_leaves_nothing_behind(key, settings, name):
    """No delivery stays without what it tells of, and what was written is told in the same transaction."""
    settings.PURGE_DELETED_AFTER_DAYS = 0
    prepare, act = ACTIONS[name]
    session = make.session(key, {"start": 1}, metadata={"m": 1}, ttl_seconds=3600)
    make.update(session, {"start": 2}, by=key)
    make.webhook(key)
    if prepare:
        prepare(session, key)
    asking = make.asking(key, key="once")
    before = set(Trace.objects.values_list("public_id", flat=True))
    assert fail_each_write(lambda: act(session, asking), TABLES) > 0
    if Webhook.objects.filter(is_active=True, deleted_at=None).exists():
        deliveries = Delivery.objects.filter(event="trace.created")
        written = set(Trace.objects.values_list("public_id", flat=True)) - before
        assert written <= {each.subject["trace"] for each in deliveries}
    if AgentSession.objects.filter(pk=session.pk).exists():
        assert queries.verify_session(make.fresh(session)).ok


def test_a_failed_action_is_no_obstacle_to_the_next(key):
    session = make.session(key, {"a": 0})
    with pytest.raises(Injected), connection.execute_wrapper(FailingAt(2)):
        make.update(session, {"a": 1}, by=make.asking(key, key="once"))
    assert make.update(session, {"a": 2}, by=make.asking(key, key="once")).number == 1
    assert queries.document_at(make.fresh(session), 1).value == {"a": 2}
    assert queries.verify_session(make.fresh(session)).ok
