"""Who acts in the tests of the domain's rules."""

import pytest

from tests import factories as make


@pytest.fixture
def acme(db):
    return make.project("Acme")


@pytest.fixture
def key(acme):
    """A key that may do all."""
    return make.full_key(acme)


@pytest.fixture
def agent(acme):
    """A key as agents should have it: it may freeze, and neither resume nor roll back while frozen."""
    return make.agent(acme)


@pytest.fixture
def responder(acme):
    """A person who may resume."""
    return make.person(acme, "responder", "rosa")


@pytest.fixture
def engineer(acme):
    """A person who may freeze, but not resume."""
    return make.person(acme, "engineer", "edda")
