"""The incident list: what a row tells, and what it costs; test_list_filters has what is listed."""

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

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def trip(agent):
    return factories.session_with_versions(agent, 3, agent_id="travel-agent")


def look(client, query=""):
    return Page(client.get(f"/incidents/{query}"))


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


def test_times_are_as_the_viewer_wants_them(person, lead, trip):
    runbook.file(lead, trip)
    person.cookies["times"] = "relative"
    assert "just now" in look(person).text


def test_without_any_incident_it_says_how_to_begin(person):
    page = look(person)
    assert "No incident yet" in page.text
    assert "/incidents/file" in page.links


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
