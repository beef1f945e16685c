"""What holds for every address: who may open it, and that the API's answers have one shape."""

import re

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from ninja.operation import PathView

from statebase_site.access.authentication import needs
from statebase_site.access.scopes import EVERY_SCOPE
from statebase_site.api import api
from tests import factories

OPEN_TO_ALL = {
    "overview",  # JSON for programs; the page behind it asks for a sign-in
    "health",
    "health-live",
    "health-ready",
    "openapi",
    "api-docs",
    "preferences",
    "access:sign-in",
    "access:sign-in-link",
    "access:sign-out",
}
_ARGUMENT = re.compile(r"<(int:)?[^>]+>")


def pages(resolver=None, prefix="", namespace=""):
    """(name, address with x for each argument, view) of everything that is not under /v1."""
    for entry in (resolver or get_resolver()).url_patterns:
        address = prefix + _filled_in(str(entry.pattern))
        if isinstance(entry, URLResolver):
            if entry.namespace != "api":
                inner = f"{entry.namespace}:" if entry.namespace else namespace
                yield from pages(entry, address, inner)
        elif isinstance(entry, URLPattern):
            yield namespace + (entry.name or ""), "/" + address, entry.callback


def _filled_in(route):
    return _ARGUMENT.sub(lambda argument: "1" if argument[1] else "x", route)


def operations():
    """Every (address, method, operation) of the API."""
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            assert isinstance(view, PathView)
            for operation in view.operations:
                address = "/v1" + _filled_in(path.replace("{", "<").replace("}", ">"))
                for method in operation.methods:
                    yield address, method, operation


PAGES = sorted(pages(), key=lambda page: page[1])
OPERATIONS = sorted(operations(), key=lambda found: found[:2])
NAMES_OF_OPERATIONS = [f"{method} {address}" for address, method, _ in OPERATIONS]


def test_each_page_has_a_name():
    assert [address for name, address, _ in PAGES if not name or name.endswith(":")] == []


@pytest.mark.parametrize(("name", "address", "view"), PAGES, ids=[page[0] for page in PAGES])
def test_a_page_is_closed_unless_it_is_listed_as_open(name, address, view):
    assert getattr(view, "login_required", True) == (name not in OPEN_TO_ALL)


@pytest.mark.django_db
@pytest.mark.parametrize("address", [page[1] for page in PAGES if page[0] not in OPEN_TO_ALL])
def test_a_stranger_is_asked_to_sign_in(client, address):
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")


@pytest.mark.parametrize("found", OPERATIONS, ids=NAMES_OF_OPERATIONS)
def test_a_route_names_the_scope_it_needs(found):
    (door,) = found[2].auth_callbacks
    assert isinstance(door, needs)
    assert door.scope in EVERY_SCOPE


@pytest.mark.django_db
@pytest.mark.parametrize("found", OPERATIONS, ids=NAMES_OF_OPERATIONS)
def test_a_route_answers_strangers_and_weak_keys_in_the_one_shape(client, found):
    address, method, operation = found
    needed = operation.auth_callbacks[0].scope
    other = "traces:read" if needed != "traces:read" else "memory:read"
    _, clear_key = factories.api_key(factories.project(), other)
    for headers, status in (({}, 401), ({"X-API-Key": clear_key}, 403)):
        answer = client.generic(method, address, headers=headers)
        assert answer.status_code == status, address
        assert_one_shape(answer)


@pytest.mark.django_db
@pytest.mark.parametrize("address", sorted({found[0] for found in OPERATIONS}))
def test_a_wrong_method_says_which_are_right(client, address):
    _, clear_key = factories.api_key(factories.project())
    known = {method for path, method, _ in OPERATIONS if path == address}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - known:
        answer = client.generic(method, address, headers={"X-API-Key": clear_key})
        assert answer.status_code == 405, (method, address)
        assert set(answer["Allow"].split(", ")) == known
        assert_one_shape(answer)


@pytest.mark.django_db
@pytest.mark.parametrize("found", OPERATIONS, ids=NAMES_OF_OPERATIONS)
def test_what_does_not_exist_or_cannot_be_read_is_answered_in_the_one_shape(client, found):
    address, method, _ = found
    _, clear_key = factories.api_key(factories.project())
    answer = client.generic(method, address, b'{"state": NaN', headers={"X-API-Key": clear_key})
    if answer.status_code >= 400:
        assert answer.status_code in {400, 404}
        assert_one_shape(answer)


def assert_one_shape(answer):
    body = answer.json()
    assert set(body) == {"error", "detail"}
    assert {"code", "message", "type", "param", "request_id", "suggestion", "docs"} <= set(body["error"])
    assert body["error"]["request_id"] == answer["X-Request-Id"]
    assert "X-StateBase-Latency" in answer
