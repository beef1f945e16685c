"""`manage.py test`: a PostgreSQL of its own that leaves nothing behind, and every failure in view."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from statebase_site.bootstrap import ROOT
from statebase_site.testing import postgres, runner

pytestmark = pytest.mark.once
needs_postgres = pytest.mark.skipif(not postgres.find_binaries(), reason="this machine has no PostgreSQL")


def folder_of(url: str) -> Path:
    return Path(psycopg.conninfo.conninfo_to_dict(url)["host"])


@needs_postgres
def test_the_server_is_reached_by_its_socket_only_and_leaves_nothing():
    with postgres.temporary_postgres(postgres.find_binaries()) as url:
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
            assert connection.execute("SELECT lower('ÄÖÜ')").fetchone() == ("äöü",)
        folder = folder_of(url)
        assert folder.is_dir()
    assert not folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


@needs_postgres
@pytest.mark.parametrize(("durable", "fsync"), [(True, "on"), (False, "off")])
def test_only_measurements_pay_for_durability(durable, fsync):
    with postgres.temporary_postgres(postgres.find_binaries(), durable=durable) as url:
        assert psycopg.connect(url).execute("SHOW fsync").fetchone() == (fsync,)


@needs_postgres
@pytest.mark.slow
def test_what_a_killed_run_left_is_swept_by_the_next():
    program = (
        "from statebase_site.testing.postgres import *\n"
        "import time\n"
        "with temporary_postgres(find_binaries()) as url: print(url, flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    folder = folder_of(killed.stdout.readline().strip())
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    long_ago = time.time() - 3600
    os.utime(folder, (long_ago, long_ago))
    with postgres.temporary_postgres(postgres.find_binaries()) as url:
        assert not folder.exists()
        assert folder_of(url).exists()


@needs_postgres
def test_a_server_in_use_is_not_swept():
    with postgres.temporary_postgres(postgres.find_binaries()) as first:
        long_ago = time.time() - 3600
        os.utime(folder_of(first), (long_ago, long_ago))
        with postgres.temporary_postgres(postgres.find_binaries()):
            psycopg.connect(first).close()


def test_settings_of_the_caller_do_not_reach_the_tests(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://production/precious")
    monkeypatch.setenv("STATEBASE_HOME", "/precious")
    monkeypatch.setenv("STATEBASE_SAMPLE_RUNS", "/runs")
    environment = runner.test_environment(tmp_path)
    assert "DATABASE_URL" not in environment
    assert environment["STATEBASE_HOME"] == str(tmp_path)
    assert environment["STATEBASE_SAMPLE_RUNS"] == "/runs"


@pytest.fixture
def suite(tmp_path):
    """A test file outside of the project's suite, run by the runner's own steps."""

    def run(source: str) -> tuple[int, str]:
        test_file = tmp_path / "test_sample.py"
        test_file.write_text(source)
        program = (
            "import sys; from statebase_site.testing import runner;"
            "runner.CHECKS = {'good check': [sys.executable, '-c', ''], 'bad check': ['false']};"
            "sys.exit(runner.main(sys.argv[1:]))"
        )
        arguments = ["-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={tmp_path}", str(test_file)]
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    return run


@pytest.mark.slow
def test_a_failing_check_hides_no_suite_and_a_failing_suite_no_other(suite):
    status, output = suite("def test_fails(): assert False")
    runs = ["SQLite", "PostgreSQL"] if postgres.find_binaries() else ["SQLite"]
    assert status == 1
    assert "good check: ok" in output
    assert "bad check: failed" in output
    assert output.count("1 failed in") == len(runs)
    assert output.splitlines()[-1] == f"Failed: bad check, {', '.join(f'suite on {run}' for run in runs)}."


@needs_postgres
@pytest.mark.skipif(not runner.find_chromium(), reason="this machine has no Chromium")
@pytest.mark.slow
def test_browser_tests_run_whole_on_one_database_and_one_journey_on_the_other(suite):
    _, output = suite(
        "import pytest\n"
        "@pytest.mark.browser\n"
        "def test_page(): pass\n"
        "@pytest.mark.browser\n"
        "@pytest.mark.journey\n"
        "def test_journey(): pass\n"
        "def test_domain(): pass\n"
    )
    assert "3 passed" in output
    assert "2 passed, 1 deselected" in output
