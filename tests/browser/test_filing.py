"""Filing, the list and the numbers in a real browser: by keyboard, on a phone, without a script."""

import re

import pytest
from playwright.sync_api import expect

from incidents_app.models import AffectedSession, Incident
from tests import factories
from tests.incidents_app import runbook

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def agent(project):
    return factories.agent(project)


@pytest.fixture
def trip(agent):
    return factories.session_with_versions(agent, 4, agent_id="travel-agent")


@pytest.fixture
def visit(browse_as, project):
    """`browse`, signed in."""

    def open_page(path, role="responder", **options):
        return browse_as(factories.membership(project, role, role).user, path, **options)

    return open_page


def test_from_a_session_to_a_filed_s1_with_the_keyboard_only(visit, trip, agent):
    page = visit(f"/sessions/{trip.public_id}/v/3")
    expect(page.locator("#incidents-of-session")).to_have_text("no incident")
    page.keyboard.press("i")
    title = page.get_by_label("Title")
    expect(title).to_be_focused()
    expect(title).to_have_value("travel-agent: wrong state at v3")
    page.wait_for_function("getSelection().toString() === 'travel-agent: wrong state at v3'")
    page.keyboard.type("2 bookings deleted")
    page.keyboard.press("Tab")
    page.keyboard.press("1")
    expect(page.get_by_label("Agent deleted or corrupted critical data")).to_be_checked()
    expect(page.locator("#consequence")).to_contain_text(
        "freezes every chosen session at once: 1 session now"
    )
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/incidents/INCIDENT-1/$"))
    expect(page.locator("#flashes")).to_contain_text("Filed INCIDENT-1 as S1. 1 session frozen.")
    incident = Incident.objects.get()
    assert (incident.title, incident.severity) == ("2 bookings deleted", "S1")
    assert AffectedSession.objects.get().suspect_version == 3
    assert factories.fresh(trip).is_frozen


def test_the_incident_stays_named_while_a_session_is_moved_through(visit, trip, project):
    runbook.file(factories.person(project, "responder", "lead"), trip, severity="S2")
    page = visit(f"/sessions/{trip.public_id}/v/3")
    named = page.locator("#incidents-of-session")
    expect(named).to_contain_text("INCIDENT-1")
    page.keyboard.press("k")
    expect(page.locator("#machine")).to_have_attribute("data-number", "2")
    expect(named).to_have_count(1)
    expect(named).to_contain_text("INCIDENT-1")
    page.keyboard.press("i")
    expect(page.get_by_label("Title")).to_have_value("travel-agent: wrong state at v2")


def test_sessions_are_counted_while_they_are_chosen_and_digits_in_the_title_stay_letters(visit, trip, agent):
    other = factories.session(agent, {"a": 1}, agent_id="other")
    page = visit(f"/incidents/file?session={trip.public_id}")
    page.get_by_label("Title").fill("")
    page.keyboard.type("1 2 3")
    expect(page.get_by_label("Title")).to_have_value("1 2 3")
    page.keyboard.press("Tab")
    page.keyboard.press("0")
    expect(page.get_by_label("Not sure: triage")).to_be_checked()
    page.keyboard.press("1")
    count = page.locator("[data-frozen-count]")
    expect(count).to_have_text("1 session")
    page.get_by_role("checkbox", name="other").check()
    expect(count).to_have_text("2 sessions")
    page.get_by_label("Other sessions, by id").fill(f"{other.public_id}, sess_x")
    expect(count).to_have_text("3 sessions")
    page.get_by_role("button", name="File incident").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was filed.")
    expect(page.locator(".errorlist")).to_contain_text("There is no session sess_x")
    expect(page.get_by_label("Other sessions, by id")).to_have_value("sess_x")
    expect(count).to_have_text("3 sessions")


def test_without_a_script_it_is_filed_all_the_same(visit, trip):
    page = visit(f"/sessions/{trip.public_id}/", java_script_enabled=False)
    page.get_by_role("link", name="incidents", exact=True).click()
    assert "No incident yet" in page.locator("#incidents").inner_text()
    page.go_back()
    page.get_by_role("link", name="Declare incident").click()
    page.get_by_label("Agent produced wrong financial or medical output").check()
    assert "freezes nothing yet" in page.locator(".consequence.s2").inner_text()
    page.get_by_label("Failure mode").select_option("state_drift")
    page.get_by_label("Title").press("Enter")
    assert page.url.endswith("/incidents/INCIDENT-1/")
    incident = Incident.objects.get()
    assert (incident.severity, incident.failure_mode) == ("S2", "state_drift")


def test_nothing_is_in_the_way_of_anyone(visit, live_server, trip, project, nothing_in_the_way):
    lead = factories.person(project, "responder", "lead")
    runbook.file(lead, trip, severity="S1", title="<b>Cancelled</b>\u202e " + "w" * 150)
    runbook.file(lead, trip, severity=None, title="Unjudged")
    page = visit("/")
    nothing_in_the_way(page)
    for path in (
        "/incidents/",
        "/incidents/numbers",
        f"/sessions/{trip.public_id}/turns",
        f"/incidents/file?session={trip.public_id}",
    ):
        page.goto(live_server.url + path)
        nothing_in_the_way(page)
    page.get_by_label("Agent deleted or corrupted critical data").check()
    page.get_by_label("Other sessions, by id").fill("sess_none")
    page.get_by_role("button", name="File incident").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was filed.")
    nothing_in_the_way(page)


def test_the_list_is_narrowed_in_place_and_by_name(visit, trip, project):
    lead = factories.person(project, "responder", "lead")
    runbook.file(lead, trip, severity="S1", title="Worst")
    runbook.file(lead, trip, severity=None, title="Unjudged")
    page = visit("/incidents/")
    rows = page.locator("#incidents tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_label("Status").select_option("triage")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("status=triage"))
    expect(page.get_by_role("link", name="Triage", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.locator("#live")).to_have_text("1 incident shown")
    page.get_by_role("link", name="Overdue reviews").click()
    expect(page.locator("#incidents")).to_contain_text("No review is overdue")
    page.go_back()
    expect(rows).to_have_count(1)
