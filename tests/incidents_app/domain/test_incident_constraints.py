"""Rules about incidents that the database itself keeps, each tried on both sides."""

import pytest
from django.db import IntegrityError, transaction

from incidents_app import actions
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    Helper,
    Incident,
    Override,
    ScenarioRun,
    TimelineEvent,
)
from statebase_site.base import clock
from tests import factories as make
from tests.incidents_app import runbook as run

NOW = clock.now()


def copy_of(row, **changes):
    """An unsaved row like this one."""
    fields = {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields}
    fields.pop("id", None)
    return type(row)(**{**fields, **changes})


def accepted(row):
    with transaction.atomic():
        row.save()
        transaction.set_rollback(True)


def refused(row, constraint):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        row.save()


@pytest.fixture(scope="module")
def incident(damaged, maria):
    made = run.file(maria, damaged, dedup_key="k")
    run.recovered(made, damaged, maria)
    return made


ENDED = {"status": "closed", "closed_at": NOW}


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        ({}, {"number": 1}, "incident_number_once|UNIQUE"),
        ({"dedup_key": "other"}, {"dedup_key": "k"}, "incident_dedup_once_open|UNIQUE"),
        (
            {"dedup_key": "k", **ENDED},
            {"dedup_key": "k", "status": "resolved"},
            "incident_dedup_once_open|UNIQUE",
        ),
        ({"status": "resolved"}, {"status": "asleep"}, "incident_status_known"),
        ({"severity": "S2"}, {"severity": "S5", "peak_severity": "S1"}, "incident_severity_known"),
        (
            {"severity": None, "peak_severity": None},
            {"severity": None},
            "incident_severity_has_peak",
        ),
        ({}, {"peak_severity": None}, "incident_severity_has_peak"),
        ({"peak_severity": "S1"}, {"peak_severity": "S3"}, "incident_peak_is_worst"),
        (ENDED, {"status": "closed"}, "incident_closed_has_time"),
        ({}, {"closed_at": NOW}, "incident_closed_has_time"),
        ({}, {"status": "duplicate"}, "incident_duplicate_names_other"),
    ],
)
def test_incidents(incident, good, bad, constraint):
    like = copy_of(incident, number=2, dedup_key=None, closed_at=None)
    accepted(copy_of(like, **good))
    refused(copy_of(like, **bad), constraint)


def test_a_duplicate_names_the_other(incident):
    like = copy_of(incident, number=2, dedup_key=None)
    accepted(copy_of(like, status="duplicate", duplicate_of_id=incident.pk))
    refused(copy_of(like, duplicate_of_id=incident.pk), "incident_duplicate_names_other")


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        ({"divergence_version": 2}, {"last_good_version": 1}, "affected_good_before_divergence"),
        (
            {"divergence_version": None, "last_good_version": None},
            {"last_good_version": None},
            "affected_good_before_divergence",
        ),
        (
            {"freeze_version": None, "frozen_at": None, "quiet_since": None},
            {"frozen_at": None},
            "affected_freeze_whole",
        ),
        ({}, {"freeze_version": None}, "affected_freeze_whole"),
    ],
)
def test_affected_sessions(incident, good, bad, constraint):
    row = AffectedSession.objects.get()
    like = copy_of(row, agent_session_id=row.agent_session_id + 1, session_id="sess_new")
    accepted(copy_of(like, **good))
    refused(copy_of(like, **bad), constraint)


def test_each_thing_is_there_once(incident, session, maria, jon):
    about = run.about(incident, session, maria)
    actions.exempt(**about, step="resume", reason="x")
    actions.join(reference=incident.reference, by=maria)
    actions.override(reference=incident.reference, gate="prevention", reason="x", by=jon)
    run.scenario(incident, session, maria)
    for model, name in (
        (AffectedSession, "affected_once"),
        (Episode, "episode_once"),
        (TimelineEvent, "event_sequence_once"),
        (Exemption, "exemption_once"),
        (Helper, "helper_once"),
        (Override, "override_once"),
        (Effect, "effect_once"),
        (ScenarioRun, "scenario_run_once"),
    ):
        refused(copy_of(model.objects.first()), f"{name}|UNIQUE|scenario_waits_once")
    refused(copy_of(ScenarioRun.objects.get(), session_id="sess_x"), "scenario_waits_once|UNIQUE")
    accepted(
        copy_of(
            ScenarioRun.objects.get(),
            session_id="sess_x",
            outcome="red",
            finished_at=NOW,
            judged_version=1,
        )
    )
    refused(copy_of(ScenarioRun.objects.get(), session_id="sess_x", outcome="red"), "finished_whole")
    refused(copy_of(Effect.objects.get(), turn_id="x", disposition="accepted"), "effect_decided_whole")
    refused(copy_of(Episode.objects.get(), number=2, answered_at=NOW), "episode_answers_whole")
    refused(copy_of(Episode.objects.get(), number=2, checkpoint_after=1), "episode_checkpoint_whole")


def test_numbers_are_once_in_a_project_only(incident):
    other = make.project("Other")
    accepted(copy_of(incident, project_id=other.pk))
    assert Incident.objects.count() == 1
