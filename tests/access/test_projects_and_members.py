"""Projects, people and roles."""

import pytest
from django.contrib.auth import get_user_model

from statebase_site.access import actions
from statebase_site.access.errors import AlreadyExists
from statebase_site.access.models import Membership, Project
from statebase_site.base.errors import InvalidInput
from tests.access.people import PASSWORD, a_project

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("name", "slug"), [("Travel desk", "travel-desk"), ("  Ärzte & Co ", "arzte-co")])
def test_a_project_gets_its_slug_from_its_name(name, slug):
    assert actions.create_project(name=name).slug == slug


def test_a_name_of_other_letters_gets_some_slug():
    assert actions.create_project(name="旅行").slug.startswith("project-")


def test_a_name_is_taken_once():
    a_project("Travel desk")
    with pytest.raises(AlreadyExists, match="travel-desk"):
        a_project("travel DESK")
    assert Project.objects.count() == 1


@pytest.mark.parametrize("name", ["", " ", "n" * 81, "a\x00b"])
def test_a_project_needs_a_name(name):
    with pytest.raises(InvalidInput):
        a_project(name)


def test_a_member_is_made_whole_or_not_at_all():
    project = a_project()
    with pytest.raises(InvalidInput, match="boss"):
        actions.create_member(project=project, username="ada", password=PASSWORD, role="boss")
    assert not get_user_model().objects.exists()


def test_a_role_can_change():
    project = a_project()
    ada = actions.create_member(project=project, username="ada", password=PASSWORD, role="viewer").user
    actions.set_role(project=project, user=ada, role="admin")
    assert Membership.objects.get().role == "admin"


@pytest.mark.parametrize(
    ("username", "password"),
    [("", PASSWORD), ("a b", PASSWORD), ("ada", "12345678"), ("ada", "short"), ("ada", "")],
)
def test_a_bad_name_or_password_is_refused_with_reasons(username, password):
    with pytest.raises(InvalidInput) as refused:
        actions.create_user(username=username, password=password)
    assert refused.value.message


def test_a_username_is_taken_once():
    actions.create_user(username="ada", password=PASSWORD)
    with pytest.raises(AlreadyExists):
        actions.create_user(username="ada", password=PASSWORD)
