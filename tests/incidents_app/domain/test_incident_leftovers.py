"""All of an act on an incident is written, or nothing: each of its statements is made to fail in turn."""

from datetime import date, timedelta

import pytest
from django.apps import apps
from django.db import DatabaseError

from incidents_app import actions
from incidents_app.actions import maintenance, securing
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.models import AgentSession
from statebase_site.access.models import IdempotentAnswer, Project
from statebase_site.base import clock
from statebase_site.webhooks.models import Delivery
from tests import factories as make
from tests.faults import fail_each_write
from tests.incidents_app import runbook as run

MODELS = [
    *apps.get_app_config("incidents_app").get_models(),
    *apps.get_app_config("sessions_app").get_models(),
    IdempotentAnswer,
    Project,
    Delivery,
]


class Scene:
    """An incident about one session, and who acts on it, once, with an idempotency key."""

    def __init__(self, incident, session, agent, maria, jon):
        self.incident, self.session, self.agent, self.jon = incident, session, agent, jon
        self.plain = maria
        self.maria = make.asking(maria, key="once", method="POST", path="/incidents")
        self.reference = self.incident.reference
        self.about = run.about(self.incident, session, self.maria)
        self.whole = {"reference": self.reference, "by": self.maria}


@pytest.fixture(scope="module")
def filed(damaged, maria):
    make.webhook(make.full_key(maria.project))
    return run.file(maria, damaged, severity="S2", dedup_key="k")


@pytest.fixture
def scene(filed, session, agent, maria, jon):
    return Scene(make.fresh(filed), session, agent, maria, jon)


def frozen(scene):
    run.frozen(scene.incident, scene.session, scene.plain)


def with_a_stranger(scene):
    scene.stranger = run.damaged(scene.agent).public_id


def diverged(scene):
    frozen(scene)
    run.diverged(scene.incident, scene.session, scene.plain)


def recovered(scene):
    run.recovered(scene.incident, scene.session, scene.plain)


def with_scenario(scene):
    scene.made = run.scenario(scene.incident, scene.session, scene.plain)
    scene.scenario_id = scene.made.scenario.public_id


def with_red_run(scene):
    with_scenario(scene)
    actions.report_run(
        scenario_id=scene.scenario_id, session_id=scene.made.run.session_id, agent_version="1", by=scene.agent
    )


def with_follow_up(scene):
    actions.add_follow_up(reference=scene.reference, text="x", by=scene.plain)


def ready_to_resolve(scene):
    recovered(scene)
    run.effects_decided(scene.incident, scene.session, scene.plain)
    run.prevented(scene.incident, scene.session, scene.plain)
    run.resumed(scene.incident, scene.session, scene.plain)


def ready_to_close(scene):
    made = run.resolved(scene.incident, scene.session, scene.plain)
    run.reviewed(scene.incident, scene.session, scene.plain, made)
    actions.approve_review(reference=scene.reference, by=scene.jon)
    actions.finish_follow_up(reference=scene.reference, number=1, by=scene.plain)


def reviewed(scene):
    with_scenario(scene)
    run.reviewed(scene.incident, scene.session, scene.plain, scene.made.scenario)


def declined(scene):
    recovered(scene)
    actions.decline(reference=scene.reference, reason="x", by=scene.plain)


def with_another(scene):
    recovered(scene)
    actions.exempt(**run.about(scene.incident, scene.session, scene.plain), step="prevent", reason="x")
    with_follow_up(scene)
    scene.other = run.file(scene.plain, run.damaged(scene.agent), severity="S3")


def waiting(scene):
    scene.waiting = run.file(scene.plain, scene.session, severity="S1")


def resumed_outside(scene):
    frozen(scene)
    sessions.resume(session_id=scene.session.public_id, by=scene.jon)


def close(scene):
    with clock.at(clock.now() + timedelta(days=2)):
        actions.close(**scene.whole)


def secure(scene, incident):
    row = run.row_of(incident, scene.session)
    securing._secure(reference=incident.reference, row_pk=row.pk, session_id=row.session_id, by=scene.plain)


def decide(scene):
    effect = run.row_of(scene.incident, scene.session).effects.get()
    actions.decide_effect(**scene.about, turn_id=effect.turn_id, disposition="accepted")


