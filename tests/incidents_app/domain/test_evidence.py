"""Pins and timeline are evidence: copied, hashed, and never changed (design "The six steps")."""

from hashlib import sha256

import pytest
from django.db import DatabaseError, connection, transaction

from incidents_app import actions
from incidents_app.actions import maintenance
from incidents_app.enums import EventKind, Step, StepState
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Helper,
    Incident,
    IncidentCounter,
    Override,
    Pin,
    Scenario,
    ScenarioRun,
    TimelineEvent,
)
from sessions_app.actions.maintenance import remove_project_content
from sessions_app.errors import TraceNotFound, VersionNotFound
from sessions_app.models import AgentSession, Trace
from statebase_site.base import json
from statebase_site.base.append_only import AppendOnlyError
from statebase_site.base.errors import InvalidInput
from tests import factories as make
from tests.incidents_app import runbook as run

APPEND_ONLY = (TimelineEvent, Pin)
EVERYTHING = (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Helper,
    Incident,
    IncidentCounter,
    Override,
    Pin,
    Scenario,
    ScenarioRun,
    TimelineEvent,
)


@pytest.fixture(scope="module")
def filed(damaged, maria):
    return run.file(maria, damaged)


@pytest.fixture
def incident(filed, db):
    return make.fresh(filed)


# Pins ----------------------------------------------------------------------------------------------------


def test_pins_keep_what_was_there_with_its_hash(incident, session, agent, edda):
    trace = Trace.objects.filter(agent_session=session, action="turn.added").get()
    about = run.about(incident, session, edda)
    actions.pin(**about, versions=[1, -1, 1], traces=[trace.public_id], note="Here it begins")
    version, tool_call = run.row_of(incident, session).pins.order_by("kind").reverse()
    assert (version.kind, version.target, version.note, version.pinned_by) == (
        "version",
        "1",
        "Here it begins",
        "user:edda",
    )
    kept = json.parse_stored(version.content)
    assert (kept["version"], kept["state"], kept["actor"]) == (1, {"booked": False, "seats": 2}, agent.label)
    assert json.parse_stored(tool_call.content)["id"] == trace.public_id
    for each in (version, tool_call):
        assert sha256(each.content.encode()).hexdigest() == each.sha256
    assert run.texts(incident, EventKind.PINNED) == [
        f"Pinned v1, {trace.public_id} of {session.public_id}. Here it begins"
    ]
    assert run.step(incident, session, Step.RECONSTRUCT) == StepState.DONE
    actions.pin(**about, versions=[1])
    assert len(run.events(incident, EventKind.PINNED)) == 1


def test_what_cannot_be_pinned(acme, incident, session, agent, maria):
    about = run.about(incident, session, maria)
    other = run.damaged(agent)
    theirs = Trace.objects.filter(agent_session=other).first()
    foreign = make.session(make.full_key(make.project("Other")))
    for given, error in (
        ({}, InvalidInput),
        ({"versions": range(101)}, InvalidInput),
        ({"versions": [0, 3]}, VersionNotFound),
        ({"traces": [theirs.public_id]}, InvalidInput),
        ({"traces": [Trace.objects.filter(agent_session=foreign).first().public_id]}, TraceNotFound),
        ({"traces": ["trace_\x00"]}, TraceNotFound),
        ({"versions": [0], "note": "\x00"}, InvalidInput),
    ):
        with pytest.raises(error):
            actions.pin(**about, **given)
    assert not Pin.objects.exists()
    assert run.step(incident, session, Step.RECONSTRUCT) == StepState.PENDING


# Never changed -------------------------------------------------------------------------------------------


@pytest.fixture
def rows(incident, session, maria):
    actions.pin(**run.about(incident, session, maria), versions=[0, 1])
    return {model: model.objects.first() for model in APPEND_ONLY}


