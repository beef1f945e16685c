"""Rule 5: what a freeze refuses, what it lets pass, and who may end it (contract section 8)."""

from datetime import timedelta

import pytest

from sessions_app import actions, queries
from sessions_app.errors import (
    PermissionRefused,
    SessionFrozen,
    StateTooLarge,
    ThawRefused,
    VersionConflict,
    VersionNotFound,
)
from sessions_app.models import RefusedWrite
from statebase_site.base import clock
from tests import factories as make
from tests.documents import typed


def state_of(session):
    session = make.fresh(session)
    return queries.document_at(session, session.head_version).value


def actions_of(session, by):
    return [
        trace.action for trace in queries.traces_for(by, session_id=session.public_id).order_by("position")
    ]


def set_state(session, changes, *, by, mode=actions.MERGE):
    return actions.update_state(session_id=session.public_id, changes=changes, mode=mode, by=by)


# What freezes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [actions.MERGE, actions.REPLACE])
def test_the_freeze_of_the_incident_runbook_never_wipes_data(agent, mode):
    made = make.session(agent, {"cart": [1, 2], "step": 4})
    outcome = set_state(made, {"incident": True, "frozen": True}, by=agent, mode=mode)
    assert state_of(made) == {"cart": [1, 2], "step": 4, "incident": True, "frozen": True}
    frozen = make.fresh(made)
    assert outcome.version.frozen
    assert outcome.version.kind == "update"
    assert (frozen.is_frozen, frozen.frozen_version, frozen.frozen_by) == (True, 1, agent.label)
    assert frozen.frozen_at == outcome.version.created_at
    assert actions_of(made, agent) == ["session.created", "state.updated", "session.frozen"]


@pytest.mark.parametrize("value", [1, "true", 1.0, [True], {"a": True}, None, False], ids=repr)
def test_only_json_true_freezes(key, value):
    made = make.session(key, {"a": 1})
    set_state(made, {"frozen": value}, by=key)
    assert not make.fresh(made).is_frozen
    assert make.update(made, {"a": 2}, by=key).number == 2


def test_a_deeper_key_named_frozen_is_data(key):
    made = make.session(key, {"order": {"frozen": True}})
    assert not make.fresh(made).is_frozen


def test_whatever_ends_in_frozen_true_freezes(key):
    by_update = make.session(key, {"a": 1})
    set_state(by_update, {"a": 2, "frozen": True}, by=key)
    by_replacement = make.session(key, {"a": 1})
    set_state(by_replacement, {"b": 1, "frozen": True}, by=key, mode=actions.REPLACE)
    assert state_of(by_replacement) == {"b": 1, "frozen": True}  # more than control keys: a replacement
    from_the_start = make.session(key, {"frozen": True, "incident": True})
    by_turn = make.session(key, {"a": 1})
    make.turn(by_turn, by=key, state_after={"a": 1, "frozen": True})
    for each, version in ((by_update, 1), (by_replacement, 1), (from_the_start, 0), (by_turn, 1)):
        session = make.fresh(each)
        assert (session.is_frozen, session.frozen_version) == (True, version)
        with pytest.raises(SessionFrozen):
            make.update(each, {"a": 3}, by=key)
    assert actions_of(from_the_start, key)[:2] == ["session.created", "session.frozen"]
    assert actions_of(by_turn, key)[1:3] == ["turn.added", "session.frozen"]


def test_an_incident_alone_does_not_freeze(key):
    made = make.session(key, {"a": 1})
    set_state(made, {"incident": True}, by=key)
    assert not make.fresh(made).is_frozen


def test_freezing_again_makes_a_version_and_stays_one_freeze(agent, key):
    made = make.session(key, {"a": 1})
    make.freeze(made, by=agent)
    first = make.fresh(made)
    assert set_state(made, {"frozen": True}, by=agent).version.number == 2
    assert set_state(made, {"incident": False}, by=agent, mode=actions.REPLACE).version.number == 3
    again = make.fresh(made)
    assert (again.frozen_at, again.frozen_version, again.frozen_by) == (
        first.frozen_at,
        1,
        agent.label,
    )
    assert state_of(made) == {"a": 1, "incident": False, "frozen": True}
    assert actions_of(made, key).count("session.frozen") == 1


