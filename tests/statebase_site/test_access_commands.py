"""`create_project`, `create_user`, `create_key`: what they print, and one sentence where they can't."""

import io
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from sessions_app.models import Trace
from statebase_site.access.authentication import find_key
from statebase_site.access.models import ApiKey, Membership, Project
from tests import factories
from tests.patience import SECONDS

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def type_password(monkeypatch):
    return lambda password: monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))


def test_a_project_is_made_and_its_slug_told():
    out, _ = run("create_project", "Travel desk")
    assert "--project travel-desk" in out
    with pytest.raises(CommandError, match="already"):
        run("create_project", "Travel desk")
    assert Project.objects.count() == 1


def test_standard_output_is_the_key_and_nothing_else():
    factories.project()
    out, err = run("create_key", "--name", "agent")
    key = find_key(out.removesuffix("\n"))
    assert key.name == "agent"
    assert key.scopes == {"*"}
    assert "shown this once" in err
    assert out.strip() not in err
    assert Trace.objects.get().action == "key.created"


@pytest.mark.parametrize("scopes", [["sessions:read", "memory:read"], ["sessions:read,memory:read"]])
def test_scopes_expiry_and_limit_can_be_given(scopes):
    factories.project()
    run(
        *("create_key", "--name", "agent", "--scopes", *scopes),
        *("--expires-days", "7", "--rate-limit", "60"),
    )
    key = ApiKey.objects.get()
    assert key.rate_limit == 60
    assert key.scopes == {"sessions:read", "memory:read"}
    assert timedelta(days=6) < key.expires_at - datetime.now(UTC) < timedelta(days=8)


@pytest.mark.parametrize(
    ("projects", "arguments", "words"),
    [
        ([], [], "create_project"),
        (["Acme"], ["--project", "nothing"], "there are: acme"),
        (["Acme", "Other"], [], "there are: acme, other"),
        (["Acme"], ["--scopes", "root"], "There is no scope 'root'"),
        (["Acme"], ["--rate-limit", "-1"], r"0 \(none\) to 1,000,000"),
        (["Acme"], ["--expires-days", "0"], "from 1 to 36500"),
        (["Acme"], ["--expires-days", "99999999999"], "from 1 to 36500"),
    ],
)
def test_a_key_that_cannot_be_made_says_why(projects, arguments, words):
    for name in projects:
        factories.project(name)
    with pytest.raises(CommandError, match=words):
        run("create_key", "--name", "agent", *arguments)
    assert not ApiKey.objects.exists()


def test_a_person_is_made_who_can_sign_in(client, type_password):
    factories.project()
    type_password(PASSWORD)
    out, _ = run("create_user", "ada", "--role", "engineer", "--password-stdin")
    assert "ada is engineer of acme" in out
    assert client.post("/sign-in/", {"username": "ada", "password": PASSWORD}).status_code == 302


def test_somebody_known_gets_a_role_in_another_project():
    factories.membership(factories.project())
    factories.project("Other")
    run("create_user", "ada", "--project", "other", "--role", "viewer")
    assert {one.project.slug: one.role for one in Membership.objects.all()} == {
        "acme": "admin",
        "other": "viewer",
    }


def test_a_weak_password_makes_nobody(type_password, django_user_model):
    factories.project()
    type_password("12345")
    with pytest.raises(CommandError, match="too short"):
        run("create_user", "ada", "--password-stdin")
    assert not django_user_model.objects.exists()


def test_without_a_terminal_the_command_says_how_to_send_a_password(type_password):
    factories.project()
    type_password(PASSWORD)
    with pytest.raises(CommandError, match="--password-stdin"):
        run("create_user", "ada")


@pytest.mark.once
@pytest.mark.parametrize(
    ("command", "database", "advice"),
    [
        (("create_project", "x"), "", "run `python3 manage.py migrate` first"),
        (("worker",), "", "run `python3 manage.py migrate` first"),
        (("verify_history",), "postgres://a@127.0.0.1:1/x", "does not answer"),
    ],
)
def test_a_database_that_is_not_ready_is_one_sentence(tmp_path, command, database, advice):
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"STATEBASE_HOME": str(tmp_path), "DATABASE_URL": database},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 1
    assert advice in done.stderr
    assert len(done.stderr.splitlines()) == 1
