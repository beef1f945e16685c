"""Who acts in the tests of the domain's rules; a file with tests that commit makes its own."""

import pytest

from tests import factories as make


@pytest.fixture(scope="module")
def acme(module_db):
    return make.project("Acme")


@pytest.fixture(scope="module")
def key(acme):
    """A key that may do all."""
    return make.full_key(acme)


@pytest.fixture(scope="module")
def agent(acme):
    """A key as agents should have it: it may freeze, and neither resume nor roll back while frozen."""
    return make.agent(acme)


@pytest.fixture(scope="module")
def responder(acme):
    """A person who may resume."""
    return make.person(acme, "responder", "rosa")


@pytest.fixture(scope="module")
def engineer(acme):
    """A person who may freeze, but not resume."""
    return make.person(acme, "engineer", "edda")
