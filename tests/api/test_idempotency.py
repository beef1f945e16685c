"""A request sent twice under one Idempotency-Key runs once (contract 4.2)."""

from datetime import timedelta

import pytest

from sessions_app.actions import maintenance
from statebase_site.access.models import IdempotentAnswer
from statebase_site.base import clock, json

WRITES = (
    ("POST", "/v1/sessions", {"agent_id": "bot", "initial_state": {"a": 1}}),
    ("PATCH", "{path}", {"metadata": {"a": 1}}),
    ("POST", "{path}/fork", {"version": 0}),
    ("PATCH", "{path}/state", {"state": {"b": 1}}),
    ("PUT", "{path}/state", {"state": {"b": 1}}),
    ("POST", "{path}/state", {"state": {"b": 1}}),
    ("POST", "{path}/rollback", {"version": -1}),
    ("POST", "{path}/freeze", {}),
    ("POST", "{path}/turns", {"input": "a", "output": "b", "state_before": {}, "state_after": {"a": 9}}),
    ("POST", "/v1/traces", {"action": "note", "details": {"a": 1}}),
)


@pytest.mark.parametrize(("method", "route", "body"), WRITES)
def test_the_same_request_gets_the_same_answer(api, method, route, body):
    path = api.session_with_versions(2)
    address = route.format(path=path)
    first = api(method, address, body, Idempotency_Key="k")
    assert first.status_code in (200, 201)
    assert "Idempotency-Replayed" not in first
    counted = [len(api.get(f"/v1/{name}?limit=100")["data"]) for name in ("sessions", "traces")]
    again = api(method, address, body, Idempotency_Key="k")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again["Idempotency-Replayed"] == "true"
    # Whatever happens to the session meanwhile.
    if not api.get(path)["frozen"]:
        api.json("POST", f"{path}/turns", {"input": "a", "output": "b"}, status=201)
        api.json("PATCH", f"{path}/state", {"state": {"later": 1}})
        api.json("POST", f"{path}/freeze")
        counted[1] += 4
    again = api(method, address, body, Idempotency_Key="k")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert counted == [len(api.get(f"/v1/{name}?limit=100")["data"]) for name in ("sessions", "traces")]


def test_a_key_stands_for_one_request(api):
    path = api.session()
    api.json("PATCH", f"{path}/state", {"state": {"a": 1}}, Idempotency_Key="k")
    for method, route, body in (
        ("PATCH", "/state", {"state": {"a": 2}}),
        ("PUT", "/state", {"state": {"a": 1}}),
        ("PATCH", "", {"state": {"a": 1}}),
    ):
        error = api.error(method, path + route, body, status=409, Idempotency_Key="k")
        assert (error["code"], error["type"]) == ("idempotency_conflict", "conflict_error")
    assert api.get(path)["version"] == 1


def test_both_forms_of_a_path_are_one(api):
    path = api.session()
    first = api("PATCH", f"{path}/state", {"state": {}}, Idempotency_Key="k")
    assert api("PATCH", f"{path}/state/", {"state": {}}, Idempotency_Key="k").content == first.content


def test_a_refused_request_may_be_tried_again(api):
    path = api.session()
    api.error("POST", f"{path}/rollback", {"version": 1}, status=404, Idempotency_Key="k")
    api.json("PATCH", f"{path}/state", {"state": {"a": 1}})
    api.json("POST", f"{path}/rollback", {"version": 1}, Idempotency_Key="k")
    assert IdempotentAnswer.objects.count() == 1


def test_keys_of_two_api_keys_do_not_meet(api, agent):
    path = api.session()
    api.json("PATCH", f"{path}/state", {"state": {"a": 1}}, Idempotency_Key="k")
    assert agent.json("PATCH", f"{path}/state", {"state": {"a": 2}}, Idempotency_Key="k")["version"] == 2


@pytest.mark.parametrize("key", ["", "a" * 256])
def test_a_key_has_1_to_255_characters(api, key):
    path = api.session()
    error = api.error("PATCH", f"{path}/state", {"state": {}}, status=400, Idempotency_Key=key)
    assert error["param"] == "Idempotency-Key"


def test_what_was_purged_since_is_not_found(api, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    body = {"agent_id": "bot"}
    made = api.json("POST", "/v1/sessions", body, status=201, Idempotency_Key="k")
    api("DELETE", f"/v1/sessions/{made['id']}", status=204)
    assert maintenance.purge_due() == 1
    error = api.error("POST", "/v1/sessions", body, status=404, Idempotency_Key="k")
    assert error["code"] == "session_not_found"


def test_a_key_is_kept_for_24_hours(api):
    body, started = {"agent_id": "bot"}, clock.now()
    first = api("POST", "/v1/sessions", body, status=201, Idempotency_Key="k")
    with clock.at(started + timedelta(hours=23, minutes=59)):
        assert api("POST", "/v1/sessions", body, status=201, Idempotency_Key="k").content == first.content
    with clock.at(started + timedelta(hours=24, minutes=1)):
        again = api("POST", "/v1/sessions", body, status=201, Idempotency_Key="k")
    assert "Idempotency-Replayed" not in again
    assert json.parse(again.content)["id"] != json.parse(first.content)["id"]
