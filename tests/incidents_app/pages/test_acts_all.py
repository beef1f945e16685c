"""What holds for every act on an incident's pages: it acts once, says why not, and loses nothing typed."""

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse

from incidents_app import actions
from incidents_app.models import TimelineEvent
from sessions_app.models import Turn
from statebase_site.access.actor import Actor, person_actor
from tests import factories
from tests.sessions_app.pages.html import Page

ENGINEER, RESPONDER, COMMANDER, ADMIN = "engineer", "responder", "commander", "admin"
TYPED = "Typed by hand: <b>α</b>"


@dataclass
class Case:
    """An act: who may, what its form holds, the row it leaves, and a wrong form that keeps its text."""

    name: str
    fields: dict
    kind: str
    needs: str = RESPONDER
    args: tuple = ()
    wrong: dict = field(default_factory=dict)
    keeps: str = ""


CASES = [
    Case("note", {"text": TYPED}, "note", ENGINEER, (), {"occurred_at": "not a time", "text": TYPED}, TYPED),
    Case(
        "pin",
        {"session_id": "$a", "versions": ["1", "3, v2"], "note": TYPED},
        "pinned",
        ENGINEER,
        (),
        {"session_id": "$a", "versions": "nine", "note": TYPED},
        TYPED,
    ),
    Case(
        "add-session",
        {"session_id": "$other"},
        "session_added",
        ENGINEER,
        (),
        {"session_id": "sess_mine", "suspect_version": "x"},
        "sess_mine",
    ),
    Case("freeze", {}, "frozen", ENGINEER),
    Case("freeze", {"session_id": "$a"}, "frozen", ENGINEER),
    Case(
        "traffic",
        {"traffic": "human_queue", "traffic_note": "Ext. 12"},
        "traffic",
        ENGINEER,
        (),
        {"traffic": "elsewhere", "traffic_note": TYPED},
        TYPED,
    ),
    Case(
        "severity", {"severity": "S1"}, "severity", ENGINEER, (), {"severity": "S9", "reason": TYPED}, TYPED
    ),
    Case(
        "edit",
        {
            "title": "Another",
            "initial-title": "Wrong",
            "summary": "",
            "initial-summary": "",
            "summary_revision": "0",
        },
        "edited",
        ENGINEER,
        (),
        {"title": "", "summary": TYPED, "summary_revision": "0"},
        TYPED,
    ),
    Case("join", {}, "helper", ENGINEER),
    Case(
        "exempt",
        {"session_id": "$a", "step": "freeze", "reason": "A test agent"},
        "exempted",
        COMMANDER,
        (),
        {"session_id": "$a", "step": "dance", "reason": TYPED},
        TYPED,
    ),
    Case("commander", {"name": "responder"}, "commander", COMMANDER, (), {"name": "nobody"}, ""),
    Case(
        "divergence",
        {"divergence_version": "3", "found_how": "By eye"},
        "divergence",
        RESPONDER,
        ("$a",),
        {"divergence_version": "", "found_how": TYPED},
        TYPED,
    ),
    Case(
        "rollback",
        {"version": "1", "expected_version": "4"},
        "rolled_back",
        RESPONDER,
        ("$b",),
    ),
    Case(
        "effect",
        {"session_id": "$c", "turn_id": "$turn", "disposition": "reversed"},
        "effect",
        RESPONDER,
        (),
        {"session_id": "$c", "turn_id": "$turn", "disposition": "gone", "note": TYPED},
        TYPED,
    ),
    Case(
        "correct",
        {"text": TYPED, "version": "2"},
        "corrected",
        RESPONDER,
        ("$a",),
        {"text": TYPED, "version": "two"},
        TYPED,
    ),
    Case("resume", {"reason": "Fixed"}, "resumed", RESPONDER, (), {"reason": TYPED + "x" * 20_000}, TYPED),
    Case(
        "causes",
        {
            "missing_checkpoint": "yes",
            "no_validation": "no",
            "no_permission_check": "no",
            "state_drift": "no",
            "text": "No checkpoint",
        },
        "prevention",
        RESPONDER,
        (),
        {"missing_checkpoint": "yes", "text": TYPED},
        TYPED,
    ),
    Case(
        "follow-up",
        {
            "text": "Checkpoint first",
            "kind": "checkpoint",
            "owner": "jon",
            "due": "2026-12-03",
            "blocks": "on",
        },
        "follow_up",
        RESPONDER,
        (),
        {"text": TYPED, "kind": "other", "due": "soon"},
        TYPED,
    ),
    Case(
        "follow-up-assign",
        {"owner": "jon", "due": "2026-12-03"},
        "follow_up",
        RESPONDER,
        (1,),
        {"owner": TYPED, "due": "soon"},
        TYPED,
    ),
    Case("follow-up-done", {}, "follow_up", RESPONDER, (1,)),
    Case(
        "scenario-new",
        {
            "name": "Again",
            "session_id": "$a",
            "fork_version": "1",
            "fault_kind": "tool_error",
            "tool": "pay",
            "predicate": "step",
        },
        "scenario",
        RESPONDER,
        (),
        {
            "name": TYPED,
            "session_id": "$a",
            "fork_version": "1",
            "fault_kind": "tool_error",
            "predicate": "step ==",
        },
        TYPED,
    ),
    Case(
        "run-report",
        {"session_id": "$fork", "agent_version": "bot@2"},
        "scenario_run",
        ENGINEER,
        ("$scn",),
        {"session_id": "$fork", "agent_version": "x" * 300},
        "$fork",
    ),
    Case(
        "review",
        {"failure_mode": "state_drift", "lessons": "Look first", "initial-lessons": ""},
        "review",
        RESPONDER,
        (),
        {"failure_mode": "bad luck", "lessons": TYPED, "initial-lessons": ""},
        TYPED,
    ),
    Case("decline", {"reason": "A drill"}, "status", RESPONDER, (), {"reason": " "}),
    Case("merge", {"into": "INCIDENT-2"}, "merged", RESPONDER, (), {"into": "INCIDENT-9"}),
    Case(
        "override",
        {"gate": "prevention", "reason": "No way to know"},
        "overridden",
        ADMIN,
        (),
        {"gate": "nothing", "reason": TYPED},
        TYPED,
    ),
]
WITH_FORM = [case for case in CASES if case.wrong]


