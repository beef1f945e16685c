"""The time machine in a real browser: moved through by keys, links and slider; acted in; without script."""

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
def agent(project):
    return factories.agent(project)


@pytest.fixture
def trip(agent):
    """Versions 0 to 5, the last of which lost the trip."""
    made = factories.session(agent, {"step": "asking", "city": "Oslo"}, agent_id="travel-agent")
    flights = [{"id": f"f{number}", "price": number, "note": "x" * 40} for number in range(30)]
    for number, changes in enumerate(
        ({"flights": flights}, {"seat": "12A"}, {"paid": True}, {"step": "done"}), 1
    ):
        factories.update(made, changes, by=agent, reasoning=f"Because {number}")
    factories.turn(made, "All well?", "All is cancelled.", by=agent)
    factories.update(
        made, {"city": None, "seat": None, "step": "lost"}, by=agent, reasoning="As the user asked"
    )
    return factories.fresh(made)


@pytest.fixture
def visit(browse_as, project):
    """`browse`, signed in."""

    def open_page(path, **options):
        return browse_as(factories.membership(project, "responder").user, path, **options)

    return open_page


def at(page, version):
    """The page has come to a version: its state, its address and its title say so."""
    expect(page.locator("#machine")).to_have_attribute("data-number", str(version))
    expect(page.locator("#state-title")).to_have_text(f"State at v{version}")
    expect(page).to_have_title(re.compile(rf"^v{version} "))


def address(trip, version=None):
    return f"/sessions/{trip.public_id}/" + ("" if version is None else f"v/{version}")


def test_nothing_is_in_the_way_of_anyone(visit, trip, agent, nothing_in_the_way):
    factories.rollback(trip, 3, by=agent)
    actions.fork(session_id=trip.public_id, version=2, by=agent)
    factories.freeze(trip, by=agent)
    nothing_in_the_way(visit(address(trip, 5)))


@pytest.mark.journey
def test_an_engineer_finds_where_it_went_wrong_and_takes_it_back(visit, trip):
    page = visit(address(trip))
    at(page, 5)
    page.keyboard.press("n")
    expect(page.locator("#hunk-where")).to_have_text("1 of 3")
    page.keyboard.press("k")
    at(page, 4)
    expect(page.locator(".why")).to_contain_text("All is cancelled.")
    page.keyboard.press("r")
    expect(page.locator(".flash.success")).to_contain_text("Rolled back to v4: this is now v6")
    at(page, 6)
    expect(page.locator(".tree")).to_contain_text('"city": null "Oslo"')
    page.get_by_role("button", name="Undo").click()
    at(page, 7)
    assert factories.fresh(trip).head_version == 7


def test_keys_move_and_the_address_follows(visit, trip):
    page = visit(address(trip, 2))
    for key, version in (("j", 3), ("j", 4), ("k", 3), ("0", 0), ("J", 5), ("K", 0), ("$", 5)):
        page.keyboard.press(key)
        at(page, version)
        assert page.url.endswith(address(trip, version))
    page.keyboard.press(":")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    at(page, 2)


def test_keys_pressed_fast_add_up(visit, trip):
    page = visit(address(trip, 0))
    for _ in range(4):
        page.keyboard.press("j")
    at(page, 4)


def test_keys_do_nothing_while_somebody_types(visit, trip):
    page = visit(address(trip, 2))
    page.fill("#reason", "")
    page.type("#reason", "jjk0r")
    assert page.input_value("#reason") == "jjk0r"
    at(page, 2)
    assert factories.fresh(trip).head_version == 5


def test_back_and_forward_go_through_the_versions(visit, trip):
    page = visit(address(trip, 2))
    page.keyboard.press("j")
    at(page, 3)
    page.locator("#v1 a").click()
    at(page, 1)
    page.go_back()
    at(page, 3)
    page.go_back()
    at(page, 2)
    page.go_forward()
    at(page, 3)
    page.reload()
    at(page, 3)


def test_marks_of_the_rail_and_the_slider_lead_to_their_version(visit, trip):
    page = visit(address(trip))
    page.locator(".rail a[data-v='2'] .hit").click()
    at(page, 2)
    slider = page.locator("#slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    at(page, 3)
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=6)
    at(page, 0)  # it follows while the slider is still held
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2, steps=6)
    at(page, 5)
    page.mouse.up()
    at(page, 5)
    page.go_back()
    at(page, 3)


def test_what_is_opened_stays_open_and_a_typed_reason_stays_typed(visit, trip):
    page = visit(address(trip, 3))
    expect(page.locator(".tree")).not_to_contain_text('"f29"')
    page.get_by_role("link", name=re.compile("30 items")).click()
    expect(page.locator(".tree")).to_contain_text('"f29"')
    page.fill("#reason", "I have a reason")
    page.locator("#step-on").click()
    at(page, 4)
    expect(page.locator(".tree")).to_contain_text('"f29"')
    assert page.input_value("#reason") == "I have a reason"


def test_two_versions_are_chosen_for_comparison_with_one_key(visit, trip):
    page = visit(address(trip, 1))
    page.keyboard.press("c")
    expect(page.locator("[data-key=c]")).to_contain_text("v1 marked")
    page.keyboard.press("j")
    at(page, 2)
    assert page.locator("[data-key=c]").get_attribute("href").endswith("?left=1&right=2")


