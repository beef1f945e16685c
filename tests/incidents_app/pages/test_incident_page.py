"""The incident page: what it says is next, what is so of each session, who may do what, and what is new."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from incidents_app import actions
from incidents_app.models import AffectedSession
from incidents_app.presenting import timeline
from sessions_app import actions as sessions
from sessions_app.errors import SessionFrozen
from statebase_site.base import clock
from tests import factories
from tests.incidents_app import runbook
from tests.sessions_app.pages.html import Page, send

HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def jon(project):
    return factories.person(project, "admin", "jon")


@pytest.fixture(scope="module")
def session(agent):
    return runbook.damaged(agent, agent_id="travel-agent", user_id="user_4410")


@pytest.fixture(scope="module")
def filed(maria, session):
    return runbook.file(maria, session)


@pytest.fixture
def incident(filed, db):
    """An S2 of maria's about `session`."""
    return factories.fresh(filed)


@pytest.fixture(scope="module")
def other(agent):
    """A session of which the S2 does not know."""
    return runbook.damaged(agent, agent_id="travel-agent", user_id="user_4410")


@pytest.fixture(scope="module")
def filed_urgently(maria, other):
    return runbook.file(maria, other, severity="S1", suspects={other.public_id: 1})


@pytest.fixture
def urgent(filed_urgently, db):
    """An S1 of maria's about `other`, which is frozen therefore."""
    return factories.fresh(filed_urgently)


def look(client, incident, **query):
    return Page(client.get(f"/incidents/{incident.reference}/", query))


def next_title(page):
    found = re.search(r'id="next-title">(.*?)</h2>', page.source, re.DOTALL)
    return words(found.group(1)) if found else None


def words(source):
    """The words of a piece of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", source).split())


def press_next(client, page):
    """Press the button of the next action, as Enter does."""
    section = re.search(r'<section class="card next.*?</section>', page.source, re.DOTALL).group()
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', section))
    versions = re.findall(r'name="versions" value="(\d+)"', section)
    action = re.search(r'<form method="post" action="([^"]+)"', section).group(1)
    return client.post(action, fields | ({"versions": versions} if versions else {}))


def cells(page, session):
    """The words of a session's row."""
    row = re.search(rf'<tr role="row"[^>]* id="{session.public_id}">.*?</tr>', page.source, re.DOTALL).group()
    return [words(cell) for cell in re.findall(r'<td role="cell".*?</td>', row, re.DOTALL)]


def missing(page):
    """The lines under "still missing", with their addresses."""
    card = re.search(r'<ul class="missing-list">.*?</ul>', page.source, re.DOTALL)
    return re.findall(r'<a href="([^"]+)"[^>]*>(.*?)</a>', card.group()) if card else []


# What comes next ----------------------------------------------------------------------------------------


