"""Signed-in people for the tests of incident pages."""

import pytest
from django.test import Client

from tests import factories


@pytest.fixture
def project(db):
    return factories.project("Travel desk")


@pytest.fixture
def agent(project):
    return factories.agent(project)


@pytest.fixture
def signed_in(project):
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
