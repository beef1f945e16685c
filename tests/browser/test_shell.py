"""What every page shares, in a real browser: themes, times, keys, accessibility, and nothing inline."""

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browse):
    """Open a page that needs no sign-in: a missing one."""
    return lambda **options: browse("/nothing-here/", **options)


def test_nothing_is_in_the_way_of_anyone(visit, nothing_in_the_way):
    page = visit()
    page.locator(".tools summary").click()
    nothing_in_the_way(page)


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
