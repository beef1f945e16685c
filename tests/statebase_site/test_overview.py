"""The overview: what needs somebody, the rollback rate as the mission defines it, and an empty install."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app import actions as incidents
from sessions_app import actions
from sessions_app.errors import SessionFrozen
from sessions_app.queries import overview as numbers
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html"}


@pytest.fixture
def project():
    return factories.project("Travel desk")


@pytest.fixture
def key(project):
    return factories.full_key(project)


@pytest.fixture
def person(client, project):
    client.force_login(factories.membership(project, "responder").user)
    return client


def look(client):
    return Page(client.get("/", headers=HTML))


def ago(**span):
    return clock.at(clock.now() - timedelta(**span))


def test_frozen_sessions_with_what_they_refused(person, key):
    made = factories.session(key, agent_id="travel-agent")
    factories.session(key)
    factories.freeze(made, by=key)
    for number in range(2):
        with pytest.raises(SessionFrozen):
            factories.update(made, {"n": number}, by=factories.asking(key, body={"reasoning": "Going on"}))
    page = look(person)
    assert "Frozen sessions 1 waits for a person" in page.text
    assert "2 writes refused" in page.text
    assert "Refused writes, 24 h 2" in page.text
    assert "state.update by" in page.text
    assert "Going on" in page.text
    assert f"/sessions/{made.public_id}/" in page.links


def test_more_frozen_sessions_than_fit_are_counted(person, key):
    for _ in range(8):
        factories.freeze(factories.session(key), by=key)
    page = look(person)
    assert "Frozen sessions 8" in page.text
    assert "All 8" in page.text


def test_the_rollback_rate_is_rollbacks_by_sessions_created_or_changed(person, key):
    """Seed 1, "Monitoring Rollback Frequency": count_rollbacks_last_24h() / count_sessions_last_24h()."""
    with ago(days=3):
        factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
        old = factories.session(key, ttl_seconds=2_592_000)
    with ago(days=9):
        factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
    factories.update(old, {"changed": "today"}, by=key)
    factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
    for _ in range(18):
        factories.session(key)
    gone = factories.session_with_versions(key, 1)
    factories.rollback(gone, 0, by=key)
    actions.delete_session(session_id=gone.public_id, by=key)
    page = look(person)
    assert "Rollback rate, 24 h 5.0 % elevated 1 rollback in 20 active sessions" in page.text
    assert "Rollback rate, 7 days 9.5 % warning 2 rollbacks in 21 active sessions" in page.text


@pytest.mark.parametrize(
    ("rollbacks", "sessions", "health"),
    [
        (0, 0, "healthy"),
        (1, 51, "healthy"),
        (1, 50, "elevated"),
        (5, 100, "elevated"),
        (6, 100, "warning"),
        (10, 100, "warning"),
        (11, 100, "critical"),
        (3, 2, "critical"),
    ],
)
def test_health_as_the_mission_sets_it(rollbacks, sessions, health):
    assert numbers.Rate(rollbacks, sessions).health == health


def test_days_are_those_of_the_viewer(key):
    with clock.at(datetime(2026, 11, 28, 23, 30, tzinfo=UTC)):
        factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
    with clock.at(datetime(2026, 11, 29, 12, 0, tzinfo=UTC)):
        utc = numbers.days(key, 3, UTC)
        berlin = numbers.days(key, 3, ZoneInfo("Europe/Berlin"))
        hours = numbers.hours(key, 24, ZoneInfo("Asia/Kolkata"))
    assert [span.rate.rollbacks for span in utc] == [0, 1, 0]
    assert [span.rate.rollbacks for span in berlin] == [0, 0, 1]
    assert [span.writes for span in berlin] == [0, 0, 3]
    assert len(hours) == 24
    assert sum(span.writes for span in hours) == 3
    assert next(span.start.hour for span in hours if span.writes) == 5


def test_bars_are_as_high_as_what_they_stand_for(person, key):
    with ago(days=2):
        factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
        factories.session(key)
    with ago(days=1):
        factories.rollback(factories.session_with_versions(key, 1), 0, by=key)
    picture = look(person).source.split("Rollback rate by day", 1)[1].partition("</svg>")[0]
    bars = re.findall(r'height="([\d.]+)"><title>([^<]+)', picture)
    assert len(bars) == 14
    assert [float(height) for height, _ in bars[-3:]] == [20.0, 40.0, 0.0]
    assert bars[-3][1].startswith("50 %")
    assert "1 in 2 sessions" in bars[-3][1]
    limits = [float(y) for y in re.findall(r'spark-limit[^>]*y1="([\d.]+)"', picture)]
    assert limits == [38.0, 36.0]


def test_latest_rollbacks_with_their_reasons(person, key):
    made = factories.session_with_versions(key, 3, agent_id="travel-agent")
    factories.rollback(made, 1, by=key, reason="Charged twice")
    page = look(person)
    assert "travel-agent v4 restores v1" in page.text
    assert "Charged twice" in page.text
    assert f"/sessions/{made.public_id}/v/4" in page.links


def test_open_incidents_by_severity_the_worst_first(person, key, project):
    lead = factories.person(project, "responder", "lead")
    made = factories.session(key)
    for severity in ("S3", "S1", None):
        runbook.file(lead, made, severity=severity, title=f"A case of {severity}")
    over = runbook.file(lead, made, severity="S2", title="Nothing")
    incidents.decline(reference=over.reference, reason="As designed", by=lead)
    page = look(person)
    assert "Open incidents 3 1 S1, 1 S3, 1 in triage" in page.text
    assert page.with_class("bad")[0]["href"] == "/incidents/?status=active"
    assert (
        page.text.index("A case of S1") < page.text.index("A case of S3") < page.text.index("A case of None")
    )
    assert "Nothing is frozen" not in page.text
    assert "lead commands" in page.text
    assert "Overdue after incidents" not in page.text


def test_reviews_and_follow_ups_that_are_overdue(person, key, project):
    lead = factories.person(project, "responder", "lead")
    incident = runbook.file(lead, factories.session(key), severity="S2")
    yesterday = clock.now() - timedelta(days=1)
    for number in range(2):
        incidents.add_follow_up(
            reference=incident.reference, text=f"Task {number}", owner="lead", due=yesterday.date(), by=lead
        )
    incident.refresh_from_db()
    incident.review_due = yesterday
    incident.save()
    page = look(person)
    assert "Overdue after incidents 3 1 review, 2 follow-ups" in page.text
    assert {"/incidents/?overdue=review", "/incidents/?overdue=follow-up"} <= set(page.links)


def test_an_empty_project_offers_the_first_call_and_the_import(person):
    page = look(person)
    assert "No session yet" in page.text
    assert "curl http://testserver/v1/sessions" in page.text
    assert "python3 manage.py import_runs PATH --project travel-desk" in page.text
    assert "/settings/keys/" in page.links
    assert "Rollback rate" not in page.text


def test_what_is_well_is_said_to_be(person, key):
    factories.session(key)
    page = look(person)
    assert "Open incidents 0 no agent is in trouble" in page.text
    for words in ("Nothing is frozen", "No rollback yet", "No write was refused", "0.0 % healthy"):
        assert words in page.text


def test_nothing_of_other_projects_is_counted(person, key):
    factories.session(key)
    other = factories.full_key(factories.project("Elsewhere"))
    made = factories.session_with_versions(other, 2, agent_id="spy")
    factories.rollback(made, 0, by=other)
    factories.freeze(made, by=other)
    with pytest.raises(SessionFrozen):
        factories.update(made, {"a": 1}, by=other)
    page = look(person)
    runbook.file(factories.person(other.project, "responder", "lead"), made, title="Secret", severity="S1")
    page = look(person)
    assert "spy" not in page.text
    assert "Secret" not in page.text
    assert "Open incidents 0" in page.text
    assert "Nothing is frozen" in page.text
    assert "0 rollbacks in 1 active session" in page.text
    assert "Refused writes, 24 h 0" in page.text


def test_text_from_agents_stays_text(person, key):
    made = factories.session_with_versions(key, 1, agent_id="<script>alert(1)</script>\u202e", user_id="<b>x")
    factories.rollback(made, 0, by=key, reason="<img src=x>" + "A" * 5000)
    page = look(person)
    for hostile in ("<script>alert", "<img", "<b>x", "A" * 400):
        assert hostile not in page.source
    assert "U+202E" in page.text


def test_the_number_of_queries_does_not_grow_with_the_sessions(person, key, django_assert_max_num_queries):
    def busy(count):
        for _ in range(count):
            made = factories.session_with_versions(key, 1)
            factories.rollback(made, 0, by=key)
            factories.freeze(made, by=key)
            with pytest.raises(SessionFrozen):
                factories.update(made, {"a": 1}, by=key)

    busy(1)
    look(person)
    with CaptureQueriesContext(connection) as few:
        look(person)
    busy(11)
    with django_assert_max_num_queries(len(few) + 1):  # frozen sessions beyond those shown are counted
        look(person)


def test_strangers_are_asked_to_sign_in_and_programs_are_told_what_this_is(client):
    assert client.get("/", headers=HTML).status_code == 302
    assert client.get("/").json()["name"] == "StateBase"
