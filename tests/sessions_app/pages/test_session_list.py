"""The sessions table: found, filtered, sorted and paged by the address, and closed to strangers."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import actions
from sessions_app.models import SessionPath
from statebase_site.base import clock
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
HTMX = {"HX-Request": "true"}


def look(client, query=None, **headers):
    return Page(client.get("/sessions/", query or {}, headers=headers))


def ids(page):
    """The sessions shown, from the first row to the last."""
    return re.findall(r'<span class="mono faint">(sess_\w+)</span>', page.source)


def made_at(minute, by, **fields):
    with clock.at(NOON + timedelta(minutes=minute)):
        return factories.session(by, **fields)


@pytest.fixture(scope="module")
def crowd(module_db):
    """120 sessions of the travel agent, the oldest first, and one of another, in a project of their own."""
    agent = factories.agent(factories.project("Crowd"))
    made_at(200, agent, agent_id="other")
    return [made_at(minute, agent, agent_id="travel-agent") for minute in range(120)]


@pytest.fixture
def reader(signed_in, crowd):
    """The client of somebody in the project of the crowd."""
    return signed_in("viewer", of=crowd[0].project)


def test_newest_first_with_what_a_person_looks_for(person, agent):
    older = made_at(0, agent, agent_id="travel-agent", user_id="user_4410")
    newer = made_at(1, agent, agent_id="support-bot")
    factories.turn(older, by=agent)
    factories.update(older, {"a": 1}, by=agent)
    factories.rollback(older, 0, by=factories.full_key(agent.project))
    page = look(person)
    assert ids(page) == [newer.public_id, older.public_id]
    assert "user_4410" in page.text
    assert "v2" in page.text
    assert f"/sessions/{older.public_id}/" in page.links


def test_each_filter_finds_what_it_says(person, agent):
    one = made_at(0, agent, agent_id="travel-agent", user_id="ann", metadata={"tier": "gold", "seats": 2})
    two = made_at(1, agent, agent_id="support-bot", user_id="bob")
    factories.update(one, {"payment": {"amount": 5}, "cart": [1]}, by=agent)
    factories.rollback(one, 0, by=factories.full_key(agent.project))
    factories.freeze(two, by=agent)
    SessionPath.objects.create(agent_session=one, path="/payment/amount", last_version=1)
    SessionPath.objects.create(agent_session=one, path="/cart/0", last_version=1)
    for name, value in [
        ("q", "AVEL-ag"),
        ("q", one.public_id),
        ("q", "payment/am"),
        ("agent", "travel-agent"),
        ("user", " ann "),
        ("status", "running"),
        ("rolled_back", "yes"),
        ("path", "/payment/amount"),
        ("path", "payment"),
        ("path", "cart[0]"),
        ("metadata", "tier=gold"),
        ("metadata", "seats=2"),
        ("metadata", '{"tier": "gold", "seats": 2}'),
    ]:
        assert ids(look(person, {name: value})) == [one.public_id], (name, value)
    assert ids(look(person, {"status": "frozen"})) == [two.public_id]
    assert ids(look(person, {"rolled_back": "no"})) == [two.public_id]
    for name, value in [("agent", "travel"), ("metadata", 'seats="2"'), ("path", "/pay"), ("user", "ANN")]:
        assert ids(look(person, {name: value})) == [], (name, value)


def test_started_in_counts_from_now(person, agent):
    with clock.at(clock.now() - timedelta(hours=2)):
        factories.session(agent)
    recent = factories.session(agent)
    assert ids(look(person, {"since": "1h"})) == [recent.public_id]
    assert len(ids(look(person, {"since": "24h"}))) == 2


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("metadata", "gold", "Write it as key=value"),
        ("metadata", '{"tier": }', "Not a JSON object"),
        ("status", "bogus", "bogus is not one of the available choices"),
        ("since", "5y", "5y is not one of the available choices"),
        ("q", "a\x00b", "Null characters are not allowed"),
    ],
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_filter_that_cannot_be_understood_says_so_and_shows_nothing_wrong(
    person, agent, name, value, words, headers
):
    factories.session(agent)
    page = look(person, {name: value, "agent": "support-bot"}, **headers)
    assert words in page.text
    assert ids(page) == []
    assert "No session matches" not in page.text
    if not headers:
        assert 'name="agent" value="support-bot"' in page.source


def test_a_filter_among_the_folded_ones_opens_them(person, agent):
    factories.session(agent)
    assert '<details class="more more-filters">' in look(person).source
    assert '<details class="more more-filters" open>' in look(person, {"path": "/a"}).source


def test_pages_keep_the_filters_and_lead_back(reader, crowd):
    newest_first = [each.public_id for each in reversed(crowd)]
    seen, page = [], look(reader, {"agent": "travel-agent", "q": ""})
    addresses = []
    while True:
        seen += ids(page)
        older = re.search(r'rel="next" href="([^"]+)"', page.source)
        if not older:
            break
        addresses.append(older.group(1).replace("&amp;", "&"))
        assert "agent=travel-agent" in addresses[-1]
        assert "q=" not in addresses[-1]
        page = Page(reader.get(addresses[-1]))
    assert seen == newest_first
    back = re.search(r'rel="prev" href="([^"]+)"', page.source).group(1).replace("&amp;", "&")
    assert ids(Page(reader.get(back))) == newest_first[50:100]


def test_sorted_by_activity_and_by_start_and_by_nothing_else(person, agent):
    one, two = made_at(0, agent), made_at(1, agent)
    with clock.at(NOON + timedelta(minutes=5)):
        factories.update(one, {"a": 1}, by=agent)
    assert ids(look(person, {"sort": "-updated_at"})) == [one.public_id, two.public_id]
    assert ids(look(person, {"sort": "updated_at"})) == [two.public_id, one.public_id]
    assert ids(look(person, {"sort": "created_at"})) == [one.public_id, two.public_id]
    page = look(person, {"sort": "rollback_count"})
    assert ids(page) == [two.public_id, one.public_id]
    assert page.source.count('aria-sort="descending"') == 1


def test_a_page_whose_row_is_gone_begins_anew(person, agent):
    made = factories.session(agent)
    for place in ("sess_gone", "\x00", "x" * 500):
        assert ids(look(person, {"after": place})) == [made.public_id]


def test_says_which_kind_of_empty_it_is(person, agent):
    assert "No session yet" in look(person).text
    factories.session(agent)
    page = look(person, {"agent": "nobody"})
    assert "No session matches these filters" in page.text
    assert "/sessions/" in page.links


def test_deleted_sessions_and_those_of_others_are_not_there(person, agent):
    gone = factories.session(agent)
    actions.delete_session(session_id=gone.public_id, by=factories.full_key(agent.project))
    factories.session(factories.agent(factories.project("Elsewhere")))
    assert "No session yet" in look(person).text


def test_expired_sessions_are_shown_as_such(person, agent):
    with clock.at(clock.now() - timedelta(days=1)):
        made = factories.session(agent, ttl_seconds=60)
    page = look(person, {"status": "expired"})
    assert ids(page) == [made.public_id]
    assert "Expired" in page.text


def test_text_from_agents_stays_text(person, agent):
    factories.session(agent, agent_id="<script>alert(1)</script>\u202e", user_id="<b>" + "y" * 240)
    page = look(person)
    assert "<script>alert" not in page.source
    assert "<b>y" not in page.source
    assert "U+202E" in page.text


def test_times_in_the_table_are_as_the_viewer_wants_them(person, agent):
    with clock.at(clock.now() - timedelta(minutes=5)):
        factories.session(agent)
    person.cookies["times"] = "relative"
    assert "5 min ago" in look(person).text


def test_htmx_gets_the_rows_alone_and_caches_are_told(person, agent):
    factories.session(agent)
    part, whole = look(person, {"q": "", "status": "running"}, **HTMX), look(person)
    assert part.response["HX-Push-Url"] == "/sessions/?status=running"
    assert "<html" not in part.source
    assert 'id="sessions"' in part.source
    assert "1 session shown" in part.text
    assert "HX-Request" in whole.response["Vary"]
    assert ids(part) == ids(whole)


def test_the_number_of_queries_does_not_grow_with_the_rows(reader, django_assert_num_queries):
    look(reader)
    with CaptureQueriesContext(connection) as few:
        assert len(ids(look(reader, {"agent": "other"}))) == 1
    with django_assert_num_queries(len(few)):
        assert len(ids(look(reader, {"agent": "travel-agent"}))) == 50


def test_strangers_are_asked_to_sign_in(client):
    answer = client.get("/sessions/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")
