"""The pages of webhooks: made with a secret that is shown once, their deliveries, and sending again."""

import hashlib
import hmac
import re
from datetime import timedelta
from html import unescape

import pytest

from sessions_app import actions
from sessions_app.models import Trace
from statebase_site.base import clock
from statebase_site.webhooks import actions as webhook_actions
from statebase_site.webhooks import delivering
from statebase_site.webhooks.delivering import PAUSES
from statebase_site.webhooks.models import Delivery, Webhook
from tests import factories
from tests.sessions_app.pages.html import Page
from tests.webhooks.conftest import work
from tests.webhooks.receiver import Receiver, answer

pytestmark = pytest.mark.django_db

WEBHOOKS = "/settings/webhooks/"
FORM = {"url": "https://example.org/hooks/T0KEN", "events": ["session.created", "incident.filed"]}
SECRET = re.compile(r"whsec_[\w-]{43}")
SCRIPT = b"<script>alert(1)</script>"


@pytest.fixture
def project():
    return factories.project()


@pytest.fixture
def key(project):
    return factories.full_key(project)


@pytest.fixture
def admin(client, project):
    client.force_login(factories.membership(project).user)
    return client


@pytest.fixture
def viewer(client, project):
    client.force_login(factories.membership(project, "viewer", "vic").user)
    return client


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_PRIVATE_NETWORKS = True
    made = Receiver()
    yield made
    made.end()


@pytest.fixture
def webhook(key, receiver):
    return make(key, receiver.url, "session.created", "session.updated", "turn.added")


def make(by, url, *events):
    return actions.create_webhook(url=url, events=events, by=by)[0]


def at(webhook, event_id="", rest=""):
    within = f"deliveries/{event_id}/" if event_id else ""
    return f"{WEBHOOKS}{webhook.public_id}/{within}{rest}"


def see(client, address, **headers):
    return Page(client.get(address, headers=headers))


def later(**span):
    return clock.at(clock.now() + timedelta(**span))


def given_up(receiver, body=SCRIPT):
    """Try what is due until no try is left."""
    receiver.answer = answer(500, body)
    work()
    for pause in PAUSES:
        Delivery.objects.update(next_try_at=clock.now() - pause)
        work()


# Making one -----------------------------------------------------------------------------------------------


def test_a_secret_is_shown_once_with_a_check_that_works(admin):
    made = admin.post(WEBHOOKS, FORM)
    assert made["Cache-Control"] == "no-store"
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.events) == (FORM["url"], FORM["events"])
    assert set(SECRET.findall(made.content.decode())) == {webhook.secret}
    for page in (WEBHOOKS, at(webhook)):
        assert webhook.secret not in admin.get(page).content.decode()
    assert webhook.secret not in str(dict(admin.session))
    trace = Trace.objects.get()
    assert (trace.action, trace.actor_label) == ("webhook.created", "user:ada")

    sample = re.search(r'id="check">(.*?)</pre>', made.content.decode(), re.DOTALL)
    known = {}
    exec(unescape(sample[1]), known)
    signature = hmac.new(webhook.secret.encode(), b"{}", hashlib.sha256).hexdigest()
    assert known["is_genuine"](b"{}", signature, webhook.secret)
    assert not known["is_genuine"](b"{ }", signature, webhook.secret)
    assert not known["is_genuine"](b"{}", "ä", webhook.secret)


def test_the_same_form_sent_again_makes_no_second_one_and_shows_no_secret(admin):
    form = FORM | {"idempotency_key": "form_1", "secret": "my own secret"}
    assert "my own secret" in Page(admin.post(WEBHOOKS, form)).text
    again = Page(admin.post(WEBHOOKS, form, follow=True))
    assert Webhook.objects.get().secret == "my own secret"
    assert "shown only once" in again.text
    assert "my own secret" not in again.source


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": ""}, "This field is required."),
        ({"url": "ftp://example.org/"}, "Give a whole one, such as https://"),
        ({"url": "http://10.0.0.7/hook"}, "10.0.0.7 is inside a private network"),
        ({"url": "https://ada:pw@example.org/"}, "a user or password in it"),
        ({"events": []}, "Tick at least one."),
        ({"events": ["session.exploded"]}, "session.exploded is not one of the available choices"),
        ({"secret": "short"}, "at least 8 characters"),
    ],
)
def test_a_bad_form_says_where_and_keeps_what_was_typed(admin, changes, words):
    typed = {"secret": "typed for long"} | FORM | changes
    refused = admin.post(WEBHOOKS, typed)
    page = Page(refused)
    assert refused.status_code == 422
    assert words in page.text
    assert not Webhook.objects.exists()
    for value in (typed["url"], typed["secret"]):
        assert f'value="{value}"' in page.source or not value
    ticked = re.findall(r'value="([\w.]+)" id="[\w]+" checked', page.source)
    assert ticked == [each for each in typed["events"] if each != "session.exploded"]


