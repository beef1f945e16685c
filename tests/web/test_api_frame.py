"""What every route of the API shares: reading, lists, errors, headers (contract sections 1 to 3)."""

import json

import pytest

from tests.access.people import a_key, a_project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def frame(settings):
    settings.ROOT_URLCONF = "tests.web.frame_urls"


@pytest.fixture
def key():
    return a_key(a_project())[1]


@pytest.fixture
def post(client, key):
    def send(body=b"", path="/v1/things", content_type="application/json", **headers):
        raw = json.dumps(body) if isinstance(body, dict) else body
        return client.post(path, raw, content_type=content_type, headers={"X-API-Key": key} | headers)

    return send


@pytest.fixture
def get(client, key):
    return lambda path: client.get(path, headers={"X-API-Key": key})


def error_of(answer):
    return answer.json()["error"]


# Bodies


def test_a_body_is_json_whatever_the_content_type_says(post):
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    ):
        assert post({"agent_id": "a"}, content_type=content_type).status_code == 201


@pytest.mark.parametrize("empty", [b"", b"{}", b" \n"])
def test_no_body_is_an_empty_object(post, empty):
    answer = post(empty)
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "agent_id"
    assert error_of(answer)["message"] == "agent_id is required."
    assert answer.json()["detail"] == [
        {"loc": ["body", "agent_id"], "msg": "agent_id is required.", "type": "missing"}
    ]


@pytest.mark.parametrize(
    ("agent_id", "message"),
    [
        (5, "agent_id: must be a text."),
        ("", "agent_id: must have at least 1 character."),
        ("  ", "agent_id: may not be blank."),
        ("a" * 256, "agent_id: must have at most 255 characters."),
    ],
)
def test_a_wrong_field_is_told_in_plain_words(post, agent_id, message):
    answer = post({"agent_id": agent_id})
    assert answer.status_code == 400
    assert error_of(answer)["message"] == message


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"null", b"5", b"true"])
def test_a_body_that_is_no_object_is_refused(post, body):
    answer = post(body)
    assert answer.status_code == 400
    assert "object" in error_of(answer)["message"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b'{"agent_id": "\xff"}', None),
        (b'{"agent_id": "a", "state": {"x": [1, NaN]}}', "/state/x/1"),
        (b'{"agent_id": "a", "state": {"x": 1e400}}', "/state/x"),
        (b'{"agent_id": "a", "state": {"x": 1, "x": 2}}', "/state"),
        (b'{"agent_id": "a", "state": {"x": "\\ud800"}}', "/state/x"),
        (b'{"agent_id": "a", "state": ' + b"[" * 100_000, None),
    ],
)
def test_what_is_no_strict_json_is_refused_with_its_place(post, body, param):
    answer = post(body)
    assert answer.status_code == 400
    assert error_of(answer)["code"] == "invalid_request"
    if param:
        assert error_of(answer)["param"] == param


def test_a_document_comes_back_as_it_went_in(post):
    state = b'{"z": 12345678901234567890123, "a": [1, 1.0, true, -0.0, 1e22], "nul": "\\u0000", "n": null}'
    answer = post(b'{"agent_id": "a", "state": ' + state + b"}")
    assert answer.status_code == 201
    expected = b'"state":{"z":12345678901234567890123,"a":[1,1.0,true,-0.0,1e+22],"nul":"\\u0000","n":null}'
    assert expected in answer.content


def test_a_field_that_is_null_counts_as_absent(post):
    made = post({"agent_id": "a", "state": None, "reasoning": None, "times": None}).json()
    assert made["state"] == {}
    assert made["times"] == 1
    assert error_of(post({"agent_id": None}))["message"] == "agent_id is required."


def test_unknown_fields_are_ignored(post):
    assert post({"agent_id": "a", "unheard_of": 1}).status_code == 201


@pytest.mark.parametrize("name", ["", "  ", "a" * 256, "a\x00b", 5, ["a"]])
def test_a_wrong_field_is_named(post, name):
    answer = post({"agent_id": name})
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "agent_id"
    assert answer.json()["detail"][0]["loc"] == ["body", "agent_id"]


