"""Whatever a body holds, it comes back the same or is refused with words: never a 5xx (contract 1)."""

import struct

import pytest
from hypothesis import HealthCheck, given, settings

from statebase_site.base import json
from tests.documents import states, typed

WRITES = (
    ("POST", "/v1/sessions", b'{"agent_id": "a", "initial_state": %s}', "initial_state"),
    ("POST", "/v1/sessions", b'{"agent_id": "a", "metadata": %s}', "metadata"),
    ("PATCH", "{path}", b'{"metadata": %s}', "metadata"),
    ("PATCH", "{path}/state", b'{"state": %s}', "state"),
    ("PUT", "{path}/state", b'{"state": %s}', "state"),
    ("POST", "{path}/turns", b'{"input": %s, "output": "b"}', "input"),
    ("POST", "{path}/turns", b'{"input": "a", "output": "b", "state_after": %s}', "state_after"),
    ("POST", "/v1/traces", b'{"action": "note", "details": %s}', "details"),
)
FAULTS = {
    "broken UTF-8": (b'{"k": "\xff\xfe"}', None),
    "NaN": (b'{"k": NaN}', "/k"),
    "Infinity": (b'{"k": -Infinity}', "/k"),
    "too large for a double": (b'{"k": [1, 1e400]}', "/k/1"),
    "lone surrogate": (b'{"k": "\\ud800"}', "/k"),
    "lone surrogate in a key": (b'{"k": {"\\udc00": 1}}', "/k"),
    "a key twice": (b'{"k": {"x": 1, "x": 1}}', "/k"),
    "4,301 digits": (b'{"k": ' + b"9" * 4301 + b"}", "/k"),
    "nested too deep": (b'{"k": ' + b"[" * 101 + b"]" * 101 + b"}", "/k"),
    "nested far too deep": (b'{"k": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "/k"),
    "cut off": (b'{"k": ', None),
    "not JSON": (b"{'k': 1}", None),
}


NO_OBJECTS = (b"[]", b'"x"', b"null", b"5", b"true", b"[{}]", b"\x00", b"\xef\xbb\xbf{}")


@pytest.mark.parametrize(("method", "route", "frame", "field"), WRITES)
def test_a_fault_in_a_document_is_refused_with_its_place(api, method, route, frame, field):
    path = api.session()
    before = api.get(path)
    for fault, (text, place) in FAULTS.items():
        error = api.error(method, route.format(path=path), frame.replace(b"%s", text), status=400)
        assert (error["code"], error["type"]) == ("invalid_request", "invalid_request_error"), fault
        assert place is None or error["param"].startswith(f"/{field}{place}"), fault
    assert api.get(path) == before


@pytest.mark.parametrize(("method", "route"), sorted({write[:2] for write in WRITES}))
def test_a_body_that_is_no_object_is_refused(api, method, route):
    path = api.session()
    for body in NO_OBJECTS:
        assert api.error(method, route.format(path=path), body, status=400)["code"] == "invalid_request"


@given(states())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_comes_in_comes_back_the_same(api, document):
    fields = {"agent_id": "a", "initial_state": document, "metadata": document}
    made = api.json("POST", "/v1/sessions", fields, status=201)
    path = f"/v1/sessions/{made['id']}"
    for session in (made, api.get(path)):
        assert typed(session["state"]) == typed(session["metadata"]) == typed(document)
    assert typed(api.get(f"{path}/state")["data"]) == typed(document)
    assert typed(api.get(f"{path}/versions")["data"][0]["state"]) == typed(document)
    changed = api.json("PUT", f"{path}/state", {"state": {"frozen": 1, **document}})
    turn = {"input": {**document, "type": "json", "content": ""}, "output": "b", "state_before": document}
    made = api.json("POST", f"{path}/turns", turn, status=201)
    read = api.get(f"{path}/turns/{made['id']}")
    assert typed(read["input"]) == typed(turn["input"])
    assert typed(read["state_before"]) == typed(made["state_before"]) == typed(document)
    assert changed["frozen"] is False


def test_numbers_and_texts_that_others_lose(api):
    state = {
        "digits": 10**4299,
        "same?": [1, 1.0, True, 0, 0.0, -0.0, False, "1", None],
        "shortest": [0.1, 1e16, 5e-324, 1.7976931348623157e308],
        "beyond 2^53": 2**53 + 1,
        "nul": "a\x00b",
        "\x00": "as a key",
        "astral": "😀 e\u0301 \u2028",
        "z": 1,
        "a": 2,
    }
    path = api.session(state)
    assert typed(api.get(path)["state"]) == typed(state)
    double = struct.pack("<d", -0.0)
    assert struct.pack("<d", api.get(path)["state"]["same?"][5]) == double


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml; charset=utf-16",
        "application/json; charset=nonsense",
        "a" * 300,
    ],
)
def test_a_body_is_json_whatever_the_content_type_says(api, content_type):
    path = api.session()
    raw = json.dumps({"state": {"ä": 1}}).encode()
    answer = api._client.generic("PATCH", f"{path}/state", raw, content_type, headers={"X-API-Key": api.key})
    assert answer.status_code == 200
    assert answer.json()["state"] == {"ä": 1}


def test_a_body_over_its_limit_is_refused(api, settings):
    settings.MAX_BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000
    path = api.session()
    body = {"state": {"k": "x" * 2_000}}
    error = api.error("PATCH", f"{path}/state", body, status=413)
    assert (error["code"], error["type"]) == ("payload_too_large", "invalid_request_error")


def test_an_address_with_too_many_parameters_is_refused(api):
    assert api.error("GET", "/v1/sessions?" + "a=1&" * 1_001, status=400)["code"] == "invalid_request"


@pytest.mark.parametrize("name", ["sess_%00", "%FF%FE", "sess_" + "x" * 5_000, "..%2F..", "😀", "%2e"])
def test_a_name_that_no_session_has(api, name):
    for route in ("", "/state", "/versions", "/turns", "/traces"):
        assert api("GET", f"/v1/sessions/{name}{route}").status_code == 404
    assert api("PATCH", f"/v1/sessions/{name}/state", {"state": {}}).status_code == 404
    assert api("GET", f"/v1/turns/{name}").status_code == 404
    assert api("GET", f"/v1/traces/{name}").status_code == 404