def test_an_empty_project_learns_what_webhooks_are_for_and_how_many_it_may_have(admin, key, monkeypatch):
    page = see(admin, WEBHOOKS)
    assert "Nobody is told yet" in page.text
    assert "Any row of the audit trail; very many" in page.text
    monkeypatch.setattr("statebase_site.webhooks.actions.WEBHOOKS_MOST", 1)
    make(key, "https://example.org/", "turn.added")
    assert "at most 1 webhooks" in Page(admin.post(WEBHOOKS, FORM)).text


# The list, and one webhook ----------------------------------------------------------------------------------


def test_the_list_says_how_each_one_does(admin, key, receiver, webhook):
    paused = make(key, "https://quiet.example/", *[f"session.{each}" for each in ("created", "updated")])
    factories.session(key)
    actions.update_webhook(webhook_id=paused.public_id, is_active=False, by=key)
    given_up(receiver)
    page = see(admin, WEBHOOKS)
    assert "nothing sent yet 1 waiting 0" in page.text
    assert "500 Internal Server Error" in page.text
    assert "1 given up" in page.text
    assert f"{at(webhook)}?state=failed" in page.links
    receiver.answer = answer(200)
    factories.session(key)
    work()
    assert "Delivered" in see(admin, WEBHOOKS).text


def test_a_webhook_is_changed_paused_and_let_go_on(admin, key, webhook):
    changed = {"url": webhook.url, "events": ["turn.added"]}
    assert "is changed" in Page(admin.post(at(webhook), changed, follow=True)).text
    assert Trace.objects.latest("id").details["changed"] == ["events"]
    wrong = admin.post(at(webhook), {"url": "mailto:x", "events": ["turn.added"]})
    assert wrong.status_code == 422
    assert 'value="mailto:x"' in wrong.content.decode()
    factories.turn(factories.session(key), by=key)
    paused = Page(admin.post(at(webhook, rest="switch/"), {"active": "no"}, follow=True))
    assert "1 delivery waits until it is active again" in paused.text
    assert "once it is active" in paused.text
    assert work() == []
    assert "is active" in Page(admin.post(at(webhook, rest="switch/"), {"active": "yes"}, follow=True)).text
    assert [each.event for each in work()] == ["turn.added"]


def test_deleting_asks_first_and_says_when_it_is_done_already(admin, key, webhook):
    factories.session(key)
    asked = see(admin, at(webhook, rest="delete/"))
    assert "Waiting 1 delivery" in asked.text
    assert Webhook.objects.get().deleted_at is None
    done = Page(admin.post(at(webhook, rest="delete/"), follow=True))
    assert "nothing is sent there any more" in done.text
    assert "Nobody is told yet" in done.text
    assert "deleted already" in Page(admin.post(at(webhook, rest="delete/"), follow=True)).text
    assert admin.get(at(webhook)).status_code == 404


def test_deliveries_are_found_by_state_event_and_id_and_come_in_pages(admin, key, webhook, receiver):
    session = factories.session(key)
    work()
    receiver.answer = answer(410)
    factories.turn(session, by=key)
    work()
    newest, oldest = Delivery.objects.order_by("-id")
    assert see(admin, at(webhook)).source.count('id="row-') == 2
    for query, found, other in (
        ("state=pending", newest, oldest),
        ("state=delivered", oldest, newest),
        ("event=session.created", oldest, newest),
        (f"id={newest.event_id}", newest, oldest),
    ):
        page = see(admin, f"{at(webhook)}?{query}")
        assert f"row-{found.event_id}" in page.source, query
        assert f"row-{other.event_id}" not in page.source, query
    assert "No delivery matches these filters" in see(admin, f"{at(webhook)}?state=dropped").text
    assert "Nothing is shown" in see(admin, f"{at(webhook)}?state=lost").text
    part = see(admin, f"{at(webhook)}?state=pending", **{"HX-Request": "true"})
    assert "<html" not in part.source
    assert "1 delivery shown" in part.text

    for number in range(60):
        Delivery.objects.create(
            webhook=webhook,
            event_id=f"evt_{number}",
            event="turn.added",
            subject_text='{"turn":"turn_x"}',
            created_at=clock.now(),
            next_try_at=clock.now(),
        )
    first = see(admin, at(webhook))
    older = next(link for link in first.links if "after=" in link)
    shown = set(re.findall(r'id="row-(\w+)"', first.source))
    rest = set(re.findall(r'id="row-(\w+)"', see(admin, older).source))
    assert (len(shown), len(rest), len(shown | rest)) == (50, 12, 62)


