"""The incident list: what a row tells, what the address narrows it to, its pages, and empty ones."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app import actions
from incidents_app.models import AffectedSession, Incident
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def lead(project):
    return factories.person(project, "responder", "lead")


@pytest.fixture
def trip(agent):
    return factories.session_with_versions(agent, 3, agent_id="travel-agent")


def look(client, query="", **headers):
    return Page(client.get(f"/incidents/{query}", headers=headers))


def titles(client, query=""):
    """Of the incidents that are listed, in their order."""
    source = look(client, query).source.partition('id="incidents"')[2]
    rows = source.split('<th scope="row"')[1:]
    return [row.partition('">')[2].partition("</a>")[0].rpartition(">")[2] for row in rows]


def test_a_row_tells_what_matters(person, lead, trip, agent):
    other = factories.session(agent, {"a": 1})
    runbook.file(lead, trip, other, title="Cancelled a booking", severity="S1", failure_mode="state_drift")
    page = look(person)
    assert "S1 Cancelled a booking INCIDENT-1 Contained" in page.text
    for words in ("travel-agent and 1 more", "lead", "State drift"):
        assert words in page.text.partition("INCIDENT-1")[2]
    assert "/incidents/INCIDENT-1/" in page.links
    assert f"/sessions/{trip.public_id}/" in page.links


def test_a_title_stays_text(person, lead, trip):
    runbook.file(lead, trip, title=HOSTILE)
    page = look(person)
    assert "<img" not in page.source
    assert "U+202E" in page.text


def test_marks_say_what_is_late_or_lost(person, lead, trip):
    incident = runbook.file(lead, trip, severity="S1")
    assert "step lost" not in look(person).text
    yesterday = (clock.now() - timedelta(days=1)).date()
    actions.add_follow_up(
        reference=incident.reference, text="Checkpoint", owner="lead", due=yesterday, by=lead
    )
    actions.add_follow_up(
        reference=incident.reference, text="Today", owner="lead", due=clock.now().date(), by=lead
    )
    factories.rollback(trip, 1, by=lead)
    runbook.look(incident)
    Incident.objects.update(review_due=clock.now() - timedelta(minutes=1))
    page = look(person)
    for mark in ("step lost", "review overdue", "1 follow-up overdue"):
        assert mark in page.text
    actions.finish_follow_up(reference=incident.reference, number=1, by=lead)
    assert "follow-up overdue" not in look(person).text


def test_only_sessions_of_the_current_episode_count(person, lead, trip, agent):
    incident = runbook.file(lead, trip, severity="S4")
    actions.decline(reference=incident.reference, reason="As designed", by=lead)
    actions.reopen(reference=incident.reference, reason="It was one", by=lead)
    assert AffectedSession.objects.count() == 2
    assert "travel-agent lead" in look(person).text


@pytest.fixture
def several(lead, trip, agent, project):
    """Four incidents of the lead's and two of others, in the order in which they were filed."""
    past = clock.now() - timedelta(days=40)
    with clock.at(past):
        runbook.file(lead, trip, title="Old", severity="S4", summary="Typo in the greeting")
    runbook.file(lead, trip, title="Worst", severity="S1", failure_mode="state_drift")
    runbook.file(agent, factories.session(agent), title="Unjudged", severity=None)
    closed = runbook.file(lead, title="Ended", severity="S3", no_session_reason="seen in logs")
    Incident.objects.filter(pk=closed.pk).update(status="closed", closed_at=clock.now())
    declined = runbook.file(lead, title="Nothing", severity="S2", no_session_reason="seen in logs")
    actions.decline(reference=declined.reference, reason="As designed", by=lead)
    return trip


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Nothing", "Ended", "Unjudged", "Worst", "Old"]),
        ("?status=active", ["Unjudged", "Worst", "Old"]),
        ("?status=triage", ["Unjudged"]),
        ("?status=closed", ["Ended"]),
        ("?severity=S1", ["Worst"]),
        ("?severity=none", ["Unjudged"]),
        ("?mode=state_drift", ["Worst"]),
        ("?mode=none&status=active", ["Unjudged", "Old"]),
        ("?commander=lead&status=active", ["Worst", "Old"]),
        ("?commander=none", ["Unjudged"]),
        ("?commander=me", []),
        ("?commander=nobody-here", []),
        ("?q=worst", ["Worst"]),
        ("?q=greeting", ["Old"]),
        ("?q=incident-3", ["Unjudged"]),
        ("?q=INCIDENT-33333333333333333333", []),
        ("?since=30d&status=active", ["Unjudged", "Worst"]),
        ("?overdue=review", []),
        ("?overdue=follow-up", []),
        ("?session=sess_none", []),
        ("?q=%00", []),
        ("?session=%00", []),
    ],
)
def test_the_address_narrows_it(person, several, query, found):
    assert titles(person, query) == found


