"""What is sent again, how often, and after which pause; and answers that are not the server's own."""

import asyncio
import time

import pytest

from statebase_client import RateLimited, ServerError, StateBase, StateBaseError
from tests.client.conftest import playing

pytestmark = pytest.mark.once

BUSY = {"error": {"code": "rate_limit_exceeded", "message": "Too many.", "retry_after": 7}}
DOWN = {"error": {"code": "service_unavailable", "message": "Later.", "type": "api_error"}}
EMPTY = (200, {"object": "list", "data": [], "has_more": False}, {})


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The seconds that a client wants to wait; no test waits them."""
    kept: list[float] = []
    waited = asyncio.sleep

    async def keep(seconds):
        kept.append(seconds)
        await waited(0)

    monkeypatch.setattr(time, "sleep", kept.append)
    monkeypatch.setattr(asyncio, "sleep", keep)
    return kept


def test_a_read_is_sent_again_after_the_pause_that_was_asked_for(play, pauses):
    def story(sb):
        yield sb.traces.list()

    answers = [(429, BUSY, {"Retry-After": "7"}), (503, DOWN, {"Retry-After": "0.25"}), EMPTY]
    with playing(*answers) as server:
        play(story, server.url)
    assert pauses == [7, 0.25]
    assert [each.method for each in server.asked] == ["GET"] * 3


def test_without_a_wish_the_pauses_grow(play, pauses):
    def story(sb):
        yield sb.traces.list()

    answers = [
        (503, DOWN, {}),
        (503, DOWN, {"Retry-After": "tomorrow"}),
        (503, DOWN, {"Retry-After": "-1"}),
        EMPTY,
    ]
    with playing(*answers) as server:
        play(story, server.url)
    for pause, longest in zip(pauses, (0.5, 1, 2), strict=True):
        assert longest / 2 <= pause <= longest


def test_it_gives_up(play, pauses):
    def story(sb):
        with pytest.raises(RateLimited) as refused:
            yield sb.traces.list()
        assert (refused.value.retry_after, refused.value.status) == (7, 429)

    with playing(*[(429, BUSY, {"Retry-After": "1"})] * 5) as server:
        play(story, server.url)
    assert len(server.asked) == 4
    assert pauses == [1, 1, 1]


def test_how_often_can_be_chosen(pauses):
    with playing((503, DOWN, {})) as server, StateBase("sb_x", server.url, max_retries=0) as sb:
        with pytest.raises(ServerError):
            sb.traces.list()
        assert (len(server.asked), pauses) == (1, [])


def test_it_does_not_wait_for_longer_than_a_minute(play, pauses):
    def story(sb):
        with pytest.raises(RateLimited):
            yield sb.traces.list()

    with playing((429, BUSY, {"Retry-After": "61"})) as server:
        play(story, server.url)
    assert pauses == []


@pytest.mark.parametrize("status", [429, 503])
def test_a_write_is_sent_again_only_where_it_runs_once(play, pauses, status):
    made = {
        "object": "trace",
        "id": "trace_1",
        "action": "a",
        "actor": "k",
        "timestamp": "t",
        "created_at": "t",
    }
    done = (201, {**made, "details": {}, "metadata": {}, "source": "client"}, {})

    def story(sb):
        with pytest.raises(StateBaseError):
            yield sb.traces.create("note")
        with pytest.raises(StateBaseError):
            yield sb.sessions.replace_state("sess_1", {})
        with pytest.raises(StateBaseError):
            yield sb.sessions.update_state("sess_1", {})
        trace = yield sb.traces.create("note", idempotency_key="once")
        assert trace.id == "trace_1"
        yield sb.sessions.delete("sess_1")

    refused = (status, DOWN, {})
    with playing(refused, refused, refused, refused, done, refused, (204, None, {})) as server:
        play(story, server.url)
    assert [each.method for each in server.asked] == [
        "POST",
        "PUT",
        "PATCH",
        "POST",
        "POST",
        "DELETE",
        "DELETE",
    ]
    assert [each.headers["Idempotency-Key"] for each in server.asked[3:5]] == ["once", "once"]
    assert server.asked[3].body == server.asked[4].body == {"action": "note"}
    assert len(pauses) == 2


@pytest.mark.parametrize("status", [301, 400, 404, 409, 423, 500, 502, 504])
def test_nothing_else_is_sent_again(play, pauses, status):
    def story(sb):
        with pytest.raises(StateBaseError) as refused:
            yield sb.traces.list()
        assert refused.value.status == status

    with playing((status, DOWN, {"Location": "/elsewhere"})) as server:
        play(story, server.url)
    assert (len(server.asked), pauses) == (1, [])


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", ["a"], {"error": "text"}, {"detail": []}, None])
def test_an_answer_of_something_in_between_is_an_error_too(play, body):
    def story(sb):
        with pytest.raises(ServerError) as refused:
            yield sb.traces.list()
        assert (refused.value.status, refused.value.code) == (502, "http_502")
        assert refused.value.request_id == "req_by_header"

    with playing((502, body, {"X-Request-Id": "req_by_header"})) as server:
        play(story, server.url)
