"""Filing an incident from a page: filled in from where it was opened, once, and clear about what it did."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app.models import AffectedSession, Incident
from sessions_app.models import Trace
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def trip(agent):
    return factories.session_with_versions(agent, 5, agent_id="travel-agent")


def look(client, address="/incidents/file"):
    return Page(client.get(address))


def send(client, page=None, **fields):
    """Send the form as a browser does that got it from `page`, or from nothing."""
    key = page.form("/incidents/file")[1]["idempotency_key"] if page else "form_1"
    given = {"idempotency_key": key, "title": "Cancelled a booking", "severity": "S3", "sessions": ""}
    return client.post("/incidents/file", given | fields)


def checked(page):
    """The values of the radio buttons and boxes that are ticked."""
    return re.findall(r'<input type="(?:radio|checkbox)"[^>]* value="([^"]*)"[^>]* checked', page.source)


def test_it_is_filled_in_from_a_version(person, trip):
    page = look(person, f"/incidents/file?session={trip.public_id}&version=3")
    assert page.form("/incidents/file")[1]["title"] == "travel-agent: wrong state at v3"
    assert checked(page) == ["S3", trip.public_id]
    assert f'name="version-{trip.public_id}"' in page.source
    assert 'value="3"' in page.source
    assert "suggested: nothing says yet that data is lost" in page.text
    answer = send(person, page, sessions=trip.public_id, **{f"version-{trip.public_id}": "3"})
    assert answer.status_code == 302
    assert answer["Location"] == "/incidents/INCIDENT-1/"
    row = AffectedSession.objects.get()
    assert (row.session_id, row.suspect_version) == (trip.public_id, 3)


def test_it_is_filled_in_from_a_trace(person, trip):
    trace = Trace.objects.filter(agent_session=trip, action="state.updated").order_by("pk")[1]
    page = look(person, f"/incidents/file?trace={trace.public_id}")
    assert page.form("/incidents/file")[1]["title"] == "travel-agent: wrong state at v2"
    assert trip.public_id in checked(page)
    assert f"Seen in trace {trace.public_id}: state.updated" in page.text


def test_a_frozen_session_suggests_an_s2(person, trip, agent):
    factories.freeze(trip, by=agent)
    page = look(person, f"/incidents/file?session={trip.public_id}")
    assert checked(page) == ["S2", trip.public_id]
    assert "suggested: it is frozen already" in page.text


def test_a_version_that_is_none_is_passed_over(person, trip):
    for version in ("99", "-1", "x", "9" * 30, "\u0663"):
        page = look(person, f"/incidents/file?session={trip.public_id}&version={version}")
        assert "wrong state at v5" in page.source, version


def test_without_anything_sessions_that_changed_last_are_offered(person, agent, trip):
    other = factories.session(agent, {"a": 1}, agent_id=HOSTILE)
    page = look(person)
    assert checked(page) == []
    assert 'name="title"' in page.source
    assert page.source.index(other.public_id) < page.source.index(trip.public_id)
    assert "<img" not in page.source
    assert "U+202E" in page.text


def test_each_severity_stands_beside_what_it_asks_for(person):
    text = look(person).text
    assert "Agent deleted or corrupted critical data" in text
    assert "Freeze: at once, by the server" in text
    assert "Divergence, rollback: required, 30 min" in text
    assert "Review: required, 5 working days, by someone else" in text
    assert "Not sure: triage" in text


def test_an_s1_says_how_many_sessions_it_freezes_and_freezes_them(person, agent, trip):
    other = factories.session(agent, {"a": 1})
    page = look(person, f"/incidents/file?session={trip.public_id}&session={other.public_id}")
    assert "freezes every chosen session at once: 2 sessions now" in page.text
    answer = person.post(
        "/incidents/file",
        {
            "idempotency_key": "form_2",
            "title": "Deleted bookings",
            "severity": "S1",
            "sessions": [trip.public_id, other.public_id, ""],
        },
        follow=True,
    )
    assert "Filed INCIDENT-1 as S1. 2 sessions frozen." in Page(answer).text
    assert factories.fresh(trip).is_frozen
    assert factories.fresh(other).is_frozen


def test_ids_may_be_ticked_and_typed_together(person, agent, trip):
    others = [factories.session(agent, {"a": 1}) for _ in range(2)]
    typed = f"{others[0].public_id},\n {others[1].public_id} {trip.public_id}"
    assert (
        person.post(
            "/incidents/file",
            {
                "idempotency_key": "f",
                "title": "Three",
                "severity": "S4",
                "sessions": [trip.public_id, typed],
            },
        ).status_code
        == 302
    )
    assert {row.session_id for row in AffectedSession.objects.all()} == {
        each.public_id for each in (*others, trip)
    }


def test_triage_leaves_the_severity_open(person, trip):
    answer = send(person, severity="triage", sessions=trip.public_id)
    incident = Incident.objects.get()
    assert (incident.status, incident.severity) == ("triage", None)
    page = Page(person.get(answer["Location"]))
    assert "Filed INCIDENT-1 for triage" in page.text


def test_the_same_form_twice_files_once(person, trip):
    page = look(person, f"/incidents/file?session={trip.public_id}")
    first = send(person, page, sessions=trip.public_id)
    second = send(person, page, sessions=trip.public_id)
    assert first["Location"] == second["Location"]
    assert Incident.objects.count() == 1


def test_without_a_session_a_reason_is_asked_for_and_nothing_typed_is_lost(person):
    answer = send(person, title="Odd answers", summary="Seen twice")
    page = Page(answer)
    assert answer.status_code == 422
    assert "Nothing was filed" in page.text
    assert "Choose a session, or say below why there is none." in page.text
    assert page.form("/incidents/file")[1]["title"] == "Odd answers"
    assert "Seen twice" in page.text
    assert checked(page) == ["S3"]
    assert send(person, page, no_session_reason="in the provider's logs").status_code == 302
    assert Incident.objects.get().no_session_reason == "in the provider's logs"


def test_what_is_wrong_is_said_at_its_field(person, trip):
    for fields, words in (
        ({"title": " "}, "Say what went wrong"),
        ({"title": "x" * 201}, "At most 200 characters; yours has 201."),
        ({"severity": "S9"}, "Choose one of those that are offered."),
        ({"severity": ""}, "Choose a severity, or triage"),
        ({"sessions": "sess_gone <b>"}, "There is no session sess_gone, &lt;b&gt;"),
        ({"summary": "x" * 17_000}, "At most 16,384 bytes"),
        ({"failure_mode": "bad luck"}, "Select a valid choice"),
    ):
        answer = send(person, **({"sessions": trip.public_id} | fields))
        assert answer.status_code == 422, words
        assert words in answer.content.decode()
    assert not Incident.objects.exists()


def test_a_wrong_version_must_be_one_of_the_session(person, trip):
    answer = send(person, sessions=trip.public_id, **{f"version-{trip.public_id}": "6"})
    assert answer.status_code == 422
    assert f"{trip.public_id} has the versions 0 to 5." in Page(answer).text
    assert 'value="6"' in answer.content.decode()


def test_who_only_reads_is_told_so_in_words(signed_in, trip):
    viewer = signed_in("viewer")
    page = look(viewer, f"/incidents/file?session={trip.public_id}")
    assert "Your role may not file incidents" in page.text
    assert not page.has_form("/incidents/file")
    answer = send(viewer, sessions=trip.public_id)
    assert answer.status_code == 403
    assert "Your role may not file an incident" in Page(answer).text
    assert not Incident.objects.exists()


def test_an_engineer_files_too_and_leads_nothing(signed_in, trip):
    assert send(signed_in("engineer"), sessions=trip.public_id).status_code == 302
    assert Incident.objects.get().commander is None


def test_sessions_of_others_do_not_exist(person, trip):
    other = factories.session(factories.full_key(factories.project("Elsewhere")))
    assert person.get(f"/incidents/file?session={other.public_id}").status_code == 404
    answer = send(person, sessions=f"{trip.public_id} {other.public_id}")
    assert answer.status_code == 422
    assert f"There is no session {other.public_id}" in Page(answer).text


def test_it_is_filed_in_the_project_of_the_session(person, trip):
    elsewhere = factories.project("Elsewhere")
    other = factories.session(factories.full_key(elsewhere))
    factories.membership(elsewhere, "engineer", "responder")
    assert "project Elsewhere" in look(person, f"/incidents/file?session={other.public_id}").text
    mixed = send(person, sessions=f"{other.public_id} {trip.public_id}")
    assert f"{trip.public_id} is not of the project Elsewhere" in Page(mixed).text
    assert send(person, sessions=other.public_id).status_code == 302
    assert Incident.objects.get().project == elsewhere


# Ways in ------------------------------------------------------------------------------------------------


def test_every_page_of_a_session_leads_to_filing(person, trip, agent):
    factories.turn(trip, by=agent)
    about = f"/incidents/file?session={trip.public_id}"
    session = f"/sessions/{trip.public_id}"
    trace = Trace.objects.filter(agent_session=trip, action="state.updated").order_by("pk")[0]
    assert f"{about}&version=5" in look(person, f"{session}/").links
    assert f"{about}&version=2" in look(person, f"{session}/v/2").links
    assert f"{about}&version=5" in look(person, f"{session}/turns").links
    assert about in look(person, f"{session}/traces").links
    assert f"{about}&version=1&trace={trace.public_id}" in look(person, f"/traces/{trace.public_id}/").links
    assert "/incidents/file" in Page(person.get("/", headers={"Accept": "text/html"})).links


def test_who_only_reads_sees_why_the_button_is_off(signed_in, trip):
    page = look(signed_in("viewer"), f"/sessions/{trip.public_id}/")
    assert not any(link.startswith("/incidents/file") for link in page.links)
    assert "Your role only reads; an engineer of the project may." in page.text


def test_a_session_page_tells_its_incidents(person, lead, trip):
    page = look(person, f"/sessions/{trip.public_id}/")
    fragment = f"/incidents/of-session/{trip.public_id}"
    assert f'hx-get="{fragment}"' in page.source
    assert f"/incidents/?session={trip.public_id}" in page.links
    htmx = {"HX-Request": "true"}
    assert "no incident" in Page(person.get(fragment, headers=htmx)).text
    runbook.file(lead, trip, title=HOSTILE, severity="S1")
    found = Page(person.get(fragment, headers=htmx))
    assert "INCIDENT-1 S1 contained" in found.text
    assert "<img" not in found.source
    for number in range(3):
        runbook.file(lead, trip, title=f"Another {number}")
    assert "and 1 more" in Page(person.get(fragment, headers=htmx)).text
    assert person.get(fragment)["Location"] == f"/incidents/?session={trip.public_id}"


def test_incidents_of_others_are_not_told(signed_in, trip):
    elsewhere = factories.project("Elsewhere")
    runbook.file(
        factories.person(elsewhere, "responder", "spy"), factories.session(factories.agent(elsewhere))
    )
    other = AffectedSession.objects.get().session_id
    answer = signed_in().get(f"/incidents/of-session/{other}", headers={"HX-Request": "true"})
    assert "INCIDENT" not in answer.content.decode()


def test_the_header_counts_what_is_open(person, lead, trip):
    assert not look(person, "/sessions/").with_class("count")
    runbook.file(lead, trip, severity="S3")
    page = look(person, "/sessions/")
    assert page.with_class("count")[0]["class"] == "count calm"
    assert "Incidents 1 open" in page.text
    runbook.file(lead, trip, severity="S2")
    page = look(person, "/sessions/")
    assert page.with_class("count")[0]["class"] == "count"
    assert "Incidents 2 open, S1 or S2 among them" in page.text


def test_the_number_of_queries_is_the_same_for_any_number_of_sessions(
    person, agent, django_assert_max_num_queries
):
    made = [factories.session(agent, {"a": 1}) for _ in range(9)]
    address = "/incidents/file?" + "&".join(f"session={each.public_id}" for each in made)
    look(person)
    with CaptureQueriesContext(connection) as few:
        look(person, f"/incidents/file?session={made[0].public_id}")
    with django_assert_max_num_queries(len(few)):
        look(person, address)
    assert len(few) <= 7
