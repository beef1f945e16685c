"""What every route of the API keeps, those of tomorrow too: the frame that an answer never leaves."""

import re

import pytest

from statebase_site import urls  # noqa: F401 - only then the routers are complete
from statebase_site.api import api as ninja
from statebase_site.views import _schema
from tests.api.conftest import Api
from tests.factories import api_key, project

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


@pytest.fixture
def api(db):
    return Api(api_key(project())[1])


@pytest.mark.parametrize("path", routes())
def test_a_wrong_method_is_told_the_right_ones(api, path):
    for method in (*METHODS, "OPTIONS", "TRACE"):
        if method not in routes()[path]:
            answer = api(method, address(path), status=405)
            assert set(answer["Allow"].split(", ")) == routes()[path]
            error = api.error(method, address(path), status=405)
            assert (error["code"], error["type"]) == ("method_not_allowed", "invalid_request_error")


@pytest.mark.parametrize("path", routes())
def test_without_a_key_nothing_answers(db, path):
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


@pytest.mark.parametrize("path", routes())
def test_a_query_is_never_the_servers_fault(api, path):
    if "GET" not in routes()[path]:
        return
    for value in (
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
    ):
        names = (
            "limit",
            "order",
            "starting_after",
            "version",
            "left",
            "right",
            "session_id",
            "created_after",
        )
        for name in (
            *names,
            "metadata",
            "agent_id",
            "action",
            "frozen",
            "since_version",
            "turn_limit",
            "status",
            "to",
        ):
            assert api("GET", f"{address(path)}?{name}={value}").status_code < 500, (name, value)


def test_the_openapi_document_describes_every_answer():
    document = _schema()
    assert document["openapi"].startswith("3.")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["security"], (method, path)
            assert operation["summary"], (method, path)
            for status, answer in operation["responses"].items():
                assert int(status) < 300
                if int(status) != 204:
                    (content,) = answer["content"].values()
                    assert content["schema"], (method, path)
