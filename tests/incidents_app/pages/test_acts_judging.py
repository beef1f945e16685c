"""Severity, evidence, notes, summary, scenarios and review: what is special about each of their pages."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.urls import reverse

from incidents_app import actions, queries
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page


@pytest.fixture(scope="module")
def session(agent):
    return factories.session_with_versions(agent, 4)


@pytest.fixture(scope="module")
def filed(maria, session):
    made = actions.file(title="Wrong", severity="S2", session_ids=[session.public_id], by=maria).incident
    actions.record_divergence(
        reference="INCIDENT-1",
        session_id=session.public_id,
        divergence_version=3,
        last_good_version=2,
        by=maria,
    )
    return made


@pytest.fixture
def incident(filed, db):
    """INCIDENT-1, an S2 about one session, whose divergence is v3."""
    return factories.fresh(filed)


def address(name, *args, of="INCIDENT-1"):
    return reverse(f"incidents:{name}", args=[of, *args])


def typed(page, name):
    """What stands in a text field."""
    found = re.search(rf'<textarea name="{name}"[^>]*>\s*(.*?)</textarea>', page.source, re.S)
    return unescape(found[1])


def fresh(incident):
    incident.refresh_from_db()
    return incident


# Severity -----------------------------------------------------------------------------------------------


def test_raising_to_s1_names_the_sessions_before_the_button_and_freezes_them(commander, incident, session):
    page = Page(commander.get(address("severity")))
    assert f"S1 freezes at once: 1 session. {session.public_id}" in page.text
    assert page.source.index("S1 freezes at once") < page.source.rindex("Change severity")
    for words in ("at once, by the server", "required, 5 working days", "a correction instead", "24 h watch"):
        assert words in page.text
    answer = commander.post(address("severity"), {"severity": "S1"}, follow=True)
    assert f"Frozen: {session.public_id}" in Page(answer).text
    assert factories.fresh(session).is_frozen


def test_lowering_asks_a_reason_and_one_for_each_duty_that_is_dropped(commander, incident, session):
    page = Page(commander.get(address("severity")))
    name = session.public_id
    assert f"{name}: stop the bleeding" in page.text
    assert f"{name}: roll back" in page.text
    answer = commander.post(address("severity"), {"severity": "S4"})
    assert answer.status_code == 422
    assert "Lowering the severity needs a reason" in Page(answer).text
    sent = {"severity": "S4", "reason": "Only a label", f"waive-{name}-freeze": "A test agent"}
    answer = commander.post(address("severity"), sent)
    assert answer.status_code == 409
    refused = Page(answer)
    assert f"{name}: roll back." in refused.text
    assert f"{name}: stop the bleeding." not in refused.text
    assert typed(refused, "reason") == "Only a label"
    assert typed(refused, f"waive-{name}-freeze") == "A test agent"
    assert fresh(incident).severity == "S2"
    assert commander.post(address("severity"), sent | {"waive_all": "Nothing to undo"}).status_code == 302
    assert (fresh(incident).severity, incident.peak_severity) == ("S4", "S2")
    row = incident.episodes.get().affected.get()
    reasons = {each.step: each.reason for each in row.exemptions.all()}
    assert reasons == {"freeze": "A test agent", "rollback": "Nothing to undo"}


def test_who_does_not_command_may_raise_but_not_lower(signed_in, incident):
    other = signed_in("engineer", "eva")
    assert "which you do not have" in Page(other.get(address("severity"))).text
    answer = other.post(address("severity"), {"severity": "S3", "reason": "Mild"})
    assert answer.status_code == 403
    assert typed(Page(answer), "reason") == "Mild"
    assert other.post(address("severity"), {"severity": "S1"}).status_code == 302


# Evidence and notes ---------------------------------------------------------------------------------------


def test_pins_are_picked_from_lists_and_what_is_pinned_is_marked(commander, incident, session, agent):
    page = Page(commander.get(address("pin"), {"session_id": session.public_id}))
    trace = re.search(r'name="traces" value="(trace_\w+)"', page.source)[1]
    commander.post(
        address("pin"),
        {"session_id": session.public_id, "versions": ["3", "1, v2"], "traces": [trace, ""], "note": "Why"},
    )
    pins = incident.episodes.get().affected.get().pins
    assert set(pins.values_list("target", flat=True)) == {"1", "2", "3", trace}
    page = Page(commander.get(address("pin"), {"session_id": session.public_id}))
    assert page.text.count("pinned") == 4
    none = commander.post(address("pin"), {"session_id": session.public_id, "versions": "", "traces": ""})
    assert none.status_code == 422
    assert "Choose at least one version or trace" in Page(none).text
    gone = commander.post(address("pin"), {"session_id": session.public_id, "versions": "77"})
    assert gone.status_code == 404
    assert pins.count() == 4


def test_a_note_about_an_earlier_moment_is_typed_in_the_persons_zone(commander, incident):
    commander.cookies["times"], commander.cookies["tz"] = "local", "Europe/Berlin"
    assert "In Europe/Berlin" in Page(commander.get(address("note"))).text
    commander.post(address("note"), {"text": "Seen", "occurred_at": "2026-03-29T14:05"})
    row = incident.events.get(kind="note")
    assert row.occurred_at == datetime(2026, 3, 29, 12, 5, tzinfo=UTC)
    later = (clock.now() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S")
    answer = commander.post(address("note"), {"text": "Not yet", "occurred_at": later})
    assert answer.status_code == 422
    assert "can't lie in the future" in Page(answer).text
    assert typed(Page(answer), "text") == "Not yet"
    page = Page(commander.get(address("note"), {"supersedes": row.sequence}))
    assert f"Row {row.sequence}" in page.text
    commander.post(address("note"), {"text": "Seen at two", "supersedes": str(row.sequence)})
    assert incident.events.get(text="Seen at two").supersedes == row.sequence


def test_two_who_edit_the_summary_both_see_both_texts_and_lose_none(commander, incident, maria, signed_in):
    mine = {
        "title": "Wrong",
        "initial-title": "Wrong",
        "summary": "Mine",
        "initial-summary": "",
        "summary_revision": "0",
    }
    theirs = signed_in("engineer", "eva")
    theirs.post(address("edit"), mine | {"summary": "Theirs <b>", "title": "Renamed"})
    answer = commander.post(address("edit"), mine)
    assert answer.status_code == 409
    page = Page(answer)
    assert "eva has changed the summary meanwhile" in page.text
    assert "Theirs <b>" in page.text
    assert typed(page, "summary") == "Mine"
    assert (fresh(incident).summary, incident.title) == ("Theirs <b>", "Renamed")
    source = page.source
    seen = re.search(r'name="initial-summary" value="([^"]*)"', source)[1]
    revision = re.search(r'name="summary_revision" value="(\d+)"', source)[1]
    both = mine | {"summary": "Both", "initial-summary": unescape(seen), "summary_revision": revision}
    assert commander.post(address("edit"), both).status_code == 302
    # The title that the other gave meanwhile stays: this person did not touch it.
    assert (fresh(incident).summary, incident.title) == ("Both", "Renamed")


def test_command_is_taken_and_handed_over(signed_in, maria, agent, session):
    filed = runbook.file(agent, session, severity=None)
    command = address("commander", of=filed.reference)
    jon = signed_in("responder", "jon")
    page = Page(jon.get(command))
    assert re.search(r'<option value="jon" selected>', page.source)
    assert 'value="viewer"' not in page.source
    jon.post(command, {"name": "jon"})
    jon.post(command, {"name": "maria"})
    assert queries.incident_for(maria, filed.reference).commander.get_username() == "maria"
    assert jon.post(command, {"name": "jon"}).status_code == 403


# Prevention and review ------------------------------------------------------------------------------------

SCENARIO = {"name": "Again", "fork_version": "2", "fault_kind": "state_patch", "patch": '{"step": 9}'}


def test_a_predicate_is_tried_on_both_states_before_anything_is_made(commander, incident, session):
    prefilled = Page(commander.get(address("scenario-new"))).source
    assert re.search(r'name="fork_version" value="2"', prefilled)
    sent = SCENARIO | {"session_id": session.public_id, "look": "check"}
    for predicate, words in (
        (
            "step == `2`",
            "It tells them apart. In the good state, v2: true, as it should be In the bad state, v3",
        ),
        ("step == `3`", "It does not tell them apart."),
        ("step ==", "This is no JMESPath expression"),
    ):
        answer = commander.post(address("scenario-new"), sent | {"predicate": predicate})
        assert answer.status_code == 200
        assert words in Page(answer).text
        assert 'value="Again"' in answer.content.decode()
    assert incident.scenarios.count() == 0


def test_a_scenario_is_made_with_its_fault_and_a_run_is_judged_by_the_state(commander, incident, session):
    sent = SCENARIO | {"session_id": session.public_id, "predicate": "step == `2`"}
    assert commander.post(address("scenario-new"), sent).status_code == 302
    scenario = incident.scenarios.get()
    assert scenario.fault == {"kind": "state_patch", "patch": {"step": 9}}
    page = Page(commander.get(address("run-report", scenario.public_id)))
    assert scenario.runs.get().session_id in page.source
    waiting = commander.post(address("run-request", scenario.public_id))
    assert waiting.status_code == 409
    run = {"session_id": scenario.runs.get().session_id, "agent_version": "bot@1"}
    answer = commander.post(address("run-report", scenario.public_id), run, follow=True)
    assert "Red: what must hold does not" in Page(answer).text
    assert commander.post(address("run-request", scenario.public_id)).status_code == 302
    for wrong, words in (
        ({"patch": "{"}, "This is no JSON"),
        ({"patch": "[]"}, "has to be an object"),
        ({"patch": ""}, "Say which keys the fault changes"),
        ({"fork_version": "3"}, "before the divergence"),
    ):
        answer = commander.post(address("scenario-new"), sent | wrong)
        assert answer.status_code == 422
        assert words in Page(answer).text


def review(**fields):
    return {"initial-lessons": "", "lessons": ""} | fields


def test_the_review_picks_its_checkpoint_on_the_timeline_and_changes_only_what_was_changed(
    commander, incident, session
):
    page = Page(commander.get(address("review")))
    for words in ("Hallucination", "Memory pollution", "Not answered yet", "missing after this"):
        assert words in page.text
    sent = review(
        failure_mode="state_drift",
        checkpoint_session=session.public_id,
        checkpoint_after="2",
        lessons="One\r\nTwo",
    )
    commander.post(address("review"), sent)
    episode = incident.episodes.get()
    assert (episode.checkpoint_session, episode.checkpoint_after) == (session.public_id, 2)
    assert episode.lessons == "One\nTwo"
    assert fresh(incident).failure_mode == "state_drift"
    count = incident.event_count
    commander.post(address("review"), sent | {"initial-lessons": "One\nTwo"})
    assert fresh(incident).event_count == count
    none = commander.post(
        address("review"), review(checkpoint_after="", checkpoint_session=session.public_id)
    )
    assert none.status_code == 422
    assert "Say why none was missing" in Page(none).text


def test_two_who_write_lessons_both_see_both_texts(commander, incident, signed_in):
    signed_in("responder", "jon").post(address("review"), review(lessons="Theirs"))
    answer = commander.post(address("review"), review(lessons="Mine"))
    assert answer.status_code == 409
    page = Page(answer)
    assert "jon has changed the lessons meanwhile" in page.text
    assert "Theirs" in page.text
    assert typed(page, "lessons") == "Mine"
    assert 'name="initial-lessons" value="Theirs"' in page.source
    commander.post(address("review"), {"initial-lessons": "Theirs", "lessons": "Both"})
    assert incident.episodes.get().lessons == "Both"


def test_an_approval_lists_what_the_review_lacks_and_a_change_takes_it_back(
    commander, incident, signed_in, maria
):
    answer = commander.post(address("approve"))
    assert answer.status_code == 409
    assert "It lacks the failure mode" in Page(answer).text
    commander.post(address("severity"), {"severity": "S2"})
    commander.post(
        address("review"), review(failure_mode="state_drift", lessons="Look", no_checkpoint_why="Was one")
    )
    actions.create_scenario(
        reference="INCIDENT-1",
        name="One",
        session_id=incident.episodes.get().affected.get().session_id,
        fork_version=1,
        fault={"kind": "deny_permission"},
        predicate="step",
        by=maria,
    )
    chosen = incident.scenarios.get().public_id
    commander.post(address("review"), {"initial-lessons": "Look", "lessons": "Look", "scenario_id": chosen})
    jon = signed_in("responder", "jon")
    assert commander.post(address("approve")).status_code == 403
    assert jon.post(address("approve")).status_code == 302
    assert "A change takes the approval back" in Page(commander.get(address("review"))).text
    commander.post(address("review"), {"initial-lessons": "Look", "lessons": "Look twice"})
    assert incident.episodes.get().approved_at is None


# Ends -----------------------------------------------------------------------------------------------------


def test_declining_offers_to_let_the_frozen_sessions_go_on(commander, incident, session, maria):
    assert "Let its frozen sessions go on" not in Page(commander.get(address("decline"))).text
    commander.post(address("freeze"))
    assert f"Frozen: {session.public_id}" in Page(commander.get(address("decline"))).text
    commander.post(address("decline"), {"reason": "A drill", "resume_sessions": "on"})
    assert fresh(incident).status == "declined"
    assert not factories.fresh(session).is_frozen
    commander.post(address("reopen"), {"reason": "It was none"})
    assert fresh(incident).status == "open"


def test_merging_offers_open_incidents_only(commander, incident, maria):
    assert "No other incident is open" in Page(commander.get(address("merge"))).text
    for title in ("Declined", "Open"):
        actions.file(title=title, severity="S3", no_session_reason="x", by=maria)
    actions.decline(reference="INCIDENT-2", reason="No", by=maria)
    page = Page(commander.get(address("merge")))
    assert "INCIDENT-3 · Open" in page.text
    assert "INCIDENT-2" not in page.text
    answer = commander.post(address("merge"), {"into": "INCIDENT-3"}, follow=True)
    assert "INCIDENT-1 was merged into this one" in Page(answer).text
    assert fresh(incident).status == "duplicate"


def test_an_admin_passes_over_what_is_unmet_and_nothing_else(signed_in, incident):
    admin = signed_in("admin")
    page = Page(admin.get(address("override")))
    assert "followup missing" in page.text
    assert "effect undecided" not in page.text
    admin.post(address("override"), {"gate": "followup_missing", "reason": "Nothing to change"})
    assert incident.episodes.get().overrides.get().code == "followup_missing"
