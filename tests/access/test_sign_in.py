"""Signing in and out: by password, by one-time link, and without losing what was typed."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from statebase_site.access import actions
from statebase_site.access.errors import SignInLinkSpent
from statebase_site.access.models import SignInToken
from statebase_site.base import clock
from tests.access.people import PASSWORD, a_member, a_project

pytestmark = pytest.mark.django_db

SIGN_IN = "/sign-in/"


@pytest.fixture
def project():
    return a_project()


@pytest.fixture
def ada(project):
    return a_member(project)


def sign_in(client, password=PASSWORD, **fields):
    return client.post(SIGN_IN, {"username": "ada", "password": password} | fields)


def is_signed_in(client):
    return "_auth_user_id" in client.session


def hidden(answer, name):
    """The value of a hidden field of the page's own form, which comes after those of the header."""
    return html.unescape(re.findall(rf'name="{name}" value="([^"]*)"', answer.content.decode())[-1])


# With a password


def test_a_member_signs_in_and_lands_on_the_overview(client, ada):
    answer = sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, reverse("overview"))
    assert is_signed_in(client)


def test_a_wrong_password_is_said_and_keeps_the_name(client, ada):
    answer = sign_in(client, "wrong")
    assert answer.status_code == 422
    assert "correct username and password" in answer.content.decode()
    assert 'value="ada"' in answer.content.decode()
    assert not is_signed_in(client)


def test_a_page_asked_for_comes_after_signing_in(client, ada):
    asked = client.get("/settings/keys/?project=acme")
    assert asked.status_code == 302
    page = client.get(asked["Location"])
    wanted = hidden(page, "next")
    assert sign_in(client, next=wanted)["Location"] == "/settings/keys/?project=acme"


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil.example"]
)
def test_signing_in_never_leads_to_another_site(client, ada, elsewhere):
    assert sign_in(client, next=elsewhere)["Location"] == reverse("overview")
    assert client.get(SIGN_IN, {"next": elsewhere})["Location"] == reverse("overview")


def test_guessing_is_stopped_in_words_even_with_the_right_password(client, ada):
    for _ in range(4):
        assert sign_in(client, "wrong").status_code == 422
    answer = sign_in(client, "wrong")
    assert answer.status_code == 429
    assert "Wait 15 minutes" in answer.content.decode()
    assert answer["Retry-After"] == "900"
    assert sign_in(client).status_code == 429
    assert not is_signed_in(client)


def test_guessing_at_one_name_locks_no_other(client, ada, project):
    a_member(project, name="bea")
    for _ in range(5):
        sign_in(client, "wrong")
    assert client.post(SIGN_IN, {"username": "bea", "password": PASSWORD}).status_code == 302


def test_signing_out_is_a_post_and_ends_the_session(client, ada):
    client.force_login(ada)
    assert client.get("/sign-out/").status_code == 405
    assert is_signed_in(client)
    assert client.post("/sign-out/").status_code == 302
    assert not is_signed_in(client)


def test_sign_in_needs_its_csrf_token(ada):
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(SIGN_IN, {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


# By link


def test_a_link_signs_in_with_one_click(client, ada):
    answer = client.get(reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)]))
    assert (answer.status_code, answer["Location"]) == (302, reverse("overview"))
    assert is_signed_in(client)


def test_a_link_works_once(client, ada):
    link = reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)])
    client.get(link)
    second = Client()
    answer = second.get(link)
    assert answer.status_code == 410
    assert "manage.py demo" in answer.content.decode()
    assert not is_signed_in(second)


def test_clicking_it_again_while_signed_in_opens_the_overview(client, ada):
    link = reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)])
    client.get(link)
    assert client.get(link)["Location"] == reverse("overview")


def test_looking_at_a_link_does_not_spend_it(client, ada):
    link = reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)])
    assert client.head(link).status_code == 405
    assert client.get(link).status_code == 302


def test_a_link_ends_after_ten_minutes(client, ada):
    with clock.at(datetime.now(UTC) - timedelta(minutes=10, seconds=1)):
        token = actions.create_sign_in_token(ada)
    assert client.get(reverse("access:sign-in-link", args=[token])).status_code == 410


