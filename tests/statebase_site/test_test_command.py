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
            assert connection.execute("SHOW fsync").fetchone() == ("off",)
        folder = folder_of(url)
        assert folder.is_dir()
    assert not folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


@needs_postgres
@pytest.mark.slow
def test_what_a_killed_run_left_is_swept_by_the_next_and_a_server_in_use_is_not():
    program = (
        "from statebase_site.testing.postgres import *\n"
        "import time\n"
        "with temporary_postgres(find_binaries()) as url: print(url, flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    left = folder_of(killed.stdout.readline().strip())
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    # Only measurements pay for writes that are safe.
    with postgres.temporary_postgres(postgres.find_binaries(), durable=True) as in_use:
        long_ago = time.time() - 3600
        for folder in (left, folder_of(in_use)):
            os.utime(folder, (long_ago, long_ago))
        with postgres.temporary_postgres(postgres.find_binaries()):
            assert not left.exists()
            with psycopg.connect(in_use) as connection:
                assert connection.execute("SHOW fsync").fetchone() == ("on",)


def test_settings_of_the_caller_do_not_reach_the_tests(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://production/precious")
    monkeypatch.setenv("STATEBASE_HOME", "/precious")
    monkeypatch.setenv("STATEBASE_SAMPLE_RUNS", "/runs")
    environment = runner.test_environment(tmp_path)
    assert "DATABASE_URL" not in environment
    assert environment["STATEBASE_HOME"] == str(tmp_path)
    assert environment["STATEBASE_SAMPLE_RUNS"] == "/runs"


@pytest.fixture
def run(tmp_path):
    """Run a test file outside of the project's suite by the runner's own steps: status, what was printed."""

    def run(source: str) -> tuple[int, str]:
        test_file = tmp_path / "test_sample.py"
        test_file.write_text(source)
        program = (
            "import sys; from statebase_site.testing import runner;"
            "runner.CHECKS = {'good check': [sys.executable, '-c', ''], 'bad check': ['false']};"
            "sys.exit(runner.main(sys.argv[1:]))"
        )
        without = [
            word for name in ("cacheprovider", "xdist", "schemathesis") for word in ("-p", f"no:{name}")
        ]
        arguments = [*without, f"--rootdir={tmp_path}", str(test_file)]
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    return run


@needs_postgres
@pytest.mark.skipif(not runner.find_chromium(), reason="this machine has no Chromium")
@pytest.mark.slow
def test_no_failure_hides_another_and_browser_tests_run_whole_on_one_database(run):
    status, output = run(
        "import pytest\n"
        "@pytest.mark.browser\n"
        "def test_page(): pass\n"
        "@pytest.mark.browser\n"
        "@pytest.mark.journey\n"
        "def test_journey(): pass\n"
        "def test_domain(): assert False\n"
    )
    assert status == 1
    assert "good check: ok" in output
    assert "bad check: failed" in output
    assert "1 failed, 2 passed, " in output
    assert "1 failed, 1 passed, 1 deselected, " in output
    assert output.splitlines()[-1] == "Failed: bad check, suite on SQLite, suite on PostgreSQL."