def refused(sql, *values):
    with (
        pytest.raises(DatabaseError, match=r"never changed|only removed with their project"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, values)


@pytest.mark.parametrize("model", APPEND_ONLY, ids=lambda model: model.__name__)
def test_the_database_refuses_to_change_or_remove_it(rows, model):
    table, before = model._meta.db_table, list(model._base_manager.values())
    for field in model._meta.concrete_fields:
        refused(f'UPDATE {table} SET "{field.column}" = "{field.column}"')
    refused(f"UPDATE {table} SET id = id + 1000 WHERE id = %s", rows[model].pk)
    refused(f"DELETE FROM {table}")
    refused(f"DELETE FROM {table} WHERE id = %s", rows[model].pk)
    assert list(model._base_manager.values()) == before


@pytest.mark.parametrize("model", APPEND_ONLY, ids=lambda model: model.__name__)
def test_python_refuses_it_as_well(rows, model):
    row = rows[model]
    name = "text" if model is TimelineEvent else "note"
    for attempt in (
        row.save,
        row.delete,
        lambda: model.objects.all().delete(),
        lambda: model.objects.update(**{name: "x"}),
        lambda: model.objects.bulk_update([row], [name]),
        lambda: model.objects.update_or_create(pk=row.pk, defaults={name: "x"}),
    ):
        with pytest.raises(AppendOnlyError):
            attempt()


def test_rows_that_hang_on_an_incident_cannot_go_with_it(rows, incident):
    for victim in (incident, incident.episodes.get()):
        with pytest.raises((DatabaseError, AppendOnlyError)), transaction.atomic():  # noqa: PT012
            victim.delete()
            connection.check_constraints()
    assert Incident.objects.exists()
    assert TimelineEvent.objects.exists()
    assert Pin.objects.exists()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="only SQLite has this statement")
def test_a_row_is_not_replaced_by_one_of_the_same_key(rows):
    event = rows[TimelineEvent]
    columns = ", ".join(f'"{field.column}"' for field in TimelineEvent._meta.concrete_fields)
    others = columns.replace('"text"', "'Nothing happened'")
    refused(
        f"INSERT OR REPLACE INTO incidents_app_timelineevent ({columns}) "
        f"SELECT {others} FROM incidents_app_timelineevent WHERE id = %s",
        event.pk,
    )


def test_the_removal_of_a_project_takes_its_incidents_and_no_others(
    acme, incident, session, agent, maria, jon
):
    run.recovered(incident, session, maria)
    run.scenario(incident, session, maria)
    whole = {"reference": incident.reference, "by": maria}
    actions.add_follow_up(**whole, text="Ask first")
    actions.decline(**whole, reason="As designed")
    actions.reopen(**whole, reason="It was not")
    actions.exempt(**run.about(incident, session, maria), step="prevent", reason="x")
    actions.override(reference=incident.reference, gate="divergence", reason="x", by=jon)
    actions.join(**whole)
    other = run.file(maria, run.damaged(agent))
    actions.merge(reference=other.reference, into=incident.reference, by=maria)
    beta = make.project("Beta")
    theirs = run.file(make.person(beta, "responder", "olga"), run.damaged(make.agent(beta)))
    assert all(model._base_manager.exists() for model in EVERYTHING)
    kept = {model: model._base_manager.count() for model in (Incident, TimelineEvent, AffectedSession)}

    maintenance.remove_project_incidents(project=acme)
    assert Incident.objects.get().pk == theirs.pk
    left = {model.__name__ for model in EVERYTHING if model._base_manager.exists()}
    assert left == {"AffectedSession", "Episode", "Incident", "IncidentCounter", "TimelineEvent"}
    assert all(model._base_manager.count() < count for model, count in kept.items())
    refused("DELETE FROM incidents_app_timelineevent")
    acme.refresh_from_db()
    assert not acme.purging
    remove_project_content(project=acme)
    assert not AgentSession.objects.filter(project=acme).exists()
    assert run.file(maria, no_session_reason="A fresh start").number == 1
