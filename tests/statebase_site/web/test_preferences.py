"""The form for times and theme works without JavaScript."""

import pytest
from django.urls import reverse


@pytest.fixture
def url():
    return reverse("preferences")


def test_a_choice_is_remembered_and_the_page_comes_back(client, url):
    answer = client.post(url, {"times": "relative", "next": "/sessions/?q=a"})
    assert answer.status_code == 302
    assert answer["Location"] == "/sessions/?q=a"
    assert answer.cookies["times"].value == "relative"
    assert "theme" not in answer.cookies


def test_a_theme_is_remembered_for_a_year(client, url):
    cookie = client.post(url, {"theme": "dark"}).cookies["theme"]
    assert cookie.value == "dark"
    assert cookie["max-age"] == 31_536_000
    assert cookie["samesite"] == "Lax"


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_it_never_leads_to_another_site(client, url, back):
    assert client.post(url, {"theme": "dark", "next": back})["Location"] == "/"


def test_an_unknown_choice_sets_nothing(client, url):
    assert not client.post(url, {"theme": "<script>", "times": "now"}).cookies


def test_looking_does_not_set(client, url):
    assert client.get(url).status_code == 405
