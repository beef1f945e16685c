"""The numbers of a project, with the mission's thresholds for rollbacks (contract 6.8)."""

from datetime import UTC, datetime, timedelta

import pytest

from sessions_app.payloads import answers
from statebase_site.base import clock
from tests.api.shapes import assert_shape

STATS = "/v1/dashboard/stats"
NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)


def test_an_empty_project_has_no_rate(api):
    found = api.get(STATS)
    assert_shape(found, answers.Statistics)
    assert set(found["stats"].values()) == {0, "healthy"}
    assert [each["count"] for each in found["recent_activity"]] == [0] * 24


def test_all_that_exists_is_counted_and_nothing_else(api, stranger):
    with clock.at(NOW - timedelta(days=2)):
        api.session({"old": True}, ttl_seconds=60)  # no more: it has expired
        quiet = api.session({"old": True}, ttl_seconds=864_000)
    with clock.at(NOW - timedelta(hours=2)):
        path = api.session_with_versions(3)
        api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
        api.json("POST", "/v1/memories", {"content": "x", "session_id": path[13:]}, status=201)
        api.json("POST", "/v1/memories", {"content": "for all"}, status=201)
        entity = {"session_id": path[13:], "entity_type": "cart", "entity_id": "1", "attributes": {}}
        api.json("POST", "/v1/entities", entity, status=201)
        deleted = api.session({"n": 1})
        api("DELETE", deleted, status=204)
    with clock.at(NOW):
        stranger.session({"theirs": True})
        api.json("POST", f"{path}/state/rollback", {"version": 0})
        api.json("POST", f"{path}/freeze", {})
        found = api.get(STATS)
        assert stranger.get(STATS)["stats"]["total_sessions"] == 1
    stats = found["stats"]
    assert stats.pop("storage_usage_bytes") > 0
    assert stats == {
        "total_sessions": 2,
        "total_turns": 1,
        "total_memories": 2,
        "total_entities": 1,
        "active_sessions_24h": 1,
        "rollbacks_24h": 1,
        "sessions_24h": 1,
        "rollback_rate_24h": 1.0,
        "rollback_health": "critical",
        "frozen_sessions": 1,
    }
    assert quiet not in str(found)
    activity = found["recent_activity"]
    assert activity[-1] == {"timestamp": "2026-01-31T12:00:00.000000Z", "count": 2}
    assert activity[-3] == {"timestamp": "2026-01-31T10:00:00.000000Z", "count": 5}
    assert activity[0]["timestamp"] == "2026-01-30T13:00:00.000000Z"


@pytest.mark.parametrize(
    ("sessions", "health"),
    [(51, "healthy"), (50, "elevated"), (20, "elevated"), (19, "warning"), (10, "warning"), (9, "critical")],
)
def test_one_rollback_in_so_many_sessions(api, sessions, health):
    path = api.session_with_versions(1)
    api.json("POST", f"{path}/state/rollback", {"version": 0})
    for _ in range(sessions - 1):
        api.session()
    stats = api.get(STATS)["stats"]
    assert (stats["rollback_rate_24h"], stats["rollback_health"]) == (1 / sessions, health)
