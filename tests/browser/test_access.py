"""Signing in and API keys, as people meet them in a browser."""

import re

import pytest
from django.urls import reverse

from statebase_site.access import actions
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery staple"
KEYS = "/settings/keys/"


@pytest.fixture
def ada():
    project = factories.project()
    factories.api_key(project, "sessions:read", "sessions:write", name="travel-agent in production")
    return factories.membership(project).user


def sign_in(page):
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_every_page_of_access_is_open_to_everyone(browse, ada, nothing_in_the_way):
    page = browse("/change-password/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Please enter a correct").wait_for()
    nothing_in_the_way(page)
    sign_in(page)
    page.get_by_role("heading", name="Change password").wait_for()
    nothing_in_the_way(page)
    page.goto(page.url.replace("/change-password/", KEYS))
    nothing_in_the_way(page)
    page.get_by_role("link", name="Revoke").click()
    nothing_in_the_way(page)
    page.goto(page.url.partition("/settings/")[0] + KEYS)
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Members").click()
    page.get_by_label("Username").fill("bea")
    page.get_by_role("button", name="Add person").click()
    page.get_by_role("heading", name="bea is added").wait_for()
    nothing_in_the_way(page)
    page.get_by_role("link", name="I have handed it over").click()
    nothing_in_the_way(page)
    page.get_by_role("row", name="bea").get_by_role("link", name="Remove").click()
    nothing_in_the_way(page)
    page.get_by_role("link", name="Keep them").click()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Retention").click()
    page.get_by_role("heading", name="Deleted sessions").wait_for()
    nothing_in_the_way(page)


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_a_key_is_made_shown_once_and_revoked(browse, ada, java_script_enabled, nothing_in_the_way):
    page = browse(KEYS, java_script_enabled=java_script_enabled)
    sign_in(page)
    page.get_by_label("Name").fill("notebook")
    page.get_by_role("button", name="Make key").click()
    clear_key = page.locator("#clear-key").inner_text()
    assert re.fullmatch(r"sb_[A-Za-z0-9]{24}", clear_key)
    if java_script_enabled:
        nothing_in_the_way(page)

    page.reload()
    assert page.get_by_text("shown only once").is_visible()
    assert clear_key not in page.content()
    page.go_back()
    assert clear_key not in page.content()

    page.goto(page.url)
    page.get_by_role("row", name="notebook").get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke this key").click()
    assert page.get_by_text("is revoked: from now on it answers 401").is_visible()


def test_what_was_typed_survives_an_ended_sign_in(browse, ada):
    page = browse(KEYS)
    sign_in(page)
    page.get_by_label("Name").fill("typed for long")
    page.context.clear_cookies(name="statebase_session")
    page.get_by_role("button", name="Make key").click()
    assert page.get_by_text("What you typed is kept").is_visible()
    sign_in(page)
    assert page.get_by_text("typed for long").is_visible()
    page.get_by_role("button", name="Send it now").click()
    assert page.get_by_role("heading", name="The key typed for long is made").is_visible()


def test_one_click_on_the_link_of_the_demo_signs_in(browse, ada):
    link = reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)])
    page = browse(link)
    assert page.get_by_role("navigation", name="Main").is_visible()
    stranger = browse(link)
    assert stranger.get_by_text("This sign-in link is spent").is_visible()