@dataclass
class World:
    """An open incident with a commander, and people of every role, who have signed in."""

    maria: Actor
    ids: dict
    cookies: dict

    def client(self, role):
        made = Client()
        made.cookies[settings.SESSION_COOKIE_NAME] = self.cookies[role]
        return made

    def url(self, case):
        return reverse(f"incidents:{case.name}", args=["INCIDENT-1", *(self.real(arg) for arg in case.args)])

    def real(self, value):
        if isinstance(value, list):
            return [self.real(each) for each in value]
        return self.ids.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value

    def sent(self, fields, **more):
        return {name: self.real(value) for name, value in fields.items()} | {"idempotency_key": "once"} | more


def signed_in(member):
    """The cookie of somebody who has signed in."""
    client = Client()
    client.force_login(member.user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@pytest.fixture(scope="module")
def world(project, agent):
    people = {
        name: factories.membership(project, "responder" if name == COMMANDER else name, name)
        for name in ("viewer", ENGINEER, RESPONDER, COMMANDER, ADMIN)
    }
    maria = person_actor(people[COMMANDER])
    sessions = {name: factories.session_with_versions(agent, 4) for name in ("a", "b", "c", "other")}
    factories.tool_call(sessions["c"], "pay", by=agent)
    given = {"reference": "INCIDENT-1", "by": maria}
    names = [sessions[each].public_id for each in "abc"]
    actions.file(title="Wrong", severity="S2", session_ids=names, by=maria)
    actions.file(title="Second", severity="S3", no_session_reason="None yet", by=maria)
    a, b, c = names
    for each in (b, c):
        actions.record_divergence(session_id=each, divergence_version=2, last_good_version=1, **given)
    actions.rollback(session_id=c, **given)
    actions.freeze(session_id=c, **given)
    actions.add_follow_up(text="First", **given)
    made = actions.create_scenario(
        name="One", session_id=a, fork_version=1, fault={"kind": "deny_permission"}, predicate="step", **given
    )
    effect = Turn.objects.get(agent_session=sessions["c"])
    ids = {
        "a": a,
        "b": b,
        "c": c,
        "other": sessions["other"].public_id,
        "turn": effect.public_id,
        "scn": made.scenario.public_id,
        "fork": made.run.session_id,
    }
    return World(maria, ids, {name: signed_in(member) for name, member in people.items()})


def rows():
    return list(TimelineEvent.objects.filter(incident__number=1).order_by("sequence"))


@contextmanager
def as_if_it_had_not_been():
    """What is done within is undone: one world serves all cases."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_it_works_for_whoever_may_and_sent_twice_acts_once(world):
    before = len(rows())
    for case in CASES:
        with as_if_it_had_not_been():
            client = world.client(case.needs)
            answer = client.post(world.url(case), world.sent(case.fields))
            assert answer.status_code == 302, (case.name, Page(answer).text)
            target = "/incidents/INCIDENT-2/" if case.name == "merge" else "/incidents/INCIDENT-1/"
            assert answer["Location"].startswith(target)
            after = rows()
            assert case.kind in [row.kind for row in after[before:]], case.name
            again = client.post(world.url(case), world.sent(case.fields))
            assert again.status_code == 302, (case.name, Page(again).text)
            assert [row.text for row in rows()] == [row.text for row in after], case.name


def test_whoever_may_not_is_told_why_and_changes_nothing(world):
    before = len(rows())
    for case in CASES:
        less = {ENGINEER: "viewer", RESPONDER: ENGINEER, COMMANDER: RESPONDER, ADMIN: COMMANDER}[case.needs]
        client = world.client(less)
        if case.wrong:
            asked = {"session_id": world.ids["c"], "turn_id": world.ids["turn"]}
            page = Page(client.get(world.url(case), asked if case.name in ("effect", "pin") else {}))
            assert [each for each in page.with_class("btn") if each.get("aria-disabled")], case.name
        answer = client.post(world.url(case), world.sent(case.fields))
        assert answer.status_code == 403, case.name
        assert re.search(r"\bmay\b|lacks", Page(answer).text), case.name
    assert len(rows()) == before


def test_bad_input_is_said_and_what_was_typed_stays(world):
    before = len(rows())
    for case in WITH_FORM:
        answer = world.client(case.needs).post(world.url(case), world.sent(case.wrong))
        source = answer.content.decode()
        assert answer.status_code == 422, case.name
        assert "form-errors" in source
        assert world.real(case.keeps) in unescape(source), case.name
        assert "<b>α" not in source, case.name
    assert len(rows()) == before


def test_an_ended_incident_is_read_only_but_for_what_goes_on_after_it(world):
    goes_on = ("follow-up-assign", "follow-up-done", "run-report")
    actions.decline(reference="INCIDENT-1", reason="A drill", by=world.maria)
    for number, case in enumerate(CASES):
        before = len(rows())
        sent = world.sent(case.fields, idempotency_key=f"key-{number}")
        answer = world.client(case.needs).post(world.url(case), sent)
        if case.name in goes_on:
            assert answer.status_code == 302, case.name
            assert len(rows()) == before + 1
        elif case.name != "decline":
            assert answer.status_code in (409, 422), case.name
            assert len(rows()) == before, case.name


def test_back_and_other_words_under_the_same_key_do_not_act_again(world):
    client = world.client(ENGINEER)
    url = reverse("incidents:note", args=["INCIDENT-1"])
    client.post(url, {"text": "First", "idempotency_key": "k"})
    answer = client.post(url, {"text": "Second", "idempotency_key": "k"})
    assert answer.status_code == 409
    assert "sent before" in Page(answer).text
    assert "Second" in answer.content.decode()
    assert [row.text for row in rows() if row.kind == "note"] == ["First"]


def test_a_button_asks_for_a_post(world):
    for name in ("freeze", "join", "resolve", "close", "approve"):
        assert world.client(ADMIN).get(reverse(f"incidents:{name}", args=["INCIDENT-1"])).status_code == 405


def test_a_refused_press_lists_exactly_what_is_missing_each_with_its_place(world):
    answer = world.client(COMMANDER).post(reverse("incidents:resolve", args=["INCIDENT-1"]))
    assert answer.status_code == 409
    page = Page(answer)
    a, b = world.ids["a"], world.ids["b"]
    for words, place in (
        (f"Freeze {a}", f"/incidents/INCIDENT-1/?at={a}#runbook"),
        (f"Pin a version or trace of {a}", f"/incidents/INCIDENT-1/pin?session_id={a}"),
        (f"Record the divergence and the last good version of {a}", f"/incidents/INCIDENT-1/divergence/{a}"),
        (f"Roll {b} back", f"/incidents/INCIDENT-1/rollback/{b}"),
        ("Decide 1 effect", "/incidents/INCIDENT-1/#effects"),
        ("Answer what enabled the failure", "/incidents/INCIDENT-1/causes"),
    ):
        assert words in page.text
        assert place in page.links
    assert "First" not in page.text  # the follow-up does not block


def test_a_role_that_may_not_press_is_refused_in_words(world):
    answer = world.client(RESPONDER).post(reverse("incidents:resolve", args=["INCIDENT-1"]))
    assert answer.status_code == 403
    assert "Only the commander of INCIDENT-1 may resolve it" in Page(answer).text
