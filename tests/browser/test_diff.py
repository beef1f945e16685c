"""Two versions compared in a real browser: from change to change, opened, copied, and without a script."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app import actions
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def trip(project):
    """Version 1 differs from version 0 in every way."""
    agent = factories.agent(project)
    kept = {f"kept_{number}": number for number in range(14)}
    before = {
        **kept,
        "price": 100,
        "gone": {"a": [1, 2], "b": "x" * 400},
        "items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}],
        "note": "The quick brown fox jumps over the lazy dog.",
    }
    after = {
        **kept,
        "price": "100",
        "items": [{"id": "b", "n": 2}, {"id": "a", "n": 3}],
        "note": "The quick brown fox jumps over the lazy <img src=x>.",
        "new": {"deep": {"er": [True]}},
    }
    made = factories.session(agent, before, agent_id="travel-agent")
    actions.update_state(session_id=made.public_id, changes=after, mode=actions.REPLACE, by=agent)
    factories.update(made, {"seat": "12A"}, by=agent, reasoning="Chose a seat")
    return factories.fresh(made)


@pytest.fixture
def visit(browse_as, project, trip):
    """A comparison of the trip, signed in."""

    def open_page(query, **options):
        return browse_as(
            factories.membership(project, "viewer").user, f"/sessions/{trip.public_id}/diff{query}", **options
        )

    return open_page


def test_nothing_is_in_the_way_of_anyone(visit, nothing_in_the_way):
    page = visit("?left=0&right=1")
    nothing_in_the_way(page)
    for shape in ("Side by side", "Text", "JSON Patch"):
        page.get_by_role("link", name=shape).click()
        expect(page.locator("[aria-current=true]")).to_have_text(shape)
        nothing_in_the_way(page)
    for query in ("?left=1&right=1", "?left=wrong"):
        page.goto(page.url.partition("?")[0] + query)
        nothing_in_the_way(page)


@pytest.mark.parametrize("shape", ["inline", "side", "text"])
def test_n_and_p_go_from_change_to_change(visit, shape):
    page = visit(f"?left=0&right=1&as={shape}")
    where = page.locator("#hunk-where")
    total = int(re.match(r"\d+", where.inner_text()).group())
    assert total > 1 or shape == "text"
    page.keyboard.press("n")
    expect(where).to_have_text(f"1 of {total}")
    page.keyboard.press("p")
    expect(where).to_have_text(f"{total} of {total}")
    expect(page.locator("#live")).to_contain_text(f"Change {total} of {total}")
    page.get_by_role("button", name="Next change").click()
    expect(where).to_have_text(f"1 of {total}")


def test_a_change_is_copied_by_button_and_key(visit):
    page = visit("?left=0&right=1", permissions=["clipboard-read", "clipboard-write"])
    pasted = "navigator.clipboard.readText()"
    line = page.locator("[data-new='/price']")
    line.hover()
    line.get_by_role("button", name="Old").click()
    expect(page.locator("#live")).to_have_text("Copied")
    assert page.evaluate(pasted) == "100"
    line.get_by_role("button", name="New").click()
    page.wait_for_function(f"{pasted}.then((text) => text === '\"100\"')")
    line.get_by_role("button", name="Path").click()
    page.wait_for_function(f"{pasted}.then((text) => text === '/price')")
    page.locator("[data-old='/gone']").hover()
    expect(page.locator("[data-old='/gone'] [data-take=new]")).to_have_count(0)
    page.keyboard.press("n")
    page.keyboard.press("o")
    page.wait_for_function(f"{pasted}.then((text) => text === '100')")


def test_what_is_unchanged_opens_in_place_and_back_folds_it(visit):
    page = visit("?left=0&right=1")
    tree = page.locator("#lines")
    expect(tree).not_to_contain_text("kept_3")
    tree.get_by_role("link", name="14 unchanged keys").click()
    expect(tree).to_contain_text("kept_3")
    expect(page).to_have_url(re.compile("open="))
    assert page.evaluate("document.activeElement.id") == "lines"
    page.keyboard.press("n")
    expect(page.locator("#hunk-where")).to_contain_text("1 of")
    page.go_back()
    expect(page.locator("#lines")).not_to_contain_text("kept_3")


def test_the_way_of_showing_is_remembered(visit, trip):
    page = visit("?left=0&right=1")
    page.get_by_role("link", name="Side by side").click()
    expect(page.locator("table.columns")).to_be_visible()
    page.goto(page.url.partition("?")[0])
    expect(page.locator("table.columns")).to_be_visible()


def test_keys_move_both_sides_and_swap_them(visit):
    page = visit("?left=0&right=1")
    page.keyboard.press("j")
    expect(page).to_have_title(re.compile("^v1 → v2"))
    page.keyboard.press("s")
    expect(page).to_have_title(re.compile("^v2 → v1"))
    page.keyboard.press("s")
    page.wait_for_url(re.compile("left=1&right=2"))
    page.keyboard.press("k")
    expect(page).to_have_title(re.compile("^v0 → v1"))


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_any_two_versions_are_chosen_and_the_wrong_ones_kept(visit, java_script_enabled):
    page = visit("", java_script_enabled=java_script_enabled)
    expect(page).to_have_title(re.compile("^v1 → v2"))
    page.get_by_label("Left, before").fill("first")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".errorlist")).to_contain_text("names no version")
    expect(page.get_by_label("Left, before")).to_have_value("first")
    page.get_by_label("Left, before").fill("0")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_title(re.compile("^v0 → v2"))
    page.get_by_role("link", name="14 unchanged keys").click()
    expect(page.locator("#lines")).to_contain_text("kept_3")
    page.get_by_role("link", name="Text").click()
    expect(page.locator("#lines")).to_contain_text('+  "seat": "12A"')


def test_the_patch_is_copied_and_downloaded_whole(visit):
    page = visit("?left=1&right=2&as=patch", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#live")).to_have_text("Copied")
    wanted = '[\n  {"op":"add","path":"/seat","value":"12A"}\n]\n'
    assert page.evaluate("navigator.clipboard.readText()") == wanted
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text() == wanted
    assert download.value.suggested_filename.endswith("-v1-v2.patch.json")


def test_the_tab_of_the_session_leads_here(visit, trip, live_server):
    page = visit("")
    page.goto(f"{live_server.url}/sessions/{trip.public_id}/turns")
    page.get_by_role("link", name="Compare").click()
    expect(page.locator("#diff")).to_contain_text('"seat": "12A"')
