"""What the incident list lists: what the address narrows it to, its pages, and empty ones."""

from datetime import timedelta

import pytest

from incidents_app import actions
from incidents_app.models import Incident
from statebase_site.base import clock
from statebase_site.web import listing
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page


@pytest.fixture(scope="module")
def several(lead, agent):
    """Five incidents in the order in which they were filed; returns the session of the first two."""
    trip = factories.session(agent)
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


def look(client, query=""):
    return Page(client.get(f"/incidents/{query}"))


def titles(client, query=""):
    """Of the incidents that are listed, in their order."""
    source = look(client, query).source.partition('id="incidents"')[2]
    rows = source.split('<th scope="row"')[1:]
    return [row.partition('">')[2].partition("</a>")[0].rpartition(">")[2] for row in rows]


FOUND = {
    "": ["Nothing", "Ended", "Unjudged", "Worst", "Old"],
    "?status=active": ["Unjudged", "Worst", "Old"],
    "?status=triage": ["Unjudged"],
    "?status=closed": ["Ended"],
    "?severity=S1": ["Worst"],
    "?severity=none": ["Unjudged"],
    "?mode=state_drift": ["Worst"],
    "?mode=none&status=active": ["Unjudged", "Old"],
    "?commander=lead&status=active": ["Worst", "Old"],
    "?commander=none": ["Unjudged"],
    "?commander=me": [],
    "?commander=nobody-here": [],
    "?q=worst": ["Worst"],
    "?q=greeting": ["Old"],
    "?q=incident-3": ["Unjudged"],
    "?q=INCIDENT-33333333333333333333": [],
    "?since=30d&status=active": ["Unjudged", "Worst"],
    "?overdue=review": [],
    "?overdue=follow-up": [],
    "?session=sess_none": [],
    "?q=%00": [],
    "?session=%00": [],
}


def test_the_address_narrows_it(person, several):
    found = FOUND | {f"?session={several.public_id}": ["Worst", "Old"]}
    assert {query: titles(person, query) for query in found} == found


def test_mine_are_those_i_command(signed_in, several, lead):
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


def test_an_empty_list_says_which_case_it_is(person, several):
    for query, words in {
        "?overdue=review": "No review is overdue",
        "?overdue=follow-up": "No follow-up is overdue",
        "?status=active&severity=S2": "Nothing waits here",
        "?q=nothing+like+this": "No incident matches these filters",
        "?status=bogus": "a filter can't be understood",
    }.items():
        assert words in look(person, query).text


def test_pages_go_on_where_the_last_ended(person, lead, several, monkeypatch):
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
