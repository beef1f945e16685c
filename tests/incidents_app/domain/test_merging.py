"""Merging a duplicate into another incident: all that is known goes there, in one step (design "Status")."""

import pytest

from incidents_app import actions
from incidents_app.actions import ending, securing
from incidents_app.actions.ending import CannotReopen, SessionsChanged
from incidents_app.enums import EventKind, Status, Step, StepState
from incidents_app.errors import IncidentEnded, IncidentNotFound
from incidents_app.models import AffectedSession, Incident
from sessions_app import actions as sessions
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests import factories as make
from tests.incidents_app import runbook as run


def merge(source, into, by):
    return actions.merge(reference=source.reference, into=into.reference, by=by)


@pytest.fixture(scope="module")
def filed(agent, damaged, maria, rosa):
    first = run.file(maria, damaged)
    run.recovered(first, damaged, maria)
    actions.exempt(**run.about(first, damaged, maria), step="prevent", reason="Retired")
    actions.add_follow_up(reference=first.reference, text="Ask first", owner="edda", by=maria)
    other = run.damaged(agent)
    second = run.file(rosa, other, severity="S3")
    actions.add_follow_up(reference=second.reference, text="Tell them", by=rosa)
    return first, second


@pytest.fixture
def two(filed, db):
    """INCIDENT-1, recovered, and INCIDENT-2 about another session."""
    return [make.fresh(each) for each in filed]


def test_sessions_facts_evidence_and_follow_ups_go_over(two, session, maria):
    first, second = two
    merge(first, second, maria)
    first.refresh_from_db()
    assert (first.status, first.duplicate_of) == (Status.DUPLICATE, second)
    row = run.row_of(second, session)
    assert (row.freeze_version, row.divergence_version, row.rolled_back_to) == (3, 1, 0)
    steps = run.steps(second, session)
    assert [steps[each] for each in ("freeze", "reconstruct", "divergence", "rollback")] == ["done"] * 4
    assert steps["prevent"] == "exempt"
    assert [each.target for each in row.pins.all()] == ["1"]
    assert [each.tool for each in row.effects.all()] == ["cancel_booking"]
    assert "effect_undecided" in [each.code for each in run.look(second).unmet(Status.RESOLVED)]
    assert [(each.number, each.text, each.owner) for each in second.follow_ups.all()] == [
        (1, "Tell them", ""),
        (2, "Ask first", "edda"),
    ]
    assert not first.follow_ups.exists()
    second.refresh_from_db()
    assert second.count == 2
    assert run.open_holds(session) == ["INCIDENT-2"]
    assert make.fresh(session).open_holds == 1
    assert run.texts(second, EventKind.MERGED) == ["INCIDENT-1 was merged into this: Cancelled a booking"]
    assert run.texts(first, EventKind.MERGED) == ["Merged into INCIDENT-2: Cancelled a booking"]


def test_the_old_one_stays_readable_as_it_was(two, session, maria):
    first, second = two
    before = run.steps(first, session)
    merge(first, second, maria)
    assert run.steps(first, session) == before
    assert run.status(first) == Status.DUPLICATE
    with pytest.raises(IncidentEnded, match="is duplicate") as refused:
        actions.add_note(reference=first.reference, text="x", by=maria)
    assert "merged into" in refused.value.suggestion
    with pytest.raises(CannotReopen):
        actions.reopen(reference=first.reference, reason="x", by=maria)


def test_the_worse_severity_wins(two, session, agent, maria):
    first, second = two  # S2 into S3
    merge(first, second, maria)
    second.refresh_from_db()
    assert (second.severity, second.peak_severity) == ("S2", "S2")
    assert run.texts(second, EventKind.SEVERITY)[-1].endswith("INCIDENT-1 was S2")
    assert run.status(second) == Status.OPEN  # its other session runs, and an S2 asks for a freeze
    third = run.file(maria, run.damaged(agent), severity="S4")
    merge(third, second, maria)
    second.refresh_from_db()
    assert second.severity == "S2"


def test_merging_an_s1_freezes_what_the_other_let_run(two, agent, maria):
    second = two[1]
    others = [row.agent_session for row in run.look(second).affected]
    s1 = run.file(maria, run.damaged(agent), severity="S1")
    merge(s1, second, maria)
    assert all(make.fresh(each).is_frozen for each in others)
    assert run.status(second) == Status.CONTAINED


