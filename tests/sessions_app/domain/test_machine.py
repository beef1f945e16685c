"""All rules at once: random histories against a model of plain dicts, every invariant after each step."""

from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from sessions_app import actions, queries
from sessions_app.errors import SessionFrozen, SessionHeld, ThawRefused, VersionConflict, VersionNotFound
from sessions_app.models import RefusedWrite, Trace
from tests import factories as make
from tests.documents import documents, typed

KEYS = ["a", "b", "list", "", "nul\x00", "a/b", "frozen", "incident"]
VALUES = st.one_of(documents(6), st.booleans(), st.integers(0, 3))
STATES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)
CONTROL = st.dictionaries(st.sampled_from(["frozen", "incident"]), st.booleans(), min_size=1)
CHANGES = st.one_of(STATES, STATES, CONTROL)
WHICH = st.integers(0, 3)
_names = count()


@dataclass
class Model:
    """What a session must be."""

    public_id: str
    states: list
    kinds: list
    parents: list  # the version that each descends from; None for the first
    turns: list = field(default_factory=list)  # (state_before, state_after, state_version)
    notes: int = 0
    holds: int = 0
    frozen_version: int | None = None
    refused: int = 0
    traces: int = 1

    @property
    def head(self):
        return len(self.states) - 1

    @property
    def frozen(self):
        return self.frozen_version is not None

    def append(self, kind, state, parent=None):
        self.states.append(state)
        self.kinds.append(kind)
        self.parents.append(self.head - 1 if parent is None else parent)
        self.settle()

    def settle(self):
        """Frozen if and only if the current state says so with JSON true; each switch is a trace."""
        wanted = self.states[-1].get("frozen") is True
        if wanted and not self.frozen:
            self.frozen_version = self.head
            self.traces += 1
        elif self.frozen and not wanted:
            self.frozen_version = None
            self.refused = 0
            self.traces += 1

    def refuse(self):
        self.refused += 1
        self.traces += 1

    def live(self):
        line, number = set(), self.head
        while number is not None:
            line.add(number)
            number = self.parents[number]
        return line


def is_control(changes):
    return (
        bool(changes)
        and set(changes) <= {"frozen", "incident"}
        and all(value is True or value is False for value in changes.values())
    )


def thawed(snapshot):
    if snapshot.get("frozen") is not True:
        return snapshot
    extra = {"incident": False} if snapshot.get("incident") is True else {}
    return {**snapshot, "frozen": False, **extra}


def still_frozen(snapshot, current):
    extra = {"incident": True} if current.get("incident") is True else {}
    return {**snapshot, "frozen": True, **extra}


def same(left, right):
    return typed(left, ordered=False) == typed(right, ordered=False)


