"""The recovery runbook in a real browser, from filing to closing: by keyboard alone, and by touch alone."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from incidents_app import actions
from incidents_app.enums import StepState
from incidents_app.models import Incident, Scenario
from sessions_app import actions as sessions
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TO_FILE = 4
"""Presses from a version that looks wrong to a filed S1; a person who is under ten seconds needs no more."""


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def agent(project):
    return factories.agent(project)


@pytest.fixture
def people(project):
    """Who leads, and who approves."""
    return [factories.person(project, "responder", "maria"), factories.person(project, "admin", "jon")]


@pytest.fixture
def trip(agent):
    """Good at v1, wrong since v2, after a call of a tool that nobody can take back."""
    made = factories.session(agent, {"destination": "Lisbon", "booked": True}, agent_id="travel-agent")
    factories.update(made, {"hotel": "Mundial"}, by=agent, reasoning="Hotel chosen")
    factories.tool_call(made, "cancel_booking", by=agent, id="UA123")
    wrong = {"destination": None, "booked": False}
    factories.update(made, wrong, by=agent, reasoning="All is cancelled")
    return factories.update(made, {"attempts": 1}, by=agent, reasoning="Tried again").agent_session


@pytest.fixture
def visit(browse_as, people, django_user_model):
    """`browse`, signed in as one of the people."""

    def open_page(path, name="maria", **options):
        return browse_as(django_user_model.objects.get(username=name), path, **options)

    return open_page


def seen(page, *, said="", status="", comes_next=""):
    """What a person sees without scrolling: what was done, where it stands, and what comes next."""
    if said:
        expect(page.locator("#flashes")).to_contain_text(said)
        expect(page.locator("#flashes")).to_be_in_viewport()
    if status:
        expect(page.locator(".facts .status")).to_have_text(status)
    if comes_next:
        expect(page.locator("#next-title")).to_contain_text(comes_next)
        expect(page.locator("#next-title")).to_be_in_viewport()


def run_by(agent, version, *, changes=None):
    """The agent picks up the run that waits, acts, and reports it, as the API lets it."""
    run = Scenario.objects.get().runs.get(outcome=None)
    if changes:
        sessions.update_state(session_id=run.session_id, changes=changes, by=agent)
    report = {"scenario_id": run.scenario.public_id, "session_id": run.session_id, "by": agent}
    actions.report_run(agent_version=version, **report)


def all_is_done(trip):
    """What the pages said is so."""
    incident = Incident.objects.get()
    assert incident.status == "closed"
    assert set(runbook.steps(incident, trip).values()) == {StepState.DONE}
    row = runbook.row_of(incident, trip)
    assert (row.divergence_version, row.last_good_version, row.rolled_back_to) == (2, 1, 1)
    assert row.effects.get().disposition == "compensated"
    runs = Scenario.objects.get().runs.order_by("pk")
    assert [(run.agent_version, run.outcome) for run in runs] == [
        ("travel@2.8.1", "red"),
        ("travel@2.8.2", "green"),
    ]
    episode = incident.episodes.get()
    assert (episode.checkpoint_after, episode.lessons) == (1, "Ask before cancelling.")
    assert episode.approved_by == "user:jon"
    assert incident.failure_mode == "state_drift"
    assert row.resume_version is not None
    assert not factories.fresh(trip).is_frozen
    assert factories.fresh(trip).open_holds == 0
    return incident


@pytest.mark.journey
def test_from_filing_to_closing_with_the_keyboard_only(visit, trip, agent, nothing_in_the_way, monkeypatch):
    page = visit(f"/sessions/{trip.public_id}/", **DESK)
    pressed = []

    def press(*keys, at=page):
        for key in keys:
            pressed.append(key)
            at.keyboard.press(key)

    def leads(*keys, at=page):
        """The last of the keys leads to another page."""
        press(*keys[:-1], at=at)
        with at.expect_event("load"):
            press(keys[-1], at=at)

    def type_in(text):
        page.keyboard.type(text)

    press("k")
    expect(page.locator("#machine")).to_have_attribute("data-number", "2")
    pressed.clear()
    leads("i")
    expect(page.get_by_label("Title")).to_have_value("travel-agent: wrong state at v2")
    leads("Tab", "1", "Control+Enter")
    assert len(pressed) <= TO_FILE
    seen(
        page, said="Filed INCIDENT-1 as S1. 1 session frozen.", status="Contained", comes_next="pin v2 and v3"
    )
    nothing_in_the_way(page, "desk")

    leads("Enter")
    seen(page, said="Pinned", comes_next="find the divergence")
    leads("Enter")
    press("k", "g", "j", "d")
    expect(page.locator("#chosen")).to_have_text("Last good v1, divergence v2")
    leads("Enter")
    seen(page, said="Divergence v2, last good v1.", comes_next="back to v1")
    leads("Enter")
    expect(page.locator(".rehearsal")).to_contain_text("from v4 back to v1")
    expect(page.locator("#between #diff")).to_contain_text('"Lisbon"')
    leads("r")
    seen(page, said="Rolled back; the session stays frozen", status="Recovered", comes_next="decide 1 effect")

    press("Enter")
    expect(page.get_by_label("Note about cancel_booking")).to_be_focused()
    type_in("Rebooked as UA124")
    press("Tab", "Tab")
    expect(page.get_by_role("button", name="Compensated")).to_be_focused()
    leads("Enter")
    seen(page, said="Recorded.", comes_next="answer what enabled the failure")

    leads("Enter")
    press("Space", *["Tab", "ArrowRight"] * 3, "Tab")
    type_in("Nothing was kept before the call.")
    leads("Control+Enter")
    seen(page, said="The answers are kept.", comes_next="add a follow-up")
    leads("Enter")
    type_in("Checkpoint before cancel_booking")
    leads("Control+Enter")
    seen(page, said="The follow-up is added.", comes_next="make a failure-injection scenario")
    leads("Enter")
    type_in("Cancels again")
    press(*["Tab"] * 5)
    type_in('{"destination": null}')
    press("Tab", "Tab")
    type_in("destination != null")
    leads("Tab", "Enter")
    expect(page.locator(".tried")).to_contain_text("It tells them apart.")
    leads("Control+Enter")
    seen(page, said="The scenario is made.", comes_next="see the scenario fail, then pass")
    run_by(agent, "travel@2.8.1")
    expect(page.locator("#newer")).to_contain_text("new")
    leads("u")
    expect(page.locator("#scenarios")).to_contain_text("✕ red travel@2.8.1")
    press("Enter")
    expect(page.get_by_role("button", name="Ask for a run")).to_be_focused()
    leads("Enter")
    run_by(agent, "travel@2.8.2", changes={"destination": "Lisbon"})
    page.reload()
    expect(page.locator("#scenarios")).to_contain_text("✓ green travel@2.8.2")
    seen(page, comes_next=f"resume {trip.public_id}")
    leads("Enter")
    type_in("Patched, and tested")
    leads("Control+Enter")
    seen(page, said="Resumed: the agent may write again.", comes_next="resolve it")
    leads("Enter")
    seen(page, said="Resolved. The review is next.", status="Resolved", comes_next="write the review")

    leads("Enter")
    press("ArrowDown", "ArrowDown", "Tab")
    type_in("Ask before cancelling.")
    press("Tab", "ArrowDown", "Tab", "m")
    expect(page.get_by_label("v1: missing after this")).to_be_checked()
    leads("Enter")
    seen(page, said="The review is saved.", comes_next="have the review approved")
    jon = visit(page.url.split(page.url.split("/")[2])[1], name="jon", **DESK)
    leads("Enter", at=jon)
    seen(jon, said="The review is approved.", comes_next="give follow-up 1")

    page.reload()
    press("Enter")
    expect(page.locator("#follow-ups").get_by_role("button", name="Done")).to_be_focused()
    leads("Enter")
    seen(page, said="The follow-up is done.", comes_next="watch the sessions that go on")
    today = clock.now
    monkeypatch.setattr(clock, "now", lambda: today() + timedelta(hours=25))
    page.reload()
    seen(page, comes_next="close it")
    leads("Enter")
    seen(page, said="Closed.", status="Closed")
    nothing_in_the_way(page, "desk")
    incident = all_is_done(trip)
    assert incident.severity == "S1"


def test_from_filing_to_closing_on_a_phone_by_touch(visit, trip, agent, nothing_in_the_way):
    page = visit(f"/sessions/{trip.public_id}/v/2", **PHONE)

    def tap(what, within="main", at=page):
        """Tap a button or link that leads to another page."""
        control = at.locator(within).locator("a, button, summary").filter(has_text=what).first
        with at.expect_event("load"):
            control.tap()

    def choose(label, at=page):
        at.get_by_label(label, exact=False).first.tap()

    tap("Declare incident")
    choose("Agent produced wrong financial or medical output")
    tap("File incident")
    seen(page, said="Filed INCIDENT-1 as S2.", status="Open", comes_next="freeze")
    nothing_in_the_way(page, "phone")
    tap("Freeze", within=".next")
    seen(page, said="Frozen", status="Contained", comes_next="pin v2 and v3")
    tap("Pin v2", within=".next")
    tap("Find the divergence", within=".next")
    choose("v2: divergence")
    expect(page.locator("#chosen")).to_have_text("Last good v1, divergence v2")
    tap("Record")
    tap("Roll back", within=".next")
    tap("Roll back to v1")
    seen(page, said="Rolled back", status="Recovered", comes_next="decide 1 effect")
    page.locator(".next [data-next]").tap()
    expect(page.get_by_label("Note about cancel_booking")).to_be_in_viewport()
    tap("Compensated", within="#effects")
    tap("Answer", within=".next")
    for question, answer in zip(range(4), ["Yes", "No", "No", "No"], strict=True):
        page.locator("main fieldset").nth(question).get_by_label(answer, exact=True).tap()
    page.get_by_role("textbox", name="What enabled the failure").fill("Nothing was kept before the call.")
    tap("Save the answers")
    tap("Add a follow-up", within=".next")
    page.get_by_role("textbox", name="What has to be done").fill("Checkpoint before cancel_booking")
    tap("Add the follow-up")
    tap("Make a scenario", within=".next")
    page.get_by_role("textbox", name="Name").fill("Cancels again")
    page.get_by_role("textbox", name="Patch of the state").fill('{"destination": null}')
    page.get_by_role("textbox", name="What must hold").fill("destination != null")
    tap("Make the scenario")
    page.locator(".next [data-next]").tap()
    tap("Report how it ended", within="#scenarios")
    page.get_by_role("textbox", name="Version of the agent").fill("travel@2.8.1")
    tap("Judge the run")
    seen(page, said="Red: what must hold does not")
    tap("Ask for a run", within="#scenarios")
    run_by(agent, "travel@2.8.2", changes={"destination": "Lisbon"})
    page.reload()
    tap("Resume", within=".next")
    tap("Resume", within="form")
    seen(page, said="Resumed", comes_next="resolve it")
    tap("Resolve", within=".next")
    tap("Write the review", within=".next")
    choose("State drift")
    page.get_by_role("textbox", name="Lessons").fill("Ask before cancelling.")
    page.get_by_label("Scenario for the failure-injection tests").select_option("Cancels again")
    choose("v1: missing after this")
    tap("Save the review", within=".below-picker")
    seen(page, said="The review is saved.", status="Resolved", comes_next="have the review approved")

    jon = visit("/incidents/INCIDENT-1/", name="jon", **PHONE)
    tap("Approve the review", within=".next", at=jon)
    tap("Done", within="#follow-ups", at=jon)
    seen(jon, said="The follow-up is done.", comes_next="watch the sessions that go on")
    tap("Override one", at=jon)
    jon.get_by_role("textbox", name="Reason").fill("Watched by hand")
    tap("Override", within="form", at=jon)
    page.reload()
    tap("Close", within=".next")
    seen(page, said="Closed.", status="Closed")
    nothing_in_the_way(page, "phone")
    incident = all_is_done(trip)
    assert incident.severity == "S2"
