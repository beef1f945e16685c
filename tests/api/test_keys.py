"""API keys over the API: made, listed, ended (contract 6.8)."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from statebase_site.access import usage
from statebase_site.access.authentication import REMEMBERED_SECONDS
from statebase_site.access.models import ApiKey
from statebase_site.base import clock
from tests.api.conftest import Api

KEYS = ("/v1/keys", "/v1/dashboard/keys")
NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(("path", "status"), [("/v1/keys", 201), ("/v1/dashboard/keys", 200)])
def test_a_key_is_made_and_shown_once(api, path, status):
    with clock.at(NOW):
        made = api.json("POST", path, {"name": "Agent", "scopes": None, "expires_at": None}, status=status)
    assert re.fullmatch(r"sb_[A-Za-z0-9]{24}", made["full_key"])
    assert made == {
        "object": "api_key",
        "id": made["id"],
        "key_prefix": made["full_key"][:8],
        "name": "Agent",
        "is_active": True,
        "rate_limit": 100,
        "scopes": ["*"],
        "owner_id": None,
        "created_at": "2030-01-31T12:00:00.000000Z",
        "last_used_at": None,
        "expires_at": None,
        "total_requests": 0,
        "full_key": made["full_key"],
    }
    Api(made["full_key"])("GET", "/v1/sessions", status=200)
    usage.write()
    (listed,) = [each for each in api.get("/v1/keys")["data"] if each["id"] == made["id"]]
    assert listed["full_key"] is None
    assert (listed["total_requests"], bool(listed["last_used_at"])) == (1, True)
    (trace,) = api.get(f"/v1/traces?resource_id={made['id']}")["data"]
    assert trace["action"] == "key.created"
    assert trace["details"] == {"name": "Agent", "scopes": ["*"]}


def test_all_fields_are_kept(api):
    fields = {"name": "A", "rate_limit": 0, "owner_id": "user-7", "scopes": ["traces:read", "sessions:read"]}
    with clock.at(NOW):
        made = api.json("POST", "/v1/keys", fields | {"expires_days": 30}, status=201)
        later = api.json("POST", "/v1/keys", {"name": "B", "expires_at": "2030-02-01T00:00:00"}, status=201)
    assert made["scopes"] == ["sessions:read", "traces:read"]
    assert (made["rate_limit"], made["owner_id"]) == (0, "user-7")
    assert made["expires_at"] == "2030-03-02T12:00:00.000000Z"
    assert later["expires_at"] == "2030-02-01T00:00:00.000000Z"
    with clock.at(NOW + timedelta(days=30)):
        Api(made["full_key"])("GET", "/v1/sessions", status=401)
        found = {each["name"]: each["is_active"] for each in api.get("/v1/keys")["data"]}
    assert (found["A"], found["B"]) == (False, False)


@pytest.mark.parametrize("path", KEYS)
@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": "n" * 81}, "name"),
        ({"name": 7}, "name"),
        ({"name": "a", "scopes": ["root"]}, "scopes"),
        ({"name": "a", "scopes": []}, "scopes"),
        ({"name": "a", "scopes": "sessions:read"}, "scopes"),
        ({"name": "a", "rate_limit": -1}, "rate_limit"),
        ({"name": "a", "rate_limit": 1_000_001}, "rate_limit"),
        ({"name": "a", "rate_limit": True}, "rate_limit"),
        ({"name": "a", "expires_days": 0}, "expires_days"),
        ({"name": "a", "expires_days": 1, "expires_at": "2050-01-01"}, "expires_days"),
        ({"name": "a", "expires_at": "2001-01-01"}, "expires_at"),
        ({"name": "a", "expires_at": "soon"}, "expires_at"),
        ({"name": "a", "owner_id": ""}, "owner_id"),
    ],
)
def test_a_bad_field_is_named(api, path, body, param):
    assert api.error("POST", path, body, status=400)["param"] == param
    assert ApiKey.objects.count() == 1


def test_a_key_gives_no_scope_that_it_lacks(with_scopes):
    manager = with_scopes("keys:manage", "sessions:read")
    manager.json("POST", "/v1/keys", {"name": "Less", "scopes": ["sessions:read"]}, status=201)
    for body, lacking in (({"scopes": ["sessions:write"]}, "sessions:write"), ({}, "*")):
        error = manager.error("POST", "/v1/keys", {"name": "More", **body}, status=403)
        assert (error["code"], error["required_scope"]) == ("permission_denied", lacking)


def test_the_default_limit_is_a_setting(api, settings):
    settings.DEFAULT_RATE_LIMIT = 0
    assert api.json("POST", "/v1/keys", {"name": "A"}, status=201)["rate_limit"] == 0


@pytest.mark.parametrize("path", KEYS)
@pytest.mark.django_db(transaction=True)
def test_an_ended_key_answers_401(api, stranger, path):
    made = api.json("POST", "/v1/keys", {"name": "A"}, status=201)
    ended = Api(made["full_key"])
    ended("GET", "/v1/sessions", status=200)
    stranger.error("DELETE", f"{path}/{made['id']}", status=404)
    ended("GET", "/v1/sessions", status=200)
    for _ in range(2):
        assert api("DELETE", f"{path}/{made['id']}", status=204).content == b""
    ended("GET", "/v1/sessions", status=401)
    assert [each["is_active"] for each in api.get("/v1/keys")["data"]] == [False, True]
    error = api.error("DELETE", f"{path}/key_unknown%00", status=404)
    assert (error["code"], error["param"]) == ("key_not_found", "key_id")


def test_a_key_can_end_itself(api):
    (own,) = api.get("/v1/dashboard/keys")
    api("DELETE", f"/v1/keys/{own['id']}", status=204)
    assert ApiKey.objects.get().revoked_at


def test_lists_show_the_projects_keys_newest_first(api, stranger):
    names = [f"Key {number}" for number in range(3)]
    for name in names:
        api.json("POST", "/v1/keys", {"name": name}, status=201)
    every = api.get("/v1/dashboard/keys")
    assert [each["name"] for each in every] == [*reversed(names), "A key"]
    assert {each["full_key"] for each in every} == {None}
    first = api.get("/v1/keys?limit=3")
    assert first["data"] == every[:3]
    assert (first["object"], first["has_more"], first["last_id"]) == ("list", True, every[2]["id"])
    second = api.get(f"/v1/keys?limit=3&starting_after={first['last_id']}")
    assert (second["data"], second["has_more"]) == (every[3:], False)
    assert len(stranger.get("/v1/dashboard/keys")) == 1
    error = stranger.error("GET", f"/v1/keys?starting_after={first['last_id']}", status=400)
    assert error["param"] == "starting_after"


def test_a_request_sent_again_makes_one_key_and_does_not_show_it_again(api):
    body = {"name": "Once"}
    made = api.json("POST", "/v1/keys", body, status=201, Idempotency_Key="k")
    again = api("POST", "/v1/keys", body, status=201, Idempotency_Key="k")
    assert again["Idempotency-Replayed"] == "true"
    assert again.json() == made | {"full_key": None}
    assert ApiKey.objects.count() == 2
    assert api.error("POST", "/v1/keys", {"name": "Other"}, status=409, Idempotency_Key="k")["code"] == (
        "idempotency_conflict"
    )


@pytest.mark.slow
def test_every_process_of_a_server_refuses_an_ended_or_expired_key_within_seconds(server, http):
    ends = http.post("/v1/keys", json={"name": "Ends", "rate_limit": 0}).json()
    soon = (datetime.now(UTC) + timedelta(seconds=REMEMBERED_SECONDS)).isoformat()
    expires = http.post("/v1/keys", json={"name": "Expires", "rate_limit": 0, "expires_at": soon}).json()
    with (
        server.http(ends["full_key"]) as ended,
        server.http(expires["full_key"]) as expired,
        ThreadPoolExecutor(8) as pool,
    ):

        def many():
            return [
                {found.status_code for found in pool.map(client.get, ["/v1/sessions?limit=1"] * 24)}
                for client in (ended, expired)
            ]

        assert many()[0] == {200}
        assert http.delete(f"/v1/keys/{ends['id']}").status_code == 204
        until = time.monotonic() + REMEMBERED_SECONDS + 0.2
        while time.monotonic() < until:  # used all the while, so that no process forgets them for want of use
            many()
        assert many() == [{401}, {401}]