class Sessions(RuleBasedStateMachine):
    """Up to four sessions, written by a full key and by an agent's."""

    @initialize(state=STATES)
    def begin(self, state):
        project = make.project(f"Project {next(_names)}")
        self.key, self.agent = make.full_key(project), make.agent(project)
        self.models = []
        self.touched = []
        self.create(state)

    def pick(self, which):
        model = self.models[which % len(self.models)]
        self.touched.append(model)
        return model

    def add(self, agent_session, state, kind):
        model = Model(agent_session.public_id, [state], [kind], [None])
        model.settle()
        self.models.append(model)
        self.touched.append(model)

    def create(self, state):
        self.add(make.session(self.key, state), state, "create")

    @rule(state=STATES)
    def create_another(self, state):
        if len(self.models) < 4:
            self.create(state)

    @rule(which=WHICH, changes=CHANGES, replace=st.booleans(), by_agent=st.booleans())
    def update(self, which, changes, replace, by_agent):
        model = self.pick(which)
        by = self.agent if by_agent else self.key
        control = is_control(changes)
        call = {
            "session_id": model.public_id,
            "changes": changes,
            "mode": actions.REPLACE if replace else actions.MERGE,
            "by": make.asking(by, body={"state": changes}),
        }
        if model.frozen and not control:
            with pytest.raises(SessionFrozen):
                actions.update_state(**call)
            model.refuse()
        elif model.frozen and by_agent and changes.get("frozen") is False:
            with pytest.raises(ThawRefused):
                actions.update_state(**call)
            model.refuse()
        else:
            merged = control or not replace
            state = {**model.states[-1], **changes} if merged else changes
            outcome = actions.update_state(**call)
            assert outcome.version.number == model.head + 1
            model.traces += 1
            model.append("update" if merged else "replace", state)

    @rule(which=WHICH, before=st.none() | STATES, after=st.none() | STATES, current=st.booleans())
    def turn(self, which, before, after, current):
        model = self.pick(which)
        if current:
            before = model.states[-1]
        call = {
            "session_id": model.public_id,
            "input": make.text("in"),
            "output": make.text("out"),
            "state_before": before,
            "state_after": after,
            "by": self.agent,
        }
        if model.frozen:
            with pytest.raises(SessionFrozen):
                actions.add_turn(**call)
            model.refuse()
            return
        makes = (
            after is not None
            and not same(after, model.states[-1])
            and (before is None or not same(after, before))
        )
        turn = actions.add_turn(**call).turn
        assert turn.stale_before == (before is not None and not same(before, model.states[-1]))
        model.traces += 1
        if makes:
            model.append("turn", after)
        model.turns.append((before, after, model.head))

    @rule(which=WHICH, asked=st.integers(-6, 6), by_agent=st.booleans())
    def rollback(self, which, asked, by_agent):
        model = self.pick(which)
        number = model.head + asked if asked < 0 else asked
        call = {
            "session_id": model.public_id,
            "version": asked,
            "by": self.agent if by_agent else self.key,
        }
        if model.frozen and by_agent:
            with pytest.raises(ThawRefused):
                actions.rollback(**call)
            model.refuse()
        elif not 0 <= number <= model.head:
            with pytest.raises(VersionNotFound):
                actions.rollback(**call)
        else:
            snapshot = model.states[number]
            state = still_frozen(snapshot, model.states[-1]) if model.frozen else thawed(snapshot)
            before = model.live()
            foretold = {
                each.number
                for each in queries.rollback_preview(
                    queries.session_for(self.key, model.public_id), asked
                ).undone_versions
            }
            version = actions.rollback(**call).version
            assert version.restored_from == number
            model.traces += 1
            model.append("rollback", state, parent=number)
            assert foretold == before - model.live()

    @rule(which=WHICH, version=st.none() | st.integers(-4, 4))
    def fork(self, which, version):
        if len(self.models) == 4:
            return
        model = self.pick(which)
        number = model.head if version is None else model.head + version if version < 0 else version
        if not 0 <= number <= model.head:
            with pytest.raises(VersionNotFound):
                actions.fork(session_id=model.public_id, version=version, by=self.agent)
            return
        made = actions.fork(session_id=model.public_id, version=version, by=self.agent).agent_session
        assert (made.forked_from, made.forked_version) == (model.public_id, number)
        model.traces += 1
        self.add(made, thawed(model.states[number]), "fork")

    @rule(which=WHICH)
    def freeze(self, which):
        model = self.pick(which)
        actions.freeze(session_id=model.public_id, by=self.agent)
        model.traces += 1
        model.append("update", {**model.states[-1], "incident": True, "frozen": True})

    @rule(which=WHICH)
    def resume(self, which):
        model = self.pick(which)
        actions.resume(session_id=model.public_id, by=self.key)
        model.traces += 1
        model.append("update", {**model.states[-1], "incident": False, "frozen": False})

    @rule(which=WHICH, ending=st.booleans())
    def hold(self, which, ending):
        model = self.pick(which)
        if ending and model.holds:
            actions.release(session_id=model.public_id, label="INCIDENT-1", by=self.key)
            model.holds = 0
            model.traces += 1
        elif not ending:
            actions.hold(session_id=model.public_id, label="INCIDENT-1", url="/", by=self.key)
            model.traces += not model.holds
            model.holds = 1

    @rule(which=WHICH)
    def note(self, which):
        model = self.pick(which)
        actions.create_trace(action="note", session_id=model.public_id, by=self.agent)
        model.notes += 1

    @rule(which=WHICH, off=st.sampled_from([-1, 1]))
    def update_in_vain(self, which, off):
        model = self.pick(which)
        expected = SessionFrozen if model.frozen else VersionConflict
        with pytest.raises(expected):
            actions.update_state(
                session_id=model.public_id,
                changes={"a": "in vain"},
                expected_version=model.head + off,
                by=self.agent,
            )
        if model.frozen:
            model.refuse()

    @rule(which=WHICH)
    def delete_in_vain(self, which):
        model = self.pick(which)
        if model.frozen or model.holds:
            with pytest.raises(SessionFrozen if model.frozen else SessionHeld):
                actions.delete_session(session_id=model.public_id, by=self.key)
            if model.frozen:
                model.refuse()

    @invariant()
    def everything_is_as_the_model_says(self):
        touched, self.touched = self.touched, []
        for model in touched:
            check(model, queries.session_for(self.agent, model.public_id))
        heads = {
            session.public_id: (session.head_version, session.chain_length)
            for session in queries.sessions_for(self.key)
        }
        assert heads == {model.public_id: (model.head, model.traces) for model in self.models}

    def teardown(self):
        """Traces are only added to, so what is wrong with one is so at the end as well."""
        for model in self.models:
            check_traces(model, queries.session_for(self.agent, model.public_id))


def check(model, session):
    versions = list(queries.versions_of(session))
    assert [version.number for version in versions] == list(range(model.head + 1))
    assert [version.kind for version in versions] == model.kinds
    assert [version.frozen for version in versions] == [each.get("frozen") is True for each in model.states]
    found = [document.value for _, document in queries.documents_at(session, range(model.head + 1))]
    assert [typed(each) for each in found] == [typed(each) for each in model.states]
    assert (session.head_version, session.turn_count) == (model.head, len(model.turns))
    assert session.rollback_count == model.kinds.count("rollback")
    assert (session.is_frozen, session.frozen_version) == (model.frozen, model.frozen_version)
    assert session.open_holds == model.holds
    assert bool(session.life_stopped_at) == (model.frozen or bool(model.holds))
    ranges = queries.live_ranges(session)
    assert {n for n in range(model.head + 1) if queries.is_live(n, ranges)} == model.live()
    turns = list(queries.turns_of(session))
    assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
    states = queries.states_of_turn(session, turns)
    for turn, (before, after, state_version) in zip(turns, model.turns, strict=True):
        assert typed(states[turn.number]) == typed((before, after))
        assert turn.state_version == state_version
    assert queries.refusals(session).count == model.refused
    assert Trace.objects.filter(agent_session=session).count() == model.traces + model.notes


def check_traces(model, session):
    refusals = RefusedWrite.objects.filter(agent_session=session).count()
    assert refusals == Trace.objects.filter(agent_session=session, action="write.refused").count()
    verification = queries.verify_session(session)
    assert verification.ok, verification.first_bad
    traces = list(queries.traces_for(make.system(session.project), session_id=session.public_id))
    details = queries.trace_details(traces)
    for trace in traces:
        if trace.action in ("state.updated", "state.rolled_back"):
            assert details[trace.pk]["state_diff"] is not None


@pytest.mark.slow
def test_any_history_keeps_every_rule(db):
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
