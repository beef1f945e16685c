"""Every row of the tables of objects (contract 5, 6.7, 6.8), in all the answers of a running server."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

NEVER, MAY, BOTH = "never null", "may be null", "null and not null"
"""What the column "null?" says; of BOTH the story holds one of each, of MAY it holds none that is null."""


def text(value: Any) -> bool:
    return type(value) is str


def whole(value: Any) -> bool:
    return type(value) is int


def flag(value: Any) -> bool:
    return type(value) is bool


def document(value: Any) -> bool:
    return type(value) is dict


def moment(value: Any) -> bool:
    return text(value) and bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value))


def texts(value: Any) -> bool:
    return type(value) is list and all(map(text, value))


def called(prefix: str) -> Callable[[Any], bool]:
    return lambda value: text(value) and bool(re.fullmatch(rf"{prefix}_[a-z0-9]{{12,}}", value))


def one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value == each and type(value) is type(each) for each in values)


def side(value: Any) -> bool:
    return document(value) and text(value["type"]) and text(value["content"])


def share(value: Any) -> bool:
    return type(value) in (float, int) and 0 <= value <= 1


class Row(NamedTuple):
    section: str
    kind: str
    field: str
    is_right: Callable[[Any], bool]
    null: str = NEVER


def _rows(section: str, kind: str, *fields: tuple[Any, ...]) -> list[Row]:
    return [Row(section, kind, *field) for field in fields]


_ABOUT = (
    ("agent_id", text),
    ("user_id", text, BOTH),
    ("metadata", document),
    ("memory_count", whole),
    ("turn_count", whole),
)
_STATE = (
    ("object", one_of("state")),
    ("session_id", called("sess")),
    ("version", whole),
    ("state", document),
    ("created_at", moment),
    ("updated_at", moment),
    ("id", called("sess")),
    *_ABOUT,
    ("trace_id", called("trace")),
    ("frozen", flag),
)
_MEMORY = (
    ("object", one_of("memory")),
    ("id", called("mem")),
    ("content", text),
    ("type", text),
    ("created_at", moment),
    ("session_id", text),
    ("user_id", text, BOTH),
    ("agent_id", text, BOTH),
    ("scope", one_of("session", "user", "agent", "global")),
    ("tags", texts),
    ("metadata", document),
    ("vector_available", flag),
    ("updated_at", moment),
    ("version", whole),
)
_WRITTEN = (
    *_STATE,
    ("ttl_expires_at", moment, MAY),
    ("success", one_of(True)),
    ("new_version", whole),
    ("previous_version", whole),
)

ROWS = [
    *_rows(
        "5.1",
        "session",
        ("object", one_of("session")),
        ("id", called("sess")),
        *_ABOUT,
        ("created_at", moment),
        ("updated_at", moment),
        ("state", document),
        ("ttl_expires_at", moment, BOTH),
        ("ttl_seconds", whole, BOTH),
        ("version", whole),
        ("frozen", flag),
        ("frozen_at", moment, BOTH),
        ("forked_from", called("sess"), BOTH),
        ("forked_version", whole, BOTH),
    ),
    *_rows(
        "5.2",
        "read state",
        *_STATE,
        ("data", document),
        ("ttl_expires_at", moment, BOTH),
        ("reasoning", text, MAY),
    ),
    *_rows("5.2", "written state", *_WRITTEN, ("reasoning", text, BOTH)),
    *_rows(
        "5.2",
        "rolled back state",
        *(field for field in _WRITTEN if field[0] != "user_id"),
        ("user_id", text, MAY),
        ("reasoning", text),
        ("restored_from_version", whole),
        ("from_version", whole),
        ("reason", text),
    ),
    *_rows(
        "5.3",
        "state_version",
        ("object", one_of("state_version")),
        ("session_id", called("sess")),
        ("version", whole),
        ("state", document),
        ("created_at", moment),
        ("reasoning", text, BOTH),
        ("trace_id", called("trace")),
        ("updated_by", text, MAY),
        ("source", one_of("create", "update", "replace", "turn", "rollback", "fork")),
        ("frozen", flag),
        ("restored_from_version", whole, BOTH),
        ("turn_id", called("turn"), BOTH),
    ),
    *_rows(
        "5.4",
        "turn",
        ("object", one_of("turn")),
        ("id", called("turn")),
        ("session_id", called("sess")),
        ("turn_number", whole),
        ("input", side),
        ("output", side),
        ("metadata", document),
        ("reasoning", text, BOTH),
        ("state_before", document, BOTH),
        ("state_after", document, BOTH),
        ("created_at", moment),
        ("input_preview", text),
        ("output_preview", text),
        ("state_version", whole),
        ("trace_id", called("trace")),
    ),
    *_rows("5.5", "memory", *_MEMORY, ("embedding_id", text, BOTH)),
    *_rows("5.5", "search result", *_MEMORY, ("embedding_id", text, MAY), ("score", share)),
    *_rows(
        "5.6",
        "trace",
        ("object", one_of("trace")),
        ("id", called("trace")),
        ("session_id", text, BOTH),
        ("user_id", text, BOTH),
        ("action", text),
        ("actor", lambda value: value == "system" or bool(re.fullmatch(r"sb_\w{5}", value))),
        ("actor_id", called("key"), BOTH),
        ("resource_type", text, BOTH),
        ("resource_id", text, BOTH),
        ("timestamp", moment),
        ("created_at", moment),
        ("details", document),
        ("metadata", document),
        ("context", document, MAY),
        ("ip_address", text, BOTH),
        ("source", one_of("system", "client")),
    ),
    *_rows(
        "6.2",
        "history_item",
        ("object", one_of("history_item")),
        ("type", one_of("turn", "state", "trace")),
        ("id", text),
        ("timestamp", moment),
        ("item", document),
    ),
    *_rows(
        "6.7",
        "entity",
        ("object", one_of("entity")),
        ("id", called("ent")),
        ("session_id", called("sess")),
        ("entity_type", text),
        ("entity_id", text),
        ("attributes", document),
        ("version", whole),
        ("created_at", moment),
        ("updated_at", moment),
    ),
    *_rows(
        "6.8",
        "api_key",
        ("object", one_of("api_key")),
        ("id", called("key")),
        ("key_prefix", text),
        ("name", text),
        ("is_active", flag),
        ("rate_limit", whole),
        ("scopes", texts),
        ("owner_id", text, BOTH),
        ("created_at", moment),
        ("last_used_at", moment, BOTH),
        ("expires_at", moment, BOTH),
        ("total_requests", whole),
        ("full_key", text, BOTH),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.section} {row.kind} {row.field}" for row in ROWS])
def test_a_field_of_an_object(told, row):
    assert told.seen[row.kind]
    values = [each[row.field] for each in told.seen[row.kind]]
    wrong = [each for each in values if each is not None and not row.is_right(each)]
    assert not wrong, wrong[:3]
    nulls = values.count(None)
    assert nulls == 0 or row.null != NEVER
    assert row.null != BOTH or 0 < nulls < len(values), "The story shows only one of both."
    assert nulls < len(values)


@pytest.mark.parametrize(
    "kind", ["read state", "written state", "rolled back state", "entity", "api_key", "trace"]
)
def test_an_object_has_the_same_fields_in_every_answer(told, kind):
    assert len({frozenset(each) for each in told.seen[kind]}) == 1


# What the columns say beyond a type


def test_5_2_the_data_of_a_read_is_its_state(told):
    for each in told.seen["read state"]:
        assert each["data"] == each["state"]
        assert each["id"] == each["session_id"]
    assert not any("data" in each for each in told.seen["written state"])


def test_5_2_a_write_names_both_versions(told):
    for each in [*told.seen["written state"], *told.seen["rolled back state"]]:
        assert (each["new_version"], each["previous_version"]) == (each["version"], each["version"] - 1)


def test_5_2_and_5_3_the_trace_of_a_version_resolves_and_tells_its_number(wire, told):
    versions = wire.get(f"{told.path}/versions")["data"]
    for each in versions:
        details = wire.trace(each["trace_id"])["details"]
        assert details.get("new_version", details.get("version")) == each["version"]
    assert [each["version"] for each in versions] == list(range(len(versions)))
    assert [each["source"] for each in versions] == [
        *("create", "update", "replace", "turn", "update", "rollback", "update")
    ]
    assert [each["frozen"] for each in versions] == [False, False, False, False, True, True, False]
    assert versions[0]["reasoning"] == "Initial state"
    assert {each["updated_by"] for each in versions} == {wire.key[:8]}
    fork = wire.get(f"/v1/sessions/{told.answers['fork']['id']}/versions/0")
    assert told.path.endswith(versions[0]["session_id"])
    assert versions[0]["session_id"] in fork["reasoning"]
    assert "version 1" in fork["reasoning"]


def test_5_4_previews_are_the_first_100_characters(told):
    for each in told.seen["turn"]:
        for name in ("input", "output"):
            assert each[f"{name}_preview"] == each[name]["content"][:100]


def test_5_5_a_memory_of_no_session_has_an_empty_session_id(told):
    of_none = [each for each in told.seen["memory"] if each["scope"] in ("agent", "global")]
    assert {each["session_id"] for each in of_none} == {""}
    assert {each["scope"] for each in told.seen["memory"]} == {"session", "user", "agent", "global"}
    for each in told.seen["memory"]:
        assert each["vector_available"] is (each["embedding_id"] is not None)


def test_5_6_the_server_tells_of_the_request_and_never_the_key(wire, told):
    for each in told.seen["trace"]:
        assert each["timestamp"] == each["created_at"]
        assert each["context"]["api_key_id"] == each["actor_id"]
        if each["source"] == "system":
            assert each["metadata"]["request_id"] == each["context"]["request_id"]
            assert each["metadata"]["latency_ms"] >= 0
    assert wire.key not in str(told.seen["trace"])
