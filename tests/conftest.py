"""Shared by all tests: the database they run on, settings that make them quick, and Hypothesis profiles."""

import functools
import ssl

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from hypothesis import settings as hypothesis_settings

from statebase_site.access import usage
from tests.databases import let_evidence_go, url_of_database
from tests.running_server import running_server, server

__all__ = ["running_server", "server"]  # fixtures, and here so that all folders share one server

# The same examples on every run and every machine, and no time limit on a loaded one.
hypothesis_settings.register_profile("statebase", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("statebase")

_MADE_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}


def pytest_configure():
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.MIDDLEWARE.remove("whitenoise.middleware.WhiteNoiseMiddleware")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Each client of a running server reads all certificates of the machine anew, in 40 milliseconds.
    ssl.create_default_context = functools.cache(ssl.create_default_context)
    _empty_guarded_tables()


def _empty_guarded_tables():
    """After a test that commits, only tables with rows are emptied, and what migrations made stays.

    Django's own way empties each table and makes all permissions anew, in a third of a second a test; and
    triggers refuse to delete evidence that is not marked for removal.
    """

    def empty(case):
        let_evidence_go()
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        with transaction.atomic(), connection.cursor() as cursor:
            for table in set(tables) - _MADE_BY_MIGRATIONS:
                cursor.execute(f'SELECT EXISTS(SELECT 1 FROM "{table}")')
                if cursor.fetchone()[0]:
                    cursor.execute(f'DELETE FROM "{table}"')

    TransactionTestCase._fixture_teardown = empty


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, so that no process has one left when the others are done."""
    slow = {
        item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("browser")
    }
    items.sort(key=lambda item: item.path not in slow)


def pytest_itemcollected(item):
    """What is shared by a file, or by all, needs the test database, also where no test of it names `db`."""
    if {"module_db", "running_server"} & set(item.fixturenames):
        item.add_marker(pytest.mark.django_db)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, tmp_path_factory):
    """SQLite in a file, as in production: in memory it knows neither WAL nor other processes."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="module")
def module_db(django_db_setup, django_db_blocker):
    """The database for what a whole file shares, which is gone after the last test of the file.

    What a test does to it goes with the test: the next one finds what the fixtures made, untouched. An object
    that was read is another matter, so a fixture that tests change reads it anew for each. Not for files with
    tests that commit.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def database_url(transactional_db):
    """DATABASE_URL of the test's database, for processes that the test starts."""
    return url_of_database()


@pytest.fixture(autouse=True, scope="session")
def key_usage_is_written_when_a_test_says_so():
    """Nobody counts queries that fall due by the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage, "WRITTEN_EVERY_SECONDS", float("inf"))
        yield


@pytest.fixture(autouse=True)
def key_usage_of_this_test(monkeypatch):
    """No test writes what another counted."""
    monkeypatch.setattr(usage, "_waiting", {})