def test_the_next_action_leads_through_the_whole_runbook(commander, incident, maria, jon, session):
    name = session.public_id
    page = look(commander, incident)
    assert next_title(page) == f"Next: freeze {name}"
    assert press_next(commander, page).status_code == 302
    assert factories.fresh(session).is_frozen
    page = look(commander, incident)
    assert next_title(page) == f"Next: pin v2 of {name} as evidence"
    assert press_next(commander, page).status_code == 302
    page = look(commander, incident)
    assert next_title(page) == f"Next: find the divergence of {name}"
    assert f"/incidents/{incident.reference}/divergence/{name}" in page.links
    runbook.diverged(incident, session, maria)
    page = look(commander, incident)
    assert next_title(page) == f"Next: roll {name} back to v0"
    assert f"/incidents/{incident.reference}/rollback/{name}" in page.links
    actions.rollback(**runbook.about(incident, session, maria))
    page = look(commander, incident)
    assert next_title(page) == f"Next: decide 1 effect of {name}"
    decided = send(commander, page, "/effect", disposition="compensated", note="refund 8812")
    assert decided.status_code == 302
    page = look(commander, incident)
    assert "Compensated by maria" in page.text
    assert next_title(page) == "Next: answer what enabled the failure"
    actions.answer_causes(reference=incident.reference, text="Nobody asked", no_validation=True, by=maria)
    assert next_title(look(commander, incident)) == "Next: add a follow-up"
    actions.add_follow_up(reference=incident.reference, text="Ask first", blocks=True, by=maria)
    assert next_title(look(commander, incident)) == "Next: make a failure-injection scenario"
    made = runbook.proven(incident, session, maria)
    page = look(commander, incident)
    assert next_title(page) == "Next: do follow-up 1, which blocks"
    assert send(commander, page, "/follow-ups/1/done").status_code == 302
    assert next_title(look(commander, incident)) == f"Next: resume {name}"
    runbook.resumed(incident, session, maria)
    page = look(commander, incident)
    assert next_title(page) == "Next: resolve it"
    assert press_next(commander, page).status_code == 302
    assert next_title(look(commander, incident)) == "Next: write the review"
    runbook.reviewed(incident, session, maria, made)
    assert next_title(look(commander, incident)) == "Next: have the review approved"
    actions.approve_review(reference=incident.reference, by=jon)
    page = look(commander, incident)
    assert next_title(page) == "Next: watch the sessions that go on"
    assert "23 h 59 min left" in page.text
    actions.override(reference=incident.reference, gate="watch_window", reason="Watched", by=jon)
    page = look(commander, incident)
    assert "“watch_window” by jon" in page.text
    assert next_title(page) == "Next: close it"
    assert press_next(commander, page).status_code == 302
    page = look(commander, incident)
    assert next_title(page) is None
    assert incident.reference in page.text
    assert "Closed" in page.text


def test_a_session_resumed_outside_goes_before_everything_else(
    commander, urgent, maria, jon, other, session, agent
):
    actions.add_session(reference=urgent.reference, session_id=session.public_id, by=maria)
    runbook.recovered(urgent, other, maria)
    sessions.resume(session_id=other.public_id, reason="The customer waits", by=jon)
    factories.update(other, {"attempts": 5}, by=agent)
    page = look(commander, urgent)
    assert next_title(page) == f"Next: freeze {other.public_id} again"
    assert "It was resumed outside this incident by jon, and has written 1 version since." in page.text
    assert f"After that: pin v2 of {session.public_id} as evidence." in page.text
    assert re.search(r"✕ contained .*, lost", page.text)
    assert cells(page, other)[0].startswith("✕ Stop resumed outside by jon, v5")
    assert "was resumed outside this incident at v5; step 1 no longer holds." in page.text
    alarms = [row["class"].split()[-1] for row in page.with_class("alarm")]
    assert alarms == ["is-status", "is-outside", "is-status"]  # the first when a session was added
    assert missing(page)[0][1].endswith("again, or exempt it.")
    assert press_next(commander, page).status_code == 302
    assert factories.fresh(other).is_frozen
    assert cells(look(commander, urgent), other)[0].startswith("✓ Stop frozen v3")


def test_in_triage_a_severity_is_chosen_or_it_is_declined(commander, agent, session):
    incident = runbook.file(agent, session, severity=None)
    page = look(commander, incident)
    assert next_title(page) == "Next: choose a severity, or decline it"
    assert f"/incidents/{incident.reference}/decline" in page.links
    assert "no commander" in page.text
    assert send(commander, page, "/commander").status_code == 302
    assert "commander maria (you)" in look(commander, incident).text


def test_for_s3_a_correction_stands_in_for_the_rollback(commander, maria, session):
    incident = runbook.file(maria, session, severity="S3")
    page = look(commander, incident)
    assert next_title(page) == f"Next: record what was corrected in {session.public_id}"
    assert f"/incidents/{incident.reference}/correct/{session.public_id}" in page.links
    assert cells(page, session)[0] == "– Stop not asked for freeze"


