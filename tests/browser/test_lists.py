"""Overview, sessions, traces and turns in a real browser: quick with a script, whole without one."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app import actions
from sessions_app.errors import SessionFrozen
from sessions_app.models import Memory
from statebase_site.web import listing
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "w" * 180


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def key(project):
    return factories.full_key(project)


@pytest.fixture
def trip(key):
    """A session with a rollback, turns, a tool call, a freeze, and a write that was refused."""
    made = factories.session(key, {"step": 0}, agent_id="travel-agent", user_id="user_4410")
    factories.turn(made, "Book a flight", "I will. " * 400, by=key, reasoning="As the user asked")
    factories.tool_call(made, "search", by=key, city="Oslo")
    factories.update(made, {"step": 1}, by=key, reasoning="Found two flights")
    factories.rollback(made, 0, by=key, reason="Wrong city")
    factories.freeze(made, by=key)
    with pytest.raises(SessionFrozen):
        factories.update(made, {"step": 2}, by=factories.asking(key, body={"reasoning": HOSTILE}))
    hostile = factories.session(key, agent_id=HOSTILE, user_id="y" * 250)
    for _ in range(3):
        hostile = actions.fork(session_id=hostile.public_id, by=key).agent_session
    memory = {"content": HOSTILE, "type": "t" * 250, "tags": ["x" * 200] * 9}
    for session_id in (hostile.public_id, None):
        actions.add_memory(**memory, session_id=session_id, by=key)
    return factories.fresh(made)


@pytest.fixture
def visit(browse_as, project):
    """`browse`, signed in."""

    def open_page(path, **options):
        return browse_as(factories.membership(project, "responder").user, path, **options)

    return open_page


def test_nothing_is_in_the_way_of_anyone(visit, live_server, trip, nothing_in_the_way):
    page = visit("/")
    nothing_in_the_way(page)
    session = f"/sessions/{trip.public_id}"
    trace = f"/traces/{trip.traces.filter(action='write.refused').get().public_id}/"
    memory = Memory.objects.exclude(agent_session=None).select_related("agent_session").get()
    for path in (
        "/sessions/",
        "/sessions/?metadata=wrong&status=bogus",
        "/sessions/?agent=nobody",
        "/traces/",
        f"{session}/traces",
        f"{session}/turns",
        f"{session}/memories",
        "/memories/",
        f"/memories/{memory.public_id}/",
        f"/sessions/{memory.agent_session.public_id}/lineage",
        trace,
    ):
        page.goto(live_server.url + path)
        nothing_in_the_way(page)


def test_an_empty_install_is_open_to_everyone_too(visit, live_server, nothing_in_the_way):
    page = visit("/")
    expect(page.locator("main")).to_contain_text("No session yet")
    nothing_in_the_way(page)
    page.goto(live_server.url + "/sessions/")
    nothing_in_the_way(page)


def test_filters_act_at_once_and_stay_in_the_address(visit, trip):
    page = visit("/sessions/")
    expect(page.locator("#sessions tbody tr")).to_have_count(5)
    page.get_by_label("Status").select_option("frozen")
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("status=frozen"))
    expect(page.locator("#live")).to_have_text("1 session shown")
    expect(page.get_by_role("link", name="Clear")).to_be_visible()
    page.get_by_label("Find", exact=True).fill("nothing is called so")
    page.keyboard.press("Enter")
    expect(page.locator("#sessions")).to_contain_text("No session matches these filters")
    page.go_back()
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page.get_by_label("Status")).to_have_value("frozen")
    page.reload()
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("#sessions tbody tr")).to_have_count(5)


def test_a_filter_that_cannot_be_understood_keeps_what_was_typed(visit, trip):
    page = visit("/sessions/")
    page.get_by_text("More filters").click()
    page.get_by_label("Agent").fill("travel-agent")
    page.get_by_label("Metadata").fill("gold")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Write it as key=value")
    expect(page.get_by_label("Agent")).to_have_value("travel-agent")
    page.get_by_label("Metadata").fill("")
    page.keyboard.press("Enter")
    expect(page.locator("#sessions tbody tr")).to_have_count(1)


def test_without_a_script_the_same_filters_and_pages_work(visit, key, monkeypatch):
    monkeypatch.setattr(listing, "ROWS_A_PAGE", 10)
    for _ in range(15):
        factories.session(key, agent_id="travel-agent")
    factories.session(key, agent_id="other")
    page = visit("/sessions/", java_script_enabled=False)
    page.get_by_label("Agent").fill("travel-agent")
    page.get_by_role("button", name="Show").click()
    assert page.locator("#sessions tbody tr").count() == 10
    page.get_by_role("link", name="Older").click()
    assert page.locator("#sessions tbody tr").count() == 5
    assert page.get_by_label("Agent").input_value() == "travel-agent"
    page.get_by_role("link", name="Newer").click()
    assert page.locator("#sessions tbody tr").count() == 10
    page.get_by_text("More filters").click()
    page.get_by_label("Rolled back").select_option("yes")
    page.get_by_role("button", name="Show").click()
    assert "No session matches these filters" in page.locator("#sessions").inner_text()


def test_pages_come_in_place_and_by_keyboard(visit, key, monkeypatch):
    monkeypatch.setattr(listing, "ROWS_A_PAGE", 10)
    for _ in range(15):
        factories.session(key)
    page = visit("/sessions/")
    page.get_by_role("link", name="Older").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#sessions tbody tr")).to_have_count(5)
    expect(page).to_have_url(re.compile("after=sess_"))
    page.get_by_role("link", name="Last activity").click()
    expect(page.locator("th[aria-sort=ascending], th[aria-sort=descending]")).to_contain_text("Last activity")
    expect(page.locator("#sessions tbody tr")).to_have_count(10)


def test_the_find_field_of_the_header_leads_to_the_table(visit, trip):
    page = visit("/")
    page.keyboard.press("/")
    page.keyboard.type("travel")
    page.keyboard.press("Enter")
    expect(page.locator("#sessions tbody tr")).to_have_count(1)


def test_traces_are_filtered_in_place_and_exported(visit, trip):
    page = visit("/traces/")
    page.get_by_label("Action").fill("state.rolled_back")
    page.keyboard.press("Enter")
    expect(page.locator("#traces tbody tr")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    text = download.value.path().read_text()
    assert "Wrong city" in text
    assert text.count("trace_") == 1
    page.locator("#traces tbody th a").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("state.rolled_back")
    page.get_by_role("link", name="Open v2").click()
    expect(page).to_have_url(re.compile(f"/sessions/{trip.public_id}/v/2"))


def test_the_overview_leads_to_what_needs_somebody(visit, trip):
    page = visit("/")
    page.get_by_role("link", name=re.compile("Frozen sessions")).click()
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    page.go_back()
    page.get_by_role("link", name="travel-agent v2").click()
    expect(page).to_have_url(re.compile(f"/sessions/{trip.public_id}/v/2"))


def test_a_long_turn_opens_on_demand(visit, trip):
    page = visit(f"/sessions/{trip.public_id}/turns")
    more = page.get_by_text("The other 2,000 characters")
    hidden = page.locator("details.more .wrap").first
    expect(hidden).to_be_hidden()
    more.focus()
    page.keyboard.press("Enter")
    expect(hidden).to_be_visible()
