"""All rules of incidents at once: random histories against a small model, every invariant after each step."""

from dataclasses import dataclass, field
from datetime import date
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from incidents_app import actions, queries
from incidents_app.actions import maintenance
from incidents_app.enums import ACTIVE, ENDED, SETTLED, UNDER_WAY, Severity, Status, Step, StepState
from incidents_app.matrix import MATRIX, Need
from incidents_app.models import AffectedSession, TimelineEvent
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.models import AgentSession, EvidenceHold
from statebase_site.base.errors import DomainError
from tests import factories as make

WHICH = st.integers(0, 5)
SEVERITIES = st.sampled_from(Severity)
_names = count()


@dataclass
class Model:
    """What an incident must be; of each session what was recorded, as the rules word it."""

    reference: str
    severity: Severity | None
    sessions: set
    peak: Severity | None = None
    pressed: Status | None = None  # what a person pressed, which the facts don't decide
    pinned: set = field(default_factory=set)
    exempt: set = field(default_factory=set)
    notes: int = 0

    def __post_init__(self):
        self.peak = self.severity

    @property
    def active(self):
        return self.pressed not in ENDED


class Incidents(RuleBasedStateMachine):
    """Three sessions and up to four incidents; responders act in them, and others around them."""

    @initialize(severity=st.none() | SEVERITIES)
    def begin(self, severity):
        project = make.project(f"Incidents {next(_names)}")
        self.key, self.agent = make.full_key(project), make.agent(project)
        self.admin = make.person(project, "admin", f"jon-{next(_names)}")
        self.sessions = [make.session_with_versions(self.agent, 3).public_id for _ in range(3)]
        self.models = []
        self.file_about(severity, set(self.sessions[:2]))

    # Picking -------------------------------------------------------------------------------------------

    def pick(self, which):
        return self.models[which % len(self.models)]

    def about(self, model, which):
        """A session, of the incident where it has any."""
        own = sorted(model.sessions)
        return own[which % len(own)] if own else self.sessions[which % 3]

    def tried(self, act, **given):
        """Whether an act was done; whatever it refuses is a domain error."""
        try:
            act(**given, by=self.admin)
        except DomainError:
            return False
        return True

    def head(self, session_id):
        return AgentSession.objects.get(public_id=session_id)

    # Acts ----------------------------------------------------------------------------------------------

    @rule(severity=st.none() | SEVERITIES, which=st.sets(st.integers(0, 2), max_size=3))
    def file(self, severity, which):
        if len(self.models) == 4:
            return
        self.file_about(severity, {self.sessions[each] for each in which})

    def file_about(self, severity, about):
        filed = actions.file(
            title="It went wrong",
            severity=severity,
            session_ids=sorted(about),
            no_session_reason="" if about else "None",
            by=self.admin,
        ).incident
        assert filed.reference == f"INCIDENT-{len(self.models) + 1}"
        self.models.append(Model(filed.reference, severity, about))
        if severity == Severity.S1:
            assert all(self.head(each).is_frozen for each in about)

    @rule(which=WHICH, session=WHICH)
    def add_session(self, which, session):
        model = self.pick(which)
        name = self.sessions[session % 3]
        if self.tried(actions.add_session, reference=model.reference, session_id=name):
            assert model.active
            model.sessions.add(name)
        else:
            assert not model.active

    @rule(which=WHICH, session=st.none() | WHICH)
    def freeze(self, which, session):
        model = self.pick(which)
        if not model.sessions:
            return
        about = [self.about(model, session)] if session is not None else sorted(model.sessions)
        before = {each: self.head(each) for each in about}
        given = {} if session is None else {"session_id": about[0]}
        assert self.tried(actions.freeze, reference=model.reference, **given) == model.active
        if not model.active:
            return
        for each in about:
            after = self.head(each)
            assert after.is_frozen
            if not before[each].is_frozen:
                assert after.head_version == before[each].head_version + 1

    @rule(which=WHICH, session=WHICH, divergence=st.integers(-1, 8), good=st.integers(-1, 7))
    def diverge(self, which, session, divergence, good):
        model = self.pick(which)
        if not model.sessions:
            return
        name = self.about(model, session)
        head = self.head(name)
        valid = (
            model.active
            and 0 <= good < divergence <= head.head_version
            and not session_queries.same_data(head, good, divergence)
        )
        done = self.tried(
            actions.record_divergence,
            reference=model.reference,
            session_id=name,
            divergence_version=divergence,
            last_good_version=good,
        )
        assert done == valid

    @rule(which=WHICH, session=WHICH, version=st.none() | st.integers(0, 3))
    def rollback(self, which, session, version):
        model = self.pick(which)
        if not model.sessions:
            return
        name = self.about(model, session)
        before = self.head(name)
        given = {"reference": model.reference, "session_id": name, "version": version, "confirm": True}
        if self.tried(actions.rollback, **given):
            after = self.head(name)
            assert model.active
            assert after.is_frozen == before.is_frozen
            assert after.head_version - before.head_version in (0, 1)
            head = after.head_version
            self.tried(actions.rollback, **given)  # a double click
            assert self.head(name).head_version == head

    @rule(which=WHICH, session=st.none() | WHICH)
    def resume(self, which, session):
        model = self.pick(which)
        if not model.sessions:
            return
        about = {self.about(model, session)} if session is not None else model.sessions
        given = {} if session is None else {"session_id": next(iter(about))}
        done = self.tried(actions.resume, reference=model.reference, confirm=True, **given)
        assert done == model.active
        if done:
            assert not any(self.head(each).is_frozen for each in about)

    @rule(which=WHICH, session=WHICH)
    def pin(self, which, session):
        model = self.pick(which)
        if not model.sessions:
            return
        name = self.about(model, session)
        given = {"reference": model.reference, "session_id": name, "versions": [0, 1]}
        if self.tried(actions.pin, **given):
            model.pinned.add(name)

    @rule(which=WHICH, session=WHICH, step=st.sampled_from(Step))
    def exempt(self, which, session, step):
        model = self.pick(which)
        if not model.sessions:
            return
        name = self.about(model, session)
        given = {"reference": model.reference, "session_id": name, "step": step, "reason": "So"}
        if self.tried(actions.exempt, **given):
            model.exempt.add((name, step))

    @rule(which=WHICH, severity=SEVERITIES, waive=st.booleans())
    def severity(self, which, severity, waive):
        model = self.pick(which)
        steps = (Step.FREEZE, Step.DIVERGENCE, Step.ROLLBACK)
        seen = self.assess(model)
        owed = {
            (row.session_id, step)
            for row in seen.affected
            for step in steps
            if seen.step(row, step).state not in SETTLED
        }
        waived = dict.fromkeys(owed, "So") if waive else {}
        given = {"reference": model.reference, "severity": severity, "reason": "So", "waived": waived}
        rises = model.severity is None or severity < model.severity
        done = self.tried(actions.change_severity, **given)
        if not model.active:
            assert not done
            return
        assert done or not (rises or waive or not owed)
        if not done:
            return
        if not rises and severity != model.severity:
            after = self.assess(model)
            model.exempt |= {
                (row.session_id, step)
                for row in after.affected
                for step in steps
                if after.step(row, step).state == StepState.EXEMPT
            }
        model.severity = severity
        model.peak = min(model.peak or severity, severity)

    @rule(which=WHICH)
    def make_ready(self, which):
        """Do and pass over whatever resolving misses."""
        model = self.pick(which)
        if not model.active or model.severity is None:
            return
        reference = model.reference
        actions.answer_causes(reference=reference, text="So", by=self.admin)
        actions.add_follow_up(
            reference=reference, text="So", kind="deploy", owner="x", due=date(2040, 1, 1), by=self.admin
        )
        for code in {each.code for each in self.assess(model).unmet(Status.RESOLVED)}:
            actions.override(reference=reference, gate=code, reason="So", by=self.admin)
        assert self.assess(model).unmet(Status.RESOLVED) == []

    @rule(which=WHICH)
    def resolve(self, which):
        model = self.pick(which)
        unmet = self.assess(model).unmet(Status.RESOLVED)
        done = self.tried(actions.resolve, reference=model.reference)
        resolved_before = model.pressed == Status.RESOLVED
        assert done == (model.active and (not unmet or resolved_before))
        if done:
            model.pressed = Status.RESOLVED

    @rule(which=WHICH, over=st.booleans())
    def close(self, which, over):
        model = self.pick(which)
        if over and model.pressed == Status.RESOLVED:
            for code in {each.code for each in self.assess(model).unmet(Status.CLOSED)}:
                actions.override(reference=model.reference, gate=code, reason="So", by=self.admin)
        unmet = self.assess(model).unmet(Status.CLOSED)
        done = self.tried(actions.close, reference=model.reference)
        assert done == ((model.active and not unmet) or model.pressed == Status.CLOSED)
        if done:
            model.pressed = Status.CLOSED

    @rule(which=WHICH)
    def decline(self, which):
        model = self.pick(which)
        done = self.tried(actions.decline, reference=model.reference, reason="So")
        assert done == (model.active or model.pressed == Status.DECLINED)
        if done:
            model.pressed = Status.DECLINED

    @rule(which=WHICH)
    def reopen(self, which):
        model = self.pick(which)
        may = model.pressed in (Status.RESOLVED, Status.CLOSED, Status.DECLINED)
        assert self.tried(actions.reopen, reference=model.reference, reason="So") == may
        if may:
            model.pressed = None
            model.pinned, model.exempt = set(), set()

    @rule(which=WHICH, into=WHICH)
    def merge(self, which, into):
        source, target = self.pick(which), self.pick(into)
        if source is target:
            return
        known = set(target.sessions)
        done = self.tried(actions.merge, reference=source.reference, into=target.reference)
        if done and source.pressed != Status.DUPLICATE:
            assert source.active
            assert target.active
            target.sessions |= source.sessions
            target.pinned |= source.pinned - known
            target.exempt |= {each for each in source.exempt if each[0] not in known}
            if source.severity and (target.severity is None or source.severity < target.severity):
                target.severity = source.severity
                target.peak = min(target.peak or source.severity, source.severity)
            source.pressed = Status.DUPLICATE

    # Around them ---------------------------------------------------------------------------------------

    @rule(
        session=WHICH,
        by_agent=st.booleans(),
        what=st.sampled_from(["freeze", "resume", "update", "rollback"]),
    )
    def outside(self, session, by_agent, what):
        name, by = self.sessions[session % 3], self.agent if by_agent else self.key
        head = self.head(name).head_version
        acts = {
            "freeze": lambda: sessions.freeze(session_id=name, by=by),
            "resume": lambda: sessions.resume(session_id=name, by=by),
            "update": lambda: sessions.update_state(session_id=name, changes={"step": head}, by=by),
            "rollback": lambda: sessions.rollback(session_id=name, version=head // 2, by=by),
        }
        try:
            acts[what]()
        except DomainError:
            assert self.head(name).is_frozen

    @rule()
    def worker(self):
        maintenance.run_once()
        assert not AffectedSession.objects.filter(
            session_id__in=self.sessions, freeze_wanted=True, episode__incident__status__in=ACTIVE
        ).exists()

    @rule(session=WHICH)
    def delete_in_vain(self, session):
        name = self.sessions[session % 3]
        held = any(name in model.sessions for model in self.models if model.active)
        if held or self.head(name).is_frozen:
            with pytest.raises(DomainError):
                sessions.delete_session(session_id=name, by=self.key)

    # What has to be so ---------------------------------------------------------------------------------

    def assess(self, model):
        incident = queries.incident_for(self.admin, model.reference)
        actions.take_notice(incident)
        return queries.assess(queries.incident_for(self.admin, model.reference))

    @invariant()
    def every_incident_is_as_the_facts_say(self):
        for model in self.models:
            seen = self.assess(model)
            incident = seen.incident
            assert seen.status == incident.status == self.expected(model, seen)
            assert (incident.severity, incident.peak_severity) == (model.severity, model.peak)
            assert {row.session_id for row in seen.affected} == model.sessions
            sequences = TimelineEvent.objects.filter(incident=incident).order_by("sequence")
            assert list(sequences.values_list("sequence", flat=True)) == [*range(1, incident.event_count + 1)]
            if model.active:
                for row in seen.affected:
                    self.check_steps(model, seen, row)

    @invariant()
    def holds_are_open_exactly_while_their_incident_is(self):
        holds = EvidenceHold.objects.filter(agent_session__public_id__in=self.sessions, released_at=None)
        assert set(holds.values_list("label", "agent_session__public_id")) == {
            (model.reference, name) for model in self.models if model.active for name in model.sessions
        }

    def teardown(self):
        for name in self.sessions:
            assert session_queries.verify_session(self.head(name)).ok

    def expected(self, model, seen):
        if model.pressed is not None:
            return model.pressed
        if model.severity is None:
            return Status.TRIAGE

        def settled(*steps):
            return all(seen.step(row, step).state in SETTLED for row in seen.affected for step in steps)

        if not settled(Step.FREEZE):
            return Status.OPEN
        return UNDER_WAY[2 if settled(Step.DIVERGENCE, Step.ROLLBACK) else 1]

    def check_steps(self, model, seen, row):
        """A step is done only while its fact is so, told by the session itself."""
        name, head = row.session_id, self.head(row.session_id)
        state = {step: seen.step(row, step).state for step in Step}
        for step in Step:
            assert (state[step] == StepState.EXEMPT) == ((name, step) in model.exempt)
        if state[Step.FREEZE] == StepState.DONE:
            assert head.is_frozen or row.resume_version is not None
        if model.severity is not None and MATRIX[model.severity].freeze == Need.REQUIRED:
            assert state[Step.FREEZE] != StepState.NOT_REQUIRED
        if Step.RECONSTRUCT not in {step for each, step in model.exempt if each == name}:
            assert (state[Step.RECONSTRUCT] == StepState.DONE) == (name in model.pinned)
        if state[Step.DIVERGENCE] == StepState.DONE:
            assert not session_queries.same_data(head, row.last_good_version, row.divergence_version)
        if state[Step.ROLLBACK] == StepState.DONE and row.resume_version is None:
            assert session_queries.same_data(head, head.head_version, seen.facts_of(row).target)
        if state[Step.RESUME] == StepState.DONE:
            assert not head.is_frozen


@pytest.mark.slow
def test_any_history_keeps_every_rule(db):
    run_state_machine_as_test(
        Incidents,
        settings=settings(
            max_examples=8,
            stateful_step_count=18,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
