"""System checks: unsafe settings and old databases are named before they hurt."""

import pytest

from statebase_site import checks


@pytest.mark.parametrize(("key", "found"), [("", []), ("k" * 32, []), ("secret", ["statebase.E001"])])
def test_a_short_secret_key_is_refused(monkeypatch, key, found):
    monkeypatch.setenv("STATEBASE_SECRET_KEY", key)
    assert [message.id for message in checks.secret_key()] == found


@pytest.mark.parametrize(
    ("debug", "hosts", "found"),
    [
        (False, ["app.example"], []),
        (True, ["localhost"], []),
        (True, ["app.example"], ["statebase.E002"]),
        (False, ["*"], ["statebase.W001"]),
    ],
)
def test_debugging_is_for_this_machine(settings, debug, hosts, found):
    settings.DEBUG, settings.ALLOWED_HOSTS = debug, hosts
    assert [message.id for message in checks.hosts()] == found


@pytest.mark.django_db
def test_an_old_database_is_refused(monkeypatch):
    assert checks.database_version(["default"]) == []
    monkeypatch.setattr(checks, "SQLITE_LEAST", (99, 0, 0))
    monkeypatch.setattr(checks, "POSTGRESQL_LEAST", (99, 0))
    (message,) = checks.database_version(["default"])
    assert "is too old: 99.0" in message.msg