def test_every_fault_is_listed_and_the_first_is_the_param(post):
    answer = post({"agent_id": 1, "reasoning": "a\x00b"})
    assert error_of(answer)["param"] == "agent_id"
    assert [fault["loc"][-1] for fault in answer.json()["detail"]] == ["agent_id", "reasoning"]


def test_a_body_over_the_limit_is_413(post, settings):
    settings.MAX_BODY_BYTES = 1024
    assert post({"agent_id": "a", "state": {"x": "x" * 900}}).status_code == 201
    answer = post({"agent_id": "a", "state": {"x": "x" * 1100}})
    assert answer.status_code == 413
    assert error_of(answer)["code"] == "payload_too_large"


def test_an_unknown_route_is_404_however_large_its_body(post, settings):
    settings.MAX_BODY_BYTES = 1024
    assert post(b"x" * 2000, path="/v1/nothing").status_code == 404


# Facts of the request


def test_an_action_learns_who_asked_and_how(post):
    answer = post({"agent_id": "a"}, **{"Idempotency-Key": "k" * 255})
    made = answer.json()
    assert made["path"] == "/v1/things"
    assert made["ip"] == "127.0.0.1"
    assert made["actor"].startswith("sb_")
    assert made["idempotency"][0] == "k" * 255
    assert made["request_id"] == answer["X-Request-Id"]


@pytest.mark.parametrize("wrong", ["", "k" * 256])
def test_an_idempotency_key_has_1_to_255_characters(post, wrong):
    answer = post({"agent_id": "a"}, **{"Idempotency-Key": wrong})
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "Idempotency-Key"


def test_behind_a_trusted_proxy_the_client_is_who_the_proxy_saw(post, settings):
    forwarded = {"X-Forwarded-For": "6.6.6.6, 203.0.113.9"}
    assert post({"agent_id": "a"}, **forwarded).json()["ip"] == "127.0.0.1"
    settings.TRUSTED_PROXIES = 1
    assert post({"agent_id": "a"}, **forwarded).json()["ip"] == "203.0.113.9"
    settings.TRUSTED_PROXIES = 3
    assert post({"agent_id": "a"}, **forwarded).json()["ip"] == "127.0.0.1"
    settings.TRUSTED_PROXIES = 1
    assert post({"agent_id": "a"}, **{"X-Forwarded-For": "nobody"}).json()["ip"] == "127.0.0.1"


# Lists


def test_a_list_has_its_envelope(get):
    answer = get("/v1/things").json()
    assert answer["object"] == "list"
    assert (answer["first_id"], answer["last_id"], answer["has_more"]) == ("a", "b", True)
    assert (answer["limit"], answer["order"]) == (20, "desc")


@pytest.mark.parametrize(("asked", "got"), [("1", 1), ("100", 100), ("101", 100), ("9" * 30, 100)])
def test_a_limit_over_the_maximum_is_lowered(get, asked, got):
    assert get(f"/v1/things?limit={asked}").json()["limit"] == got


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "1e2", "ten", "", "%2B5", "٣", "1_0"])
def test_a_limit_that_is_no_whole_number_is_refused(get, wrong):
    answer = get(f"/v1/things?limit={wrong}")
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "limit"
    assert answer.json()["detail"][0]["loc"] == ["query", "limit"]


def test_an_unknown_order_is_refused(get):
    assert get("/v1/things?order=asc").json()["order"] == "asc"
    assert error_of(get("/v1/things?order=up"))["param"] == "order"


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31T14:00:00+02:00",
        "2026-01-31T14:00:00%2B02:00",
        "1769860800",
        "1769860800.0",
        "1.7698608e9",
        "2026-01-31t12:00:00z",
    ],
)
def test_a_time_is_iso_with_or_without_zone_or_unix_seconds(get, moment):
    assert get(f"/v1/things?created_after={moment}").json()["after"] == "2026-01-31T12:00:00+00:00"


