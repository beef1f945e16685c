"""Acts on an incident in a real browser: picked by keyboard, rehearsed, without a script, on a phone."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from incidents_app import actions
from incidents_app.models import AffectedSession
from incidents_app.presenting import picker
from statebase_site.access.actor import person_actor
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WINDOW = 8


@pytest.fixture(autouse=True)
def a_short_window(monkeypatch):
    """Few versions at a time, so that few are beyond the first ones shown."""
    monkeypatch.setattr(picker, "WINDOW", WINDOW)


@pytest.fixture
def maria(transactional_db):
    return factories.membership(factories.project("Travel desk"), "admin", "maria")


@pytest.fixture
def trip(maria):
    """A session that went wrong some versions before its end."""
    agent = factories.agent(maria.project)
    made = factories.session_with_versions(agent, WINDOW, agent_id="travel-agent")
    factories.tool_call(made, "cancel_booking", by=agent)
    factories.update(made, {"city": None, "kept": "lost"}, by=agent, reasoning="Cancelled as asked")
    return factories.update(made, {"refund": 412.5}, by=agent).agent_session


@pytest.fixture
def incident(maria, trip):
    by = person_actor(maria)
    given = {"title": "Cancelled", "severity": "S1", "session_ids": [trip.public_id], "by": by}
    actions.file(**given)
    return actions.file(**(given | {"severity": "S3"})).incident.__class__.objects.get(number=1)


@pytest.fixture
def visit(browse_as, maria):
    """Open a page as maria."""

    def open_page(path, **options):
        return browse_as(maria.user, path, **options)

    return open_page


def address(name, *args):
    return reverse(f"incidents:{name}", args=["INCIDENT-1", *args])


def test_from_the_picker_to_the_rollback_with_the_keyboard_only(visit, incident, trip):
    bad = WINDOW + 1
    page = visit(address("divergence", trip.public_id))
    press = page.keyboard.press
    press("k")
    press("k")
    expect(page.locator(".pick-row.at")).to_have_attribute("data-v", str(bad))
    press("d")
    expect(page.locator("#chosen")).to_have_text(f"Last good v{bad - 1}, divergence v{bad}")
    expect(page.locator(f"#mark-{bad}")).to_have_class(re.compile("is-divergence_version"))
    expect(page.locator(f"#mark-{bad - 1}")).to_have_class(re.compile("is-last_good_version"))
    expect(page.locator("#between #diff")).to_contain_text('"kept"')
    expect(page.locator("#live")).to_have_text(f"Version {bad}: v{bad}: divergence")
    press("k")
    press("k")
    press("g")
    expect(page.locator("#chosen")).to_have_text(f"Last good v{bad - 2}, divergence v{bad}")
    press("j")
    press("g")
    for _ in range(WINDOW - 1):  # beyond the end of the window older versions come, and nothing is lost
        press("k")
    press("k")
    expect(page.locator(".pick-row").last).to_have_attribute("data-v", "0")
    expect(page.locator("#chosen")).to_have_text(f"Last good v{bad - 1}, divergence v{bad}")
    page.get_by_label("How it was found").fill("By eye")
    press("Enter")
    page.wait_for_url(re.compile(r"/incidents/INCIDENT-1/$"))
    row = AffectedSession.objects.get(episode__incident=incident)
    assert (row.divergence_version, row.last_good_version, row.found_how) == (bad, bad - 1, "By eye")

    page.goto(page.url.split("/incidents/")[0] + address("rollback", trip.public_id))
    expect(page.locator("#between #diff")).to_contain_text('"as it was"')
    page.keyboard.press("r")
    expect(page.get_by_role("alert")).to_contain_text("only after confirming")
    page.get_by_label("Yes, although INCIDENT-2 is open on it").press("Space")
    page.keyboard.press("r")
    page.wait_for_url(re.compile(r"/incidents/INCIDENT-1/$"))
    row.refresh_from_db()
    assert row.rolled_back_to == bad - 1


def test_on_a_phone_without_a_script(visit, incident, trip):
    bad = WINDOW + 1
    phone = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": False}
    page = visit(address("divergence", trip.public_id), **phone)
    page.locator(f"#v{bad} .is-divergence_version").click()
    page.get_by_role("button", name="Show the difference").click()
    expect(page.get_by_role("link", name=f"What changed from v{bad - 1} to v{bad}")).to_be_visible()
    page.get_by_role("button", name="Older versions").click()
    expect(page.locator("#v0")).to_have_count(1)
    expect(page.locator(f"#v{bad} .is-divergence_version input")).to_be_checked()
    page.get_by_role("button", name="Record").click()
    page.goto(page.url.split("/incidents/")[0] + address("rollback", trip.public_id))
    page.get_by_label("Yes, although INCIDENT-2").check()
    page.get_by_role("button", name="Roll back to").click()
    row = AffectedSession.objects.get(episode__incident=incident)
    assert (row.last_good_version, row.rolled_back_to) == (bad - 1, bad - 1)
    page.goto(page.url.split("/incidents/")[0] + address("scenario-new"))
    page.get_by_label("What must hold").fill("kept == 'as it was'")
    page.get_by_role("button", name="Check it").click()
    expect(page.locator(".tried")).to_contain_text("It tells them apart")


def test_nothing_stands_in_anybodys_way(visit, incident, trip, maria, nothing_in_the_way):
    actions.record_divergence(
        reference="INCIDENT-1",
        session_id=trip.public_id,
        divergence_version=WINDOW + 1,
        last_good_version=WINDOW,
        by=person_actor(maria),
    )
    page = visit(address("divergence", trip.public_id))
    origin = page.url.split("/incidents/")[0]
    expect(page.locator("#between #diff")).to_be_visible()
    nothing_in_the_way(page)
    session = f"?session_id={trip.public_id}"
    for path in (
        address("rollback", trip.public_id),
        address("resume"),
        address("severity"),
        address("pin") + session,
        address("review"),
        address("scenario-new"),
        address("causes"),
        address("note"),
        address("follow-up"),
        address("edit"),
        address("override"),
    ):
        page.goto(origin + path)
        nothing_in_the_way(page)
