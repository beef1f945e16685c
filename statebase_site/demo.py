"""What `manage.py demo` prepares: the project `demo` with its team, one who may do all, and an API key."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection

from incidents_app.actions.maintenance import remove_project_incidents
from incidents_app.demo import load_incidents
from sessions_app import actions
from sessions_app.actions import maintenance
from sessions_app.demo import go_on, load_demo
from sessions_app.store import write_transaction
from statebase_site.access import actions as access
from statebase_site.access.actor import system_actor
from statebase_site.access.models import ApiKey, Project, Role
from statebase_site.bootstrap import say

NAME = "demo"
_TEAM = {"maria": Role.RESPONDER, "ingrid": Role.RESPONDER, "jon": Role.ENGINEER}


@dataclass(frozen=True)
class Credentials:
    """What opens the demo, in clear: shown once and stored only as hashes."""

    sign_in_token: str
    api_key: str


def refusal() -> str | None:
    """Why the demo must not touch this database, or None where it may: empty, or made by the demo.

    Looks before anything is migrated.
    """
    with connection.cursor() as cursor:
        if Project._meta.db_table not in connection.introspection.table_names(cursor):
            return None
    projects = Project.objects.order_by("slug")
    if projects.filter(slug=NAME, is_demo=True).exists() or not projects.exists():
        return None
    names = ", ".join(projects.values_list("slug", flat=True)[:3])
    return (
        f"This database was not made by the demo and holds other projects ({names}): "
        "start the demo with another STATEBASE_HOME or DATABASE_URL."
    )


def prepare(*, reset: bool) -> Project:
    """The project `demo` with its data: made on the first call, made anew with `reset`.

    In one transaction, so that a start that is interrupted leaves nothing half loaded.
    """
    with write_transaction():
        project = Project.objects.filter(slug=NAME).first()
        if project is None:
            project = access.create_project(name=NAME, is_demo=True)
        elif not reset:
            return project
        remove_project_incidents(project=project)
        maintenance.remove_project_content(project=project)
        say("Loading demo data …")
        load_demo(project)
        for name, role in _TEAM.items():
            access.set_role(project=project, user=_person(name), role=role)
        load_incidents(project, go_on)
    return project


def fresh_sign_in_token() -> str | None:
    """A one-time sign-in token for the demo's person; None while there is nobody yet."""
    user = get_user_model().objects.filter(username=NAME).first()
    return access.create_sign_in_token(user) if user else None


def fresh_credentials(project: Project) -> Credentials:
    """A one-time sign-in token, and a key with full scope and no rate limit; the key before it is revoked."""
    by = system_actor(project)
    for old in ApiKey.objects.filter(project=project, name=NAME, revoked_at=None):
        actions.revoke_key(key=old, by=by)
    _, clear_key = actions.create_key(name=NAME, by=by)
    user = _person(NAME)
    access.set_role(project=project, user=user, role=Role.ADMIN)
    return Credentials(access.create_sign_in_token(user), clear_key)


def _person(name: str) -> User:
    """Somebody of the demo: without a password, so that only a link signs them in."""
    known = get_user_model().objects.filter(username=name).first()
    return known or access.create_user(username=name, password=None)
