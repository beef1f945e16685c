"""The trace explorer, one trace, and the export as CSV."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import actions
from sessions_app.errors import SessionFrozen
from statebase_site.base import clock
from statebase_site.web.sheets import harmless
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="module")
def booked(agent):
    """A session whose second update has a reasoning."""
    made = factories.session(agent, {"step": 0}, agent_id="travel-agent")
    factories.update(made, {"step": 1}, by=agent)
    factories.update(made, {"step": 2}, by=agent, reasoning="The refund was asked for")
    return made


@pytest.fixture
def booking(booked):
    return factories.fresh(booked)


@pytest.fixture(scope="module")
def long(module_db):
    """A session of 130 updates, in a project of its own."""
    with clock.at(NOON):
        return factories.session_with_versions(factories.agent(factories.project("Long runs")), 130)


@pytest.fixture
def reader(signed_in, long):
    """The client of somebody in the project of the long session."""
    return signed_in("viewer", of=long.project)


def look(client, path="/traces/", query=None, **headers):
    return Page(client.get(path, query or {}, headers=headers))


def actions_shown(page):
    return re.findall(r'<span class="[\w ]*mono">(?:<svg.*?</svg>)?([\w.]+)</span>', page.source)


def rows_of_csv(answer):
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_newest_first_with_reasoning_version_and_session(person, booking):
    page = look(person)
    shown = [each for each in actions_shown(page) if "." in each]
    assert shown[:3] == ["state.updated", "state.updated", "session.created"]
    assert "The refund was asked for" in page.text
    assert f"/sessions/{booking.public_id}/v/2" in page.links


def test_a_session_shows_its_own_traces_only(person, booking, agent):
    factories.session(agent, agent_id="other")
    page = look(person, f"/sessions/{booking.public_id}/traces")
    assert [each for each in actions_shown(page) if "." in each] == [
        "state.updated",
        "state.updated",
        "session.created",
    ]
    assert "travel-agent" in page.text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"action": "state.updated"}, 2),
        ({"action": "state_update"}, 2),
        ({"action": "session.created"}, 1),
        ({"action": "state"}, 0),
        ({"q": "REFUND"}, 1),
        ({"q": "refund", "action": "session.created"}, 0),
        ({"since": "1h"}, 3),
    ],
)
def test_each_filter_finds_what_it_says(person, booking, query, count):
    page = look(person, f"/sessions/{booking.public_id}/traces", query)
    assert len(page.with_class("nowrap")) // 2 == count
    if not count:
        assert "No trace matches these filters" in page.text


def test_the_actor_is_a_filter_too(person, booking, agent):
    page = look(person, query={"actor": agent.label})
    assert "state.updated" in page.text
    assert "No trace matches" in look(person, query={"actor": "sb_nobody"}).text


def test_a_filter_that_cannot_be_understood_says_so_also_as_csv(person, booking):
    for query in ({"since": "later"}, {"since": "later", "format": "csv"}, {"q": "\x00"}):
        page = look(person, query=query)
        assert "a filter can't be understood" in page.text
        assert "state.updated</span>" not in page.source


def test_pages_keep_the_filters(reader, long):
    first = look(reader, query={"action": "state.updated"})
    older = re.search(r'rel="next" href="([^"]+)"', first.source).group(1).replace("&amp;", "&")
    assert "action=state.updated" in older
    second = Page(reader.get(older))
    assert f"/sessions/{long.public_id}/v/80" in second.links
    assert f"/sessions/{long.public_id}/v/81" not in second.links


def test_one_trace_is_shown_whole(person, booking):
    trace_id = re.search(r"/traces/(trace_\w+)/", look(person).source).group(1)
    page = look(person, f"/traces/{trace_id}/")
    assert '"from": 1' in page.text
    assert "The refund was asked for" in page.text
    assert f"/sessions/{booking.public_id}/v/2" in page.links


def test_a_refused_write_shows_what_was_attempted(person, booking, agent):
    factories.freeze(booking, by=agent)
    with pytest.raises(SessionFrozen):
        factories.update(
            booking, {"step": "<i>9</i>"}, by=factories.asking(agent, body=b'{"state":"<i>9</i>"}')
        )
    listed = look(person, query={"action": "write.refused"})
    trace_id = re.search(r"/traces/(trace_\w+)/", listed.source).group(1)
    page = look(person, f"/traces/{trace_id}/")
    assert '"state": "<i>9</i>"' in page.text
    assert "<i>9</i>" not in page.source


def test_the_notes_of_a_client_are_told_from_those_of_the_server(person, booking, agent):
    actions.create_trace(session_id=booking.public_id, action="<b>note</b>", details={"version": 1}, by=agent)
    page = look(person)
    assert "<b>note" not in page.source
    assert "client" in page.text
    assert f"/sessions/{booking.public_id}/v/1" in page.links  # of the server's trace, not of the note's word
    assert page.links.count(f"/sessions/{booking.public_id}/v/1") == 1


def test_csv_has_every_trace_that_matches_and_the_time_as_set(reader, long):
    path = f"/sessions/{long.public_id}/traces"
    answer = reader.get(path, {"format": "csv", "action": "state.updated"})
    assert answer.streaming
    assert answer["Content-Disposition"] == f'attachment; filename="traces-{long.public_id}.csv"'
    heading, *rows = rows_of_csv(answer)
    assert heading[0] == "time"
    assert len(rows) == 130
    assert rows[0][heading.index("reasoning")] == "Step 130"
    assert rows[0][0] == "2026-11-29T12:00:00.123456Z"
    for mode, zone, wanted in [
        ("local", "Asia/Kolkata", "2026-11-29T17:30:00.123456+05:30"),
        ("relative", "Asia/Kolkata", "2026-11-29T12:00:00.123456Z"),
        ("local", "../../etc/passwd", "2026-11-29T12:00:00.123456Z"),
    ]:
        reader.cookies["times"], reader.cookies["tz"] = mode, zone
        assert rows_of_csv(reader.get(path, {"format": "csv"}))[1][0] == wanted


def test_no_cell_of_a_csv_is_a_formula(person, agent):
    made = factories.session(agent)
    factories.update(made, {"a": 1}, by=agent, reasoning='=HYPERLINK("http://x")')
    factories.update(made, {"a": 2}, by=agent, reasoning='  @SUM(1),"x\n=2')
    rows = rows_of_csv(person.get("/traces/", {"format": "csv"}))
    reasons = [row[8] for row in rows[1:3]]
    assert reasons == ["'  @SUM(1),\"x\n=2", '\'=HYPERLINK("http://x")']


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1", "@a", "\t=1", "\r1", "\n1", " =1", "＝1", "＋1", "－1", "＠a"]
)
def test_what_a_spreadsheet_would_calculate_is_made_text(text):
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-1", "'=1", '{"a":1}'])
def test_other_cells_stay_as_they_are(text):
    assert harmless(text) == text


def test_csv_needs_few_queries_for_many_rows(reader):
    with CaptureQueriesContext(connection) as spent:
        assert len(rows_of_csv(reader.get("/traces/", {"format": "csv"}))) > 130
    assert len(spent) < 16


def test_the_number_of_queries_does_not_grow_with_the_rows(reader, long, django_assert_num_queries):
    few, many = ({"action": action} for action in ("session.created", "state.updated"))
    look(reader)
    with CaptureQueriesContext(connection) as spent:
        look(reader, query=few)
    with django_assert_num_queries(len(spent)):
        look(reader, query=many)


def test_strangers_and_other_projects_see_nothing(client, signed_in, booking):
    trace_id = re.search(r"/traces/(trace_\w+)/", look(signed_in()).source).group(1)
    other = factories.project("Elsewhere")
    stranger = factories.membership(other, "admin", "eve")
    client.force_login(stranger.user)
    for path in (f"/traces/{trace_id}/", f"/sessions/{booking.public_id}/traces", "/traces/trace_none/"):
        assert client.get(path).status_code == 404
    assert "No trace yet" in look(client).text
    client.logout()
    assert client.get("/traces/").status_code == 302


def test_htmx_gets_the_rows_alone(person, booking):
    page = look(person, **{"HX-Request": "true"})
    assert "<html" not in page.source
    assert "shown" in page.text
    assert "HX-Request" in look(person).response["Vary"]


def test_a_long_and_hostile_reasoning_stays_in_its_place(person, agent):
    made = factories.session(agent)
    factories.update(made, {"a": 1}, by=agent, reasoning="<img src=x>" + "A" * 9000)
    page = look(person)
    assert "<img" not in page.source
    assert "A" * 500 not in page.source


def test_a_trace_without_a_session_is_shown_too(person, agent):
    trace_id = re.search(r"/traces/(trace_\w+)/", look(person, query={"action": "key.created"}).source).group(
        1
    )
    page = look(person, f"/traces/{trace_id}/")
    assert "key.created" in page.text


def test_moments_are_shown_as_set(person, agent):
    with clock.at(clock.now() - timedelta(minutes=4)):
        factories.session(agent)
    person.cookies["times"] = "relative"
    assert "4 min ago" in Page(person.get("/sessions/")).text
