"""Projects, keys and members for the tests of access, made by its own actions."""

from statebase_site.access import actions
from statebase_site.access.actor import system_actor

PASSWORD = "correct horse battery staple"


def a_project(name="Acme"):
    return actions.create_project(name=name)


def a_key(project, *scopes, **fields):
    """An API key and its clear text."""
    return actions.create_key(
        name=fields.pop("name", "A key"), scopes=scopes or ("*",), by=system_actor(project), **fields
    )


def a_member(project, role="admin", name="ada"):
    """A user who can sign in with PASSWORD."""
    return actions.create_member(project=project, username=name, password=PASSWORD, role=role).user