def test_play_goes_on_to_the_current_version_and_stops(visit, trip):
    page = visit(address(trip, 3))
    page.locator("[data-play='4']").click()
    at(page, 5)
    expect(page.locator("[data-play='4']")).to_have_attribute("aria-pressed", "false")


def test_what_is_new_is_told_and_nothing_moves(visit, trip, agent):
    page = visit(address(trip, 2))
    expected = page.locator(".roll-back [name=expected_version]")
    factories.update(trip, {"late": 1}, by=agent)
    factories.update(trip, {"late": 2}, by=agent)
    expect(page.locator("#new-versions")).to_contain_text("2 new")
    expect(page.locator("#v7")).to_be_visible()
    at(page, 2)
    assert expected.get_attribute("value") == "5"
    page.locator("#new-versions").click()
    at(page, 7)


def test_follow_shows_each_new_version(visit, trip, agent):
    page = visit(address(trip))
    page.get_by_role("switch", name="Follow").click()
    expect(page.locator("#follow")).to_have_text("Following")
    factories.update(trip, {"late": 1}, by=agent)
    expect(page.locator("#machine")).to_have_attribute("data-number", "6")
    factories.update(trip, {"late": 2}, by=agent)
    expect(page.locator("#machine")).to_have_attribute("data-number", "7")


def test_freeze_is_two_keys_and_its_undo_one_click(visit, trip):
    page = visit(address(trip))
    page.keyboard.press("z")
    expect(page.get_by_role("button", name="Freeze")).to_have_text("Freeze Enter")  # what it waits for
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Freeze")).to_have_text("Freeze z")
    assert not factories.fresh(trip).is_frozen
    page.keyboard.press("z")
    page.keyboard.press("Enter")
    expect(page.locator(".banner.frozen")).to_contain_text("Frozen since")
    assert factories.fresh(trip).is_frozen
    page.get_by_role("button", name="Undo freeze").click()
    expect(page.locator(".banner.frozen")).to_have_count(0)
    assert not factories.fresh(trip).is_frozen


def test_one_key_forks_and_opens_the_fork(visit, trip):
    page = visit(address(trip, 3))
    page.keyboard.press("f")
    expect(page.locator(".flash.success")).to_contain_text("Forked from v3")
    expect(page.locator(".facts")).to_contain_text("diff to parent")


def test_a_double_click_rolls_back_once(visit, trip):
    page = visit(address(trip, 3))
    page.locator(".roll-back .rollback").dblclick()
    expect(page.locator(".flash.success")).to_contain_text("Rolled back to v3")
    assert factories.fresh(trip).head_version == 6


def test_a_stale_page_keeps_what_was_typed(visit, trip, agent):
    page = visit(address(trip, 3))
    page.fill("#reason", "Because I said so")
    factories.update(trip, {"late": 1}, by=agent)
    page.locator(".roll-back .rollback").click()
    expect(page.locator("#moved-title")).to_contain_text("moved on from v5 to v6")
    assert page.get_by_label("Reason").input_value() == "Because I said so"
    page.get_by_role("button", name="Roll back to v3").click()
    expect(page.locator(".flash.success")).to_contain_text("Rolled back to v3: this is now v7")


def test_lines_are_walked_with_arrows_and_their_values_copied(visit, trip):
    page = visit(address(trip, 1))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#tree").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".tree-line.at")).to_contain_text('"flights"')
    page.keyboard.press("Y")
    assert page.evaluate("navigator.clipboard.readText()") == "flights"
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tree")).to_contain_text('"f29"')


def test_the_whole_state_can_be_copied_to_the_byte(visit, trip):
    page = visit(address(trip, 0))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".state .menu summary").click()
    page.get_by_role("button", name="Whole state").click()
    expect(page.locator("#live")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == '{"step":"asking","city":"Oslo"}'


def test_hostile_text_stays_text_and_the_layout_holds(visit, agent):
    state = {"<img src=x onerror=document.title='owned'>": "A" * 1_000_000, "k" * 400: "\u202eabc"}
    made = factories.session(agent, state, agent_id="<script>document.title='owned'</script>" + "w" * 100)
    factories.update(made, {"x": 1}, by=agent, reasoning="R" * 5000)
    page = visit(address(made), viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not page.title().startswith("owned")


def test_all_of_it_works_without_script(visit, trip):
    page = visit(address(trip, 2), java_script_enabled=False)
    page.locator("#step-on").click()
    expect(page.locator("#state-title")).to_have_text("State at v3")
    page.locator("#slider").focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator("#state-title")).to_have_text("State at v2")
    page.get_by_role("link", name=re.compile("30 items")).click()
    expect(page.locator(".tree")).to_contain_text('"f29"')
    page.get_by_role("switch", name="Diff only").click()
    expect(page.locator(".tree")).to_contain_text("unchanged keys")
    page.get_by_role("button", name="Roll back").first.click()
    expect(page.locator(".flash.success")).to_contain_text("Rolled back to v2: this is now v6")
    page.get_by_role("button", name="Freeze").click()
    expect(page.locator(".banner.frozen")).to_be_visible()
    page.get_by_role("link", name="Resume…").click()
    page.get_by_label("Why may it go on?").fill("All is well")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator(".banner.frozen")).to_have_count(0)
    assert factories.fresh(trip).head_version == 8
