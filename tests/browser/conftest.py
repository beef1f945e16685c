"""A real Chromium, and what is looked for on every page in it."""

import json
import os
from collections import defaultdict

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect, sync_playwright

from statebase_site.testing.runner import find_chromium

CHROMIUM = find_chromium()
FLAGS = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
STATUS_OF_AN_ANSWER = ("Failed to load resource", "Response Status Error Code")
# Nothing is noted of the thousands of nodes that pass, which takes half of the time.
ONLY_WHAT_IS_WRONG = {"resultTypes": ["violations"]}
SECONDS = 60  # Playwright's own five are too few where two suites share the machine
WIDTHS = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
LOOKS = {"desk": "dark", "phone": "light"}


@pytest.fixture(scope="module")
def chromium():
    if CHROMIUM is None:
        pytest.skip("There is no Chromium here: install Debian's package chromium.")
    # For no more than a file: Playwright's loop runs in the thread of the tests, where no other loop can run
    # meanwhile, and where Django would refuse a database.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        expect.set_options(timeout=SECONDS * 1000)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS + root)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def idle_windows():
    """Windows that no test looks at, by the options that a window has for life.

    A new one, with nothing cached, takes Chromium as long as five pages in one that is open.
    """
    return defaultdict(list)


@pytest.fixture
def browse(chromium, idle_windows, live_server):
    """Open a page in a window without cookies: `browse("/sign-in/", **options)`.

    The options are those of a browser's context; each call has a window of its own. Errors of scripts, and
    what the page's security policy refuses, fail the test. That an answer came with an error's status does
    not: the test asks for that.
    """
    taken, complaints = [], []

    def hear_error(error):
        complaints.append(str(error))

    def hear_message(message):
        if message.type == "error" and not message.text.startswith(STATUS_OF_AN_ANSWER):
            complaints.append(message.text)

    def open_page(
        path, *, viewport=WIDTHS["desk"], color_scheme="light", permissions=(), cookies=(), **lasting
    ):
        lasting = {"java_script_enabled": True} | lasting
        idle = idle_windows[tuple(lasting.items())]
        page = idle.pop() if idle else chromium.new_context(timezone_id="Europe/Berlin", **lasting).new_page()
        taken.append((page, idle))
        page.set_default_timeout(SECONDS * 1000)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.context.grant_permissions(list(permissions))
        page.context.add_cookies([{"url": live_server.url, **cookie} for cookie in cookies])
        page.on("pageerror", hear_error)
        page.on("console", hear_message)
        page.goto(live_server.url + path)
        return page

    yield open_page
    for page, idle in taken:
        page.unroute_all()
        # Of the same origin, for which Chromium needs no new process, and nothing there asks for news.
        page.route("**/left", lambda route: route.fulfill(content_type="text/html", body=""))
        page.goto(live_server.url + "/left")
        page.unroute_all()
        page.mouse.move(0, 0)
        page.remove_listener("pageerror", hear_error)
        page.remove_listener("console", hear_message)
        page.context.clear_cookies()
        page.context.clear_permissions()
        idle.append(page)
    assert complaints == []


@pytest.fixture
def browse_as(browse):
    """The same, signed in: `browse_as(user, "/sessions/", **options)`."""

    def open_page(user, path, **options):
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        return browse(path, cookies=[{"name": name, "value": client.cookies[name].value}], **options)

    return open_page


@pytest.fixture
def nothing_in_the_way():
    """Ask of a page that axe finds nothing and that it does not scroll sideways: `nothing_in_the_way(page)`.

    It is looked at on a desk in the dark and on a phone in the light, or only as `looks` say: each width and
    each theme once, because colours know no width.
    """

    def look(page, *looks):
        viewport = page.viewport_size
        page.evaluate(AXE_SCRIPT)
        for name in looks or LOOKS:
            page.set_viewport_size(WIDTHS[name])
            page.emulate_media(color_scheme=LOOKS[name])
            found = page.evaluate(f"axe.run({json.dumps(ONLY_WHAT_IS_WRONG)}).then((all) => all.violations)")
            assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == [], name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}: sideways"
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme="light")

    return look
