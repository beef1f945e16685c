"""Moments are written as the viewer set it, and what a cookie says is never trusted."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import RequestFactory

from statebase_site.web.times import ViewerTimes, relative, utc_text

pytestmark = pytest.mark.once

MOMENT = datetime(2026, 11, 29, 9, 12, 3, 123456, tzinfo=UTC)
NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)


def viewer(**cookies):
    request = RequestFactory().get("/")
    request.COOKIES.update(cookies)
    return ViewerTimes.of(request)


def test_without_a_setting_times_are_utc():
    assert viewer().text(MOMENT, now=NOW) == "29 Nov 09:12:03"
    assert ViewerTimes.of(None).zone_name == "UTC"


def test_local_times_are_in_the_zone_of_the_browser():
    times = viewer(times="local", tz="Europe/Berlin")
    assert times.text(MOMENT, now=NOW) == "29 Nov 10:12:03"
    assert times.text(MOMENT, "full") == "29 Nov 2026 10:12:03.123 CET"
    assert times.iso(MOMENT) == "2026-11-29T10:12:03.123456+01:00"


@pytest.mark.parametrize(
    ("style", "words"),
    [("clock", "09:12:03"), ("date", "29 Nov 2026"), ("full", "29 Nov 2026 09:12:03.123 UTC")],
)
def test_styles(style, words):
    assert viewer().text(MOMENT, style, now=NOW) == words


def test_another_year_is_named():
    assert viewer().text(MOMENT, now=datetime(2027, 1, 2, tzinfo=UTC)) == "29 Nov 2026 09:12:03"


def test_relative_mode_leaves_the_full_moment_exact():
    times = viewer(times="relative", tz="Europe/Berlin")
    assert times.text(MOMENT, "clock", now=NOW) == "47 min ago"
    assert times.text(MOMENT, "full", now=NOW) == "29 Nov 2026 09:12:03.123 UTC"
    assert times.iso(MOMENT) == "2026-11-29T09:12:03.123456Z"


@pytest.mark.parametrize(
    "zone",
    [
        "../../etc/passwd",
        "/etc/localtime",
        "Nowhere/Town",
        "Europe",
        "x" * 5000,
        "",
        "Europe/Berlin\n",
        "\x00",
        "posixrules/",
    ],
)
def test_a_zone_that_is_none_gives_utc(zone):
    assert viewer(times="local", tz=zone).text(MOMENT, now=NOW) == "29 Nov 09:12:03"


def test_an_unknown_mode_gives_utc():
    assert viewer(times="martian", tz="Europe/Berlin").text(MOMENT, now=NOW) == "29 Nov 09:12:03"


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=4), "just now"),
        (timedelta(seconds=59.9), "59 s ago"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=29), "29 d ago"),
        (timedelta(days=30), "30 Oct 2026"),
        (timedelta(minutes=-5), "in 5 min"),
    ],
)
def test_relative_words(before, words):
    assert relative(NOW - before, NOW) == words


def test_the_title_is_the_exact_utc_moment():
    assert utc_text(MOMENT) == "2026-11-29 09:12:03.123456 UTC"
