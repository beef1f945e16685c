"""The incident page in a real browser: pressed by keys, watched while open, and whole without a script."""

import re

import pytest
from playwright.sync_api import expect

from incidents_app import actions
from sessions_app import actions as sessions
from tests import factories
from tests.incidents_app import runbook

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "w" * 120


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def agent(project):
    return factories.agent(project)


@pytest.fixture
def maria(project):
    return factories.person(project, "responder", "maria")


@pytest.fixture
def session(agent):
    return runbook.damaged(agent, agent_id="travel-agent", user_id="user_4410")


@pytest.fixture
def incident(project, agent, maria, session):
    """An S1 of two sessions: one was rolled back, then resumed outside and forked; the other is frozen."""
    other = runbook.damaged(agent, agent_id=HOSTILE, user_id=HOSTILE)
    made = runbook.file(maria, session, other, severity="S1", title=HOSTILE[:150], summary=HOSTILE * 3)
    runbook.recovered(made, session, maria)
    sessions.fork(session_id=session.public_id, version=2, by=agent)
    actions.add_note(reference=made.reference, text=HOSTILE, by=maria)
    actions.add_follow_up(reference=made.reference, text=HOSTILE, blocks=True, by=maria)
    actions.answer_causes(reference=made.reference, text=HOSTILE, no_validation=True, by=maria)
    runbook.proven(made, session, maria)
    jon = factories.person(project, "admin", "jon")
    sessions.resume(session_id=session.public_id, reason="The customer waits", by=jon)
    made.refresh_from_db()
    return made


@pytest.fixture
def visit(browse_as, django_user_model):
    """`browse`, signed in as somebody who is a member."""

    def open_page(path, name="maria", **options):
        return browse_as(django_user_model.objects.get(username=name), path, **options)

    return open_page


def test_nothing_is_in_the_way_of_anyone(visit, incident, nothing_in_the_way):
    page = visit(incident.get_absolute_url())
    page.get_by_text("The severity matrix").click()
    nothing_in_the_way(page)
    names = page.locator(".matrix tbody tr").first.locator(".step-name")
    expect(names.first).to_be_hidden()
    # On a phone a card for each session: the six steps below each other, each with its name.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(names).to_have_text(["Stop", "Reconstruct", "Divergence", "Roll back", "Prevent", "Resume"])
    places = [names.nth(n).bounding_box() for n in range(6)]
    assert len({place["x"] for place in places}) == 1
    assert [place["y"] for place in places] == sorted(place["y"] for place in places)


def test_keys_do_what_the_sheet_says(visit, incident, session):
    page = visit(incident.get_absolute_url())
    page.keyboard.press("?")
    sheet = page.locator("#keys-sheet")
    for words in ("Do what comes next", "Write a note", "Change the severity", "Exempt the session"):
        expect(sheet).to_contain_text(words)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("Seen")
    expect(page.locator("#note-text")).to_have_value("Seen")
    page.locator("h1").click()
    # What has the focus takes Enter for itself.
    page.get_by_role("link", name="Evidence", exact=True).first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("events=evidence"))
    assert not factories.fresh(session).is_frozen
    page.goto(page.url.split("?")[0])
    expect(page.locator("#next-title")).to_contain_text(f"freeze {session.public_id} again")
    page.keyboard.press("Enter")
    expect(page.locator("#next-title")).not_to_contain_text("freeze")
    assert factories.fresh(session).is_frozen
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile("/severity$"))


def test_news_is_told_and_what_is_read_stays_where_it_is(visit, incident, maria):
    page = visit(incident.get_absolute_url())
    page.locator("#timeline").scroll_into_view_if_needed()
    row = page.locator(".event").first
    place, said = row.bounding_box(), row.text_content()
    clock = page.locator(".clock").text_content()
    actions.add_note(reference=incident.reference, text="The airline called", by=maria)
    expect(page.locator("#newer")).to_contain_text("1 new")
    assert (row.bounding_box(), row.text_content()) == (place, said)
    expect(page.locator("#live")).to_contain_text("1 new")
    expect(page.locator(".clock")).not_to_have_text(clock)
    page.locator("#newer a").click()
    expect(page.locator(".event").first).to_contain_text("The airline called")
    expect(page.locator("#newer")).to_be_empty()


def test_without_a_script_everything_is_pressed_as_well(visit, incident, session):
    page = visit(incident.get_absolute_url(), java_script_enabled=False)
    page.get_by_role("button", name="Freeze again", exact=True).click()
    assert factories.fresh(session).is_frozen
    page.locator("#effects").get_by_role("button", name="Compensated").first.click()
    expect(page.locator("#effects")).to_contain_text("Compensated by maria")
    page.get_by_label("Note", exact=True).fill("Written by hand")
    page.get_by_role("button", name="Add note").click()
    expect(page.locator(".event").first).to_contain_text("Written by hand")
    page.locator("#contaminated").get_by_role("button", name="Add").first.click()
    expect(page.locator(".matrix tbody tr")).to_have_count(3)
    page.locator(".more-acts > summary").click()
    page.get_by_role("link", name="Edit title and summary").click()
    expect(page).to_have_url(re.compile("/edit$"))
