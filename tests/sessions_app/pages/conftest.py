"""Signed-in people for the tests of pages."""

import pytest
from django.test import Client

from tests import factories


@pytest.fixture(scope="module")
def project(module_db):
    return factories.project("Travel desk")


@pytest.fixture(scope="module")
def agent(project):
    return factories.agent(project)


@pytest.fixture
def signed_in(project, db):
    """Make a client of a person with a role in the project: `signed_in("engineer")`."""

    def make(role="responder", name="", of=project):
        client = Client()
        member = factories.membership(of, role, name or role)
        client.force_login(member.user)
        return client

    return make


@pytest.fixture
def person(signed_in):
    """The client of a responder."""
    return signed_in()
