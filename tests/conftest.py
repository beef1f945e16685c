"""Shared by all tests: the database they run on, settings that make them quick, and Hypothesis profiles."""

import pytest
from django.conf import settings
from django.test import TransactionTestCase
from hypothesis import settings as hypothesis_settings

from tests.databases import fresh_database, let_evidence_go, url_of_database

# The same examples on every run and every machine, and no time limit on a loaded one.
hypothesis_settings.register_profile("statebase", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("statebase")


def pytest_configure():
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.MIDDLEWARE.remove("whitenoise.middleware.WhiteNoiseMiddleware")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    _empty_guarded_tables()


def _empty_guarded_tables():
    """Triggers refuse to delete evidence, so it is marked for removal before a test's database is emptied."""
    empty = TransactionTestCase._fixture_teardown

    def mark_and_empty(case):
        let_evidence_go()
        empty(case)

    TransactionTestCase._fixture_teardown = mark_and_empty


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, tmp_path_factory):
    """SQLite in a file, as in production: in memory it knows neither WAL nor other processes."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture
def database_url(transactional_db):
    """DATABASE_URL of the test's database, for processes that the test starts."""
    return url_of_database()


@pytest.fixture
def fresh_database_url():
    """DATABASE_URL of an empty database of the kind that is tested; empty for the default, SQLite."""
    with fresh_database() as url:
        yield url


@pytest.fixture(autouse=True)
def key_usage_of_this_test(monkeypatch):
    """No test writes what another counted, or counts queries that fall due by the clock."""
    from statebase_site.access import usage

    monkeypatch.setattr(usage, "_waiting", {})
    monkeypatch.setattr(usage, "WRITTEN_EVERY_SECONDS", float("inf"))
