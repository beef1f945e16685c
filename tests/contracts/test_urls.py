"""What holds for every address: who may open it, and that the API's answers have one shape."""

import re

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from ninja.operation import PathView

from statebase_site.access.authentication import needs
from statebase_site.access.scopes import EVERY_SCOPE, MEMORY_READ, TRACES_READ
from statebase_site.api import api as ninja
from tests import factories
from tests.api.conftest import Api, error_in

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
    for router in ninja._get_bound_routers():
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


@pytest.fixture(scope="module")
def project(module_db):
    return factories.project()


@pytest.fixture(scope="module")
def weak(project):
    """Two keys by the only scope that each has."""
    return {scope: Api(factories.api_key(project, scope)[1]) for scope in (TRACES_READ, MEMORY_READ)}


@pytest.fixture(scope="module")
def api(project):
    """A key that may do all."""
    return Api(factories.api_key(project)[1])


@pytest.mark.parametrize("found", OPERATIONS, ids=NAMES_OF_OPERATIONS)
def test_a_route_answers_weak_keys_in_the_one_shape(weak, found):
    address, method, operation = found
    needed = operation.auth_callbacks[0].scope
    weak[TRACES_READ if needed != TRACES_READ else MEMORY_READ].error(method, address, status=403)


@pytest.mark.parametrize("found", OPERATIONS, ids=NAMES_OF_OPERATIONS)
def test_what_does_not_exist_or_cannot_be_read_is_answered_in_the_one_shape(api, found):
    address, method, _ = found
    answer = api(method, address, b'{"state": NaN')
    if answer.status_code >= 400:
        assert answer.status_code in {400, 404}
        error_in(answer)
