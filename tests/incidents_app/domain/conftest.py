"""Who acts in the tests of incidents."""

import pytest

from tests import factories as make
from tests.incidents_app import runbook


@pytest.fixture(scope="module")
def acme(module_db):
    return make.project("Acme")


@pytest.fixture(scope="module")
def agent(acme):
    """A key as agents should have it: it may file and freeze, and neither resume nor close."""
    return make.agent(acme)


@pytest.fixture(scope="module")
def people(acme):
    """All who work in the project, whoever of them a test names."""
    roles = {"maria": "responder", "rosa": "responder", "edda": "engineer", "jon": "admin"}
    return {name: make.person(acme, role, name) for name, role in roles.items()}


@pytest.fixture(scope="module")
def maria(people):
    """A responder, who commands what she files."""
    return people["maria"]


@pytest.fixture(scope="module")
def rosa(people):
    """Another responder."""
    return people["rosa"]


@pytest.fixture(scope="module")
def edda(people):
    """An engineer."""
    return people["edda"]


@pytest.fixture(scope="module")
def jon(people):
    """An admin."""
    return people["jon"]


@pytest.fixture(scope="module")
def damaged(agent):
    return runbook.damaged(agent)


@pytest.fixture
def session(damaged, db):
    """Good at v0, bad since v1, at v2."""
    return make.fresh(damaged)


@pytest.fixture(scope="module")
def damaged_too(agent):
    return runbook.damaged(agent)


@pytest.fixture
def stray(damaged_too, db):
    """One more like `session`, of which no incident knows that a file shares."""
    return make.fresh(damaged_too)