def test_sessions_merged_into_an_s1_are_frozen(stray, agent, maria):
    first = run.file(maria, stray, severity="S3")
    second = run.file(maria, run.damaged(agent), severity="S1")
    merge(first, second, maria)
    assert make.fresh(stray).is_frozen
    assert run.status(second) == Status.CONTAINED


def test_a_session_of_both_keeps_the_facts_of_the_one_that_stays(two, session, maria):
    first, second = two
    actions.add_session(**run.about(second, session, maria))
    run.diverged(second, session, maria, bad=2, good=0)
    merge(first, second, maria)
    row = run.row_of(second, session)
    assert (row.divergence_version, row.pins.count()) == (2, 0)
    assert run.open_holds(session) == ["INCIDENT-2"]
    assert AffectedSession.objects.filter(episode__incident=second, session_id=session.public_id).count() == 1


def test_a_freeze_that_was_still_waiting_is_not_lost(agent, maria, monkeypatch):
    one, other = run.damaged(agent), run.damaged(agent)
    run.without_time_to_freeze(monkeypatch)
    first = run.file(maria, one, other, severity="S1")
    second = run.file(maria, severity="S4", no_session_reason="x")
    monkeypatch.undo()
    merge(first, second, maria)
    assert make.fresh(other).is_frozen
    assert run.step(second, other, Step.FREEZE) == StepState.DONE


def test_merging_again_changes_nothing(two, session, maria):
    first, second = two
    merge(first, second, maria)
    before = (len(run.events(first)), len(run.events(second)), make.fresh(session).chain_length)
    merge(first, second, maria)
    assert (len(run.events(first)), len(run.events(second)), make.fresh(session).chain_length) == before
    second.refresh_from_db()
    assert second.count == 2


def test_what_cannot_be_merged(two, session, agent, maria, edda):
    first, second = two
    with pytest.raises(InvalidInput, match="into itself"):
        merge(first, first, maria)
    for by in (agent, edda):
        with pytest.raises(PermissionRefused):
            merge(first, second, by)
    with pytest.raises(IncidentNotFound):
        actions.merge(reference=first.reference, into="INCIDENT-99", by=maria)
    foreign = make.person(make.project("Other"), "responder", "olga")
    with pytest.raises(IncidentNotFound):
        merge(first, second, foreign)
    actions.decline(reference=second.reference, reason="A test", by=maria)
    with pytest.raises(IncidentEnded, match="INCIDENT-2 is declined"):
        merge(first, second, maria)
    with pytest.raises(IncidentEnded, match="INCIDENT-2 is declined"):
        merge(second, first, maria)
    assert run.status(first) == Status.RECOVERED
    assert run.open_holds(session) == ["INCIDENT-1"]


def test_a_deleted_session_does_not_stand_in_the_way(acme, agent, maria, monkeypatch):
    gone = run.damaged(agent)
    with monkeypatch.context() as patched:
        patched.setattr(securing, "_try", lambda *args: False)  # the server died before it was held
        first = run.file(maria, gone)
    sessions.delete_session(session_id=gone.public_id, by=make.full_key(acme))
    second = run.file(maria, run.damaged(agent))
    merge(first, second, maria)
    assert run.status(first) == Status.DUPLICATE
    assert run.row_of(second, gone).failure


@pytest.mark.parametrize("how", ["decline", "merge"])
def test_a_session_added_at_that_moment_is_not_forgotten(two, agent, maria, monkeypatch, how):
    first, second = two
    late = run.damaged(agent)
    locked = ending.locked_incident

    def after_one_more(by, reference):
        monkeypatch.setattr(ending, "locked_incident", locked)
        actions.add_session(**run.about(first, late, maria))
        return locked(by, reference)

    def end():
        if how == "merge":
            merge(first, second, maria)
        else:
            actions.decline(reference=first.reference, reason="A test", by=maria)

    monkeypatch.setattr(ending, "locked_incident", after_one_more)
    with pytest.raises(SessionsChanged, match="try again"):
        end()
    assert Incident.objects.get(pk=first.pk).is_active
    actions.add_session(**run.about(first, late, maria))  # which the refusal took along with it here
    end()
    expected = ["INCIDENT-2"] if how == "merge" else []
    assert run.open_holds(late) == expected
