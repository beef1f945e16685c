"""Webhooks in a real browser: made by keyboard, their secret seen once, and what failed sent again."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app import actions
from statebase_site.base import clock
from statebase_site.webhooks.delivering import PAUSES
from statebase_site.webhooks.models import Delivery, Webhook
from tests import factories
from tests.webhooks.conftest import work
from tests.webhooks.receiver import Receiver, answer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WEBHOOKS = "/settings/webhooks/"
HOSTILE = "<script>alert(1)</script>\u202e" + "w" * 180


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_PRIVATE_NETWORKS = True
    made = Receiver()
    yield made
    made.end()


@pytest.fixture
def project(transactional_db):
    return factories.project("Travel desk")


@pytest.fixture
def key(project):
    return factories.full_key(project)


@pytest.fixture
def visit(browse_as, project):
    """`browse`, signed in as an admin."""

    def open_page(path, **options):
        return browse_as(factories.membership(project).user, path, **options)

    return open_page


def given_up(receiver):
    receiver.answer = answer(502, HOSTILE.encode())
    work()
    for _ in PAUSES:
        Delivery.objects.filter(state="pending").update(next_try_at=clock.now())
        work()


def test_nothing_is_in_the_way_of_anyone(visit, key, receiver, nothing_in_the_way):
    page = visit(WEBHOOKS)
    page.get_by_label("URL").fill("https://127.0.0.1.example/" + "w" * 200)
    page.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_text("Tick at least one.")).to_be_visible()
    nothing_in_the_way(page)
    page.get_by_label("session.created").check()
    page.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_role("heading", name="The webhook is made")).to_be_visible()
    nothing_in_the_way(page)

    url, events = f"{receiver.url}&{'x' * 300}", ["session.created", "session.updated", "turn.added"]
    webhook, _ = actions.create_webhook(url=url, events=[*events, "trace.created"], by=key)
    session = factories.session(key, {"note": HOSTILE}, agent_id="travel-agent")
    given_up(receiver)
    receiver.answer = answer(200)
    factories.update(session, {"step": 1}, by=key)
    work()
    receiver.answer = answer(500)
    factories.turn(session, by=key)
    work()
    sent = Delivery.objects.filter(webhook=webhook, state="failed").first()
    one = f"{WEBHOOKS}{webhook.public_id}/"
    for path in (WEBHOOKS, f"{one}deliveries/{sent.event_id}/"):
        page.goto(re.sub("/settings/.*", path, page.url))
        nothing_in_the_way(page)
    page.goto(re.sub("/settings/.*", one, page.url))
    page.get_by_text("Change its URL or events").click()
    expect(page.get_by_label("trace.created", exact=True)).to_be_checked()
    nothing_in_the_way(page)


def test_made_by_keyboard_paused_and_sent_again(visit, key, receiver, live_server):
    page = visit(WEBHOOKS)
    press = page.keyboard.press
    page.get_by_label("URL").focus()
    page.keyboard.type(receiver.url)
    press("Tab")
    expect(page.get_by_label("Secret")).to_be_focused()
    press("Tab")
    press("Space")
    press("Enter")
    expect(page.get_by_role("heading", name="The webhook is made")).to_be_visible()
    webhook = Webhook.objects.get()
    assert webhook.events == ["session.created"]
    assert page.locator("#clear-secret").inner_text() == webhook.secret
    page.reload()
    expect(page.get_by_text("shown only once")).to_be_visible()
    assert webhook.secret not in page.content()
    page.go_back()
    assert webhook.secret not in page.content()

    page.goto(f"{live_server.url}{WEBHOOKS}{webhook.public_id}/")
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.get_by_text("It hears of nothing that happens now.")).to_be_visible()
    page.get_by_role("button", name="Activate").press("Enter")
    expect(page.get_by_text("When one of its events happens next")).to_be_visible()

    factories.session(key)
    given_up(receiver)
    page.get_by_label("State").select_option("Given up")
    page.wait_for_url(re.compile("state=failed"))
    row = page.get_by_role("row", name="session.created")
    expect(row).to_contain_text("502 Bad Gateway")
    row.get_by_role("button", name="Send again").focus()
    press("Enter")
    expect(row).to_contain_text("Waiting")
    expect(page.locator("#flashes")).to_contain_text("is sent again now, with the same event id")
    expect(row.get_by_text("on its way")).to_be_focused()
    receiver.answer = answer(200)
    work()
    expect(row).to_contain_text("Delivered")
    expect(row.get_by_role("button", name="Send again")).to_be_focused()
    assert len({each.headers["x-statebase-delivery"] for each in receiver.received}) == 1


def test_it_works_without_a_script(visit, key, receiver):
    webhook, _ = actions.create_webhook(url=receiver.url, events=["session.created"], by=key)
    factories.session(key)
    work()
    page = visit(f"{WEBHOOKS}{webhook.public_id}/?state=delivered", java_script_enabled=False)
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("is sent again now")).to_be_visible()
    assert page.url.endswith("?state=delivered")
    work()
    page.reload()
    page.get_by_role("link", name="session.created").click()
    expect(page.get_by_role("table", name="Tries, the latest first").get_by_role("row")).to_have_count(3)
