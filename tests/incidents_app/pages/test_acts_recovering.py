"""Finding the divergence on the timeline, the rehearsal inside the incident, and letting the agent go on."""

import re
from html import unescape

import pytest
from django.urls import reverse

from incidents_app import actions
from incidents_app.presenting import picker
from sessions_app import actions as sessions
from tests import factories
from tests.sessions_app.pages.html import Page


@pytest.fixture(scope="module")
def trip(agent):
    """Version 2 lost the trip; a tool was called before, and mail went out after it."""
    made = factories.session(agent, {"city": "Oslo", "paid": False})
    factories.update(made, {"paid": True}, by=agent, reasoning="As <i>asked</i>")
    factories.tool_call(made, "cancel_booking", by=agent)
    factories.update(made, {"city": None}, by=agent, reasoning="Cancelled")
    factories.tool_call(made, "send_mail", by=agent, reversibility="irreversible")
    return factories.fresh(made)


def file(maria, *sessions, severity="S2", **more):
    names = [each.public_id for each in sessions]
    return actions.file(title="Wrong", severity=severity, session_ids=names, by=maria, **more).incident


@pytest.fixture(scope="module")
def filed(maria, trip):
    return file(maria, trip, suspects={trip.public_id: 2})


@pytest.fixture
def incident(filed, db):
    """INCIDENT-1, an S2 about the trip, in which v2 looked wrong."""
    return factories.fresh(filed)


def diverged(maria, incident, session, bad, good):
    actions.record_divergence(
        reference=incident.reference,
        session_id=session.public_id,
        divergence_version=bad,
        last_good_version=good,
        by=maria,
    )


def address(name, session=None, reference="INCIDENT-1"):
    return reverse(f"incidents:{name}", args=[reference, *([session.public_id] if session else [])])


