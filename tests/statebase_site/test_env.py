"""Variables and the files that stand in for them."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured

from statebase_site import env

pytestmark = pytest.mark.once


@pytest.fixture
def home(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    monkeypatch.setenv("STATEBASE_HOME", str(tmp_path))
    monkeypatch.delenv("STATEBASE_SECRET_KEY", raising=False)
    return tmp_path


def test_a_private_file_is_its_owners_alone_also_in_an_open_folder(home):
    env.secret_key()
    assert stat.S_IMODE((home / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["secret_key"]


def test_all_that_start_together_agree_on_the_secret_key(home):
    with ThreadPoolExecutor(20) as pool:
        keys = set(pool.map(lambda _: env.secret_key(), range(20)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50


@pytest.mark.parametrize(("value", "least"), [("x", 0), ("-1", 0), ("1.5", 0), ("0", 1)])
def test_a_wrong_number_says_which_variable_and_what_it_should_be(monkeypatch, value, least):
    monkeypatch.setenv("STATEBASE_DB_POOL", value)
    with pytest.raises(
        ImproperlyConfigured, match=f"STATEBASE_DB_POOL must be a whole number of at least {least}"
    ):
        env.number("STATEBASE_DB_POOL", 0, least=least)


def test_a_wrong_flag_says_which_variable_and_what_it_should_be(monkeypatch):
    monkeypatch.setenv("STATEBASE_DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match="STATEBASE_DEBUG must be 1 or 0"):
        env.flag("STATEBASE_DEBUG", False)


def test_a_wrong_log_level_says_which_there_are(monkeypatch):
    monkeypatch.setenv("STATEBASE_LOG_LEVEL", "debug")
    assert env.one_of("STATEBASE_LOG_LEVEL", "WARNING", env.LOG_LEVELS) == "DEBUG"
    monkeypatch.setenv("STATEBASE_LOG_LEVEL", "loud")
    with pytest.raises(ImproperlyConfigured, match="STATEBASE_LOG_LEVEL must be one of DEBUG, INFO"):
        env.one_of("STATEBASE_LOG_LEVEL", "WARNING", env.LOG_LEVELS)
