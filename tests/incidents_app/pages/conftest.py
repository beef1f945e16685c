"""Signed-in people for the tests of incident pages."""

import pytest
from django.test import Client

from tests import factories


@pytest.fixture(scope="module")
def project(module_db):
    return factories.project("Travel desk")


@pytest.fixture(scope="module")
def agent(project):
    return factories.agent(project)


@pytest.fixture(scope="module")
def lead(project):
    """A responder, who commands what is filed by `lead`."""
    return factories.person(project, "responder", "lead")


@pytest.fixture(scope="module")
def maria(project):
    """Another responder; `commander` is her browser."""
    return factories.person(project, "responder", "maria")


@pytest.fixture
def signed_in(project, db):
    """Make a client of a person with a role in the project: `signed_in("engineer")`."""

    def make(role="responder", name=""):
        client = Client()
        member = factories.membership(project, role, name or role)
        client.force_login(member.user)
        return client

    return make


@pytest.fixture
def person(signed_in):
    """The client of a responder."""
    return signed_in()


@pytest.fixture
def commander(maria, django_user_model):
    """The client of maria, who commands what she files."""
    client = Client()
    client.force_login(django_user_model.objects.get(username="maria"))
    return client
