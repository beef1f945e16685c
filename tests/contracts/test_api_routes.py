"""What every route of the API keeps, those of tomorrow too: the frame that an answer never leaves."""

import re

import pytest

from statebase_site import urls  # noqa: F401 - only then the routers are complete
from statebase_site.access.scopes import EVERY_SCOPE
from statebase_site.api import api as ninja
from statebase_site.views import _schema
from tests.api.conftest import Api, error_in
from tests.factories import api_key, project
from tests.twins import fields_of_address

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NAMES = {
    "session_id": "sess_unknown",
    "turn_id": "turn_x",
    "trace_id": "trace_x",
    "number": "0",
    "incident_id": "INCIDENT-7",
    "scenario_id": "scn_x",
    "n": "1",
    "memory_id": "mem_x",
    "entity_id": "ent_x",
    "key_id": "key_x",
    "user_id": "nobody",
    "webhook_id": "wh_x",
}
STRANGE_VALUES = (
    "",
    "%00",
    "%FF",
    "9" * 400,
    "-1",
    "1e400",
    "null",
    "%F0%9F%98%80",
    "a" * 3_000,
    "[]",
    "{}",
)


def routes() -> dict[str, set[str]]:
    """The methods of every path under /v1."""
    found: dict[str, set[str]] = {}
    for _, router in ninja._routers:
        for path, view in router.path_operations.items():
            methods = {method for operation in view.operations for method in operation.methods}
            found.setdefault(f"/v1{path}", set()).update(methods)
    assert found
    return found


def address(path: str) -> str:
    """The path with names that nothing has."""
    return re.sub(r"\{(?:\w+:)?(\w+)\}", lambda found: NAMES[found[1]], path)


@pytest.fixture(scope="module")
def api(module_db):
    return Api(api_key(project())[1])


@pytest.mark.parametrize("path", routes())
def test_a_wrong_method_is_told_the_right_ones(api, path):
    for method in {*METHODS, "OPTIONS", "TRACE"} - routes()[path]:
        answer = api(method, address(path), status=405)
        assert set(answer["Allow"].split(", ")) == routes()[path]
        error = error_in(answer)
        assert (error["code"], error["type"]) == ("method_not_allowed", "invalid_request_error")


@pytest.mark.parametrize("path", routes())
def test_without_a_key_nothing_answers(module_db, path):
    for method in METHODS:
        error = Api(None).error(method, address(path), status=401)
        assert (error["code"], error["type"]) == ("authentication_failed", "authentication_error")


@pytest.mark.parametrize("path", routes())
def test_both_forms_of_an_address_are_one(api, path):
    for method in routes()[path]:
        forms = [api(method, address(path) + slash, {}) for slash in ("", "/")]
        assert forms[0].status_code == forms[1].status_code != 301


@pytest.mark.parametrize("path", routes())
def test_a_broken_body_is_the_clients_fault(api, path):
    for method in routes()[path] & {"POST", "PUT", "PATCH"}:
        for body in (b"{", b"[]", b"null", b'"x"', b"\xff", b'{"a":NaN}', b'{"a":1,"a":2}', b"[" * 100_000):
            error = api.error(method, address(path), body, status=400)
            assert (error["code"], error["type"]) == ("invalid_request", "invalid_request_error")


@pytest.mark.parametrize("path", [path for path, methods in routes().items() if "GET" in methods])
def test_a_query_is_never_the_servers_fault(api, path):
    for name in (*fields_of_address(path), "unknown"):
        for value in STRANGE_VALUES:
            assert api("GET", f"{address(path)}?{name}={value}").status_code < 500, (name, value)


def test_the_openapi_document_has_every_route_and_every_kind_of_answer():
    document = _schema()
    assert document["openapi"].startswith("3.")
    described = {path: {method.upper() for method in methods} for path, methods in document["paths"].items()}
    served = {re.sub(r"\{\w+:", "{", path): methods for path, methods in routes().items()}
    assert {path: methods for path, methods in described.items() if path.startswith("/v1/")} == served
    names = [
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    ]
    assert len(names) == len(set(names))
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            answers = {int(status): answer for status, answer in operation["responses"].items()}
            assert [status for status in answers if status < 300], (method, path)
            for status, answer in answers.items():
                if status < 300 and status != 204:
                    (content,) = answer["content"].values()
                    assert content["schema"], (method, path)
            if path.startswith("/v1/"):
                (scope,), (bearer,) = (next(iter(way.values())) for way in operation["security"])
                assert scope == bearer in EVERY_SCOPE
                assert {400, 401, 403, 503} <= answers.keys(), (method, path)
                assert (404 in answers) or "{" not in path, (method, path)
            else:
                assert operation["security"] == []


def test_a_key_is_told_of_every_error_in_the_document(api):
    """The shape there is that of the answers, and so are the codes."""
    document = _schema()
    for path in ("/v1/sessions/sess_x", "/v1/nothing"):
        error = api.error("GET", path, status=404)
        schema = document["components"]["responses"]["NotFound"]["content"]["application/json"]["schema"]
        assert error["code"] in schema["properties"]["error"]["properties"]["code"]["enum"]
        required = document["components"]["schemas"]["ErrorFacts"]["required"]
        assert error.keys() >= set(required)
