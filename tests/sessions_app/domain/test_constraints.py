"""Rules that the database itself keeps, each tried on both sides."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from sessions_app.codec import Encoding
from sessions_app.models import (
    AgentSession,
    EvidenceHold,
    RefusedWrite,
    SessionPath,
    StateVersion,
    Trace,
    Turn,
)
from statebase_site.base import clock
from tests import factories as make


def accepted(row):
    with transaction.atomic():
        row.save()
        transaction.set_rollback(True)


def refused(row, constraint):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        row.save()


def copy_of(row, **changes):
    """An unsaved row like this one."""
    fields = {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields}
    fields.pop("id", None)
    return type(row)(**{**fields, **changes})


@pytest.fixture
def session(key):
    return make.session_with_versions(key, 1)


@pytest.fixture
def version(session):
    """A valid version 2 that is not stored."""
    return copy_of(
        StateVersion.objects.get(agent_session=session, number=1),
        number=2,
        encoding=Encoding.AGAINST_KEYFRAME,
        keyframe=0,
    )


@pytest.fixture
def turn(session, key):
    """A valid turn 2 that is not stored."""
    return copy_of(make.turn(session, by=key), number=2, public_id="turn_new")


@pytest.fixture
def trace(session):
    """A valid trace that is not stored."""
    return copy_of(
        Trace.objects.filter(agent_session=session).order_by("-position").first(),
        public_id="trace_new",
        position=99,
    )


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        ({}, {"number": 1}, "sessions_app_stateversion|UNIQUE"),
        (
            {"kind": "rollback", "restored_from": 1},
            {"kind": "rollback", "restored_from": 2},
            "version_rollback_names_earlier",
        ),
        (
            {"kind": "rollback", "restored_from": 0},
            {"kind": "rollback", "restored_from": None},
            "version_rollback_names_earlier",
        ),
        (
            {"kind": "replace"},
            {"kind": "replace", "restored_from": 1},
            "version_rollback_names_earlier",
        ),
        ({"kind": "turn", "turn_id": "turn_x"}, {"kind": "turn"}, "version_turn_names_turn"),
        ({}, {"turn_id": "turn_x"}, "version_turn_names_turn"),
        ({}, {"kind": "create"}, "version_zero_is_the_beginning"),
        ({}, {"kind": "fork"}, "version_zero_is_the_beginning"),
        (
            {"encoding": Encoding.KEYFRAME, "keyframe": 2},
            {"encoding": Encoding.KEYFRAME, "keyframe": 1},
            "version_keyframe_fits",
        ),
        ({"keyframe": 1}, {"keyframe": 2}, "version_keyframe_fits"),
        ({"keyframe": 0}, {"encoding": 3}, "version_keyframe_fits"),
        ({}, {"number": -1}, "number|check"),
    ],
)
def test_versions(version, good, bad, constraint):
    accepted(copy_of(version, **good))
    refused(copy_of(version, **bad), constraint)


def test_version_0_is_created_or_forked(session, key):
    other = copy_of(session, public_id="sess_new", lineage_root="sess_new")
    other.save()
    beginning = copy_of(StateVersion.objects.get(agent_session=session, number=0), agent_session_id=other.pk)
    accepted(copy_of(beginning, kind="fork"))
    for kind, extra in (("update", {}), ("replace", {}), ("turn", {"turn_id": "turn_x"})):
        refused(copy_of(beginning, kind=kind, **extra), "version_zero_is_the_beginning")


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        ({}, {"number": 1}, "sessions_app_turn|UNIQUE"),
        ({"number": 7}, {"number": 0}, "turn_numbers_from_one"),
        (
            {"state_before_version": 0},
            {"state_before_version": 0, "state_before_body": b"x"},
            "turn_state_before_kept_once",
        ),
        (
            {"state_after_body": b"x"},
            {"state_after_version": 0, "state_after_body": b"x"},
            "turn_state_after_kept_once",
        ),
    ],
)
def test_turns(turn, good, bad, constraint):
    accepted(copy_of(turn, **good))
    refused(copy_of(turn, **bad), constraint)


def test_a_turn_id_is_unique(turn, session):
    refused(copy_of(turn, public_id=Turn.objects.get().public_id), "public_id")


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        ({}, {"position": 1}, "trace_chain_position_once|UNIQUE"),
        (
            {"source": "client", "position": None},
            {"source": "client", "position": 99},
            "trace_client_outside_chain",
        ),
    ],
)
def test_traces(trace, good, bad, constraint):
    accepted(copy_of(trace, **good))
    refused(copy_of(trace, **bad), constraint)


def test_many_client_notes_have_no_position(session, key, trace):
    for name in ("trace_a", "trace_b"):
        copy_of(trace, public_id=name, source="client", position=None).save()
    refused(copy_of(trace, public_id="trace_a"), "public_id")


NOW = clock.now()
FROZEN = {"frozen_at": NOW, "frozen_version": 0, "frozen_by": "system"}
FORKED = {"forked_from": "sess_x", "forked_version": 0, "lineage_depth": 1}


@pytest.mark.parametrize(
    ("good", "bad", "constraint"),
    [
        (FROZEN, FROZEN | {"frozen_at": None}, "session_frozen_all_or_none"),
        (FROZEN, FROZEN | {"frozen_version": None}, "session_frozen_all_or_none"),
        (FROZEN, FROZEN | {"frozen_by": None}, "session_frozen_all_or_none"),
        (FORKED, FORKED | {"forked_from": None}, "session_forked_all_or_none"),
        (FORKED, FORKED | {"forked_version": None}, "session_forked_all_or_none"),
        (FORKED, FORKED | {"lineage_depth": 0}, "session_forked_all_or_none"),
        ({}, {"lineage_depth": 1}, "session_forked_all_or_none"),
        ({"head_keyframe": 1}, {"head_keyframe": 2}, "session_keyframe_past"),
        (
            {"expires_at": None, "ttl_seconds": None},
            {"expires_at": NOW + timedelta(1), "ttl_seconds": None},
            "session_expiry_has_ttl",
        ),
    ],
)
def test_sessions(session, good, bad, constraint):
    like = copy_of(session, public_id="sess_new")
    accepted(copy_of(like, **good))
    refused(copy_of(like, **bad), constraint)


def test_a_session_id_is_unique(session):
    refused(copy_of(session), "public_id")


def test_a_recorded_run_is_loaded_once_in_a_project(session, acme):
    like = copy_of(session, imported_from="fingerprint", public_id="sess_a")
    like.save()
    refused(copy_of(like, public_id="sess_b"), "session_imported_once|UNIQUE")
    accepted(copy_of(like, public_id="sess_b", project_id=make.project("Other").pk))
    accepted(copy_of(like, public_id="sess_b", imported_from=None))


def test_holds(session):
    hold = EvidenceHold(agent_session=session, label="A", url="/", opened_at=NOW, opened_by="x")
    hold.save()
    refused(copy_of(hold), "hold_open_once|UNIQUE")
    accepted(copy_of(hold, label="B"))
    accepted(copy_of(hold, released_at=NOW, released_by="x"))
    refused(copy_of(hold, released_at=NOW), "hold_released_all_or_none")
    refused(copy_of(hold, label="B", released_by="x"), "hold_released_all_or_none")


def test_a_path_is_indexed_once_a_session(session):
    SessionPath.objects.create(agent_session=session, path="/a", last_version=0)
    refused(SessionPath(agent_session=session, path="/a", last_version=1), "session_path_once|UNIQUE")


def test_a_refused_write_has_a_trace_of_its_own(session, acme):
    row = RefusedWrite(
        agent_session=session,
        project=acme,
        trace_id="trace_x",
        operation="state.update",
        method="PATCH",
        path="/",
        code="session_frozen",
        attempted_sha256="0" * 64,
        actor_label="x",
        frozen_at=NOW,
        frozen_version=0,
        created_at=NOW,
    )
    row.save()
    refused(copy_of(row), "trace_id")


def test_evidence_needs_its_session_to_be_there(version, db):
    copy_of(version, agent_session_id=AgentSession.objects.last().pk + 1_000).save()
    with pytest.raises(IntegrityError):
        connection.check_constraints()
    transaction.set_rollback(True)
