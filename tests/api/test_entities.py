"""Entities over the API (contract 6.7)."""

from __future__ import annotations

import pytest

from tests.api.conftest import Api
from tests.factories import api_key, project


def order(session, **fields):
    return {"session_id": session[13:], "entity_type": "order", "entity_id": "4410", **fields}


def test_an_entity_is_added_merged_listed_and_deleted(api):
    session = api.session()
    made = api.json("POST", "/v1/entities", order(session, attributes={"a": 1, "b": {"c": 1.0}}), status=201)
    assert (made["object"], made["version"]) == ("entity", 1)
    one = f"/v1/entities/{made['id']}"
    changed = api.json("PUT", one, {"attributes": {"b": None, "d": []}})
    assert (changed["attributes"], changed["version"]) == ({"a": 1, "b": None, "d": []}, 2)
    assert api.get(one) == changed
    listed = api.get(f"/v1/entities?session_id={session[13:]}&entity_type=order")
    assert [each["id"] for each in listed["data"]] == [made["id"]]
    assert api.get("/v1/entities?entity_type=person")["data"] == []
    assert api("DELETE", one, status=204).content == b""
    assert api.error("GET", one, status=404)["code"] == "entity_not_found"
    actions = [each["action"] for each in api.get(f"{session}/traces?resource_type=entity")["data"]]
    assert actions == ["entity.deleted", "entity.updated", "entity.created"]
    assert api.get(session)["version"] == 0


def test_the_same_thing_twice_is_a_conflict_that_names_it(api):
    session = api.session()
    made = api.json("POST", "/v1/entities", order(session), status=201)
    error = api.error("POST", "/v1/entities", order(session), status=409)
    assert error["code"] == "already_exists"
    assert made["id"] in error["suggestion"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"session_id": "s", "entity_type": "order"},
        {"session_id": "s", "entity_type": "", "entity_id": "x"},
    ],
)
def test_what_is_no_entity_is_refused(api, body):
    assert api.error("POST", "/v1/entities", body, status=400)["code"] == "invalid_request"


def test_a_frozen_session_refuses_and_a_deleted_one_takes_its_entities_along(api):
    session = api.session()
    made = api.json("POST", "/v1/entities", order(session), status=201)
    one = f"/v1/entities/{made['id']}"
    api.json("POST", f"{session}/freeze", {})
    refused = [
        api.error("POST", "/v1/entities", order(session, entity_id="2"), status=423),
        api.error("PUT", one, {"attributes": {}}, status=423),
        api.error("DELETE", one, status=423),
    ]
    for error in refused:
        assert api.get(f"/v1/traces/{error['trace_id']}")["details"]["operation"] == "entity.write"
    api.json("POST", f"{session}/resume", {})
    api("DELETE", session, status=204)
    assert api.error("GET", one, status=404)["code"] == "entity_not_found"
    assert api.get("/v1/entities")["data"] == []


def test_another_project_sees_nothing(api):
    session = api.session()
    made = api.json("POST", "/v1/entities", order(session), status=201)
    stranger = Api(api_key(project("Other"))[1])
    assert stranger.error("GET", f"/v1/entities/{made['id']}", status=404)["code"] == "entity_not_found"
    assert stranger.error("POST", "/v1/entities", order(session), status=404)["code"] == "session_not_found"
    assert stranger.get(f"/v1/entities?session_id={session[13:]}")["data"] == []