def test_no_size_stands_in_the_way_of_freezing_going_back_forking_and_resuming(key, settings):
    settings.MAX_STATE_BYTES = 1_000
    made = make.session(key, {"a": "x" * 992})  # to the last byte
    with pytest.raises(StateTooLarge):
        make.update(made, {"b": 1}, by=key)
    make.freeze(made, by=key)
    make.rollback(made, 0, by=key)
    actions.fork(session_id=made.public_id, version=1, by=key)
    actions.resume(session_id=made.public_id, by=key)
    make.rollback(made, 1, by=key)
    assert state_of(made) == {"a": "x" * 992, "incident": False, "frozen": False}
    with pytest.raises(StateTooLarge):
        make.update(made, {"b": 1}, by=key)


# What is refused, what passes ---------------------------------------------------------------------------


@pytest.fixture
def frozen(key):
    made = make.session(key, {"a": 1, "list": [1]}, metadata={"m": 1})
    make.update(made, {"a": 2}, by=key)
    make.freeze(made, by=key)
    return make.fresh(made)


@pytest.mark.parametrize(
    ("operation", "attempt"),
    [
        ("state.update", lambda s, by: set_state(s, {"a": 3}, by=by)),
        ("state.update", lambda s, by: set_state(s, {}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": True, "a": 3}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": False, "a": 3}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": False, "done": True}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"done": True}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": 0}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": None}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"frozen": False, "incident": None}, by=by)),
        ("state.update", lambda s, by: set_state(s, {"incident": "text"}, by=by)),
        ("state.replace", lambda s, by: set_state(s, {}, by=by, mode=actions.REPLACE)),
        ("state.replace", lambda s, by: set_state(s, {"a": 1}, by=by, mode=actions.REPLACE)),
        ("turn.add", lambda s, by: make.turn(s, by=by)),
        ("turn.add", lambda s, by: make.turn(s, by=by, state_after={"a": 5, "frozen": True})),
        (
            "session.update",
            lambda s, by: actions.update_session(session_id=s.public_id, metadata={"m": 2}, by=by),
        ),
        (
            "session.update",
            lambda s, by: actions.update_session(session_id=s.public_id, ttl_seconds=60, by=by),
        ),
        ("session.delete", lambda s, by: actions.delete_session(session_id=s.public_id, by=by)),
    ],
)
def test_a_frozen_session_refuses_and_nothing_but_evidence_is_written(key, frozen, operation, attempt):
    rows = (frozen.versions.count(), frozen.turns.count())
    with pytest.raises(SessionFrozen) as refused:
        attempt(frozen, key)
    error = refused.value
    assert error.code == "session_frozen"
    after = make.fresh(frozen)
    assert error.extras["session_id"] == frozen.public_id
    assert error.extras["frozen_version"] == 2
    assert error.extras["frozen_at"] == clock.isoformat(frozen.frozen_at)
    unchanged = [
        "head_version",
        "turn_count",
        "updated_at",
        "metadata_text",
        "expires_at",
        "ttl_seconds",
        "deleted_at",
        "frozen_at",
    ]
    assert [getattr(after, name) for name in unchanged] == [getattr(frozen, name) for name in unchanged]
    assert (frozen.versions.count(), frozen.turns.count()) == rows
    trace = queries.trace_for(key, error.extras["trace_id"])
    assert (trace.action, trace.details["operation"]) == ("write.refused", operation)
    assert RefusedWrite.objects.get().trace_id == trace.public_id
    assert queries.verify_session(after).ok


def test_reads_client_notes_and_forks_pass(agent, frozen):
    actions.create_trace(action="note", session_id=frozen.public_id, by=agent)
    actions.fork(session_id=frozen.public_id, by=agent)
    assert queries.document_at(frozen, 1).value["a"] == 2
    assert queries.session_for(agent, frozen.public_id) == frozen
    assert make.fresh(frozen).is_frozen


def test_a_freeze_stops_one_session_only(key, frozen):
    other = make.session(key, {"a": 1})
    assert make.update(other, {"a": 2}, by=key).number == 1


# Resuming -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{"frozen": False}, {"frozen": False, "incident": False}], ids=str)
@pytest.mark.parametrize("mode", [actions.MERGE, actions.REPLACE])
def test_exactly_a_control_update_resumes(key, frozen, changes, mode):
    outcome = set_state(frozen, changes, by=key, mode=mode)
    assert not outcome.version.frozen
    running = make.fresh(frozen)
    assert (running.is_frozen, running.frozen_at, running.frozen_version, running.frozen_by) == (
        False,
        None,
        None,
        None,
    )
    assert state_of(frozen)["list"] == [1]
    assert make.update(frozen, {"a": 9}, by=key).number == 4
    assert actions_of(frozen, key)[-3:] == ["state.updated", "session.unfrozen", "state.updated"]


