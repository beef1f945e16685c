"""Who acts in the tests of incidents."""

import pytest

from tests import factories as make
from tests.incidents_app import runbook


@pytest.fixture
def acme(db):
    return make.project("Acme")


@pytest.fixture
def agent(acme):
    """A key as agents should have it: it may file and freeze, and neither resume nor close."""
    return make.agent(acme)


@pytest.fixture
def maria(acme):
    """A responder, who commands what she files."""
    return make.person(acme, "responder", "maria")


@pytest.fixture
def rosa(acme):
    """Another responder."""
    return make.person(acme, "responder", "rosa")


@pytest.fixture
def edda(acme):
    """An engineer."""
    return make.person(acme, "engineer", "edda")


@pytest.fixture
def jon(acme):
    """An admin."""
    return make.person(acme, "admin", "jon")


@pytest.fixture
def session(agent):
    """Good at v0, bad since v1, at v2."""
    return runbook.damaged(agent)
