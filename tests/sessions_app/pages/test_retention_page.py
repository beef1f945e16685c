"""The page of retention: what waits for its purge, and how a deleted session comes back."""

from datetime import timedelta

import pytest
from django.urls import reverse

from sessions_app import actions
from sessions_app.actions import maintenance
from sessions_app.models import AgentSession
from statebase_site.base import clock
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

RETENTION = "/settings/retention/"


@pytest.fixture(scope="module")
def key(project):
    return factories.full_key(project)


@pytest.fixture
def admin(client, project):
    client.force_login(factories.membership(project).user)
    return client


def ago(**span):
    return clock.at(clock.now() - timedelta(**span))


def deleted(key, **fields):
    made = factories.session_with_versions(key, 1, **fields)
    actions.delete_session(session_id=made.public_id, reason="A <b>test</b> run", by=key)
    return made


def restore(client, session):
    return client.post(reverse("sessions:restore", args=[session.public_id]), follow=True)


def test_a_deleted_session_is_listed_and_comes_back_whole(admin, key):
    made = deleted(key, agent_id="travel-agent")
    page = Page(admin.get(RETENTION))
    assert "Deleted 1 can be restored" in page.text
    assert made.public_id in page.text
    assert "travel-agent" in page.text
    assert "A <b>test</b> run" in page.text
    assert key.label in page.text
    done = Page(restore(admin, made))
    assert f"The session {made.public_id} is back" in done.text
    assert "Nothing is deleted" in done.text
    assert admin.get(f"/sessions/{made.public_id}/").status_code == 200
    assert "is there already" in Page(restore(admin, made)).text


def test_what_is_purged_does_not_come_back(admin, key):
    with ago(days=8):
        made = deleted(key)
    assert "To be purged next 1" in Page(admin.get(RETENTION)).text
    maintenance.purge_due()
    assert not AgentSession.objects.exists()
    assert restore(admin, made).status_code == 404


def test_the_numbers_tell_apart_what_waits_and_what_is_kept(admin, key):
    with ago(days=40):
        factories.session(key, ttl_seconds=60)
        held = factories.session(key, ttl_seconds=60)
        actions.hold(session_id=held.public_id, label="INCIDENT-1", url="/", by=key)
    with ago(days=2):
        factories.session(key, ttl_seconds=60)
    factories.session(key)
    text = Page(admin.get(RETENTION)).text
    for words in ("Deleted 0", "Expired 2", "To be purged next 1", "Kept past their life 1"):
        assert words in text


def test_the_rules_of_the_server_are_told(admin, settings):
    settings.PURGE_DELETED_AFTER_DAYS, settings.PURGE_EXPIRED_AFTER_DAYS = 3, 1
    for seconds, words in ((86_400, "1 day unless"), (5_400, "5,400 seconds unless"), (0, "for ever unless")):
        settings.DEFAULT_TTL_SECONDS = seconds
        text = Page(admin.get(RETENTION)).text
        assert words in text
        assert "after 3 days, whole" in text
        assert "after 1 day, whole" in text


@pytest.mark.parametrize("role", ["viewer", "engineer", "responder"])
def test_only_admins_restore(client, project, key, role):
    made = deleted(key)
    client.force_login(factories.membership(project, role).user)
    assert "admins only" in Page(client.get(RETENTION)).text
    assert restore(client, made).status_code == 403
    assert AgentSession.objects.get().deleted_at


def test_another_projects_sessions_do_not_exist(admin):
    made = deleted(factories.full_key(factories.project("Other")))
    text = Page(admin.get(RETENTION)).text
    assert made.public_id not in text
    assert "Deleted 0" in text
    assert restore(admin, made).status_code == 404


def test_many_are_paged_and_take_no_more_queries(admin, key, django_assert_max_num_queries):
    sessions = [deleted(key) for _ in range(3)]
    admin.get(RETENTION)
    with django_assert_max_num_queries(9) as few:
        admin.get(RETENTION)
    AgentSession.objects.filter(pk=sessions[0].pk).update(deleted_at=clock.now() - timedelta(days=1))
    sessions += [deleted(key) for _ in range(48)]
    with django_assert_max_num_queries(len(few)):
        first = Page(admin.get(RETENTION))
    assert sessions[0].public_id not in first.text
    (older,) = {link for link in first.links if "after=" in link}
    assert sessions[0].public_id in Page(admin.get(older)).text