def test_incidents_of_a_session(person, several):
    assert titles(person, f"?session={several.public_id}") == ["Worst", "Old"]


def test_mine_are_those_i_command(signed_in, several, lead, trip):
    mine = signed_in("admin", "me-myself")
    actions.set_commander(reference="INCIDENT-2", name="me-myself", by=lead)
    assert titles(mine, "?status=active&commander=me") == ["Worst"]


def test_what_is_overdue_is_found(person, several, lead):
    actions.add_follow_up(
        reference="INCIDENT-2",
        text="Checkpoint",
        owner="lead",
        due=(clock.now() - timedelta(days=2)).date(),
        by=lead,
    )
    Incident.objects.filter(title="Old").update(review_due=clock.now() - timedelta(hours=1))
    assert titles(person, "?overdue=follow-up") == ["Worst"]
    assert titles(person, "?overdue=review") == ["Old"]


def test_selections_with_a_name_are_links_and_say_which_is_shown(person, several):
    page = look(person, "?status=active&commander=me")
    for address in (
        "/incidents/",
        "/incidents/?status=active",
        "/incidents/?status=triage",
        "/incidents/?overdue=review",
        "/incidents/?overdue=follow-up",
        "/incidents/?status=closed",
    ):
        assert address in page.links
    assert 'commander=me" aria-current="page">Mine' in page.source


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?overdue=review", "No review is overdue"),
        ("?overdue=follow-up", "No follow-up is overdue"),
        ("?status=active&severity=S2", "Nothing waits here"),
        ("?q=nothing+like+this", "No incident matches these filters"),
        ("?status=bogus", "a filter can't be understood"),
    ],
)
def test_an_empty_list_says_which_case_it_is(person, several, query, words):
    assert words in look(person, query).text


def test_without_any_incident_it_says_how_to_begin(person):
    page = look(person)
    assert "No incident yet" in page.text
    assert "/incidents/file" in page.links


def test_pages_go_on_where_the_last_ended(person, lead, several, monkeypatch):
    from statebase_site.web import listing

    monkeypatch.setattr(listing, "ROWS_A_PAGE", 2)
    page = look(person)
    assert titles(person) == ["Nothing", "Ended"]
    assert "/incidents/?after=4" in page.links
    assert titles(person, "?after=4") == ["Unjudged", "Worst"]
    assert titles(person, "?after=2") == ["Old"]
    assert titles(person, "?before=1") == ["Unjudged", "Worst"]
    runbook.file(lead, several, title="Newer")
    assert titles(person, "?after=4") == ["Unjudged", "Worst"]
    for odd in ("x", "0", "-1", "999", "9" * 40, "%00", "1.0"):
        assert titles(person, f"?after={odd}") == ["Newer", "Nothing"]


def test_htmx_gets_the_rows_the_names_and_the_address(person, several):
    answer = person.get("/incidents/?status=triage&q=", headers={"HX-Request": "true"})
    page = Page(answer)
    assert "<html" not in page.source
    assert answer["HX-Push-Url"] == "/incidents/?status=triage"
    assert "1 incident shown" in page.text
    assert 'status=triage" aria-current="page">Triage' in page.source


def test_nothing_of_other_projects_is_listed(person, several):
    elsewhere = factories.project("Elsewhere")
    runbook.file(
        factories.person(elsewhere, "responder", "spy"),
        factories.session(factories.agent(elsewhere)),
        title="Secret",
    )
    assert "Secret" not in look(person).source
    assert "Secret" not in look(person, "?q=secret").source


def test_times_are_as_the_viewer_wants_them(person, several):
    person.cookies["times"] = "relative"
    assert "just now" in look(person).text


def test_the_number_of_queries_does_not_grow_with_the_rows(person, lead, agent, django_assert_num_queries):
    def add(count):
        for _ in range(count):
            runbook.file(lead, factories.session(agent), factories.session(agent), severity="S1")

    add(1)
    look(person)
    with CaptureQueriesContext(connection) as few:
        look(person)
    add(2)
    with django_assert_num_queries(len(few)):
        look(person)
    assert len(few) <= 6
