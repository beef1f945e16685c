"""The page of API keys: shown once, revoked with a question, for admins."""

import re

import pytest
from django.urls import reverse

from sessions_app.models import Trace
from statebase_site.access.models import ApiKey
from tests import factories

pytestmark = pytest.mark.django_db

KEYS = "/settings/keys/"
CLEAR = re.compile(r"sb_[A-Za-z0-9]{24}")
FORM = {"name": "travel-agent", "scopes": ["sessions:read", "sessions:write"], "expires": ""}


@pytest.fixture
def project():
    return factories.project()


@pytest.fixture
def admin(client, project):
    client.force_login(factories.membership(project).user)
    return client


def text(answer):
    return answer.content.decode()


def test_a_key_is_shown_once_and_opens_the_api(admin, client):
    made = admin.post(KEYS, FORM)
    assert made.status_code == 200
    assert made["Cache-Control"] == "no-store"
    (clear_key,) = set(CLEAR.findall(text(made)))
    assert not CLEAR.search(text(admin.get(KEYS)))
    assert not CLEAR.search(str(dict(admin.session)))
    assert client.get("/v1/sessions", headers={"X-API-Key": clear_key}).status_code == 200
    key = ApiKey.objects.get()
    assert key.scopes == {"sessions:read", "sessions:write"}
    assert key.created_by == "user:ada"


def test_making_and_revoking_leave_traces_without_the_key(admin):
    (clear_key,) = set(CLEAR.findall(text(admin.post(KEYS, FORM))))
    key = ApiKey.objects.get()
    admin.post(reverse("access:revoke-key", args=[key.public_id]))
    traces = Trace.objects.order_by("id")
    assert [trace.action for trace in traces] == ["key.created", "key.revoked"]
    assert {trace.actor_label for trace in traces} == {"user:ada"}
    assert not [trace for trace in traces if clear_key in trace.details_text]


def test_the_same_form_sent_again_makes_no_second_key_and_shows_none(admin):
    form = FORM | {"idempotency_key": "form_1"}
    admin.post(KEYS, form)
    again = admin.post(KEYS, form, follow=True)
    assert ApiKey.objects.count() == 1
    assert "shown only once" in text(again)
    assert not CLEAR.search(text(again))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "n" * 81}, "at most 80 characters"),
        ({"scopes": []}, "Tick at least one."),
        ({"scopes": ["root"]}, "root is not one of the available choices"),
        ({"expires": "soon"}, "soon is not one of the available choices"),
        ({"rate_limit": "-1"}, "greater than or equal to 0"),
        ({"rate_limit": "many"}, "Enter a whole number."),
    ],
)
def test_a_bad_form_says_where_and_keeps_what_was_typed(admin, changes, words):
    answer = admin.post(KEYS, FORM | changes)
    assert answer.status_code == 422
    assert words in text(answer)
    assert not ApiKey.objects.exists()
    if "name" not in changes:
        assert 'value="travel-agent"' in text(answer)


@pytest.mark.parametrize(("typed", "limit", "told"), [("", 100, "100 a minute"), ("0", 0, "no limit")])
def test_a_key_has_the_limit_that_was_typed_or_the_servers(admin, typed, limit, told):
    assert 'name="rate_limit" value="100"' in text(admin.get(KEYS))
    admin.post(KEYS, FORM | {"rate_limit": typed})
    assert ApiKey.objects.get().rate_limit == limit
    assert told in text(admin.get(KEYS))


def test_hostile_names_are_escaped(admin):
    assert "<script>" not in text(admin.post(KEYS, FORM | {"name": "<script>alert(1)</script>"}))
    assert "<script>alert" not in text(admin.get(KEYS))


def test_revoking_asks_first(admin, project):
    key, clear_key = factories.api_key(project, name="Old one")
    url = reverse("access:revoke-key", args=[key.public_id])
    assert "Revoke Old one?" in text(admin.get(url))
    assert ApiKey.objects.get().revoked_at is None
    done = admin.post(url, follow=True)
    assert "The key Old one" in text(done)
    assert admin.get("/v1/sessions", headers={"X-API-Key": clear_key}).status_code == 401
    assert "revoked already" in text(admin.post(url, follow=True))


def test_a_key_of_another_project_does_not_exist(admin):
    key, _ = factories.api_key(factories.project("Other"))
    url = reverse("access:revoke-key", args=[key.public_id])
    assert admin.get(url).status_code == 404
    assert admin.post(url).status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None
    assert key.name not in text(admin.get(KEYS))


@pytest.mark.parametrize("role", ["viewer", "engineer", "responder"])
def test_who_is_no_admin_sees_the_list_and_why_they_may_not_change_it(client, project, role):
    key, _ = factories.api_key(project, name="Seen by all")
    client.force_login(factories.membership(project, role, "bea").user)
    page = text(client.get(KEYS))
    assert "Seen by all" in page
    assert f"you are its {role}" in page
    assert 'name="scopes"' not in page
    assert client.post(KEYS, FORM).status_code == 403
    assert client.post(reverse("access:revoke-key", args=[key.public_id])).status_code == 403
    assert ApiKey.objects.filter(revoked_at=None).count() == 1


def test_without_a_project_the_page_says_whom_to_ask(client):
    client.force_login(factories.user())
    answer = client.get(KEYS)
    assert answer.status_code == 403
    assert "do not belong to any project" in text(answer)


def test_more_keys_take_no_more_queries(admin, project, django_assert_max_num_queries):
    factories.api_key(project)
    admin.get(KEYS)
    with django_assert_max_num_queries(7) as one:
        admin.get(KEYS)
    for number in range(3):
        factories.api_key(project, name=f"Key {number}")
    with django_assert_max_num_queries(len(one)):
        admin.get(KEYS)
