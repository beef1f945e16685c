"""The severity ratchet: up by anyone at once, down by the commander, duty by duty (design)."""

import pytest

from incidents_app import actions, queries
from incidents_app.actions import maintenance
from incidents_app.enums import EventKind, Status, Step, StepState
from incidents_app.errors import CommandRefused, GateUnmet, IncidentEnded
from sessions_app import actions as sessions
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


def change(incident, to, by, **fields):
    return actions.change_severity(reference=incident.reference, severity=to, by=by, **fields).incident


def waivers(*sessions_and_steps):
    return {(session.public_id, step): "Not worth it" for session, step in sessions_and_steps}


def test_raising_needs_no_reason_and_freezes(session, agent, maria):
    more = run.damaged(agent)
    incident = run.file(maria, session, more, severity="S4")
    raised = change(incident, "S1", agent)
    assert (raised.severity, raised.peak_severity, raised.status) == ("S1", "S1", Status.CONTAINED)
    assert make.fresh(session).is_frozen
    assert make.fresh(more).is_frozen
    told = run.events(incident, EventKind.SEVERITY)[-1]
    assert (told.details["from"], told.details["to"], told.actor_label) == ("S4", "S1", agent.label)


def test_raising_below_s1_freezes_nothing_but_asks_for_it(session, maria, edda):
    incident = run.file(maria, session, severity="S4")
    assert run.step(incident, session, Step.FREEZE) == StepState.NOT_REQUIRED
    assert change(incident, "S2", edda).status == Status.OPEN
    assert not make.fresh(session).is_frozen
    assert run.step(incident, session, Step.FREEZE) == StepState.PENDING


def test_triage_ends_with_a_severity(session, maria, edda):
    incident = run.file(maria, session, severity=None)
    assert run.status(incident) == Status.TRIAGE
    assert change(incident, "S3", edda).status == Status.CONTAINED
    assert run.texts(incident, EventKind.STATUS) == ["Contained."]


def test_an_unknown_severity_changes_nothing(session, maria):
    incident = run.file(maria, session)
    for severity in ("S5", "", "s1", "S1\x00"):
        with pytest.raises(InvalidInput) as refused:
            change(incident, severity, maria)
        assert refused.value.param == "severity"
    assert run.look(incident).incident.severity == "S2"


def test_the_same_severity_changes_nothing(session, maria):
    incident = run.file(maria, session, severity="S1")
    change(incident, "S1", maria)
    assert run.events(incident, EventKind.SEVERITY) == []
    assert make.fresh(session).head_version == 3


def test_raising_to_s1_stops_again_what_ran_on_outside_and_leaves_what_was_resumed_here(
    acme, session, agent, maria
):
    here, gone_on = run.damaged(agent), run.damaged(agent)
    incident = run.file(maria, session, here, gone_on, severity="S2")
    actions.freeze(reference=incident.reference, by=maria)
    run.resumed(incident, here, maria)
    sessions.resume(session_id=gone_on.public_id, by=make.full_key(acme))
    change(incident, "S1", maria)
    assert [make.fresh(each).is_frozen for each in (session, here, gone_on)] == [True, False, True]
    assert [make.fresh(each).head_version for each in (session, here, gone_on)] == [3, 4, 5]
    assert run.status(incident) == Status.CONTAINED


# Lowering ------------------------------------------------------------------------------------------------


def test_lowering_needs_the_command(session, agent, maria, rosa, edda, jon):
    incident = run.file(maria, session, severity="S3")
    for by, error in ((agent, PermissionRefused), (edda, PermissionRefused), (rosa, CommandRefused)):
        with pytest.raises(error):
            change(incident, "S4", by, reason="Harmless")
    assert run.look(incident).incident.severity == "S3"
    waived = waivers((session, "rollback"))
    assert change(incident, "S4", jon, reason="Harmless", waived=waived).severity == "S4"


def test_without_a_commander_someone_has_to_take_command_first(session, edda, rosa):
    incident = run.file(edda, session, severity="S3")
    waived = waivers((session, "rollback"))
    with pytest.raises(CommandRefused, match="no commander"):
        change(incident, "S4", rosa, reason="Harmless", waived=waived)
    actions.set_commander(reference=incident.reference, name="rosa", by=rosa)
    assert change(incident, "S4", rosa, reason="Harmless", waived=waived).severity == "S4"


def test_lowering_needs_a_reason(session, maria):
    incident = run.file(maria, session, severity="S1")
    for reason in (None, "", "  \n"):
        with pytest.raises(InvalidInput) as refused:
            change(incident, "S2", maria, reason=reason)
        assert refused.value.param == "reason"


def test_each_duty_owed_is_done_or_waived_one_by_one(session, agent, maria):
    more = run.damaged(agent)
    incident = run.file(maria, session, more, severity="S2")
    run.recovered(incident, session, maria)
    with pytest.raises(GateUnmet) as refused:
        change(incident, "S4", maria, reason="Harmless")
    owed = [(each.code, each.session_id) for each in refused.value.unmet]
    assert owed == [(step, more.public_id) for step in ("freeze", "divergence", "rollback")]
    some = waivers((more, "freeze"), (more, "divergence"))
    with pytest.raises(GateUnmet) as refused:
        change(incident, "S4", maria, reason="Harmless", waived={**some, (more.public_id, "rollback"): "  "})
    assert run.unmet(refused) == ["rollback"]
    assert run.steps(incident, more)["freeze"] == "pending"  # nothing of it is kept
    lowered = change(incident, "S4", maria, reason="Harmless", waived=some | waivers((more, "rollback")))
    assert (lowered.severity, lowered.peak_severity, lowered.status) == ("S4", "S2", Status.RECOVERED)
    assert {run.steps(incident, more)[step] for step in ("freeze", "divergence", "rollback")} == {"exempt"}
    assert {run.steps(incident, session)[step] for step in ("freeze", "divergence", "rollback")} == {"done"}
    exempted = run.events(incident, EventKind.EXEMPTED)
    assert {(each.session_id, each.details["reason"]) for each in exempted} == {
        (more.public_id, "Not worth it")
    }