def test_the_next_try_is_told_in_words_with_its_exact_time(admin, key, webhook, receiver):
    receiver.answer = answer(500)
    factories.session(key)
    work()
    with later(seconds=15):
        work()
        page = see(admin, at(webhook))
    assert "in 59 s" in page.text or "in 1 min" in page.text
    due = Delivery.objects.get().next_try_at
    assert f'title="{due:%Y-%m-%d %H:%M:%S.%f} UTC"' in page.source


def test_a_silent_worker_is_noticed_but_not_a_busy_one(admin, key, webhook, receiver):
    asks = "is manage.py worker running?"
    other = factories.full_key(factories.project("Other"))
    make(other, receiver.url, "session.created")
    for by in (other, key, key):
        factories.session(by)
    assert asks not in see(admin, at(webhook)).text
    event_id = Delivery.objects.filter(webhook=webhook).first().event_id
    with later(minutes=3, seconds=5):
        delivering.claim(1)  # the other project's: how busy that one is, nobody here learns
        for address in (WEBHOOKS, at(webhook), at(webhook, event_id)):
            page = see(admin, address)
            assert "Nothing has been sent for 3 min" in page.text
            assert asks in page.text
        delivering.claim(1)
        assert asks not in see(admin, at(webhook)).text
    with later(minutes=30):
        assert asks in see(admin, at(webhook)).text
        actions.update_webhook(webhook_id=webhook.public_id, is_active=False, by=key)
        assert asks not in see(admin, at(webhook)).text


# One delivery -----------------------------------------------------------------------------------------------


def test_a_delivery_is_shown_as_it_was_sent(admin, key, webhook, receiver):
    session = factories.session(key, {"city": "Oslo \u202e<b>"})
    factories.update(session, {"city": "Rome"}, by=key)
    work()
    first, second = Delivery.objects.order_by("id")
    received = {each.headers["x-statebase-delivery"]: each for each in receiver.received}
    page = see(admin, at(webhook, first.event_id))
    sent = received[first.event_id]
    assert admin.get(at(webhook, first.event_id, "body.json")).content == sent.body
    assert sent.body.decode() in unescape(page.source)  # what is copied
    for name in ("Content-Type", "User-Agent", "X-StateBase-Event", "X-StateBase-Signature"):
        assert f"{name} {sent.headers[name.lower()]}" in page.text
    assert "<b>" not in page.source
    assert "Oslo U+202E<b>" in page.text
    assert f"/sessions/{session.public_id}/v/0" in page.links
    assert f"/sessions/{session.public_id}/v/1" in see(admin, at(webhook, second.event_id)).links
    assert "200 OK" in page.text


def test_what_a_hostile_receiver_answers_is_escaped(admin, key, webhook, receiver):
    factories.session(key)
    given_up(receiver, SCRIPT + "\u202egnp.exe".encode())
    event_id = Delivery.objects.get().event_id
    for address in (at(webhook), at(webhook, event_id), WEBHOOKS):
        page = see(admin, address)
        assert SCRIPT.decode() not in page.source
        assert "500 Internal Server Error" in page.text
    page = see(admin, at(webhook, event_id))
    assert page.text.count("<script>alert(1)</script>U+202Egnp.exe") == len(PAUSES) + 1
    assert "Given up" in page.text
    hostile = make(key, "https://example.org/?<script>alert(1)</script>", "turn.added")
    for address in (WEBHOOKS, at(hostile), at(hostile, rest="delete/")):
        assert SCRIPT.decode() not in see(admin, address).source


def test_a_large_body_is_cut_and_can_be_saved_whole(admin, key, webhook):
    factories.session(key, {"log": "x" * 200_000})
    event_id = Delivery.objects.get().event_id
    page = see(admin, at(webhook, event_id))
    assert len(page.source) < 130_000
    assert re.search(r"Body 200\.\d KB", page.text)
    assert "more characters are not shown" in page.text
    assert "It was not tried yet." in page.text
    saved = admin.get(at(webhook, event_id, "body.json"))
    assert saved["Content-Disposition"] == f'attachment; filename="{event_id}.json"'
    assert len(saved.content) > 200_000