def test_resuming_with_the_incident_still_named_is_a_control_update_too(key, frozen):
    set_state(frozen, {"frozen": False, "incident": True}, by=key)
    assert not make.fresh(frozen).is_frozen


def test_an_agent_may_freeze_but_neither_resume_nor_roll_back_while_frozen(agent, frozen):
    for attempt, operation in (
        (lambda: set_state(frozen, {"frozen": False}, by=agent), "state.update"),
        (
            lambda: set_state(frozen, {"frozen": False, "incident": False}, by=agent, mode=actions.REPLACE),
            "state.replace",
        ),
        (lambda: make.rollback(frozen, 0, by=agent), "state.rollback"),
    ):
        with pytest.raises(ThawRefused) as refused:
            attempt()
        assert refused.value.code == "permission_denied"
        assert refused.value.extras["required_scope"] == "incident:manage"
        trace = queries.trace_for(agent, refused.value.extras["trace_id"])
        assert (trace.action, trace.details["operation"], trace.details["code"]) == (
            "write.refused",
            operation,
            "permission_denied",
        )
    after = make.fresh(frozen)
    assert (after.head_version, after.is_frozen) == (2, True)


def test_incident_manage_beside_writing_is_enough(acme, frozen, responder):
    manager = make.key_with(acme, "sessions:write", "incident:manage")
    make.rollback(frozen, 0, by=manager)
    set_state(frozen, {"frozen": False}, by=manager)
    make.freeze(frozen, by=responder)
    actions.resume(session_id=frozen.public_id, reason="All clear", by=responder)
    assert not make.fresh(frozen).is_frozen


def test_incident_manage_alone_does_not_write(acme, frozen):
    manager = make.key_with(acme, "incident:manage")
    with pytest.raises(PermissionRefused) as refused:
        set_state(frozen, {"frozen": False}, by=manager)
    assert refused.value.extras["required_scope"] == "sessions:write"
    assert make.fresh(frozen).is_frozen


def test_frozen_false_on_a_running_session_is_an_ordinary_update_for_anyone(agent):
    made = make.session(agent, {"a": 1})
    assert set_state(made, {"frozen": False}, by=agent).version.number == 1


def test_an_old_copy_written_back_after_the_resume_freezes_again(agent, key, frozen):
    old_copy = state_of(frozen)
    set_state(frozen, {"frozen": False}, by=key)
    set_state(frozen, {**old_copy, "a": 3}, by=agent)
    assert make.fresh(frozen).is_frozen


def test_the_trace_of_the_resume_tells_the_whole_freeze(key, frozen):
    for changes in ({"a": 3}, {"a": 4}):
        with pytest.raises(SessionFrozen):
            set_state(frozen, changes, by=key)
    with clock.at(frozen.frozen_at + timedelta(seconds=90.5)):
        actions.resume(session_id=frozen.public_id, reason="Fixed", by=key)
    trace = queries.traces_for(key, session_id=frozen.public_id, action="session.unfrozen").get()
    assert queries.trace_details([trace])[trace.pk] == {
        "version": 3,
        "frozen_at": clock.isoformat(frozen.frozen_at),
        "frozen_version": 2,
        "frozen_for_seconds": 90.5,
        "refused_writes": 2,
        "reasoning": "Fixed",
    }
    assert queries.refusals(make.fresh(frozen)).count == 0


def test_a_control_update_checks_the_expected_version(key, frozen):
    with pytest.raises(VersionConflict):
        actions.update_state(
            session_id=frozen.public_id, changes={"frozen": False}, expected_version=1, by=key
        )
    assert make.fresh(frozen).is_frozen


# Undoing a freeze of one's own --------------------------------------------------------------------------


def resume_after(session, seconds, by):
    with clock.at(session.frozen_at + timedelta(seconds=seconds)):
        return set_state(session, {"frozen": False, "incident": False}, by=by)


def test_who_froze_may_undo_it_for_a_minute(engineer):
    made = make.session(engineer, {"a": 1})
    make.freeze(made, by=engineer)
    resume_after(make.fresh(made), 60, engineer)
    assert not make.fresh(made).is_frozen
    make.freeze(made, by=engineer)
    with pytest.raises(ThawRefused):
        resume_after(make.fresh(made), 60.001, engineer)
    assert make.fresh(made).is_frozen


def test_nobody_else_may_undo_it(acme, agent, engineer):
    made = make.session(engineer, {"a": 1})
    make.freeze(made, by=engineer)
    other = make.person(acme, "engineer", "otto")
    for by in (other, agent):
        with pytest.raises(ThawRefused):
            resume_after(make.fresh(made), 1, by)
    assert make.fresh(made).is_frozen


