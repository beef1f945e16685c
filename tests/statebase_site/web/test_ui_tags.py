"""The tags that every page shares: exact, escaped, and usable by a screen reader."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory
from django.utils import timezone

from statebase_site.web import icons

pytestmark = pytest.mark.once


def render(source, cookies=(), **values):
    request = RequestFactory().get("/")
    request.COOKIES.update(cookies)
    return Template(source).render(Context({"request": request, **values}))


def test_a_moment_carries_the_exact_utc_time():
    value = datetime(2026, 11, 29, 9, 12, 3, 5, tzinfo=UTC)
    html = render("{% moment value 'clock' %}", {"times": "local", "tz": "Asia/Tokyo"}, value=value)
    assert html == (
        '<time datetime="2026-11-29T09:12:03.000005Z" title="2026-11-29 09:12:03.000005 UTC">18:12:03</time>'
    )


def test_a_relative_moment_can_be_kept_true_by_the_page():
    html = render(
        "{% moment value %}", {"times": "relative"}, value=timezone.now() - timedelta(minutes=4, seconds=5)
    )
    assert "data-relative" in html
    assert ">4 min ago<" in html


def test_no_moment_is_said():
    assert 'title="never"' in render("{% moment value %}", value=None)


def test_an_unknown_style_is_a_mistake_of_the_template():
    with pytest.raises(TemplateSyntaxError, match="no style 'short'"):
        render("{% moment value 'short' %}", value=timezone.now())


def test_a_moment_without_a_request_is_utc():
    html = Template("{% moment value 'clock' %}").render(Context({"value": datetime(2026, 1, 1, tzinfo=UTC)}))
    assert ">00:00:00<" in html


def test_visible_escapes_and_shows():
    html = render("{{ text|visible }}", text="<b>\u202eexe\x00</b>")
    assert "<b>" not in html
    assert html.startswith("&lt;b&gt;")
    assert '<span class="hidden-char" title="right-to-left override">U+202E</span>exe' in html
    assert "\u202e" not in html
    assert "\x00" not in html


@pytest.mark.parametrize("value", [None, ""])
def test_visible_of_nothing_is_nothing(value):
    assert render("{{ text|visible }}", text=value) == ""


def test_a_size_has_its_exact_count_in_the_title():
    assert render("{{ n|filesize }}", n=9421) == '<data value="9421" title="9,421 bytes">9.4 KB</data>'


def test_a_path_from_an_agent_is_made_visible():
    assert "U+202E" in render("{{ p|pointer_dots }}", p="/a/\u202eb")
    long = "/reservations/EQ1G6C/payment_history"
    assert render("{{ p|pointer_dots:34 }}", p=long) == "…servations.EQ1G6C.payment_history"
    assert render("{{ p|pointer_dots:35 }}", p=long) == "reservations.EQ1G6C.payment_history"


@pytest.mark.parametrize("name", sorted(icons.NAMES))
def test_every_icon_draws_and_is_hidden_from_screen_readers(name):
    html = render("{% icon name %}", name=name)
    assert "<path" in html
    assert 'aria-hidden="true"' in html


def test_a_labelled_icon_has_escaped_words():
    assert render("{% icon 'close' label %}", label="<x>").endswith(
        '<span class="visually-hidden">&lt;x&gt;</span>'
    )


def test_an_unknown_icon_names_those_there_are():
    with pytest.raises(KeyError, match="freeze"):
        icons.svg("unicorn")