def test_what_it_tells_of_is_linked_and_said_to_be_gone(admin, key, receiver):
    events = ("turn.added", "trace.rollback", "memory.created", "session.deleted")
    webhook = make(key, receiver.url, *events)
    session = factories.session_with_versions(key, 1)
    turn = factories.turn(session, by=key)
    factories.rollback(session, 0, by=key, reason="Wrong")
    memory = actions.add_memory(content="Tea", session_id=session.public_id, by=key).memory
    ids = dict(Delivery.objects.values_list("event", "event_id"))
    assert (
        f"/sessions/{session.public_id}/turns?from={turn.number}"
        in see(admin, at(webhook, ids["turn.added"])).links
    )
    rollback = see(admin, at(webhook, ids["trace.rollback"]))
    assert any(link.startswith("/traces/trace_") for link in rollback.links)
    assert f"/sessions/{session.public_id}/" in rollback.links
    kept = see(admin, at(webhook, ids["memory.created"]))
    assert f"/memories/{memory.public_id}/" in kept.links
    assert "here, as it is now" in kept.text
    actions.delete_memory(memory_id=memory.public_id, reason=None, by=key)
    gone = see(admin, at(webhook, ids["memory.created"]))
    assert "What it was about is gone" in gone.text
    assert admin.get(at(webhook, ids["memory.created"], "body.json")).status_code == 404
    work()
    assert "Dropped" in see(admin, at(webhook, ids["memory.created"])).text
    actions.delete_session(session_id=session.public_id, reason="A test", by=key)
    turn_page = see(admin, at(webhook, ids["turn.added"]))
    assert not [link for link in turn_page.links if link.startswith("/sessions/sess")]


def test_sending_again_takes_one_click_and_comes_back_to_the_list(admin, key, webhook, receiver):
    factories.session(key)
    given_up(receiver)
    sent = Delivery.objects.get()
    form = see(admin, f"{at(webhook)}?state=failed").form("send-again/")
    done = admin.post(form[0], form[1], follow=True)
    assert done.redirect_chain == [(f"{at(webhook)}?state=failed", 302)]
    assert "session.created is sent again now" in Page(done).text
    assert admin.post(form[0], form[1]).status_code == 409
    assert "on its way" in see(admin, at(webhook)).text
    receiver.answer = answer(204)
    (delivered,) = work()
    assert (delivered.state, delivered.event_id) == ("delivered", sent.event_id)
    assert len(receiver.received) == len(PAUSES) + 2
    elsewhere = admin.post(form[0], {"next": "https://evil.example/"})
    assert elsewhere["Location"] == at(webhook, sent.event_id)


def test_htmx_gets_the_row_which_asks_until_it_is_sent(admin, key, webhook, receiver):
    factories.session(key)
    work()
    event_id = Delivery.objects.get().event_id
    row = Page(admin.post(at(webhook, event_id, "send-again/"), headers={"HX-Request": "true"}))
    assert row.source.count("<tr") == 2
    assert "<html" not in row.source
    assert 'id="flashes"' in row.source
    assert f'hx-get="{at(webhook, event_id, "row/")}"' in row.source
    receiver.answer = answer(500)
    work()
    row = see(admin, at(webhook, event_id, "row/"), **{"HX-Request": "true"})
    assert "hx-get" not in row.source
    assert "500 Internal Server Error" in row.text


def test_what_waits_for_long_can_be_sent_now(admin, key, webhook, receiver):
    receiver.answer = answer(500)
    factories.session(key)
    work()
    for _ in PAUSES[:3]:
        Delivery.objects.update(next_try_at=clock.now())
        work()
    page = see(admin, at(webhook))
    assert "in 59 min" in page.text
    assert "Send now" in page.text
    assert "Send now" in see(admin, at(webhook, Delivery.objects.get().event_id)).text
    receiver.answer = answer(200)
    action, fields = page.form("send-again/")
    admin.post(action, fields)
    assert [each.state for each in work()] == ["delivered"]


def test_a_test_shows_how_the_receiver_answers(admin, webhook, receiver):
    action, fields = see(admin, at(webhook)).form("send-test/")
    page = Page(admin.post(action, fields, follow=True))
    assert "A test is sent now" in page.text
    (sent,) = Delivery.objects.all()
    assert f'hx-get="{at(webhook, sent.event_id, "row/")}"' in page.source
    receiver.answer = answer(401, b"Who are you?")
    work()
    (told,) = receiver.received
    assert told.headers["x-statebase-event"] == told.json["type"] == "webhook.test"
    signed = hmac.new(webhook.secret.encode(), told.body, hashlib.sha256).hexdigest()
    assert told.headers["x-statebase-signature"] == signed
    assert (told.json["data"]["object"], told.json["data"]["id"]) == ("webhook", webhook.public_id)
    assert webhook.secret not in told.body.decode()
    found = see(admin, f"{at(webhook)}?event=webhook.test")
    assert "401 Unauthorized" in found.text
    assert "hx-get" not in found.source.partition("<tbody")[2]
    assert "Who are you?" in see(admin, at(webhook, sent.event_id)).text


