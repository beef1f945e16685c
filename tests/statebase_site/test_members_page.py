"""The page of members: who is in a project, as what, and that somebody always runs it."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from sessions_app.models import Trace
from statebase_site.access.models import Membership
from tests import factories

pytestmark = pytest.mark.django_db

MEMBERS = "/settings/members/"
FIRST_PASSWORD = re.compile(r"\b[a-z2-9]{5}(?:-[a-z2-9]{5}){3}\b")


@pytest.fixture
def project():
    return factories.project()


@pytest.fixture
def admin(client, project):
    client.force_login(factories.membership(project).user)
    return client


def text(answer):
    return " ".join(answer.content.decode().split())


def act(client, name, member, data=None, **options):
    return client.post(reverse(f"access:{name}", args=[member.pk]), data or {}, **options)


def role_of(name):
    return Membership.objects.get(user__username=name).role


def test_somebody_new_gets_a_first_password_which_is_shown_once(admin, client):
    made = admin.post(MEMBERS, {"username": "bea", "role": "responder"})
    assert made["Cache-Control"] == "no-store"
    (password,) = set(FIRST_PASSWORD.findall(text(made)))
    assert not FIRST_PASSWORD.search(text(admin.get(MEMBERS)))
    assert role_of("bea") == "responder"
    (trace,) = Trace.objects.all()
    assert (trace.action, trace.actor_label) == ("member.added", "user:ada")
    assert trace.details == {"username": "bea", "role": "responder"}
    client.logout()
    client.post("/sign-in/", {"username": "bea", "password": password})
    assert "you are its responder" in text(client.get(MEMBERS))


def test_a_lost_first_password_is_made_anew_until_it_was_used(admin):
    (lost,) = set(FIRST_PASSWORD.findall(text(admin.post(MEMBERS, {"username": "bea", "role": "viewer"}))))
    bea = Membership.objects.get(user__username="bea")
    act(admin, "remove-member", bea)
    (fresh,) = set(FIRST_PASSWORD.findall(text(admin.post(MEMBERS, {"username": "bea", "role": "viewer"}))))
    assert fresh != lost
    user = get_user_model().objects.get(username="bea")
    assert user.check_password(fresh)


def test_who_belongs_elsewhere_gets_a_role_and_keeps_the_password(admin, project):
    user = factories.membership(factories.project("Other"), name="bea").user
    answer = admin.post(MEMBERS, {"username": "bea", "role": "engineer"}, follow=True)
    assert "bea is engineer of Acme from now on." in text(answer)
    assert not FIRST_PASSWORD.search(text(answer))
    user.refresh_from_db()
    assert user.check_password("correct horse battery staple")
    assert Membership.objects.filter(user=user).count() == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"username": ""}, "This field is required."),
        ({"username": "a b"}, "Enter a valid username."),
        ({"username": "ada"}, "ada is a member already"),
        ({"role": "boss"}, "boss is not one of the available choices"),
    ],
)
def test_a_bad_form_says_where(admin, changes, words):
    answer = admin.post(MEMBERS, {"username": "bea", "role": "viewer"} | changes)
    assert answer.status_code == 422
    assert words in text(answer)
    assert Membership.objects.count() == 1


def test_roles_are_changed_and_people_removed_with_traces(admin, project):
    bea = factories.membership(project, "viewer", "bea")
    assert "bea is admin of Acme" in text(act(admin, "change-role", bea, {"role": "admin"}, follow=True))
    assert role_of("bea") == "admin"
    act(admin, "change-role", bea, {"role": "admin"})  # no change, no trace
    assert "no role" in text(act(admin, "change-role", bea, {"role": "boss"}, follow=True))
    asked = text(admin.get(reverse("access:remove-member", args=[bea.pk])))
    assert "Remove bea?" in asked
    assert "bea belongs to Acme no longer." in text(act(admin, "remove-member", bea, follow=True))
    assert act(admin, "remove-member", bea).status_code == 404
    assert [trace.action for trace in Trace.objects.order_by("id")] == ["member.changed", "member.removed"]
    assert Trace.objects.order_by("id").first().details == {
        "username": "bea",
        "role": "admin",
        "previous_role": "viewer",
    }


def test_the_last_admin_can_neither_be_lowered_nor_removed(admin, project):
    ada = Membership.objects.get()
    factories.membership(project, "responder", "bea")
    page = text(admin.get(MEMBERS))
    assert "the only one, so it stays" in page
    for name, data in (("change-role", {"role": "viewer"}), ("remove-member", {})):
        assert "Make somebody else an admin first." in text(act(admin, name, ada, data, follow=True))
        assert role_of("ada") == "admin"
    assert not Trace.objects.exists()


def test_with_another_admin_one_may_lower_and_remove_oneself(admin, project):
    ada = Membership.objects.get()
    factories.membership(project, "admin", "bea")
    act(admin, "change-role", ada, {"role": "engineer"})
    assert role_of("ada") == "engineer"
    assert "you are its engineer" in text(admin.get(MEMBERS))
    assert act(admin, "change-role", ada, {"role": "admin"}).status_code == 403


def test_a_removed_person_sees_nothing_from_the_next_request_on(admin, project, client):
    bea = factories.membership(project, "admin", "bea")
    act(admin, "remove-member", bea)
    client.force_login(bea.user)
    assert client.get("/sessions/").status_code == 403


@pytest.mark.parametrize("role", ["viewer", "engineer", "responder"])
def test_who_is_no_admin_sees_the_people_and_changes_nothing(client, project, role):
    ada = factories.membership(project)
    client.force_login(factories.membership(project, role, "bea").user)
    page = text(client.get(MEMBERS))
    assert "ada" in page
    assert f"you are its {role}" in page
    assert "<select" not in page
    assert client.post(MEMBERS, {"username": "eve", "role": "admin"}).status_code == 403
    assert act(client, "change-role", ada, {"role": "viewer"}).status_code == 403
    assert act(client, "remove-member", ada).status_code == 403
    assert client.get(reverse("access:remove-member", args=[ada.pk])).status_code == 403
    assert role_of("ada") == "admin"
    assert not get_user_model().objects.filter(username="eve").exists()


def test_members_of_another_project_do_not_exist(admin):
    other = factories.membership(factories.project("Other"), name="zoe")
    assert "zoe" not in text(admin.get(MEMBERS))
    assert act(admin, "change-role", other, {"role": "viewer"}).status_code == 404
    assert act(admin, "remove-member", other).status_code == 404
    assert role_of("zoe") == "admin"


def test_more_members_take_no_more_queries(admin, project, django_assert_max_num_queries):
    admin.get(MEMBERS)
    with django_assert_max_num_queries(7) as one:
        admin.get(MEMBERS)
    for number in range(3):
        factories.membership(project, "viewer", f"viewer{number}")
    with django_assert_max_num_queries(len(one)):
        admin.get(MEMBERS)
