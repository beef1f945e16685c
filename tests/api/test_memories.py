"""Memories over the API (contract 6.5), and what a context shows of them (6.2)."""

from __future__ import annotations

import pytest

from tests.api.conftest import Api
from tests.factories import api_key, project

PATHS = ("/v1/memories", "/v1/memory")


@pytest.mark.parametrize("path", PATHS)
def test_a_memory_is_added_read_changed_and_deleted(api, path):
    session = api.session(user_id="ann")
    body = {
        "content": "Prefers window seats",
        "session_id": session[13:],
        "tags": ["seat"],
        "metadata": {"n": 1.0},
    }
    made = api.json("POST", path, body, status=201)
    assert made["object"] == "memory"
    assert (made["type"], made["scope"], made["user_id"], made["version"]) == ("general", "user", "ann", 1)
    assert made["session_id"] == session[13:]
    assert made["vector_available"] is True
    assert api.get(session)["memory_count"] == 1
    one = f"{path}/{made['id']}"
    assert api.get(one) == made
    changed = api.json("PATCH", one, {"tags": [], "metadata": {"m": 2}})
    assert (changed["tags"], changed["metadata"], changed["version"]) == ([], {"n": 1.0, "m": 2}, 2)
    assert api.json("PUT", one, {"content": "Prefers aisle seats"})["content"] == "Prefers aisle seats"
    assert api("DELETE", one, status=204).content == b""
    assert api.error("GET", one, status=404)["code"] == "memory_not_found"
    assert api.get(session)["memory_count"] == 0
    assert api.get(session)["version"] == 0


def test_a_memory_of_no_session_has_an_empty_session_id(api):
    made = api.json("POST", "/v1/memories", {"content": "x", "memory_type": "fact"}, status=201)
    assert (made["session_id"], made["scope"], made["type"]) == ("", "global", "fact")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_request"),
        ({"content": ""}, 400, "invalid_request"),
        ({"content": "x" * 10_001}, 413, "content_too_large"),
        ({"content": "x", "session_id": "sess_unknown"}, 404, "session_not_found"),
        ({"content": "x", "tags": "seat"}, 400, "invalid_request"),
        ({"content": "x", "tags": [1]}, 400, "invalid_request"),
        ({"content": "x", "embed": "yes"}, 400, "invalid_request"),
        ({"content": "x", "metadata": []}, 400, "invalid_request"),
        ({"content": "a\x00b"}, 400, "invalid_request"),
    ],
)
def test_what_can_not_be_kept_is_refused(api, body, status, code):
    assert api.error("POST", "/v1/memories", body, status=status)["code"] == code
    assert api.get("/v1/memories")["data"] == []


def test_a_search_finds_the_best_first_over_every_path(api):
    session = api.session(user_id="ann")
    for content in ("Prefers window seats on flights", "Allergic to penicillin", "Likes jazz"):
        api.json("POST", f"{session}/memories", {"content": content}, status=201)
    other = api.session(user_id="bob")
    api.json("POST", f"{other}/memories", {"content": "Prefers window seats, says Bob"}, status=201)
    ident = session[13:]
    answers = [
        api.get(f"/v1/memories?query=window+seats&session_id={ident}&limit=5&threshold=0.7"),
        api.get(f"/v1/memories/search?query=window+seats&session_id={ident}"),
        api.json("POST", "/v1/memory/search", {"query": "window seats", "session_id": ident}),
        api.json("POST", f"{session}/memories/search", {"query": "window seats", "top_k": 3}),
    ]
    for answer in answers:
        assert [each["content"] for each in answer["data"]] == ["Prefers window seats on flights"]
        assert 0.7 <= answer["data"][0]["score"] <= 1
        assert answer["query"] == "window seats"
    everything = api.get("/v1/memories?query=window+seats&threshold=0")["data"]
    assert [each["score"] for each in everything] == sorted(
        [each["score"] for each in everything], reverse=True
    )
    assert len(everything) == 4


def test_filters_by_type_and_tags_take_commas_lists_and_repetitions(api):
    for number, (kind, tags) in enumerate([("fact", ["a"]), ("fact", ["b"]), ("wish", ["a", "c"])]):
        body = {"content": f"Number {number}", "type": kind, "tags": tags}
        api.json("POST", "/v1/memories", body, status=201)

    def contents(query):
        return sorted(each["content"][-1] for each in api.get(f"/v1/memories?{query}")["data"])

    assert contents("type=fact") == ["0", "1"]
    assert contents("types=fact,wish") == ["0", "1", "2"]
    assert contents("tags=b,c") == ["1", "2"]
    assert contents("tags=b&tags=c") == ["1", "2"]
    found = api.json("POST", "/v1/memories/search", {"query": "number", "tags": ["a"], "types": "wish"})
    assert [each["content"] for each in found["data"]] == ["Number 2"]


