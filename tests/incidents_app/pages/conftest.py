"""Signed-in people for the tests of incident pages."""

import pytest
from django.test import Client

from tests import factories
from tests.sessions_app.pages.conftest import agent, person, project, signed_in

__all__ = ["agent", "person", "project", "signed_in"]


@pytest.fixture(scope="module")
def lead(project):
    """A responder, who commands what is filed by `lead`."""
    return factories.person(project, "responder", "lead")


@pytest.fixture(scope="module")
def maria(project):
    """Another responder; `commander` is her browser."""
    return factories.person(project, "responder", "maria")


@pytest.fixture
def commander(maria, django_user_model):
    """The client of maria, who commands what she files."""
    client = Client()
    client.force_login(django_user_model.objects.get(username="maria"))
    return client
