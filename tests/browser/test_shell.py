"""What every page shares, in a real browser: themes, times, keys, accessibility, and nothing inline."""

import os
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
WIDTHS = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def chromium():
    if CHROMIUM is None:
        pytest.skip("There is no Chromium here: install Debian's package chromium.")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop runs in the thread of the tests, where Django would refuse a database.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS + root)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, live_server):
    """Open a page that needs no sign-in (a missing one) in a browser of its own; complaints fail the test."""
    contexts, complaints = [], []

    def open_page(**options):
        context = chromium.new_context(timezone_id="Europe/Berlin", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if "404" not in message.text else None
        )
        page.goto(f"{live_server.url}/nothing-here/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_in_the_way_of_anyone(visit, theme, width):
    page = visit(color_scheme=theme, viewport=WIDTHS[width])
    page.locator(".tools summary").click()
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_tab_skips_to_the_content(visit):
    page = visit()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_theme_is_taken_at_once_and_kept(visit):
    page = visit(color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator(".tools summary").click()
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    assert (
        page.get_by_role("button", name="Dark", include_hidden=True).get_attribute("aria-pressed") == "true"
    )


def test_local_times_are_in_the_zone_of_the_browser(visit):
    page = visit()
    page.locator(".tools summary").click()
    page.get_by_role("button", name="Local").click()
    page.get_by_text("times in Europe/Berlin").wait_for()


def test_themes_and_times_work_without_javascript(visit):
    page = visit(java_script_enabled=False)
    page.locator(".tools summary").click()
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.url.endswith("/nothing-here/")


def test_a_second_click_does_not_send_a_form_twice(visit):
    page = visit()
    sent = []
    page.route("**/preferences/", lambda route: sent.append(route))  # no answer comes for now
    page.evaluate(
        """async () => {
            const button = document.querySelector('[data-preferences] [value="relative"]');
            for (let clicks = 0; clicks < 4; clicks += 1) {
                button.click();
                await new Promise((then) => setTimeout(then, 60));
            }
        }"""
    )
    assert len(sent) == 1
    sent[0].continue_()
    page.get_by_text("times in relative form").wait_for()


def test_the_sheet_of_keys_is_made_from_the_table(visit):
    page = visit()
    page.evaluate(
        """async () => {
            const { register } = await import("/static/js/keys.js");
            window.pressed = [];
            register("j", "Next version", () => pressed.push("j"), { scope: "Timeline" });
            register("z Enter", "Freeze", () => pressed.push("z"), { scope: "Acting" });
        }"""
    )
    page.keyboard.press("?")
    sheet = page.locator("#keys-list")
    assert sheet.get_by_text("Next version").is_visible()
    assert sheet.get_by_text("Freeze").is_visible()
    page.keyboard.press("j")  # the sheet is open: keys rest
    page.keyboard.press("Escape")
    for key in ("j", "z", "Enter", "Control+j", "Alt+j", "J", "z", "j", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("pressed") == ["j", "z"]


def test_keys_are_letters_where_text_is_typed(visit):
    page = visit()
    page.evaluate(
        """() => {
            const field = document.createElement("input");
            field.id = "typed";
            document.getElementById("main").append(field);
            field.focus();
        }"""
    )
    page.keyboard.type("what?")
    assert page.input_value("#typed") == "what?"
    assert not page.locator("#keys-sheet").is_visible()


def test_what_could_not_be_done_is_said_in_words(visit):
    page = visit()
    page.evaluate("htmx.ajax('POST', '/still-nothing/', { target: '#live' })")
    page.locator(".flash.error").wait_for()
    assert "Reload the page" in page.locator(".flash.error").inner_text()
