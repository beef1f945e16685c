"""Calls of routes that answer elsewhere: what goes over the wire, and how the contract's answer is read.

The server here plays one answer as the contract writes it (5.5, 6.2, 6.5, 6.8, 6.9).
"""

from datetime import UTC, datetime

import pytest
import statebase.models

from tests.client.conftest import playing

pytestmark = pytest.mark.once

MEMORY = {
    "object": "memory",
    "id": "mem_1",
    "content": "Likes window seats",
    "type": "fact",
    "session_id": "",
    "user_id": "u",
    "agent_id": None,
    "scope": "user",
    "tags": ["seat"],
    "metadata": {"by": "bot"},
    "embedding_id": None,
    "vector_available": True,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "version": 1,
}
KEY = {
    "object": "api_key",
    "id": "key_1",
    "key_prefix": "sb_abcd",
    "name": "agent",
    "is_active": True,
    "rate_limit": 100,
    "scopes": ["sessions:read"],
    "owner_id": None,
    "created_at": "2026-01-01T00:00:00Z",
    "last_used_at": None,
    "expires_at": None,
    "total_requests": 0,
    "full_key": "sb_abcdefghijklmnopqrstuvwx",
}
TURN_ITEM = {
    "object": "history_item",
    "type": "turn",
    "id": "turn_1",
    "timestamp": "t",
    "item": {"id": "turn_1"},
}


def a_list(*rows, **more):
    last = rows[-1]["id"] if rows else None
    first = rows[0]["id"] if rows else None
    return {
        "object": "list",
        "data": list(rows),
        "has_more": False,
        "first_id": first,
        "last_id": last,
        **more,
    }


# What is called, the answer, the method and path it has to send, the body it has to send.
CALLS = {
    "memory.add": (
        lambda sb: sb.memory.add(
            "Likes window seats", "fact", None, ["seat"], {"by": "bot"}, user_id="u", embed=False
        ),
        (201, MEMORY),
        ("POST", "/v1/memories"),
        {
            "content": "Likes window seats",
            "type": "fact",
            "tags": ["seat"],
            "metadata": {"by": "bot"},
            "user_id": "u",
            "embed": False,
        },
    ),
    "memory.search": (
        lambda sb: sb.memory.search("seats", "sess_1", ["fact", "wish"], "seat", 5),
        (200, a_list(MEMORY | {"score": 0.9}, query="seats")),
        (
            "GET",
            "/v1/memories?query=seats&session_id=sess_1&types=fact%2Cwish&tags=seat&limit=5&threshold=0.7",
        ),
        None,
    ),
    "memory.get": (lambda sb: sb.memory.get("mem_1"), (200, MEMORY), ("GET", "/v1/memories/mem_1"), None),
    "memory.update": (
        lambda sb: sb.memory.update("mem_1", tags=[], metadata={"seen": None}),
        (200, MEMORY),
        ("PATCH", "/v1/memories/mem_1"),
        {"tags": [], "metadata": {"seen": None}},
    ),
    "memory.delete": (
        lambda sb: sb.memory.delete("mem_1"),
        (204, None),
        ("DELETE", "/v1/memories/mem_1"),
        None,
    ),
    "memory.list": (
        lambda sb: sb.memory.list("sess_1", tags=["a", "b"], starting_after="mem_0"),
        (200, a_list(MEMORY)),
        ("GET", "/v1/memories?session_id=sess_1&tags=a%2Cb&limit=20&starting_after=mem_0"),
        None,
    ),
    "keys.create": (
        lambda sb: sb.keys.create(
            "agent", scopes=["sessions:read"], rate_limit=5, expires_at=datetime(2030, 1, 1, tzinfo=UTC)
        ),
        (201, KEY),
        ("POST", "/v1/keys"),
        {
            "name": "agent",
            "scopes": ["sessions:read"],
            "rate_limit": 5,
            "expires_at": "2030-01-01T00:00:00+00:00",
        },
    ),
    "keys.list": (
        lambda sb: sb.keys.list(),
        (200, a_list(KEY | {"full_key": None})),
        ("GET", "/v1/keys?limit=20"),
        None,
    ),
    "keys.revoke": (lambda sb: sb.keys.revoke("key_1"), (204, None), ("DELETE", "/v1/keys/key_1"), None),
    "users.export": (
        lambda sb: sb.users.export("a/b@c.org"),
        (200, {"user_id": "a/b@c.org", "sessions": []}),
        ("GET", "/v1/users/a%2Fb%40c.org/export"),
        None,
    ),
    "users.delete": (lambda sb: sb.users.delete("u"), (204, None), ("DELETE", "/v1/users/u"), None),
    "sessions.get_history": (
        lambda sb: sb.sessions.get_history("sess_1", include_traces=False),
        (200, a_list(TURN_ITEM)),
        ("GET", "/v1/sessions/sess_1/history?limit=50&include_state=true&include_traces=false"),
        None,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_sends_what_the_contract_asks_for(play, name):
    call, (status, answer), (method, path), body = CALLS[name]

    def story(sb):
        result = yield call(sb)
        if answer is None:
            assert result is None
            return
        for row, shown in zip(
            answer.get("data", [answer]), result if "data" in answer else [result], strict=True
        ):
            assert {field: shown[field] for field in row} == row
            assert all(getattr(shown, field) == value for field, value in row.items())
        if name == "memory.search":
            assert isinstance(result[0], statebase.models.MemorySearchResult)
        elif name.startswith("memory."):
            assert isinstance(shown, statebase.models.MemoryResponse)

    with playing((status, answer, {})) as server:
        play(story, server.url, "sb_key")
    [asked] = server.asked
    assert (asked.method, asked.path, asked.body) == (method, path, body)
    assert asked.headers["X-API-Key"] == "sb_key"
