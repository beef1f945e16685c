"""The project one works in, and the actor one is there."""

import json

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from statebase_site.access import actions
from statebase_site.access.actor import ActorKind
from statebase_site.access.current import actor_for, current_membership
from statebase_site.access.errors import NoProject, ProjectNotFound
from tests.access.people import a_member, a_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    ada = a_member(a_project("Billing"), "viewer")
    actions.set_role(project=a_project("Travel"), user=ada, role="responder")
    return ada


def asking(user, path="/", data=None, session=None):
    request = RequestFactory().post(path, data) if data is not None else RequestFactory().get(path)
    request.user, request.session = user, session if session is not None else SessionStore()
    request.request_id, request.started = "req_1", 0.0
    return request


def test_one_works_in_the_first_project_by_name(ada):
    assert current_membership(asking(ada)).project.slug == "billing"


def test_a_project_in_the_address_counts_and_is_remembered(ada):
    session = SessionStore()
    assert current_membership(asking(ada, "/?project=travel", session=session)).project.slug == "travel"
    assert current_membership(asking(ada, session=session)).project.slug == "travel"


def test_a_project_that_is_not_ones_own_does_not_exist(ada):
    a_project("Other")
    for slug in ("other", "nothing"):
        with pytest.raises(ProjectNotFound):
            current_membership(asking(ada, f"/?project={slug}"))


def test_leaving_a_project_leaves_the_other(ada):
    session = SessionStore()
    current_membership(asking(ada, "/?project=travel", session=session))
    ada.memberships.filter(project__slug="travel").delete()
    assert current_membership(asking(ada, session=session)).project.slug == "billing"


def test_the_role_of_the_project_gives_the_scopes(ada):
    viewer, responder = actor_for(asking(ada)), actor_for(asking(ada, "/?project=travel"))
    assert viewer.kind == ActorKind.PERSON
    assert viewer.label == "user:ada"
    assert not viewer.may("sessions:write")
    assert responder.may("incident:manage")
    assert not responder.may("keys:manage")


def test_one_may_act_in_another_of_ones_projects_without_changing_to_it(ada):
    travel = ada.memberships.get(project__slug="travel").project
    request = asking(ada)
    assert actor_for(request, travel).project == travel
    assert current_membership(request).project.slug == "billing"
    with pytest.raises(ProjectNotFound):
        actor_for(request, a_project("Other"))


def test_without_a_project_one_is_told_whom_to_ask():
    stranger = actions.create_user(username="zoe", password="another long sentence")
    with pytest.raises(NoProject) as told:
        actor_for(asking(stranger))
    assert "create_user" in told.value.suggestion


def test_a_form_is_the_body_without_tokens_and_passwords(ada):
    form = {
        "reason": "It paid twice.",
        "csrfmiddlewaretoken": "t",
        "password": "p",
        "idempotency_key": "form_1",
    }
    facts = actor_for(asking(ada, "/sessions/x/rollback", form | {"tag": ["a", "b"]})).request
    assert json.loads(facts.body) == {"reason": "It paid twice.", "tag": ["a", "b"]}
    assert (facts.method, facts.path, facts.request_id) == ("POST", "/sessions/x/rollback", "req_1")
    assert facts.idempotency.key == "form_1"


def test_the_same_form_with_another_reason_is_another_request(ada):
    first, second = (
        actor_for(asking(ada, data={"reason": reason, "idempotency_key": "form_1"})).request.idempotency
        for reason in ("one", "two")
    )
    assert first.key == second.key
    assert first.body_sha256 != second.body_sha256


def test_a_form_without_a_key_carries_none(ada):
    assert actor_for(asking(ada, data={"reason": "x"})).request.idempotency is None