def test_lowering_between_severities_with_the_same_duties_owes_nothing(session, maria):
    incident = run.file(maria, session, severity="S1")
    assert change(incident, "S2", maria, reason="No data lost").severity == "S2"


def test_freezes_stay_and_the_peak_stays(session, maria):
    incident = run.file(maria, session, severity="S1")
    waived = waivers((session, "divergence"), (session, "rollback"))
    lowered = change(incident, "S3", maria, reason="Harmless", waived=waived)
    assert make.fresh(session).is_frozen
    assert (lowered.severity, lowered.peak_severity) == ("S3", "S1")
    assert change(incident, "S2", maria).peak_severity == "S1"


def test_what_was_waived_before_its_turn_is_not_frozen_by_the_worker(agent, maria, monkeypatch):
    one, other = run.damaged(agent), run.damaged(agent)
    run.without_time_to_freeze(monkeypatch)
    incident = run.file(maria, one, other, severity="S1")
    owed = [
        (each, step)
        for each, steps in ((one, ["divergence", "rollback"]), (other, ["freeze", "divergence", "rollback"]))
        for step in steps
    ]
    change(incident, "S4", maria, reason="A false alarm", waived=waivers(*owed))
    maintenance.run_once()
    assert [make.fresh(each).is_frozen for each in (one, other)] == [True, False]


def test_the_review_follows_the_peak(session, maria, jon):
    incident = run.file(maria, session, severity="S1")
    run.recovered(incident, session, maria)
    run.effects_decided(incident, session, maria)
    change(incident, "S4", maria, reason="Harmless after all")
    run.prevented(incident, session, maria)
    run.resumed(incident, session, maria)
    actions.resolve(reference=incident.reference, by=maria)
    incident.refresh_from_db()
    assert (incident.review_due - incident.resolved_at).days == 3
    missing = [each.code for each in queries.assess(incident).unmet(Status.CLOSED)]
    assert missing[:2] == ["review", "review_approval"]


def test_raising_a_resolved_incident_brings_its_review_forward(session, maria):
    incident = run.file(maria, session, severity="S2")
    run.resolved(incident, session, maria)
    before = incident.review_due
    raised = change(incident, "S1", maria)
    assert raised.status == Status.RESOLVED
    assert raised.review_due < before
    assert not make.fresh(session).is_frozen  # it was resumed by this incident


def test_an_ended_incident_keeps_its_severity(session, maria):
    incident = run.file(maria, session, severity="S4")
    actions.decline(reference=incident.reference, reason="A test", by=maria)
    with pytest.raises(IncidentEnded):
        change(incident, "S1", maria)
    assert not make.fresh(session).is_frozen


# Exemptions ----------------------------------------------------------------------------------------------


def test_an_exemption_settles_a_step_and_says_why(session, maria, rosa):
    incident = run.file(maria, session, severity="S2")
    exempt = {**run.about(incident, session, maria), "step": "freeze", "reason": "It is read only"}
    with pytest.raises(CommandRefused):
        actions.exempt(**{**exempt, "by": rosa})
    for reason in ("", " "):
        with pytest.raises(InvalidInput):
            actions.exempt(**{**exempt, "reason": reason})
    with pytest.raises(InvalidInput, match="reconstruct"):
        actions.exempt(**{**exempt, "step": "pray"})
    assert run.status(incident) == Status.OPEN
    actions.exempt(**exempt)
    assert run.step(incident, session, Step.FREEZE) == StepState.EXEMPT
    assert run.status(incident) == Status.CONTAINED
    assert "It is read only" in run.texts(incident, EventKind.EXEMPTED)[0]
    actions.exempt(**{**exempt, "reason": "It is gone"})
    assert [each.reason for each in run.row_of(incident, session).exemptions.all()] == ["It is gone"]


def test_an_exempt_session_is_not_frozen_by_what_waits(agent, maria, monkeypatch):
    first, session = run.damaged(agent), run.damaged(agent)
    run.without_time_to_freeze(monkeypatch)
    incident = run.file(maria, first, session, severity="S1")
    actions.exempt(**run.about(incident, session, maria), step="freeze", reason="It may run")
    maintenance.run_once()
    assert not make.fresh(session).is_frozen
    assert run.open_holds(session) == ["INCIDENT-1"]
    assert run.status(incident) == Status.CONTAINED


def test_an_exemption_from_prevention_needs_it_for_every_session(session, agent, maria):
    more = run.damaged(agent)
    incident = run.file(maria, session, more, severity="S3")
    exempt = {"step": "prevent", "reason": "The agent is retired"}
    codes = lambda: {each.code for each in run.look(incident).unmet(Status.RESOLVED)}  # noqa: E731
    actions.exempt(**run.about(incident, session, maria), **exempt)
    assert "prevention" in codes()
    actions.exempt(**run.about(incident, more, maria), **exempt)
    assert not codes() & {"prevention", "followup_missing"}