def test_many_sessions_are_frozen_with_one_press_unless_one_was_let_go_on_purpose(
    commander, incident, maria, agent, session
):
    others = [factories.session(agent) for _ in range(2)]
    for each in others:
        actions.add_session(reference=incident.reference, session_id=each.public_id, by=maria)
    page = look(commander, incident)
    assert next_title(page) == "Next: freeze 3 sessions"
    press_next(commander, page)
    assert all(factories.fresh(each).is_frozen for each in (session, *others))
    runbook.resumed(incident, session, maria)
    for each in others:
        sessions.resume(session_id=each.public_id, reason="By mistake", by=maria)
    assert next_title(look(commander, incident)).startswith("Next: freeze sess_")


# What is so ---------------------------------------------------------------------------------------------


def test_each_step_says_what_is_so_and_leads_to_where_it_is_done(commander, urgent, maria, other, agent):
    with pytest.raises(SessionFrozen):
        factories.update(other, {"x": 1}, by=agent)
    page = look(commander, urgent)
    stop, reconstruct, divergence, rollback, prevent, resume = cells(page, other)
    assert re.fullmatch(r"✓ Stop frozen v3 after \d+ s · 1 refused", stop)
    assert reconstruct == "○ Reconstruct nothing pinned"
    assert divergence == "○ Divergence not found yet suspect v1"
    assert rollback == "○ Roll back to do"
    assert prevent == "○ Prevent to do Answer what enabled the failure"
    assert resume == "○ Resume still frozen"
    runbook.recovered(urgent, other, maria)
    page = look(commander, urgent)
    assert cells(page, other)[1:4] == [
        "✓ Reconstruct 1 version",
        "✓ Divergence v1, good v0 bisection",
        "✓ Roll back v4 = v0",
    ]
    assert f"/sessions/{other.public_id}/v/1" in page.links
    assert "2 bad versions, 1 tool call" in page.text
    assert "to resume not recorded" in page.text
    assert "travel-agent · user_4410" in page.text


def test_an_exempt_step_shows_its_reason(commander, incident, maria, session):
    actions.exempt(**runbook.about(incident, session, maria), step="freeze", reason="It has ended long ago")
    page = look(commander, incident)
    assert cells(page, session)[0] == "– Stop exempt It has ended long ago"
    assert not any("freeze" in line.lower() for _, line in missing(page))


def test_every_link_and_every_missing_thing_leads_somewhere(commander, urgent, maria, other, agent):
    sessions.fork(session_id=other.public_id, version=2, by=agent)
    seen = set()

    def follow_all():
        page = look(commander, urgent)
        for link in {each.split("#")[0] for each in page.links if each.startswith(("/", "?"))} - seen:
            seen.add(link)
            address = f"/incidents/{urgent.reference}/{link}" if link.startswith("?") else link
            assert commander.get(address).status_code in (200, 302), link
        own = ("", urgent.get_absolute_url())
        for place, _, anchor in [each.partition("#") for each in page.links]:
            assert not anchor or place not in own or f'id="{anchor}"' in page.source, anchor
        return page

    page = follow_all()
    assert [line for _, line in missing(page)][-1].startswith("Resume")
    made = runbook.resolved(urgent, other, maria)
    follow_all()
    runbook.reviewed(urgent, other, maria, made)
    follow_all()


def test_what_closing_asks_for_is_told_before(commander, urgent):
    page = look(commander, urgent)
    assert "Then, to be closed: 2 more things" in page.text
    assert "The review still lacks: the failure mode" in page.text


def test_the_duties_count_down_and_say_when_they_are_late(commander, urgent):
    with clock.at(urgent.created_at + timedelta(seconds=30)):
        page = look(commander, urgent)
    assert "divergence and rollback within 30 min: to do 29 min left" in page.text
    with clock.at(urgent.created_at + timedelta(minutes=42)):
        page = look(commander, urgent)
    assert "divergence and rollback within 30 min: late 12 min" in page.text
    assert "review within 3 days, by someone else" in page.text
    assert "every affected session is frozen in the same request" in page.text


