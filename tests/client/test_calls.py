"""The calls that the official SDK lacks, with both clients against a running server."""

import inspect
import time
from datetime import UTC, datetime

import httpx
import pytest
import statebase
import statebase.models

from statebase_client import (
    AsyncStateBase,
    AuthenticationFailed,
    Conflict,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    SessionFrozen,
    SessionHeld,
    StateBase,
    StateBaseError,
    StateNotLoaded,
    TooLarge,
    VersionConflict,
)
from tests.client.conftest import count_requests

GROUPS = ("sessions", "memory", "traces", "keys", "users", "webhooks", "incidents", "scenarios")
STATE = {
    "null": None,
    "big": 10**40,
    "small": 5e-324,
    "one": 1.0,
    "minus": -0.0,
    "text": "a\x00\u20ac",
    "z": [{}],
}


def public_calls(thing):
    return {name for name in dir(thing) if not name.startswith("_") and callable(getattr(thing, name))}


@pytest.mark.once
def test_it_is_the_official_sdk_in_every_place():
    with StateBase("sb_x") as ours, statebase.StateBase("sb_x") as official:
        assert isinstance(ours, statebase.StateBase)
        for name in ("sessions", "memory"):
            group, theirs = getattr(ours, name), getattr(official, name)
            assert isinstance(group, type(theirs))
            for call in public_calls(theirs):
                taken = inspect.signature(getattr(group, call)).parameters
                expected = inspect.signature(getattr(theirs, call)).parameters
                in_places = [n for n, p in taken.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
                assert in_places[: len(expected)] == list(expected), call
                for parameter in expected.values():
                    assert taken[parameter.name].default == parameter.default, (call, parameter)


@pytest.mark.once
def test_both_clients_have_the_same_calls():
    with StateBase("sb_x") as sync:
        asynchronous = AsyncStateBase("sb_x")
        for name in GROUPS:
            one, other = getattr(sync, name), getattr(asynchronous, name)
            assert public_calls(one) == public_calls(other)
            for call in public_calls(one):
                assert inspect.signature(getattr(one, call)) == inspect.signature(getattr(other, call))
                assert inspect.getdoc(getattr(one, call))


def test_versions_states_and_turns(play, server):
    def story(sb):
        session = yield sb.sessions.create("bot", "u", {"team": "a"}, STATE, 600, idempotency_key=None)
        assert isinstance(session, statebase.models.SessionResponse)
        assert repr(session.state) == repr(STATE)  # keys in order, digits and kinds of numbers kept
        assert (session.version, session["version"], session.get("no such"), session.frozen) == (
            0,
            0,
            None,
            False,
        )
        assert {**session}["metadata"] == {"team": "a"}

        turn = yield sb.sessions.add_turn(
            session.id,
            {"type": "note", "content": "in", "more": [1]},
            "out",
            {"m": 1},
            "why",
            state_before=STATE,
            state_after={"a": 1},
            expected_version=0,
        )
        assert isinstance(turn, statebase.models.TurnResponse)
        read = yield sb.sessions.get_turn(turn.id)
        assert read == turn
        assert read == (yield sb.sessions.get_turn(turn.id, session.id))
        assert (read.input["more"], read.state_before, read.state_after) == ([1], STATE, {"a": 1})
        tool = yield sb.sessions.add_tool_call(session.id, "search", {"q": "x"}, {"found": 2})
        assert tool.input.tool_metadata["name"] == "search"
        turns = yield sb.sessions.get_turns(session.id, order="asc")
        assert [each.id for each in turns] == [turn.id, tool.id]

        changed = yield sb.sessions.update_state(session.id, {"b": 2}, "more", expected_version=1)
        assert (changed.version, changed.previous_version, changed.state) == (2, 1, {"a": 1, "b": 2})
        replaced = yield sb.sessions.replace_state(session.id, {"c": 3}, "only this")
        assert replaced.state == {"c": 3}
        earlier = yield sb.sessions.get_state(session.id, version=-1)
        assert (earlier.version, earlier.state) == (2, {"a": 1, "b": 2})
        preview = yield sb.sessions.preview_rollback(session.id, 1)
        assert [row["version"] for row in preview.undone_versions] == [2, 3]
        assert preview.diff.patch
        difference = yield sb.sessions.diff(session.id, 1, 2)
        assert [(each["op"], each["path"]) for each in difference.changes] == [("added", "/b")]
        restored = yield sb.sessions.rollback(session.id, -2, "back", expected_version=3)
        assert (restored.version, restored.restored_from_version, restored.reason) == (4, 1, "back")
        version = yield sb.sessions.get_version(session.id, -1)
        assert (version.version, version.state) == (3, {"c": 3})

        fork = yield sb.sessions.fork(session.id, 0, new_agent_id="other")
        assert (fork.forked_from, fork.forked_version, fork.agent_id) == (session.id, 0, "other")
        context = yield sb.sessions.get_context(session.id, turn_limit=1)
        assert isinstance(context, dict)
        assert context["recent_turns"][0]["id"] == context.recent_turns[0].id == tool.id
        updated = yield sb.sessions.update(session.id, {"more": 1}, 900)
        assert (updated.metadata, updated.ttl_seconds) == ({"team": "a", "more": 1}, 900)
        yield sb.sessions.delete(fork.id)
        with pytest.raises(NotFound):
            yield sb.sessions.get(fork.id)
        health = yield sb.health()
        assert health["status"] == health.status == "healthy"

    play(story, server.url, server.full_key)


def test_a_tool_call_is_logged_as_the_official_sdk_does(play, server):
    def story(sb):
        session = yield sb.sessions.create("bot")
        given = (session.id, "search", {"q": "x"}, {"found": [2]}, "call_1", "why", {"m": 1})
        with server.sdk() as official:
            theirs = yield sb.sessions.get_turn(official.sessions.add_tool_call(*given).id)
        ours = yield sb.sessions.add_tool_call(*given, state_after={"found": 2})
        for field in ("input", "output", "reasoning", "metadata"):
            assert ours[field] == theirs[field]
        assert (yield sb.sessions.get_state(session.id)).state == {"found": 2}

    play(story, server.url, server.full_key)


def test_freeze_and_resume_by_name(play, server, agent):
    def story(sb):
        session = yield sb.sessions.create("bot")
        frozen = yield sb.sessions.freeze(session.id, "Look at it")
        assert (frozen.frozen, frozen.reasoning) == (True, "Look at it")
        with pytest.raises(SessionFrozen) as refused:
            agent.sessions.update_state(session.id, {"a": 1})
        assert (refused.value.frozen_version, refused.value.status) == (1, 423)
        assert refused.value.frozen_at
        found = yield sb.sessions.list(frozen=True, limit=100)
        assert session.id in [each.id for each in found]
        note = yield sb.traces.create("session.escalated", session.id, {"to": "maria"}, {"by": "bot"})
        assert (note.source, note.details, note["metadata"]["by"]) == ("client", {"to": "maria"}, "bot")
        assert (yield sb.traces.get(note.id)) == note
        resumed = yield sb.sessions.resume(session.id)
        assert resumed.frozen is False

    play(story, server.url, server.full_key)


def test_a_repeated_key_of_idempotency_runs_once(play, server):
    def story(sb):
        once = f"once-{time.monotonic_ns()}"
        session = yield sb.sessions.create("bot", idempotency_key=once)
        again = yield sb.sessions.create("bot", idempotency_key=once)
        assert again.id == session.id
        for _ in range(2):
            yield sb.sessions.update_state(session.id, {"a": 1}, idempotency_key=f"{once}-update")
            yield sb.sessions.add_turn(session.id, "in", "out", idempotency_key=f"{once}-turn")
        now = yield sb.sessions.get(session.id)
        assert (now.version, now.turn_count) == (1, 1)

    play(story, server.url, server.full_key)


def test_pages_are_followed(play, server):
    def story(sb):
        agent_id = f"agent-{time.monotonic_ns()}"
        began = datetime.now(UTC)
        made = []
        for number in range(5):
            made.insert(0, (yield sb.sessions.create(agent_id, metadata={"n": number})).id)
        page = yield sb.sessions.list(agent_id, limit=2, created_after=began)
        assert [each["id"] for each in page["data"]] == [each.id for each in page] == made[:2]
        assert (page.has_more, page["has_more"], page.get("first_id"), page.last_id) == (
            True,
            True,
            *made[:2],
        )
        assert page[-1].id == made[1]
        assert [each.id for each in (yield page.iterate())] == made
        following = yield page.next_page()
        assert [each.id for each in following] == made[2:4]
        last = yield following.next_page()
        assert [each.id for each in last] == made[4:]
        assert (yield last.next_page()) is None
        filtered = yield sb.sessions.list(agent_id, metadata={"n": 3})
        assert [each.id for each in filtered] == [made[1]]
        traces = yield sb.traces.list(session_id=made[0], limit=1, order="asc")
        assert [each.action for each in (yield traces.iterate())] == ["session.created"]

    play(story, server.url, server.full_key)


def test_states_are_loaded_when_they_are_looked_at(sb):
    session = sb.sessions.create("bot", initial_state={"n": 0})
    for number in range(1, 121):
        sb.sessions.update_state(session.id, {"n": number})
    asked = count_requests(sb)
    versions = sb.sessions.list_state_versions(session.id)
    assert [each.version for each in versions] == list(range(121))
    assert len(asked) == 2  # two pages, without states
    assert [each.state["n"] for each in versions] == list(range(121))
    assert [each.state["n"] for each in reversed(versions)] == list(range(120, -1, -1))
    assert len(asked) == 2 + 3
    newer = sb.sessions.list_versions(session.id, since_version=118)
    assert [each.version for each in newer] == [119, 120]
    assert "state" not in newer[-1]  # not loaded, so not a field yet
    assert newer[-1].state == newer[-1]["state"] == {"n": 120}


def test_a_state_too_large_for_its_page_is_loaded_alone(sb):
    session = sb.sessions.create("bot")
    for number in range(1, 7):
        sb.sessions.replace_state(session.id, {"text": chr(96 + number) * 1_900_000})
    versions = sb.sessions.list_versions(session.id)
    assert [versions[n].state["text"][0] for n in (6, 5, 1)] == ["f", "e", "a"]


def test_the_asynchronous_client_says_how_to_get_a_state(play, server):
    def story(sb):
        session = yield sb.sessions.create("bot", initial_state={"n": 0})
        yield sb.sessions.update_state(session.id, {"n": 1})
        with_states = yield sb.sessions.list_state_versions(session.id)
        assert [each.state["n"] for each in with_states] == [0, 1]
        listed = yield sb.sessions.list_versions(session.id)
        if isinstance(sb, AsyncStateBase):
            with pytest.raises(StateNotLoaded, match="list_state_versions"):
                listed[1].state  # noqa: B018 - looking is what is tried
        else:
            assert listed[1].state == {"n": 1}

    play(story, server.url, server.full_key)


def test_errors_say_what_happened(play, server, agent):
    def story(sb):
        session = yield sb.sessions.create("bot")
        with pytest.raises(VersionConflict) as conflict:
            yield sb.sessions.update_state(session.id, {}, expected_version=7)
        assert (conflict.value.status, conflict.value.code) == (409, "version_conflict")
        assert conflict.value.current_version == 0
        with pytest.raises(InvalidRequest) as invalid:
            yield sb.sessions.create("", ttl_seconds=5)
        assert (invalid.value.code, invalid.value.param) == ("invalid_request", "agent_id")
        assert invalid.value.message in str(invalid.value)
        assert invalid.value.request_id in str(invalid.value)
        with pytest.raises(NotFound) as missing:
            yield sb.traces.get("trace_nothing")
        assert (missing.value.code, missing.value.type) == ("trace_not_found", "invalid_request_error")
        assert missing.value.request_id.startswith("req_")
        # Code written for the official SDK catches them as before.
        assert isinstance(missing.value, httpx.HTTPStatusError)
        assert missing.value.response.status_code == 404
        with pytest.raises(ValueError, match="id can't be empty"):
            yield sb.sessions.delete("")
        with pytest.raises(ValueError, match="only dots"):
            yield sb.sessions.get("..")
        with pytest.raises(NotFound):
            yield sb.sessions.get("a/../b?c#d")

    play(story, server.url, server.full_key)
    with pytest.raises(PermissionDenied) as denied:
        agent.sessions.delete("sess_any")
    assert denied.value.required_scope == "sessions:delete"


def test_what_may_not_be_done_has_an_error_of_its_own(play, server):
    def story(sb):
        once = f"once-{time.monotonic_ns()}"
        session = yield sb.sessions.create("bot", idempotency_key=once)
        with pytest.raises(Conflict) as conflict:
            yield sb.sessions.create("other-bot", idempotency_key=once)
        assert conflict.value.code == "idempotency_conflict"
        with pytest.raises(TooLarge) as large:
            yield sb.memory.add("x" * 10_001)
        assert (large.value.status, large.value.code) == (413, "content_too_large")
        incident = yield sb.incidents.create(f"Held {once}", "S3", [session.id])
        yield sb.incidents.pin(incident.id, session.id, [0], note="Before")
        with pytest.raises(SessionHeld) as held:
            yield sb.sessions.delete(session.id)
        assert held.value.code == "session_held"
        assert incident.id in held.value.holds[0]["label"]

    play(story, server.url, server.full_key)


def test_a_wrong_key_is_told(play, server):
    def story(sb):
        with pytest.raises(AuthenticationFailed) as refused:
            yield sb.sessions.list()
        assert isinstance(refused.value, StateBaseError)
        assert refused.value.code == "authentication_failed"

    play(story, server.url, "sb_wrong")
