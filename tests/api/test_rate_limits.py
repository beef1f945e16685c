"""What a client sees of its limit: headers, the refusal, and what is never refused (contract 3, 4.1)."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from sessions_app.models import AgentSession, Trace
from statebase_site.access import usage
from statebase_site.access.models import ApiKey
from statebase_site.base import clock
from tests import factories
from tests.api.conftest import Api

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
CREATE = ("POST", "/v1/sessions", {"agent_id": "a"})


@pytest.fixture
def limited(project):
    """A full key with 2 requests a minute, and a fixed clock."""
    with clock.at(START):
        yield Api(factories.api_key(project, rate_limit=2)[1])


@pytest.fixture
def spent(limited, api):
    """The same after its allowance is gone, with a session of its project."""
    path = api.session({"step": 1})
    for _ in range(4):
        limited("GET", "/v1/sessions", status=200)
    return limited, path


def headers(answer):
    return [int(answer[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")]


def test_the_headers_count_down_and_the_refusal_says_when_to_come_back(limited):
    second = int(START.timestamp())
    told = [headers(limited(*CREATE, status=201)) for _ in range(4)]
    assert told == [
        [2, 2, second + 30],
        [2, 2, second + 60],
        [2, 1, second + 90],
        [2, 0, second + 120],
    ]
    before = Trace.objects.count()
    refused = limited(*CREATE, status=429)
    assert headers(refused) == [2, 0, second + 120]
    assert refused["Retry-After"] == "30"
    error = limited.error(*CREATE, status=429)
    assert (error["code"], error["type"]) == ("rate_limit_exceeded", "rate_limit_error")
    assert error["retry_after"] == 30
    assert AgentSession.objects.count() == 4
    assert Trace.objects.count() == before
    usage.write()
    assert ApiKey.objects.get(rate_limit=2).total_requests == 4
    with clock.at(START + timedelta(seconds=30)):
        limited(*CREATE, status=201)
        limited(*CREATE, status=429)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/v1/nowhere", None), ("PUT", "/v1/sessions", None), ("POST", "/v1/sessions", b"{broken")],
)
def test_the_rate_is_checked_after_the_key_and_before_the_route_and_the_body(spent, method, path, body):
    limited, _ = spent
    limited.error(method, path, body, status=429)
    limited.key = "sb_unknown"
    assert "X-RateLimit-Limit" not in limited(method, path, body, status=401)


def test_freezing_is_never_refused(spent):
    limited, path = spent
    for body in ({"state": {"frozen": True, "incident": True}}, {"updates": {"frozen": True, "why": "x"}}):
        limited("PATCH", f"{path}/state", body, status=200 if "state" in body else 423)
    assert limited("POST", f"{path}/freeze", status=200)["X-RateLimit-Remaining"] == "0"
    filed = limited.json(
        "POST", "/v1/incidents", {"title": "It ran away", "sessions": [path[13:]]}, status=201
    )
    limited("POST", f"/v1/incidents/{filed['id']}/freeze/", status=200)
    for method, where, body in (
        ("PATCH", f"{path}/state", {"state": {"frozen": False}}),
        ("PATCH", f"{path}/state", {"state": {"step": 2}}),
        ("PATCH", f"{path}/state", b'{"state": {"frozen": true}'),
        ("POST", f"{path}/resume", {}),
        ("GET", "/v1/incidents", None),
        ("POST", f"{path}/state/rollback", {"version": 0}),
    ):
        limited(method, where, body, status=429)


def test_keys_do_not_share_a_limit_and_without_one_the_headers_are_large(spent, api, project):
    other = Api(factories.api_key(project, rate_limit=1)[1])
    assert other("GET", "/v1/sessions", status=200)["X-RateLimit-Remaining"] == "1"
    limit, remaining, reset = headers(api("GET", "/v1/nowhere", status=404))
    assert limit == remaining >= 1_000_000
    assert reset <= time.time()


@pytest.mark.slow
def test_a_running_server_lets_no_more_through_than_one_bucket_holds(server, http):
    started = time.monotonic()
    made = http.post("/v1/keys", json={"name": "Limited", "rate_limit": 20}).json()
    with server.http(made["full_key"]) as limited, ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: limited.get("/v1/sessions").status_code, range(80)))
    assert set(statuses) == {200, 429}
    assert 20 <= statuses.count(200) <= 40 + (time.monotonic() - started) / 3 + 1
