"""What every page shares: its headers, and errors in words with the API's status."""

import pytest
from django.test import Client

from statebase_site.base.errors import (
    Conflict,
    DomainError,
    Frozen,
    InvalidInput,
    NotFound,
    PermissionRefused,
    TooLarge,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client):
    client.force_login(factories.membership(factories.project()).user)
    return client


@pytest.fixture
def failing(ada, monkeypatch):
    """A page whose view raises an error."""

    def ask(error, **headers):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr("statebase_site.access.queries.keys_in_force", fail)
        return ada.get("/settings/keys/", headers=headers)

    return ask


@pytest.mark.parametrize("path", ["/sign-in/", "/nothing-here/"])
def test_pages_are_closed_against_what_others_put_into_them(client, path):
    answer = client.get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Permissions-Policy"]
    assert answer["Cache-Control"] == "no-store"
    assert "HX-Request" in answer["Vary"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput, 400),
        (PermissionRefused, 403),
        (NotFound, 404),
        (Conflict, 409),
        (TooLarge, 413),
        (Frozen, 423),
        (DomainError, 500),
    ],
)
def test_a_domain_error_is_a_page_with_the_status_of_the_api(failing, error, status):
    answer = failing(error("The <b>reason</b> in words.", suggestion="Do this next."))
    assert answer.status_code == status
    assert "<h1>" in answer.content.decode()
    if status != 500:
        assert "The &lt;b&gt;reason&lt;/b&gt; in words." in answer.content.decode()


def test_a_conflict_leads_back_to_the_page_it_came_from(failing):
    page = failing(Conflict("Moved on."), Referer="http://testserver/sessions/?q=a").content.decode()
    assert 'href="http://testserver/sessions/?q=a"' in page
    page = failing(Conflict("Moved on."), Referer="https://evil.example/").content.decode()
    assert "evil.example" not in page


def test_htmx_keeps_its_page_and_gets_the_words(failing):
    answer = failing(Conflict("Moved on.", suggestion="Look again."), **{"HX-Request": "true"})
    assert answer.status_code == 409
    assert answer["HX-Reswap"] == "none"
    assert "Moved on. Look again." in answer.content.decode()
    assert 'hx-swap-oob="true"' in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_a_form_over_the_limit_is_413_in_words(ada, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
    answer = ada.post("/use-project/", "slug=" + "x" * 2000, "application/x-www-form-urlencoded")
    assert answer.status_code == 413
    assert "what you typed is still there" in answer.content.decode()


def test_a_crash_is_a_page_without_its_cause(failing, ada):
    ada.raise_request_exception = False
    answer = failing(RuntimeError("secret detail"))
    assert answer.status_code == 500
    assert "The server failed" in answer.content.decode()
    assert "secret" not in answer.content.decode()


def test_a_crash_is_said_even_where_no_page_can_be_drawn(failing, ada, monkeypatch):
    ada.raise_request_exception = False

    def broken(*_, **__):
        raise RuntimeError("templates are gone")

    monkeypatch.setattr("statebase_site.views.render", broken)
    answer = failing(RuntimeError("first"))
    assert answer.status_code == 500
    assert answer.content.decode().startswith("The server failed.")


def test_the_door_speaks_json_to_programs_and_html_to_people(client, ada):
    for accept in ("*/*", "application/json", ""):
        assert client.get("/", headers={"Accept": accept}).json()["name"] == "StateBase"
    page = ada.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/health", "/health/", "/health/live", "/health/ready", "/openapi.json"])
def test_health_and_openapi_need_no_key(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/json")
    assert not answer.cookies


def test_health_tells_the_version_and_how_the_database_fares(client, monkeypatch):
    health = client.get("/health").json()
    assert health["status"] == "healthy"
    assert health["timestamp"].endswith("Z")
    assert health["services"]["database"]["status"] == "healthy"
    assert health["uptime_seconds"] >= 0

    from django.db import OperationalError, connection

    def gone(*_, **__):
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "cursor", gone)
    assert client.get("/health").json()["status"] == "unhealthy"
    assert client.get("/health/live").status_code == 200
    assert client.get("/health/ready").status_code == 503


@pytest.mark.parametrize("path", ["/", "/health", "/health/live", "/health/ready", "/openapi.json"])
def test_programs_are_told_the_right_methods_beside_the_api_without_a_token_of_forms(path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE"):
        wrong = Client(enforce_csrf_checks=True).generic(method, path)
        assert wrong.status_code == 405, method
        assert wrong["Allow"] == "GET, HEAD"
        if path != "/":
            assert wrong.json()["error"]["code"] == "method_not_allowed"


def test_addresses_beside_the_api_that_are_none_say_so_in_json(client):
    assert client.get("/health/unheard-of").json()["error"]["code"] == "resource_not_found"


def test_an_address_with_too_many_parameters_is_a_page_with_400(ada):
    answer = ada.get("/sessions/?" + "x=1&" * 1200, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "<h1" in answer.text