def test_the_clock_stops_when_it_is_resolved(commander, maria):
    incident = runbook.file(maria, severity="S4", no_session_reason="Seen in the logs")
    actions.add_follow_up(reference=incident.reference, text="Ask first", kind="deploy", by=maria)
    actions.resolve(reference=incident.reference, by=maria)
    with clock.at(clock.now() + timedelta(hours=5)):
        page = look(commander, incident)
    assert re.search(r"was open \d+ s", page.text)


def test_forks_of_bad_states_are_added_with_one_press(commander, incident, maria, session, agent):
    fork = sessions.fork(session_id=session.public_id, version=2, by=agent).agent_session
    assert fork.public_id not in look(commander, incident).text
    runbook.diverged(incident, session, maria)
    page = look(commander, incident)
    assert "1 session not in this incident" in page.text
    assert send(commander, page, "/add-session").status_code == 302
    page = look(commander, incident)
    assert len(cells(page, fork)) == 6
    assert not page.has_form("/add-session")


def test_another_incident_on_the_same_session_is_named(commander, incident, maria, session):
    second = runbook.file(maria, session, title="Seats are lost", severity="S3")
    page = look(commander, incident)
    assert f"also in {second.reference}" in page.text
    assert f"/incidents/{second.reference}/" in page.links


# Many sessions ------------------------------------------------------------------------------------------


@pytest.fixture
def flood(maria, agent, monkeypatch):
    """An S1 over 25 sessions of which the request froze one; another failed."""
    runbook.without_time_to_freeze(monkeypatch)
    made = [factories.session(agent, {"n": n}, agent_id="price-bot") for n in range(25)]
    incident = runbook.file(maria, *made, severity="S1", title="Negative prices")
    failing = AffectedSession.objects.filter(episode__incident=incident, freeze_wanted=True).last()
    AffectedSession.objects.filter(pk=failing.pk).update(failure="The database did not answer.")
    return incident, made, failing


def test_the_freezing_of_many_is_told_while_the_server_is_at_it(commander, flood):
    incident, _, failing = flood
    page = look(commander, incident)
    assert "1 of 25 frozen; 1 failed." in page.text
    assert f"{failing.session_id} The database did not answer." in page.text
    asked = {"after": incident.event_count, "waiting": 24, "status": incident.status}
    address = f"/incidents/{incident.reference}/live"
    assert commander.get(address, asked).status_code == 204
    AffectedSession.objects.filter(pk=failing.pk).update(freeze_wanted=False)
    news = Page(commander.get(address, asked))
    assert "frozen" in news.text
    assert "new" not in news.text


def test_those_needing_attention_go_first_and_the_rest_is_folded(commander, flood):
    incident, made, failing = flood
    page = look(commander, incident)
    assert "20 of 25 sessions, those needing attention first" in page.text
    shown = re.findall(r'<tr role="row"[^>]* id="(sess_\w+)"', page.source)
    assert shown[0] == failing.session_id
    assert len(shown) == 20
    assert "All 25" in page.text
    assert "1 of 25" in page.text
    assert any(line == "Pin evidence of 25 sessions." for _, line in missing(page))
    everything = look(commander, incident, sessions="all")
    assert len(re.findall(r'<tr role="row"[^>]* id="sess_', everything.source)) == 25
    last = made[-1].public_id
    assert look(commander, incident, at=last).source.index(f'id="{last}"') > 0


def test_many_freezes_are_one_row_of_the_timeline(commander, maria, agent):
    made = [factories.session(agent, {"n": n}) for n in range(6)]
    incident = runbook.file(maria, *made, severity="S1")
    page = look(commander, incident)
    assert "Froze 6 sessions" in page.text
    assert len(page.with_class("is-frozen")) == 1


