"""Memories, keys, webhooks, users and histories, with both clients against a running server."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import statebase.models

from statebase_client import (
    AuthenticationFailed,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    SessionFrozen,
    StateBase,
)
from tests.client.conftest import count_requests
from tests.patience import SECONDS


@pytest.fixture
def name():
    """A name that no other test has: all of them share the server."""
    return f"name-{time.monotonic_ns()}"


def test_memories_are_added_found_changed_and_forgotten(play, server, name):
    def story(sb):
        session = yield sb.sessions.create("bot", name)
        seat = yield sb.memory.add(
            "Likes window seats", "fact", session.id, ["seat"], {"by": "bot"}, idempotency_key=name
        )
        assert isinstance(seat, statebase.models.MemoryResponse)
        assert (seat.scope, seat.user_id, seat.session_id, seat["tags"]) == (
            "user",
            name,
            session.id,
            ["seat"],
        )
        again = yield sb.memory.add(
            "Likes window seats", "fact", session.id, ["seat"], {"by": "bot"}, idempotency_key=name
        )
        assert again.id == seat.id
        hidden = yield sb.memory.add("Likes window seats most", user_id=name, embed=False)
        assert (hidden.type, hidden.session_id, hidden.vector_available) == ("fact", "", False)
        of_agent = yield sb.memory.add("Window seats are sold out", "note", agent_id=name)
        assert (of_agent.scope, of_agent.agent_id) == ("agent", name)
        assert (yield sb.sessions.get(session.id)).memory_count == 1

        found = yield sb.memory.search("window seats", session.id)
        assert isinstance(found[0], statebase.models.MemorySearchResult)
        assert [each.id for each in found] == [seat.id]
        assert 0.7 <= found[0].score <= 1
        context = yield sb.sessions.get_context(session.id, "window seats")
        assert (context.memories[0].id, context.drift_warning) == (seat.id, False)
        for narrowed, expected in (
            ({"types": ["wish", "fact"]}, [seat.id]),
            ({"types": "wish"}, []),
            ({"tags": ["aisle", "seat"]}, [seat.id]),
            ({"tags": "aisle"}, []),
            ({"threshold": 1.0}, []),
            ({"limit": 1}, [seat.id]),
        ):
            found = yield sb.memory.search("seat", session.id, **narrowed)
            assert [each.id for each in found] == expected, narrowed
        assert [each.id for each in (yield sb.memory.search("window", agent_id=name))] == [of_agent.id]
        assert [each.id for each in (yield sb.memory.search("window", user_id=name))] == [seat.id]
        with pytest.raises(InvalidRequest):
            yield sb.memory.search("")

        page = yield sb.memory.list(user_id=name, limit=1)
        assert [each.id for each in (yield page.iterate())] == [hidden.id, seat.id]
        assert [each.id for each in (yield sb.memory.list(session.id, types="fact"))] == [seat.id]
        assert (yield sb.memory.list(session.id, tags=["aisle", "other"])) == []

        changed = yield sb.memory.update(seat.id, tags=[], metadata={"seen": None})
        assert (changed.tags, changed.metadata, changed.version) == ([], {"by": "bot", "seen": None}, 2)
        changed = yield sb.memory.update(seat.id, content="Likes the aisle", type="wish")
        assert (yield sb.memory.get(seat.id)) == changed
        [found] = yield sb.memory.search("aisle", session.id)
        assert (found.content, found.type) == ("Likes the aisle", "wish")

        yield sb.memory.delete(seat.id)
        with pytest.raises(NotFound) as gone:
            yield sb.memory.get(seat.id)
        assert gone.value.code == "memory_not_found"
        assert (yield sb.sessions.get(session.id)).memory_count == 0
        traces = yield sb.traces.list(resource_id=seat.id, order="asc")
        assert [each.action for each in traces] == [
            "memory.created",
            "memory.updated",
            "memory.updated",
            "memory.deleted",
        ]

    play(story, server.url, server.full_key)


def test_keys_are_made_used_and_ended(play, server, name):
    def story(sb):
        ends = datetime.now(UTC) + timedelta(days=3)
        made = yield sb.keys.create(
            name, scopes=["sessions:read"], rate_limit=500, expires_at=ends, owner_id="ann"
        )
        assert (made.scopes, made.rate_limit, made.owner_id) == (["sessions:read"], 500, "ann")
        assert datetime.fromisoformat(made.expires_at) == ends
        with StateBase(made.full_key, server.url, SECONDS) as reader:
            reader.sessions.list()
            with pytest.raises(PermissionDenied):
                reader.sessions.create("bot")
        other = yield sb.keys.create(name, expires_days=1)
        assert other.scopes == ["*"]
        page = yield sb.keys.list(1)
        assert (page[0].id, page[0].full_key, page[0].key_prefix) == (other.id, None, other.full_key[:8])
        [listed] = yield sb.keys.list(1, page.last_id)
        assert (listed.id, listed.is_active) == (made.id, True)

        yield sb.keys.revoke(other.id)
        with StateBase(other.full_key, server.url, SECONDS) as ended, pytest.raises(AuthenticationFailed):
            ended.sessions.list()
        traces = yield sb.traces.list(resource_id=other.id)
        assert [each.action for each in traces] == ["key.revoked", "key.created"]

    play(story, server.url, server.full_key)


def test_webhooks_are_made_changed_and_ended(play, server, name):
    def story(sb):
        url = f"https://hooks.example.org/{name}"
        made = yield sb.webhooks.create(
            url=url, events=["session.frozen", "trace.rollback"], secret="only for us", idempotency_key=name
        )
        assert (made.url, made.events) == (url, ["session.frozen", "trace.rollback"])
        assert (made.is_active, made.secret) == (True, "only for us")
        other = yield sb.webhooks.create(url, ["trace.error"])
        assert len(other.secret) >= 20
        page = yield sb.webhooks.list(1)
        assert [each.id for each in page] == [other.id]
        [listed] = yield sb.webhooks.list(1, starting_after=page.last_id)
        assert (listed.id, listed.secret) == (made.id, None)
        changed = yield sb.webhooks.update(made.id, events=["session.deleted"], is_active=False)
        assert (changed.url, changed.events, changed.is_active) == (url, ["session.deleted"], False)
        assert (yield sb.webhooks.get(made.id)) == changed
        with pytest.raises(InvalidRequest) as refused:
            yield sb.webhooks.create(url, ["session.flown"])
        assert refused.value.param == "events"
        for each in (made, other):
            yield sb.webhooks.delete(each.id)
            with pytest.raises(NotFound) as gone:
                yield sb.webhooks.get(each.id)
            assert gone.value.code == "webhook_not_found"

    play(story, server.url, server.full_key)


def test_a_user_is_exported_and_erased(play, server, name):
    def story(sb):
        user = f"{name}/b@c.org"  # an id is any text: one that would lead elsewhere is quoted
        session = yield sb.sessions.create("bot", user, initial_state={"secret": "blue"})
        yield sb.sessions.add_turn(session.id, "in", "out")
        memory = yield sb.memory.add("Likes blue", user_id=user)
        told = yield sb.users.export(user)
        assert (told.user_id, told["user_id"]) == (user, user)
        assert "blue" in repr(told.sessions)
        assert memory.id in repr(told)

        yield sb.sessions.freeze(session.id)
        with pytest.raises(SessionFrozen):
            yield sb.users.delete(user)
        yield sb.sessions.resume(session.id)
        yield sb.users.delete(user)
        with pytest.raises(NotFound):
            yield sb.sessions.get(session.id)
        with pytest.raises(NotFound):
            yield sb.memory.get(memory.id)
        assert "blue" not in repr((yield sb.users.export(user)))
        assert (yield sb.sessions.list(user_id=user)) == []

    play(story, server.url, server.full_key)


def test_a_history_is_told_in_the_order_of_time(play, server):
    def story(sb):
        session = yield sb.sessions.create("bot", initial_state={"n": 0})
        turn = yield sb.sessions.ingest(session.id, "Hi", "Hello", {"m": 1})
        assert (turn.input.content, turn.output.content, turn.metadata) == ("Hi", "Hello", {"m": 1})
        yield sb.sessions.update_state(session.id, {"n": 1}, "Because")
        history = yield sb.sessions.get_history(session.id)
        assert [each.type for each in history] == ["state", "trace", "turn", "trace", "state", "trace"]
        assert (history[2].id, history[2].item["id"]) == (turn.id, turn.id)
        assert history[4].item["reasoning"] == "Because"
        assert [each.item["action"] for each in history if each.type == "trace"][-1] == "state.updated"
        without = yield sb.sessions.get_history(session.id, include_state=False, include_traces=False)
        assert [each.id for each in without] == [turn.id]
        page = yield sb.sessions.get_history(session.id, 4)
        assert [each.id for each in (yield page.iterate())] == [each.id for each in history]

    play(story, server.url, server.full_key)


def test_traces_come_a_hundred_at_a_time(sb):
    asked = count_requests(sb)
    sb.traces.list()
    assert asked == [("GET", b"/v1/traces?limit=100")]
