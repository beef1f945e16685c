"""The runbook in a few words, for tests that begin somewhere in its middle."""

from __future__ import annotations

from incidents_app import actions, queries
from incidents_app.actions import securing
from incidents_app.enums import EventKind, Step, StepState
from incidents_app.models import AffectedSession, Incident, Scenario, TimelineEvent
from incidents_app.queries import Assessed
from sessions_app import actions as sessions
from sessions_app.models import AgentSession, EvidenceHold
from statebase_site.access.actor import Actor
from tests import factories as make

GOOD = {"booked": True, "seats": 2}


def damaged(agent: Actor, **fields) -> AgentSession:
    """A session that is good at v0, has called a tool and is bad since v1; it is at v2."""
    made = make.session(agent, GOOD, **fields)
    make.tool_call(made, "cancel_booking", by=agent, id="UA123")
    make.update(made, {"booked": False}, by=agent)
    make.update(made, {"attempts": 1}, by=agent)
    return make.fresh(made)


def file(by: Actor, *about: AgentSession, severity: str | None = "S2", **fields) -> Incident:
    """File an incident about these sessions."""
    fields.setdefault("title", "Cancelled a booking")
    return actions.file(
        severity=severity, session_ids=[each.public_id for each in about], by=by, **fields
    ).incident


def look(incident: Incident) -> Assessed:
    """What a person sees who opens the incident."""
    incident.refresh_from_db()
    actions.take_notice(incident)
    incident.refresh_from_db()
    return queries.assess(incident)


def status(incident: Incident) -> str:
    """The status that is shown, which is the one that is stored."""
    seen = look(incident)
    assert seen.status == incident.status
    return incident.status


def row_of(incident: Incident, session: AgentSession) -> AffectedSession:
    """What the incident keeps of a session in its present episode."""
    return queries.affected_by_session(Incident.objects.get(pk=incident.pk), session.public_id)


def view(incident: Incident, session: AgentSession, step: Step):
    """A step as it is shown: its state and why."""
    seen = look(incident)
    return seen.step(next(row for row in seen.affected if row.session_id == session.public_id), step)


def step(incident: Incident, session: AgentSession, which: Step) -> StepState:
    """The state of a step."""
    return view(incident, session, which).state


def steps(incident: Incident, session: AgentSession) -> dict[str, str]:
    """All six."""
    seen = look(incident)
    row = next(row for row in seen.affected if row.session_id == session.public_id)
    return {step.value: found.state.value for step, found in seen.steps_of(row).items()}


def unmet(refusal) -> list[str]:
    """The codes of a refusal by a gate."""
    return [each.code for each in refusal.value.unmet]


def events(incident: Incident, kind: EventKind | None = None) -> list[TimelineEvent]:
    """The timeline, or its rows of one kind."""
    rows = TimelineEvent.objects.filter(incident=incident).order_by("sequence")
    return list(rows if kind is None else rows.filter(kind=kind))


def texts(incident: Incident, kind: EventKind) -> list[str]:
    return [each.text for each in events(incident, kind)]


def open_holds(session: AgentSession) -> list[str]:
    """The labels of what holds a session."""
    return sorted(
        EvidenceHold.objects.filter(agent_session=session, released_at=None).values_list("label", flat=True)
    )


def about(incident: Incident, session: AgentSession, by: Actor) -> dict:
    """The arguments of an act on one session."""
    return {"reference": incident.reference, "session_id": session.public_id, "by": by}


def diverged(incident: Incident, session: AgentSession, by: Actor, bad: int = 1, good: int = 0) -> None:
    actions.record_divergence(
        **about(incident, session, by), divergence_version=bad, last_good_version=good, found_how="bisection"
    )


def frozen(incident: Incident, session: AgentSession, by: Actor) -> None:
    actions.freeze(**about(incident, session, by))


def recovered(incident: Incident, session: AgentSession, by: Actor) -> None:
    """Steps 1 to 4."""
    frozen(incident, session, by)
    actions.pin(**about(incident, session, by), versions=[1])
    diverged(incident, session, by)
    actions.rollback(**about(incident, session, by), confirm=True)
    incident.refresh_from_db()


def effects_decided(incident: Incident, session: AgentSession, by: Actor) -> None:
    for effect in row_of(incident, session).effects.all():
        actions.decide_effect(
            **about(incident, session, by), turn_id=effect.turn_id, disposition="compensated"
        )


def scenario(incident: Incident, session: AgentSession, by: Actor, **fields) -> actions.ScenarioWritten:
    """A scenario of the incident, with its first run waiting."""
    given = {
        "name": "Cancels again",
        "fork_version": 0,
        "fault": {"kind": "state_patch", "patch": {"booked": False}},
        "predicate": "booked",
    }
    return actions.create_scenario(**about(incident, session, by), **(given | fields))


def proven(incident: Incident, session: AgentSession, by: Actor) -> Scenario:
    """A scenario that was seen failing, then passing."""
    made = scenario(incident, session, by)
    public_id = made.scenario.public_id
    report = {"scenario_id": public_id, "agent_version": "bot@1", "by": by}
    actions.report_run(session_id=made.run.session_id, **report)
    again = actions.request_run(scenario_id=public_id, by=by)
    sessions.update_state(session_id=again.run.session_id, changes={"booked": True}, by=by)
    assert actions.report_run(session_id=again.run.session_id, **report).run.outcome == "green"
    return made.scenario


def prevented(incident: Incident, session: AgentSession, by: Actor) -> Scenario:
    """Step 5."""
    actions.answer_causes(reference=incident.reference, text="Nobody asked", no_validation=True, by=by)
    actions.add_follow_up(reference=incident.reference, text="Ask first", kind="deploy", by=by)
    return proven(incident, session, by)


def resumed(incident: Incident, session: AgentSession, by: Actor, **fields) -> None:
    actions.resume(**about(incident, session, by), **fields)


def resolved(incident: Incident, session: AgentSession, by: Actor) -> Scenario:
    """All six steps, and resolved."""
    recovered(incident, session, by)
    effects_decided(incident, session, by)
    made = prevented(incident, session, by)
    resumed(incident, session, by)
    actions.resolve(reference=incident.reference, by=by)
    incident.refresh_from_db()
    return made


def reviewed(incident: Incident, session: AgentSession, by: Actor, made: Scenario | None = None) -> None:
    """The review, written but not approved."""
    actions.write_review(
        reference=incident.reference,
        failure_mode="state_drift",
        checkpoint=(session.public_id, 0),
        lessons="Ask before cancelling.",
        scenario_id=made.public_id if made else None,
        by=by,
    )


def closed(incident: Incident, session: AgentSession, by: Actor, approver: Actor) -> None:
    """All of it. `approver` is an admin: the watch is passed over, as it would take a day."""
    closed_after(resolved(incident, session, by), incident, session, by, approver)


def closed_after(
    made: Scenario, incident: Incident, session: AgentSession, by: Actor, approver: Actor
) -> None:
    """What comes after it was resolved with the scenario `made`."""
    reviewed(incident, session, by, made)
    reference = incident.reference
    actions.approve_review(reference=reference, by=approver)
    actions.finish_follow_up(reference=reference, number=1, by=by)
    actions.override(reference=reference, gate="watch_window", reason="Watched by hand", by=approver)
    actions.close(reference=reference, by=by)
    incident.refresh_from_db()


def without_time_to_freeze(monkeypatch) -> None:
    """Requests secure one session and leave the others to the worker."""
    monkeypatch.setitem(securing.secure.__kwdefaults__, "seconds", 0.0)