def test_a_key_may_not_undo_its_own_freeze(agent):
    made = make.session(agent, {"a": 1})
    make.freeze(made, by=agent)
    with pytest.raises(ThawRefused):
        resume_after(make.fresh(made), 1, agent)


def test_while_a_hold_is_open_the_freeze_is_not_undone(engineer, key):
    made = make.session(engineer, {"a": 1})
    make.freeze(made, by=engineer)
    actions.hold(session_id=made.public_id, label="INCIDENT-1", url="/i/1", by=key)
    with pytest.raises(ThawRefused):
        resume_after(make.fresh(made), 1, engineer)
    actions.release(session_id=made.public_id, label="INCIDENT-1", by=key)
    resume_after(make.fresh(made), 2, engineer)


def test_a_freeze_that_another_confirmed_is_not_undone(acme, agent, engineer):
    made = make.session(engineer, {"a": 1})
    make.freeze(made, by=engineer)
    make.freeze(made, by=agent)  # somebody else says stop as well
    with pytest.raises(ThawRefused):
        resume_after(make.fresh(made), 5, engineer)
    assert make.fresh(made).is_frozen


def test_undoing_is_no_right_to_roll_back_while_frozen(engineer):
    made = make.session(engineer, {"a": 1})
    make.freeze(made, by=engineer)
    with pytest.raises(ThawRefused):
        make.rollback(made, 0, by=engineer)


# Rolling back while frozen (8.4) ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snapshot", "restored"),
    [
        ({"a": 1.0, "b": 2}, {"a": 1.0, "b": 2, "frozen": True, "incident": True}),
        ({"frozen": False, "a": 1}, {"frozen": True, "a": 1, "incident": True}),
        ({"incident": "old", "a": 1}, {"incident": True, "a": 1, "frozen": True}),
        ({"frozen": "x", "a": -0.0}, {"frozen": True, "a": -0.0, "incident": True}),
    ],
)
def test_a_rollback_while_frozen_restores_all_but_the_control_keys(key, snapshot, restored):
    made = make.session(key, snapshot)
    make.update(made, {"a": "bad", "more": 1}, by=key)
    make.freeze(made, by=key)
    frozen = make.fresh(made)
    version = make.rollback(made, 0, by=key)
    assert version.frozen
    assert typed(state_of(made)) == typed(restored)
    after = make.fresh(made)
    assert (after.frozen_at, after.frozen_version) == (frozen.frozen_at, frozen.frozen_version)
    trace = queries.trace_for(key, version.trace_id)
    assert trace.details["while_frozen"] is True
    assert actions_of(made, key)[-1] == "state.rolled_back"
    with pytest.raises(SessionFrozen):
        make.update(made, {"a": 2}, by=key)


def test_only_an_incident_that_is_true_now_is_kept(key):
    made = make.session(key, {"a": 1, "incident": "then"})
    set_state(made, {"frozen": True, "a": 2, "incident": "now"}, by=key)
    make.rollback(made, 0, by=key)
    assert typed(state_of(made)) == typed({"a": 1, "incident": "then", "frozen": True})


def test_the_whole_incident_runbook_with_one_full_key(key):
    made = make.session_with_versions(key, 6)
    set_state(made, {"incident": True, "frozen": True}, by=key)
    make.rollback(made, -3, by=key, reason="Before the corruption")  # v7 - 3
    set_state(made, {"incident": False, "frozen": False}, by=key)
    state = state_of(made)
    assert (state["step"], state["frozen"], state["incident"]) == (4, False, False)
    assert make.update(made, {"step": 5}, by=key).number == 10


def test_a_missing_version_is_not_found_while_frozen(key, frozen):
    with pytest.raises(VersionNotFound):
        make.rollback(frozen, 99, by=key)
    with pytest.raises(VersionNotFound):
        make.rollback(frozen, -3, by=key)


def test_what_holds_the_session_is_told_to_who_is_refused(key, frozen):
    actions.hold(
        session_id=frozen.public_id, label="INCIDENT-1", url="/i/1", notice="Ask the on-call.", by=key
    )
    actions.hold(session_id=frozen.public_id, label="INCIDENT-2", url="/i/2", notice="Do wait.", by=key)
    actions.release(session_id=frozen.public_id, label="INCIDENT-2", by=key)
    with pytest.raises(SessionFrozen) as refused:
        make.update(frozen, {"a": 3}, by=key)
    assert "Ask the on-call." in refused.value.message
    assert "Do wait." not in refused.value.message
