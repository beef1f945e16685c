"""Incidents in numbers: medians with their counts, no zero for what was not recorded, and what is overdue."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app import actions, queries
from incidents_app.models import Episode, Incident
from incidents_app.queries import numbers
from statebase_site.access.actor import person_actor
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.usefixtures("four")

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def look(client, query=""):
    return Page(client.get(f"/incidents/numbers{query}"))


def table(page, anchor):
    """The rows of a table: what each cell says, by its column."""
    source = page.source.partition(f'aria-labelledby="{anchor}"')[2].partition("</table>")[0]
    head, *rows = [_cells(row) for row in re.findall(r"<tr.*?</tr>", source, re.S)]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def _cells(row):
    return [
        " ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)
    ]


def recovered(lead, agent, *, minutes, severity="S2", at=NOON, **fields):
    """An incident filed at `at` whose session was frozen, judged and rolled back so many minutes later."""
    with clock.at(at - timedelta(minutes=1)):
        session = runbook.damaged(agent)
    with clock.at(at):
        incident = runbook.file(lead, session, severity=severity, **fields)
    about = {"reference": incident.reference, "by": lead}
    with clock.at(at + timedelta(minutes=minutes)):
        actions.freeze(**about)
        actions.record_divergence(
            **about, session_id=session.public_id, divergence_version=1, last_good_version=0
        )
        actions.rollback(**about, session_id=session.public_id)
    return incident


@pytest.fixture(scope="module")
def four(lead, agent):
    """An S3 and, 18 days later, three S2."""
    earlier = NOON - timedelta(days=18)
    recovered(lead, agent, minutes=10, severity="S3", failure_mode="state_drift", at=earlier)
    recovered(lead, agent, minutes=1, failure_mode="infinite_loop")
    recovered(lead, agent, minutes=10, failure_mode="infinite_loop")
    recovered(lead, agent, minutes=60, title="=HYPERLINK(1)")


def test_median_p90_and_count_per_severity(person):
    rows = table(look(person), "by-severity")
    assert rows["S2"]["To freeze"] == "10 min p90 1 h, n 3"
    assert rows["S2"]["Incidents"] == "3"
    assert rows["S3"]["To rollback"] == "10 min p90 10 min, n 1"
    assert rows["All"]["To divergence"] == "10 min p90 1 h, n 4"
    assert rows["S2"]["Bad versions"] == "2 p90 2, n 3"
    assert rows["S2"]["Tool calls"] == "1 p90 1, n 3"


def test_what_was_not_recorded_says_so_and_is_no_zero(person, lead, agent):
    runbook.file(lead, factories.session(agent), severity="S2")
    rows = table(look(person), "by-severity")
    assert rows["S2"]["Incidents"] == "4"
    assert rows["S2"]["To freeze"].endswith("n 3")
    assert rows["S2"]["To resume"] == "not recorded"
    assert set(rows["S1"].values()) == {"0", "not recorded"}
    assert "Triage" not in rows


def test_per_failure_mode_the_most_frequent_first(person):
    rows = table(look(person), "by-mode")
    assert list(rows) == ["Infinite loop", "State drift", "Not chosen", "All"]
    assert rows["Infinite loop"]["To freeze"] == "5 min 30 s p90 10 min, n 2"


def test_incidents_in_triage_have_a_row_of_their_own(person, agent):
    runbook.file(agent, factories.session(agent), severity=None)
    assert table(look(person), "by-severity")["Triage"]["Incidents"] == "1"


def test_each_number_is_that_of_the_incident_itself(lead):
    rows = numbers.measured(lead)
    for row in rows:
        assert row.metrics == queries.metrics_of(row.episode, list(row.episode.affected.all()))
    assert sorted(row.metrics.time_to_freeze_s for row in rows) == [60, 600, 600, 3600]


def test_a_reopened_incident_counts_by_its_episodes(lead):
    Incident.objects.filter(number=2).update(status="resolved", resolved_at=clock.now())
    Episode.objects.filter(incident__number=2).update(resolved_at=clock.now())
    actions.reopen(reference="INCIDENT-2", reason="It came back", by=lead)
    rows = [row for row in numbers.measured(lead) if row.episode.incident.number == 2]
    assert [row.episode.number for row in rows] == [2, 1]
    assert rows[1].metrics.time_to_freeze_s == 60


def test_declined_and_merged_incidents_are_left_out(person, lead, agent):
    noise = runbook.file(lead, factories.session(agent), severity="S1")
    actions.decline(reference=noise.reference, reason="As designed", resume_sessions=True, by=lead)
    same = runbook.file(lead, factories.session(agent), severity="S3")
    actions.merge(reference=same.reference, into="INCIDENT-1", by=lead)
    assert table(look(person), "by-severity")["All"]["Incidents"] == "4"


def test_the_time_is_in_the_address(person):
    with clock.at(NOON + timedelta(days=2)):
        assert table(look(person, "?since=30d"), "by-severity")["All"]["Incidents"] == "4"
        assert table(look(person, "?since=7d"), "by-severity")["All"]["To divergence"].endswith("n 3")
        page = look(person, "?since=24h")
        assert "No incident began in this time" in page.text
        assert "/incidents/numbers" in page.links
        assert table(look(person, "?since=bogus"), "by-severity")["All"]["Incidents"] == "4"


def test_the_picture_has_a_dot_for_each_time_and_says_it_in_words(person):
    picture = look(person).source.partition('<svg class="plot"')[2].partition("</svg>")[0]
    assert "To freeze: median 10 min, p90 1 h, n 4;" in picture
    assert "To resume: not recorded" in picture
    strip = picture.partition("To freeze<tspan")[2].partition("To divergence<tspan")[0]
    dots = re.findall(r'plot-dot (S\d)" cx="([\d.]+)%" cy="(\d+)" r="4"><title>([^<]+)', strip)
    assert [dot[0] for dot in dots] == ["S2", "S2", "S2", "S3"]
    places = {dot[3]: float(dot[1]) for dot in dots}
    assert places["INCIDENT-2, S2: 1 min"] < places["INCIDENT-3, S2: 10 min"] < places["INCIDENT-4, S2: 1 h"]
    assert places["INCIDENT-3, S2: 10 min"] == places["INCIDENT-1, S3: 10 min"]
    assert dots[0][2] != dots[3][2]
    median = re.search(r'plot-median" x1="([\d.]+)%', strip)
    assert median
    assert float(median[1]) == places["INCIDENT-3, S2: 10 min"]


def test_a_median_lies_between_the_two_in_the_middle_and_p90_is_one_that_occurred():
    assert numbers.spread_of([]) is None
    assert numbers.spread_of([7]) == numbers.Spread(1, 7, 7)
    assert numbers.spread_of([4, 1]) == numbers.Spread(2, 2.5, 4)
    assert numbers.spread_of(range(1, 11)) == numbers.Spread(10, 5.5, 9)
    assert numbers.spread_of([0, 0, 0]) == numbers.Spread(3, 0, 0)


def test_what_is_owed_is_listed(person, lead):
    page = look(person)
    assert "No review is owed" in page.text
    assert "No follow-up is overdue" in page.text
    for number, days in enumerate((3, 1, -1), 1):
        actions.add_follow_up(
            reference="INCIDENT-2",
            text=f"<b>Task</b> {number}",
            owner="",
            due=(clock.now() - timedelta(days=days)).date(),
            by=lead,
        )
    yesterday = clock.now() - timedelta(days=1)
    Incident.objects.filter(number=2).update(status="resolved", resolved_at=NOON, review_due=yesterday)
    page = look(person)
    assert page.text.index("<b>Task</b> 1") < page.text.index("<b>Task</b> 2")
    assert "<b>Task</b> 3" not in page.text
    assert "no owner" in page.text
    assert "INCIDENT-2 S2 Cancelled a booking due" in page.text
    assert "overdue · lead" in page.text
    Episode.objects.update(approved_at=clock.now())
    assert "No review is owed" in look(person).text


def test_a_review_without_a_date_is_owed_too(person):
    Incident.objects.filter(severity="S3").update(status="resolved", resolved_at=NOON)
    assert "INCIDENT-1 S3 Cancelled a booking no date" in look(person).text


def test_a_new_project_says_how_to_begin_and_draws_no_picture_without_a_time(client):
    member = factories.membership(factories.project("New"), "responder", "newcomer")
    client.force_login(member.user)
    page = look(client)
    assert "No incident yet" in page.text
    assert "/incidents/file" in page.links
    assert '<svg class="plot"' not in page.source
    runbook.file(person_actor(member), severity="S4", no_session_reason="Seen in the logs")
    page = look(client)
    assert "No time is recorded yet" in page.text
    assert '<svg class="plot"' not in page.source


def test_nothing_of_other_projects_is_counted(person):
    elsewhere = factories.project("Elsewhere")
    spy, session = (
        factories.person(elsewhere, "responder", "spy"),
        runbook.damaged(factories.agent(elsewhere)),
    )
    runbook.file(spy, session, severity="S1", title="Secret")
    page = look(person)
    total = table(page, "by-severity")["All"]
    assert total["Incidents"] == "4"
    assert total["To freeze"].endswith("n 4")
    assert "Secret" not in page.source


def test_the_sheet_has_a_line_an_episode_and_calculates_nothing(person):
    answer = person.get("/incidents/numbers?format=csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == 4
    row = next(row for row in rows if "HYPERLINK" in row["title"])
    assert row["title"] == "'=HYPERLINK(1)"
    assert row["to freeze, s"] == "3600"
    assert row["to resume, s"] == "not recorded"
    assert row["bad versions"] == "2"
    assert row["opened"] == "2026-11-29T12:00:00Z"


def test_the_number_of_queries_does_not_grow_with_the_incidents(person):
    def count(since):
        with CaptureQueriesContext(connection) as made:
            assert "Infinite loop" in look(person, f"?since={since}").text
        return len(made)

    with clock.at(NOON + timedelta(days=2)):
        count("7d")
        assert count("7d") == count("30d") <= 8