def test_a_list_is_paged_newest_first(api):
    ids = [api.json("POST", "/v1/memories", {"content": f"n{n}"}, status=201)["id"] for n in range(5)]
    first = api.get("/v1/memories?limit=2")
    assert [each["id"] for each in first["data"]] == ids[:-3:-1]
    rest = api.get(f"/v1/memories?starting_after={first['last_id']}")
    assert [each["id"] for each in rest["data"]] == ids[2::-1]
    assert api.error("GET", "/v1/memories?starting_after=mem_x", status=400)["param"] == "starting_after"


def test_what_is_not_embedded_is_listed_but_not_found(api):
    made = api.json("POST", "/v1/memories", {"content": "window seats", "embed": False}, status=201)
    assert (made["vector_available"], made["embedding_id"]) == (False, None)
    assert api.get("/v1/memories?query=window+seats&threshold=0")["data"] == []
    assert len(api.get("/v1/memories")["data"]) == 1


def test_another_project_sees_nothing(api):
    made = api.json("POST", "/v1/memories", {"content": "window seats"}, status=201)
    stranger = Api(api_key(project("Other"))[1])
    for method in ("GET", "PATCH", "DELETE"):
        assert (
            stranger.error(method, f"/v1/memories/{made['id']}", {}, status=404)["code"] == "memory_not_found"
        )
    assert stranger.get("/v1/memories")["data"] == []
    assert stranger.get("/v1/memories?query=window+seats&threshold=0")["data"] == []


def test_an_idempotency_key_adds_one(api):
    body = {"content": "once"}
    first = api.json("POST", "/v1/memories", body, status=201, Idempotency_Key="k1")
    again = api("POST", "/v1/memories", body, status=201, Idempotency_Key="k1")
    assert again["Idempotency-Replayed"] == "true"
    assert len(api.get("/v1/memories")["data"]) == 1
    assert first["content"] == "once"


def test_a_context_brings_the_memories_that_matter_and_warns_of_a_drift(api):
    session = api.session(user_id="ann")
    api.json("POST", "/v1/memories", {"content": "Prefers window seats", "user_id": "ann"}, status=201)
    api.json("POST", "/v1/memories", {"content": "Hates mornings", "user_id": "bob"}, status=201)
    near = api.json("POST", f"{session}/context", {"query": "window seats"})
    assert [each["content"] for each in near["memories"]] == ["Prefers window seats"]
    assert near["average_relevance"] == near["memories"][0]["score"] >= 0.7
    assert near["drift_warning"] is False
    far = api.json("POST", f"{session}/context", {"query": "quarterly tax report"})
    assert far["drift_warning"] is True
    newest = api.json("POST", f"{session}/context", {})
    assert (newest["memories"][0]["score"], newest["drift_warning"]) == (0.0, False)
    assert api.json("POST", f"{session}/context", {"memory_limit": 0})["memories"] == []
    assert api.get(f"{session}/context?query=window&include_memories=false")["memories"] == []


def test_the_scopes_of_memories_are_their_own(api, with_scopes):
    session = api.session()
    api.json("POST", f"{session}/memories", {"content": "kept"}, status=201)
    reader = with_scopes("sessions:read", "memory:read")
    assert len(reader.json("POST", f"{session}/context", {})["memories"]) == 1
    assert (
        reader.error("POST", "/v1/memories", {"content": "x"}, status=403)["required_scope"] == "memory:write"
    )
    blind = with_scopes("sessions:read")
    assert blind.json("POST", f"{session}/context", {})["memories"] == []
    assert blind.error("GET", "/v1/memories", status=403)["required_scope"] == "memory:read"


def test_a_frozen_session_refuses_and_free_memories_stay_writable(api):
    session = api.session()
    made = api.json("POST", f"{session}/memories", {"content": "kept"}, status=201)
    api.json("POST", f"{session}/freeze", {})
    one = f"/v1/memories/{made['id']}"
    for method, path, body in (
        ("POST", f"{session}/memories", {"content": "no"}),
        ("PATCH", one, {"content": "no"}),
        ("DELETE", one, None),
    ):
        error = api.error(method, path, body, status=423)
        assert error["code"] == "session_frozen"
        assert api.get(f"/v1/traces/{error['trace_id']}")["details"]["operation"].startswith("memory.")
    api.json("POST", "/v1/memories", {"content": "free"}, status=201)
    assert api.get(one)["content"] == "kept"