def test_the_number_of_queries_does_not_grow_with_the_sessions(commander, maria, agent):
    def count(sessions):
        incident = runbook.file(
            maria, *[factories.session(agent, {"n": n}) for n in range(sessions)], severity="S1"
        )
        look(commander, incident)
        with CaptureQueriesContext(connection) as queries:
            look(commander, incident)
        return len(queries)

    assert count(2) == count(5)


# The timeline -------------------------------------------------------------------------------------------


def test_a_note_is_written_about_an_earlier_moment_and_corrected(commander, incident):
    page = look(commander, incident)
    earlier = (clock.now() - timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%S")
    assert send(commander, page, "/note", text="The airline called", occurred_at=earlier).status_code == 302
    page = look(commander, incident)
    assert "maria The airline called" in page.text
    assert "before the session began" in page.text
    number = incident.events.get(text="The airline called").sequence
    page = look(commander, incident, corrects=number)
    assert page.form("/note")[1]["supersedes"] == str(number)
    send(commander, page, "/note", text="It was the hotel")
    page = look(commander, incident)
    assert f"corrects row {number}" in page.text
    assert len(page.with_class("corrected")) == 1


def test_the_timeline_is_filtered_by_the_address(commander, urgent, maria):
    actions.add_note(reference=urgent.reference, text="Called the desk", by=maria)
    assert len(look(commander, urgent).with_class("event")) == 4
    notes = look(commander, urgent, events="notes")
    assert [row["class"].split()[-1] for row in notes.with_class("event")] == ["is-note"]
    evidence = look(commander, urgent, events="evidence")
    assert [row["class"].split()[-1] for row in evidence.with_class("event")] == ["is-frozen"]
    assert len(look(commander, urgent, events="<x>").with_class("event")) == 4


def test_a_long_timeline_comes_in_pages(commander, incident, maria, monkeypatch):
    monkeypatch.setattr(timeline, "LINES_A_PAGE", 4)
    for number in range(9):
        actions.add_note(reference=incident.reference, text=f"Note {number}", by=maria)
    page = look(commander, incident)
    assert "Note 8" in page.text
    assert "Note 2 " not in page.text
    assert "6 older rows" in page.text
    older = look(commander, incident, skip=4)
    assert "Note 2 " in older.text
    assert "4 newer rows" in older.text


def test_texts_of_others_stay_texts(commander, maria, agent):
    made = runbook.damaged(agent, agent_id=HOSTILE, user_id=HOSTILE)
    incident = runbook.file(maria, made, title=HOSTILE, summary=HOSTILE)
    runbook.recovered(incident, made, maria)
    actions.add_note(reference=incident.reference, text=HOSTILE, by=maria)
    actions.add_follow_up(reference=incident.reference, text=HOSTILE, owner=HOSTILE, by=maria)
    actions.answer_causes(reference=incident.reference, text=HOSTILE, by=maria)
    page = look(commander, incident)
    assert "<img" not in page.source
    assert "U+202E" in page.text
    assert "\u202e" not in page.source.replace("<title>", "").split("</title>")[1]


# Who may do what ----------------------------------------------------------------------------------------


def test_a_viewer_reads_and_is_told_why_nothing_can_be_done(signed_in, incident, session):
    page = look(signed_in("viewer"), incident)
    own = f"/incidents/{incident.reference}/"
    assert not [form for form in re.findall(r'<form[^>]* action="([^"]+)"', page.source) if own in form]
    assert "Your role only reads; an engineer of the project may." in page.text
    assert next_title(page) == f"Next: freeze {session.public_id}"


def test_an_engineer_freezes_and_notes_but_leaves_the_rest_to_responders(signed_in, incident, session):
    engineer = signed_in("engineer")
    page = look(engineer, incident)
    assert page.has_form("/note")
    assert press_next(engineer, page).status_code == 302
    assert factories.fresh(session).is_frozen
    page = look(engineer, incident)
    assert press_next(engineer, page).status_code == 302
    page = look(engineer, incident)
    assert next_title(page) == f"Next: find the divergence of {session.public_id}"
    assert "This takes the role responder or admin." in page.text
    assert not page.has_form("/commander")


def test_only_the_commander_and_admins_exempt_and_only_admins_override(commander, signed_in, incident):
    exempt, override = (f"/incidents/{incident.reference}/{name}" for name in ("exempt", "override"))

    def linked(page, address):
        return any(link.split("?")[0] == address for link in page.links)

    commanders = look(commander, incident)
    assert linked(commanders, exempt)
    assert not linked(commanders, override)
    responders = look(signed_in("responder", "rita"), incident)
    assert not linked(responders, exempt)
    assert "Only the commander, maria, may." in responders.text
    admins = look(signed_in("admin", "ada"), incident)
    assert linked(admins, exempt)
    assert linked(admins, override)


def test_a_commander_whose_account_is_disabled_is_flagged_and_an_admin_takes_over(
    signed_in, incident, django_user_model
):
    django_user_model.objects.filter(username="maria").update(is_active=False)
    assert "Nobody leads this incident" in look(signed_in("responder", "rita"), incident).text
    admin = signed_in("admin", "ada")
    page = look(admin, incident)
    assert "commander maria can't act" in page.text
    assert send(admin, page, "/commander").status_code == 302
    page = look(admin, incident)
    assert "commander ada (you)" in page.text
    assert "Nobody leads" not in page.text


def test_what_has_ended_is_read_only_and_can_be_reopened(commander, incident, maria, jon, session):
    made = runbook.scenario(incident, session, maria).scenario
    runbook.reviewed(incident, session, maria, made)
    reference = incident.reference
    actions.override(reference=reference, gate="prevention", reason="No way to know", by=jon)
    actions.decline(reference=reference, reason="As designed", by=maria)
    page = look(commander, incident)
    assert not page.has_form("/note")
    assert not page.has_form("/freeze")
    assert f"/incidents/{reference}/reopen" in page.links
    assert page.has_form("/run")
    actions.reopen(reference=reference, reason="A third one", by=maria)
    page = look(commander, incident)
    assert "episode 2" in page.text
    assert "Earlier episodes" in page.text
    assert "Ask before cancelling." in page.text
    assert "“prevention” was overridden by jon: No way to know" in page.text
    assert page.has_form("/note")


def test_a_duplicate_leads_to_the_incident_that_goes_on(commander, incident, maria, session):
    merged = runbook.file(maria, session, title="Called in by a customer")
    actions.merge(reference=merged.reference, into=incident.reference, by=maria)
    page = look(commander, merged)
    assert f"Merged into {incident.reference}" in page.text
    assert next_title(page) is None
    assert not page.has_form("/freeze")
    assert f"{merged.reference} Called in by a customer" in look(commander, incident).text


def test_an_incident_without_sessions_says_why(commander, maria):
    incident = runbook.file(maria, severity="S4", no_session_reason="Seen in the logs")
    page = look(commander, incident)
    assert "No session is affected “Seen in the logs”" in page.text
    assert next_title(page) == "Next: add a follow-up that names the next deploy"
    assert "review not asked for" in page.text


# Live ---------------------------------------------------------------------------------------------------


def test_what_happens_meanwhile_is_told_and_nothing_else(commander, urgent, maria, jon, other):
    root = look(commander, urgent).source
    address, after, status, waiting = re.search(
        r'data-live="([^"]+)" data-after="(\d+)" data-status="(\w+)" data-waiting="(\d+)"', root
    ).groups()
    seen = {"after": after, "status": status, "waiting": waiting}
    assert commander.get(address, seen).status_code == 204
    actions.add_note(reference=urgent.reference, text="Called the desk", by=maria)
    assert "1 new" in Page(commander.get(address, seen)).text
    sessions.resume(session_id=other.public_id, reason="By mistake", by=jon)
    news = Page(commander.get(address, seen)).text
    assert "open now · 3 new" in news