@pytest.mark.parametrize(
    "wrong", ["yesterday", "", "nan", "inf", "99999999999999", "2026-13-01", "0001-01-01T00:00:00+14:00"]
)
def test_a_time_that_is_none_is_refused(get, wrong):
    answer = get(f"/v1/things?created_after={wrong}")
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "created_after"


# Addresses


@pytest.mark.parametrize("path", ["/v1/things", "/v1/things/"])
def test_both_forms_of_an_address_are_one_resource(get, post, path):
    assert get(path).status_code == 200
    made = post({"agent_id": "a"}, path=path)
    assert made.status_code == 201
    assert made.json()["path"] == "/v1/things"


def test_unknown_routes_and_wrong_methods_say_so_in_json(get, client, key):
    for path in ("/v1", "/v1/", "/v1/nothing", "/v1/things//"):
        answer = get(path)
        assert answer.status_code == 404
        assert error_of(answer)["code"] == "resource_not_found"
    answer = client.delete("/v1/things", headers={"X-API-Key": key})
    assert answer.status_code == 405
    assert set(answer["Allow"].split(", ")) == {"GET", "POST"}
    assert error_of(answer)["code"] == "method_not_allowed"


# Errors


@pytest.mark.parametrize(
    ("name", "status", "code", "kind"),
    [
        ("frozen", 423, "session_frozen", "frozen_error"),
        ("held", 409, "session_held", "conflict_error"),
        ("missing", 404, "resource_not_found", "invalid_request_error"),
        ("large", 413, "payload_too_large", "invalid_request_error"),
        ("crash", 500, "internal_error", "api_error"),
        ("database", 503, "service_unavailable", "api_error"),
    ],
)
def test_each_kind_of_error_has_its_status_in_one_envelope(client, post, name, status, code, kind):
    client.raise_request_exception = False
    answer = post(path=f"/v1/faults/{name}")
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error", "detail"}
    assert {"code", "message", "type", "param", "request_id", "suggestion", "docs"} <= set(body["error"])
    assert (body["error"]["code"], body["error"]["type"]) == (code, kind)
    assert body["error"]["request_id"] == answer["X-Request-Id"]
    assert body["detail"] == body["error"]["message"]
    assert "secret" not in answer.content.decode()
    assert "connection refused" not in answer.content.decode()


def test_an_error_carries_its_extras_and_param(post):
    assert error_of(post(path="/v1/faults/frozen"))["frozen_version"] == 3
    assert error_of(post(path="/v1/faults/held"))["holds"][0]["label"] == "INCIDENT-1"
    assert error_of(post(path="/v1/faults/missing"))["param"] == "session_id"


def test_a_crash_reaches_the_log_with_its_trace(client, post, caplog):
    client.raise_request_exception = False
    answer = post(path="/v1/faults/crash")
    (record,) = [record for record in caplog.records if record.name == "statebase.requests"]
    assert answer["X-Request-Id"] in record.getMessage()
    assert record.exc_info


def test_a_clients_mistake_is_no_line_in_the_log(post, get, caplog):
    post({}), get("/v1/nothing"), post(path="/v1/faults/frozen")
    assert caplog.records == []


def test_a_host_that_is_not_served_is_refused_in_json(client, key):
    answer = client.get("/v1/things", headers={"X-API-Key": key, "Host": "evil.example"})
    assert answer.status_code == 400
    assert error_of(answer)["code"] == "invalid_request"


# Headers


def test_every_answer_has_an_id_and_its_duration(client, get, post):
    client.raise_request_exception = False
    answers = [
        get("/v1/things"),
        get("/v1/nothing"),
        get("/v1/things?limit=0"),
        client.get("/v1/things"),
        client.put("/v1/things"),
        post(path="/v1/faults/crash"),
    ]
    assert len({answer["X-Request-Id"] for answer in answers}) == len(answers)
    for answer in answers:
        assert answer["X-Request-Id"].startswith("req_")
        assert float(answer["X-StateBase-Latency"]) >= 0
        assert answer["Cache-Control"] == "no-store"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert not answer.cookies