def fields(page):
    """The hidden fields of the form of the act."""
    source = page.source[page.source.index('<main id="main"') :]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', source)
    return {name: unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def affected(incident, session):
    return incident.episodes.get().affected.get(session_id=session.public_id)


# The picker -------------------------------------------------------------------------------------------


def test_the_picker_shows_each_version_with_what_it_did_and_what_looked_wrong(commander, incident, trip):
    page = Page(commander.get(address("divergence", trip)))
    for words in ("v0", "v1", "v2", "Cancelled", "As <i>asked</i>", "looked wrong when filed", "+0~1−0"):
        assert words in page.text
    assert "<i>asked" not in page.source
    assert f"/sessions/{trip.public_id}/v/2" in page.links
    assert len(page.with_class("pick-row")) == 3
    assert re.findall(r'id="mark-(\d)"', page.source) == ["2", "1", "0"]
    assert "Nothing is marked yet" in page.text


def test_the_last_good_version_is_the_one_before_unless_another_is_marked(commander, incident, trip):
    commander.post(address("divergence", trip), {"divergence_version": "2", "found_how": "city == null"})
    row = affected(incident, trip)
    assert (row.divergence_version, row.last_good_version, row.found_how) == (2, 1, "city == null")
    page = Page(commander.get(address("divergence", trip)))
    assert "Last good v1, divergence v2" in page.text
    assert f"/sessions/{trip.public_id}/diff?left=1&right=2" in page.links
    commander.post(address("divergence", trip), {"divergence_version": "2", "last_good_version": "0"})
    assert affected(incident, trip).last_good_version == 0


def test_what_can_be_no_divergence_is_said_at_once(commander, incident, agent, trip):
    factories.update(trip, {}, by=agent, reasoning="Nothing at all")
    for sent, words in (
        ({"divergence_version": "1", "last_good_version": "1"}, "lies before the divergence, v1"),
        ({"divergence_version": "0"}, "Nothing lies before version 0"),
        ({"divergence_version": "99"}, "at most 3"),
        ({"divergence_version": "3", "last_good_version": "2"}, "are the same"),
    ):
        answer = commander.post(address("divergence", trip), sent)
        assert answer.status_code == 422
        assert words in Page(answer).text
    assert affected(incident, trip).divergence_version is None


def test_a_long_session_comes_in_windows_and_looking_on_keeps_what_was_marked(
    commander, maria, agent, monkeypatch
):
    monkeypatch.setattr(picker, "WINDOW", 8)
    long = factories.session_with_versions(agent, 14)
    incident = file(maria, long)
    divergence = address("divergence", long, incident.reference)
    page = Page(commander.get(divergence))
    newest = [row["data-v"] for row in page.with_class("pick-row")]
    assert newest == [str(number) for number in range(14, 6, -1)]
    older = re.search(r'name="look" value="(at:\d+)"', page.source)[1]
    answer = commander.post(divergence, {"divergence_version": "12", "found_how": "By eye", "look": older})
    assert answer.status_code == 200
    page = Page(answer)
    shown = [row["data-v"] for row in page.with_class("pick-row")]
    assert "0" in shown
    assert shown[0] == "12"
    assert re.search(r'name="divergence_version" value="12" checked', page.source)
    assert 'value="By eye"' in page.source
    assert affected(incident, long).divergence_version is None
    around = Page(commander.get(divergence, {"at": "5"})).with_class("pick-row")
    assert "5" in [row["data-v"] for row in around]


# The rehearsal ----------------------------------------------------------------------------------------


def test_the_rehearsal_tells_everything_and_one_press_rolls_back(commander, incident, maria, agent, trip):
    actions.freeze(reference="INCIDENT-1", by=maria)
    diverged(maria, incident, trip, 2, 1)
    fork = sessions.fork(session_id=trip.public_id, version=2, by=agent).agent_session
    page = Page(commander.get(address("rollback", trip)))
    for words in (
        "from v3 back to v1",
        "cancel_booking unknown",
        "send_mail irreversible",
        "It stays frozen",
        "INCIDENT-1: rollback to v1",
        "v2 Cancelled",
        "stay as they are now",
    ):
        assert words in page.text
    assert f"{fork.public_id} from v2" in page.text
    assert f"/sessions/{trip.public_id}/diff?left=3&right=1" in page.links
    sent = fields(page)
    assert (sent["version"], sent["expected_version"]) == ("1", "3")
    assert commander.post(address("rollback", trip), sent).status_code == 302
    session = factories.fresh(trip)
    assert (session.head_version, session.is_frozen) == (4, True)
    effects = affected(incident, trip).effects.values_list("tool", flat=True)
    assert set(effects) == {"cancel_booking", "send_mail"}


def test_where_the_session_moved_on_nothing_happens_and_what_changed_is_shown(
    commander, incident, maria, agent, trip
):
    diverged(maria, incident, trip, 2, 1)
    sent = fields(Page(commander.get(address("rollback", trip))))
    factories.update(trip, {"late": "news"}, by=agent, reasoning="In between")
    answer = commander.post(address("rollback", trip), sent)
    assert answer.status_code == 409
    page = Page(answer)
    assert "moved on from v2 to v3" in page.text
    assert "In between" in page.text
    assert f"/sessions/{trip.public_id}/diff?left=2&right=3" in page.links
    assert factories.fresh(trip).head_version == 3
    assert commander.post(address("rollback", trip), fields(page)).status_code == 302
    assert factories.fresh(trip).head_version == 4


def test_where_the_last_good_version_was_changed_the_one_that_was_seen_is_not_used(
    commander, incident, maria, trip
):
    diverged(maria, incident, trip, 2, 1)
    sent = fields(Page(commander.get(address("rollback", trip))))
    diverged(maria, incident, trip, 2, 0)
    answer = commander.post(address("rollback", trip), sent)
    assert answer.status_code == 409
    page = Page(answer)
    assert "The last good version was changed meanwhile: it is v0 now" in page.text
    assert "back to v0" in page.text
    assert factories.fresh(trip).head_version == 2


def test_without_a_last_good_version_it_says_what_to_do_first(commander, incident, trip):
    page = Page(commander.get(address("rollback", trip)))
    assert "No last good version is recorded" in page.text
    assert address("divergence", trip) in page.links
    assert any("step=rollback" in link for link in page.links)
    answer = commander.post(address("rollback", trip), {"version": "1", "expected_version": "2"})
    assert answer.status_code == 409


def test_a_target_that_is_the_current_version_is_refused_in_words(commander, incident, trip):
    # No act records it so; whoever restores a database or repairs a row might.
    incident.episodes.get().affected.update(divergence_version=3, last_good_version=2)
    page = Page(commander.get(address("rollback", trip)))
    assert "v2 is the current version: rolling back to it changes nothing" in page.text
    assert address("divergence", trip) in page.links
    answer = commander.post(address("rollback", trip), {"version": "2", "expected_version": "2"})
    assert answer.status_code == 409
    assert "The divergence is probably wrong" in Page(answer).text
    assert factories.fresh(trip).head_version == 2


# Two incidents on one session ---------------------------------------------------------------------------


def test_a_session_of_two_incidents_takes_a_confirmation_and_the_earliest_good_version(
    commander, incident, maria, trip
):
    second = file(maria, trip)
    diverged(maria, incident, trip, 2, 1)
    diverged(maria, second, trip, 2, 0)
    page = Page(commander.get(address("rollback", trip)))
    assert "Also affected by INCIDENT-2" in page.text
    assert "v0 is the last good version that another open incident recorded" in page.text
    assert "Here it is v1" in page.text
    sent = fields(page)
    answer = commander.post(address("rollback", trip), sent)
    assert answer.status_code == 409
    refused = Page(answer)
    assert f"{trip.public_id} is also affected by INCIDENT-2" in refused.text
    assert 'name="confirm"' in refused.source
    assert factories.fresh(trip).head_version == 2
    answer = commander.post(address("rollback", trip), fields(refused) | {"confirm": "on"})
    assert answer.status_code == 302
    assert affected(incident, trip).rolled_back_to == 0


def test_only_the_commander_confirms_it(signed_in, incident, maria, trip):
    file(maria, trip)
    actions.freeze(reference="INCIDENT-1", by=maria)
    other = signed_in("responder", "jon")
    page = Page(other.get(address("resume")))
    assert "Only the commander, maria, may." in page.text
    answer = other.post(address("resume"), {"confirm": "on"})
    assert answer.status_code == 403
    assert "Only the commander of INCIDENT-1 may resume" in Page(answer).text
    assert factories.fresh(trip).is_frozen


# Resume -----------------------------------------------------------------------------------------------


def test_resuming_early_is_warned_of_but_never_blocked(commander, incident, maria, agent, trip):
    other = factories.session(agent, {"a": 1})
    actions.add_session(reference="INCIDENT-1", session_id=other.public_id, by=maria)
    actions.freeze(reference="INCIDENT-1", by=maria)
    page = Page(commander.get(address("resume")))
    for words in ("Step 5 is still open", "Answer what enabled", "Not rolled back", "These 2 sessions go on"):
        assert words in page.text
    assert "/incidents/INCIDENT-1/causes" in page.links
    one = Page(commander.get(address("resume"), {"session_id": trip.public_id}))
    assert "This session goes on" in one.text
    sent = {"session_id": trip.public_id, "reason": "The agent is patched"}
    assert commander.post(address("resume"), sent).status_code == 302
    assert not factories.fresh(trip).is_frozen
    assert factories.fresh(other).is_frozen
    reasoning = trip.versions.order_by("-number").first().reasoning
    assert reasoning == "INCIDENT-1: The agent is patched"
    assert commander.post(address("resume"), {}).status_code == 302
    assert not factories.fresh(other).is_frozen
    assert "Nothing is frozen here" in Page(commander.get(address("resume"))).text


def test_a_session_that_is_none_of_the_incidents_is_not_found(commander, incident, agent):
    stranger = factories.session(agent)
    for name in ("divergence", "rollback", "correct"):
        assert commander.get(address(name, stranger)).status_code == 404
    assert commander.get(address("resume"), {"session_id": stranger.public_id}).status_code == 404