# Name: what is there before, and the act.
ACTS = {
    "file": (
        None,
        lambda s: actions.file(title="x", severity="S2", session_ids=[s.session.public_id], by=s.maria),
    ),
    "file again, as worse": (
        with_a_stranger,
        lambda s: actions.file(title="x", severity="S1", session_ids=[s.stranger], dedup_key="k", by=s.maria),
    ),
    "secure by freezing": (waiting, lambda s: secure(s, s.waiting)),
    "add a session": (
        with_a_stranger,
        lambda s: actions.add_session(reference=s.reference, session_id=s.stranger, by=s.maria),
    ),
    "want a freeze": (
        None,
        lambda s: securing._want_freeze(**s.about, reason="x", traffic="human_queue", traffic_note="x"),
    ),
    "freeze what is frozen": (frozen, lambda s: securing._name_as_well(**s.about)),
    "direct traffic": (None, lambda s: actions.direct_traffic(**s.whole, traffic="human_queue")),
    "raise": (None, lambda s: actions.change_severity(**s.whole, severity="S1")),
    "lower": (
        None,
        lambda s: actions.change_severity(
            **s.whole,
            severity="S4",
            reason="x",
            waived={(s.session.public_id, step): "x" for step in ("freeze", "divergence", "rollback")},
        ),
    ),
    "exempt": (None, lambda s: actions.exempt(**s.about, step="freeze", reason="x")),
    "pin": (None, lambda s: actions.pin(**s.about, versions=[0, 1])),
    "diverge": (
        frozen,
        lambda s: actions.record_divergence(**s.about, divergence_version=1, last_good_version=0),
    ),
    "roll back": (diverged, lambda s: actions.rollback(**s.about)),
    "decide an effect": (recovered, decide),
    "correct": (None, lambda s: actions.correct(**s.about, text="x")),
    "resume": (recovered, lambda s: actions.resume(**s.about)),
    "note": (None, lambda s: actions.add_note(**s.whole, text="x")),
    "edit": (None, lambda s: actions.edit(**s.whole, title="y", summary="y")),
    "command": (None, lambda s: actions.set_commander(**s.whole, name="jon")),
    "join": (None, lambda s: actions.join(**s.whole)),
    "causes": (None, lambda s: actions.answer_causes(**s.whole, text="x")),
    "follow up": (None, lambda s: actions.add_follow_up(**s.whole, text="x")),
    "assign": (
        with_follow_up,
        lambda s: actions.assign_follow_up(**s.whole, number=1, owner="x", due=date(2031, 1, 1)),
    ),
    "finish": (with_follow_up, lambda s: actions.finish_follow_up(**s.whole, number=1)),
    "scenario": (diverged, lambda s: run.scenario(s.incident, s.session, s.maria)),
    "ask for a run": (
        with_red_run,
        lambda s: actions.request_run(scenario_id=s.scenario_id, by=s.maria),
    ),
    "report a run": (
        with_scenario,
        lambda s: actions.report_run(
            scenario_id=s.scenario_id, session_id=s.made.run.session_id, agent_version="1", by=s.maria
        ),
    ),
    "review": (
        with_scenario,
        lambda s: run.reviewed(s.incident, s.session, s.maria, s.made.scenario),
    ),
    "approve": (reviewed, lambda s: actions.approve_review(reference=s.reference, by=s.jon)),
    "override": (
        None,
        lambda s: actions.override(reference=s.reference, gate="freeze", reason="x", by=s.jon),
    ),
    "resolve": (ready_to_resolve, lambda s: actions.resolve(**s.whole)),
    "close": (ready_to_close, close),
    "decline": (recovered, lambda s: actions.decline(**s.whole, reason="x")),
    "reopen": (declined, lambda s: actions.reopen(**s.whole, reason="x")),
    "merge": (with_another, lambda s: actions.merge(**s.whole, into=s.other.reference)),
    "notice": (resumed_outside, lambda s: actions.take_notice(s.incident)),
    "remove all": (with_another, lambda s: maintenance.remove_project_incidents(project=s.maria.project)),
}


@pytest.mark.parametrize("name", ACTS)
def test_a_failure_at_any_statement_leaves_nothing_behind(scene, monkeypatch, name):
    prepare, act = ACTS[name]
    if prepare is waiting:
        monkeypatch.setattr(securing, "_try", lambda *args: False)
    if prepare:
        prepare(scene)
    scene.incident.refresh_from_db()
    # What an act leaves to be frozen afterwards has transactions of its own: "secure" tries those.
    monkeypatch.setattr(securing, "_try", lambda *args: False)
    assert fail_each_write(lambda: act(scene), MODELS) > 1
    for each in AgentSession.objects.all():
        assert session_queries.verify_session(each).ok
    for incident in type(scene.incident).objects.all():
        assert [each.sequence for each in run.events(incident)] == list(range(1, incident.event_count + 1))


def test_a_failure_while_freezing_is_named_and_leaves_the_session_as_it_was(session, maria, monkeypatch):
    before = make.fresh(session).chain_length

    def fails(*args):
        raise DatabaseError

    monkeypatch.setattr(securing, "_record_freeze", fails)
    again = run.file(maria, session, severity="S1")
    assert make.fresh(session).chain_length == before
    assert run.row_of(again, session).failure == "The database did not answer."
    monkeypatch.undo()
    maintenance.run_once()
    assert make.fresh(session).is_frozen