def test_a_link_is_for_this_machine(client, ada, settings):
    link = reverse("access:sign-in-link", args=[actions.create_sign_in_token(ada)])
    assert client.get(link, REMOTE_ADDR="192.0.2.7").status_code == 403
    assert client.get(link, headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 403
    settings.TRUSTED_PROXIES = 1
    assert client.get(link, headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 403
    assert not is_signed_in(client)
    assert client.get(link, headers={"X-Forwarded-For": "::1"}).status_code == 302


def test_somebody_shut_out_gets_in_by_no_link(client, ada):
    token = actions.create_sign_in_token(ada)
    ada.is_active = False
    ada.save()
    assert client.get(reverse("access:sign-in-link", args=[token])).status_code == 410


def test_the_clear_token_is_nowhere_in_the_database(ada):
    token = actions.create_sign_in_token(ada)
    assert token not in str(SignInToken.objects.values().get())


def test_a_made_up_token_is_spent(ada):
    with pytest.raises(SignInLinkSpent):
        actions.use_sign_in_token("made up")


# Pages are closed


@pytest.mark.parametrize("path", ["/settings/keys/", "/change-password/"])
def test_a_page_asks_strangers_to_sign_in(client, path):
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith(SIGN_IN)


def test_htmx_gets_no_form_to_carry_but_the_way_to_the_sign_in(client):
    answer = client.post("/settings/keys/", {"name": "x"}, headers={"HX-Request": "true"})
    assert answer.status_code == 302
    assert answer["Location"].startswith(SIGN_IN)


# A form sent too late


def test_what_was_typed_survives_an_ended_sign_in(client, ada):
    typed = {
        "name": 'The agent\'s "key" <b>',
        "scopes": ["sessions:read", "traces:read"],
        "expires": "",
        "idempotency_key": "form_1",
    }
    too_late = client.post("/settings/keys/", typed)
    assert too_late.status_code == 403
    assert "What you typed is kept" in too_late.content.decode()

    wrong = sign_in(client, "wrong", carried=hidden(too_late, "carried"))
    signed_in = sign_in(client, carried=hidden(wrong, "carried"))
    page = signed_in.content.decode()
    assert 'action="/settings/keys/"' in page
    assert "The agent&#x27;s &quot;key&quot; &lt;b&gt;" in page
    assert page.count('name="scopes"') == 2
    assert hidden(signed_in, "idempotency_key") == "form_1"

    made = client.post("/settings/keys/", typed)
    assert made.status_code == 200
    assert "sb_" in made.content.decode()


def test_passwords_and_tokens_are_not_carried(client, ada):
    too_late = client.post("/change-password/", {"old_password": "secret-1", "new_password1": "secret-2"})
    signed_in = sign_in(client, carried=hidden(too_late, "carried"))
    assert "secret" not in signed_in.content.decode()
    assert 'name="old_password"' not in signed_in.content.decode()


def test_a_form_that_somebody_made_up_is_not_carried(client, ada):
    answer = sign_in(client, carried="eyJwYXRoIjoiLyJ9:forged:signature")
    assert (answer.status_code, answer["Location"]) == (302, reverse("overview"))


# Passwords


def test_a_new_password_counts_and_this_browser_stays_signed_in(client, ada):
    client.force_login(ada)
    new = "another long sentence"
    answer = client.post(
        "/change-password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    )
    assert answer.status_code == 302
    assert is_signed_in(client)
    assert client.get("/change-password/").status_code == 200
    assert Client().login(username="ada", password=new, request=answer.wsgi_request)


def test_a_weak_password_or_a_wrong_old_one_changes_nothing(client, ada):
    client.force_login(ada)
    for fields in (
        {
            "old_password": "wrong",
            "new_password1": "another long sentence",
            "new_password2": "another long sentence",
        },
        {"old_password": PASSWORD, "new_password1": "12345", "new_password2": "12345"},
    ):
        assert client.post("/change-password/", fields).status_code == 422
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_who_came_by_link_chooses_a_first_password(client, ada):
    ada.set_unusable_password()
    ada.save()
    client.force_login(ada)
    assert "old_password" not in client.get("/change-password/").content.decode()
    new = "another long sentence"
    assert client.post("/change-password/", {"new_password1": new, "new_password2": new}).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(new)
