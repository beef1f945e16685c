"""Memories: found by who may know them, and by what they have to do with a query (contract 6.5)."""

from __future__ import annotations

import pytest

from sessions_app import actions, queries
from sessions_app.errors import MemoryNotFound, SessionFrozen
from sessions_app.models import Trace
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def by():
    return factories.full_key(factories.project())


def found(by, query, **narrowed):
    memories = queries.memories_for(by, **narrowed)
    return [(each.memory.content, each.score) for each in queries.search_memories(memories, query, limit=10)]


def test_the_same_words_come_first_and_others_stay_under_the_threshold(by):
    for content in ("User prefers window seats", "The billing address is 4 Main Street", "Likes jazz"):
        actions.add_memory(content=content, by=by)
    (first, score), *others = found(by, "User prefers window seats")
    assert first == "User prefers window seats"
    assert score >= 0.95
    assert all(score < 0.7 for _, score in others)
    assert found(by, "which seat does the user prefer")[0][1] >= 0.7
    assert found(by, "biling adress")[0][0].startswith("The billing")


def test_a_session_knows_its_own_its_users_its_agents_and_everybodys(by):
    ann = factories.session(by, user_id="ann", agent_id="bot")
    other = factories.session(by, user_id="ann", agent_id="other-bot")
    bob = factories.session(by, user_id="bob", agent_id="bot")
    alone = factories.session(by, agent_id="bot")
    for session, content in ((ann, "of ann"), (other, "of ann elsewhere"), (bob, "of bob"), (alone, "alone")):
        actions.add_memory(content=content, session_id=session.public_id, by=by)
    actions.add_memory(content="of the agent", agent_id="bot", by=by)
    actions.add_memory(content="of another agent", agent_id="x", by=by)
    actions.add_memory(content="of all", by=by)

    def known(session):
        return {each.content for each in queries.visible_to(queries.memories_for(by), session)}

    assert known(ann) == {"of ann", "of ann elsewhere", "of the agent", "of all"}
    assert known(bob) == {"of bob", "of the agent", "of all"}
    assert known(alone) == {"alone", "of the agent", "of all"}


def test_a_frozen_session_takes_no_memory_and_the_attempt_is_kept(by):
    session = factories.session(by)
    memory = actions.add_memory(content="before", session_id=session.public_id, by=by).memory
    factories.freeze(session, by=by)
    with pytest.raises(SessionFrozen):
        actions.add_memory(content="after", session_id=session.public_id, by=by)
    with pytest.raises(SessionFrozen):
        actions.delete_memory(memory_id=memory.public_id, by=by)
    refused = Trace.objects.filter(action="write.refused").values_list("details_text", flat=True)
    assert len(refused) == 2
    assert factories.fresh(session).memory_count == 1


def test_a_deleted_memory_leaves_no_content_in_its_traces(by):
    memory = actions.add_memory(content="The PIN is 1234", by=by).memory
    actions.update_memory(memory_id=memory.public_id, content="The PIN was changed", by=by)
    assert found(by, "PIN changed")[0][1] > 0.9
    actions.delete_memory(memory_id=memory.public_id, by=by)
    with pytest.raises(MemoryNotFound):
        queries.memory_for(by, memory.public_id)
    assert found(by, "PIN changed") == []
    traces = list(Trace.objects.filter(resource_type="memory"))
    assert [each.action for each in sorted(traces, key=lambda each: each.pk)] == [
        "memory.created",
        "memory.updated",
        "memory.deleted",
    ]
    assert "PIN" not in str(queries.trace_details(traces)) + str([each.details_text for each in traces])
