"""When a user is erased, what an ended incident copied of their sessions goes with them."""

import pytest

from incidents_app import actions
from incidents_app.models import Effect, Pin, Scenario
from sessions_app import actions as sessions
from sessions_app.errors import SessionFrozen, SessionHeld
from sessions_app.models import AgentSession
from tests import factories as make
from tests.api.test_erasure import where_found
from tests.incidents_app import runbook

COPIES = ("pin.content", "effect.arguments_text", "scenario.good_state_text", "scenario.fault")


def test_copies_go_with_the_user_once_the_incident_has_ended(agent, maria, jon):
    session = make.session(agent, {"booked": True, "name": "zqmark"}, user_id="zquser")
    make.tool_call(session, "cancel_booking", by=agent, passenger="zqmark")
    make.update(session, {"booked": False}, by=agent)
    untouched = runbook.damaged(agent, user_id="bob")
    incident = runbook.file(maria, session, untouched, severity="S3")
    for each in (session, untouched):
        about = runbook.about(incident, each, maria)
        actions.pin(**about, versions=[0])
        runbook.recovered(incident, each, maria)
        fault = {"kind": "state_patch", "patch": {"name": "zqmark" if each is session else "bob"}}
        runbook.scenario(incident, each, maria, fault=fault)
    copies = {model: model.objects.count() for model in (Pin, Effect, Scenario)}
    assert all(copies.values())
    assert where_found("zqmark") >= {f"incidents_app_{name}" for name in COPIES}
    with pytest.raises(SessionFrozen):
        sessions.erase_user(user_id="zquser", by=jon)
    actions.resume(reference=incident.reference, reason="Safe", by=maria)
    with pytest.raises(SessionHeld) as held:
        sessions.erase_user(user_id="zquser", by=jon)
    assert held.value.extras["holds"][0]["label"] == incident.reference

    actions.decline(reference=incident.reference, reason="A test", by=maria)
    sessions.erase_user(user_id="zquser", by=jon)
    assert where_found("zqmark", "zquser") == set()
    assert not AgentSession.objects.filter(user_id="zquser").exists()
    assert {each.affected.session_id for each in Pin.objects.all()} == {untouched.public_id}
    assert Effect.objects.count() == copies[Effect]
    kept = Scenario.objects.get(session_id=untouched.public_id)
    assert kept.fault["patch"] == {"name": "bob"}
    assert Scenario.objects.get(session_id=session.public_id).fault == {"kind": "state_patch"}
    assert runbook.status(incident) == "declined"