def test_a_test_of_a_paused_webhook_waits_with_the_rest(admin, key, webhook, receiver):
    actions.update_webhook(webhook_id=webhook.public_id, is_active=False, by=key)
    page = Page(admin.post(at(webhook, rest="send-test/"), follow=True))
    assert "once the webhook is active" in page.text
    assert "hx-get" not in page.source.partition("<tbody")[2]
    assert (work(), receiver.received) == ([], [])


def test_a_page_does_not_wait_for_very_many(admin, key, webhook):
    for _ in range(11):
        factories.session(key)
    assert "hx-get" not in see(admin, at(webhook)).source.partition("<tbody")[2]


# Who may ---------------------------------------------------------------------------------------------------


def test_who_is_no_admin_sees_how_they_do_and_why_they_may_not_change_them(
    client, project, key, webhook, receiver
):
    factories.session(key)
    sent = Delivery.objects.get()
    tested = webhook_actions.send_test(webhook=webhook, by=key)
    work()
    for role in ("viewer", "engineer", "responder"):
        client.force_login(factories.membership(project, role, role).user)
        pages = [
            see(client, each)
            for each in (WEBHOOKS, at(webhook), at(webhook, sent.event_id), at(webhook, tested.event_id))
        ]
        for page in pages:
            assert "Delivered" in page.text
            assert "/hook" not in page.source.replace("/settings/webhooks", "").replace("/webhooks.css", "")
            assert webhook.secret not in page.source
        assert "/hook" not in client.get(at(webhook, tested.event_id, "body.json")).content.decode()
        assert f"you are its {role}" in pages[0].text
        assert f"you are its {role}" in pages[1].text
        assert receiver.received[0].headers["x-statebase-signature"] not in pages[2].source
        assert "Send again" not in pages[1].text
        assert client.get(at(webhook, rest="delete/")).status_code == 403
        for address, form in (
            (WEBHOOKS, FORM),
            (at(webhook), FORM),
            (at(webhook, rest="switch/"), {"active": "no"}),
            (at(webhook, rest="delete/"), {}),
            (at(webhook, rest="send-test/"), {}),
            (at(webhook, sent.event_id, "send-again/"), {}),
        ):
            assert client.post(address, form).status_code == 403, (role, address)
    assert Webhook.objects.get(deleted_at=None).is_active
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


def test_a_webhook_of_another_project_does_not_exist(admin, webhook):
    by = factories.full_key(factories.project("Other"))
    theirs = make(by, "https://theirs.example/", "session.created")
    factories.session(by)
    sent = Delivery.objects.get(webhook=theirs)
    assert "theirs.example" not in see(admin, WEBHOOKS).source
    for address in (
        at(theirs),
        at(theirs, rest="delete/"),
        at(theirs, sent.event_id),
        at(theirs, sent.event_id, "body.json"),
        at(theirs, sent.event_id, "row/"),
        at(webhook, sent.event_id),
        at(webhook, "evt_nothing"),
    ):
        assert admin.get(address).status_code == 404, address
    for address, form in (
        (at(theirs), FORM),
        (at(theirs, rest="switch/"), {"active": "no"}),
        (at(theirs, rest="delete/"), {}),
        (at(theirs, rest="send-test/"), {}),
        (at(theirs, sent.event_id, "send-again/"), {}),
        (at(webhook, sent.event_id, "send-again/"), {}),
    ):
        assert admin.post(address, form).status_code == 404, address
    theirs.refresh_from_db()
    assert (theirs.is_active, theirs.deleted_at, theirs.url) == (True, None, "https://theirs.example/")


def test_more_of_them_take_no_more_queries(admin, key, receiver, webhook, django_assert_max_num_queries):
    factories.session(key)
    work()
    counts = {}
    for address in (WEBHOOKS, at(webhook), at(webhook, Delivery.objects.get().event_id)):
        admin.get(address)
        with django_assert_max_num_queries(15) as asked:
            admin.get(address)
        counts[address] = len(asked)
    for number in range(3):
        make(key, f"{receiver.url}&number={number}", "session.created")
        factories.session(key)
    work()
    for address, count in counts.items():
        with django_assert_max_num_queries(count):
            admin.get(address)
