"""Status follows evidence, for all facts there can be: properties of the pure rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents_app import rules
from incidents_app.enums import SETTLED, UNDER_WAY, Severity, Status, Step, StepState
from incidents_app.matrix import MATRIX, Need
from incidents_app.rules import FollowUpFacts, IncidentFacts, Outside, SessionFacts

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
OUTSIDE = Outside(9, "resumed", "sb_x", NOW)


def possible(facts):
    """The same facts, without those that can't be together."""
    if facts.freeze_version is None:
        facts = replace(facts, outside=None, resume_version=None)
    if facts.resume_version is not None:
        facts = replace(facts, is_frozen=False)
    if facts.divergence is None:
        facts = replace(facts, last_good=None, target=None, states_differ=None, is_good=None)
    return facts


def sessions(name, previous):
    earlier = st.dictionaries(st.sampled_from(Step), st.sampled_from([each.value for each in StepState]))
    return st.builds(
        SessionFacts,
        session_id=st.just(name),
        is_frozen=st.booleans(),
        frozen_by=st.sampled_from([None, "user:x"]),
        freeze_version=st.sampled_from([None, 3]),
        freeze_failure=st.sampled_from(["", "No answer."]),
        outside=st.sampled_from([None, None, OUTSIDE]),
        pins=st.integers(0, 2),
        divergence=st.sampled_from([None, 2]),
        last_good=st.just(1),
        target=st.integers(0, 1),
        states_differ=st.booleans(),
        is_good=st.sampled_from([None, True, False]),
        is_corrected=st.booleans(),
        resume_version=st.sampled_from([None, 6]),
        undecided_effects=st.integers(0, 2),
        exempt=st.frozensets(st.sampled_from(Step), max_size=3),
        previous=earlier if previous else st.just({}),
    ).map(possible)


FOLLOW_UPS = st.builds(
    FollowUpFacts,
    number=st.integers(1, 3),
    kind=st.sampled_from(["deploy", "other"]),
    is_done=st.booleans(),
    blocks=st.booleans(),
    has_owner_and_date=st.booleans(),
)


def incidents(statuses=(*UNDER_WAY, Status.RESOLVED), previous=True):
    return st.builds(
        IncidentFacts,
        status=st.sampled_from(statuses),
        severity=st.sampled_from([None, *Severity, *Severity]),
        peak_severity=st.sampled_from(Severity),
        sessions=st.one_of(
            st.just([]),
            st.tuples(sessions("sess_1", previous)),
            st.tuples(sessions("sess_1", previous), sessions("sess_2", previous)),
        ),
        is_answered=st.booleans(),
        scenario_proven=st.booleans(),
        follow_ups=st.lists(FOLLOW_UPS, max_size=2),
        review_missing=st.sampled_from([(), ("the lessons",)]),
        is_approved=st.booleans(),
        watch_until=st.sampled_from([None, NOW - timedelta(1), NOW, NOW + timedelta(1)]),
        now=st.just(NOW),
        overridden=st.frozensets(st.sampled_from(["freeze", "scenario", "review_approval"])),
    ).map(with_peak)


def with_peak(facts):
    """The peak is at least as bad as the severity."""
    if facts.severity is None:
        return replace(facts, peak_severity=None)
    return replace(facts, peak_severity=min(facts.severity, facts.peak_severity))


def state(facts, session, step):
    return rules.assess(facts).state(session.session_id, step)


def fact_of(step, session, facts):
    """Whether a step's fact is so, in the words of the design's table."""
    corrects = facts.severity is not None and MATRIX[facts.severity].corrects
    match step:
        case Step.FREEZE:
            stopped = session.is_frozen or session.resume_version is not None
            return session.freeze_version is not None and stopped and session.outside is None
        case Step.RECONSTRUCT:
            return session.pins > 0
        case Step.DIVERGENCE:
            return session.divergence is not None and bool(session.states_differ)
        case Step.ROLLBACK:
            return bool(session.is_good) or (corrects and session.is_corrected)
        case Step.RESUME:
            return not session.is_frozen and session.resume_version is not None
    return None


@given(incidents())
def test_a_step_is_done_exactly_while_its_fact_is_so(facts):
    for session in facts.sessions:
        for step in Step:
            if step in session.exempt:
                assert state(facts, session, step) == StepState.EXEMPT
                continue
            fact = fact_of(step, session, facts)
            if fact is not None:
                assert (state(facts, session, step) == StepState.DONE) == fact


@given(incidents())
def test_what_was_done_and_is_lost_shows_red_and_nothing_else_does(facts):
    for session in facts.sessions:
        for step in Step:
            found = state(facts, session, step)
            if found == StepState.REGRESSED:
                assert session.previous[step] in (StepState.DONE, StepState.REGRESSED)
            elif found in (StepState.PENDING, StepState.NOT_REQUIRED):
                assert session.previous.get(step) not in (StepState.DONE, StepState.REGRESSED)


@given(incidents(previous=False))
def test_a_step_is_not_required_only_where_the_severity_does_not_ask(facts):
    if facts.severity is None:
        return
    duties = MATRIX[facts.severity]
    needs = {
        Step.FREEZE: duties.freeze == Need.REQUIRED,
        Step.RECONSTRUCT: duties.reconstruct == Need.REQUIRED,
        Step.DIVERGENCE: duties.rollback == Need.REQUIRED,
        Step.ROLLBACK: duties.rollback == Need.REQUIRED or duties.corrects,
        Step.PREVENT: True,
    }
    for session in facts.sessions:
        for step, asked in needs.items():
            found = state(facts, session, step)
            if found == StepState.NOT_REQUIRED:
                assert not asked
            if found == StepState.PENDING:
                assert asked


@given(incidents())
def test_the_status_is_what_the_steps_come_to(facts):
    found = rules.assess(facts)
    if facts.status not in UNDER_WAY:
        assert found.status == facts.status
        return
    if facts.status == Status.OPEN and facts.severity is None:
        assert found.status == Status.TRIAGE
        return

    def settled(*steps):
        return all(found.state(each.session_id, step) in SETTLED for each in facts.sessions for step in steps)

    contained, back = settled(Step.FREEZE), settled(Step.DIVERGENCE, Step.ROLLBACK)
    assert (found.status != Status.OPEN) == contained
    assert (found.status == Status.RECOVERED) == (contained and back)


@given(incidents(statuses=UNDER_WAY))
def test_the_status_does_not_depend_on_what_it_was(facts):
    if facts.severity is not None:
        assert len({rules.assess(replace(facts, status=each)).status for each in UNDER_WAY}) == 1


@pytest.mark.parametrize("status", [each for each in Status if each not in UNDER_WAY])
def test_people_press_the_other_statuses(status):
    facts = IncidentFacts(status, Severity.S1, Severity.S1, [], False, False, [], [], False, None, NOW)
    assert rules.assess(facts).status == status


BETTER = {
    "frozen": lambda s: replace(s, freeze_version=3, is_frozen=True, outside=None, resume_version=None),
    "pinned": lambda s: replace(s, pins=s.pins + 1),
    "diverged": lambda s: replace(s, divergence=2, last_good=1, states_differ=True),
    "good": lambda s: replace(s, is_good=True),
    "corrected": lambda s: replace(s, is_corrected=True),
    "resumed": lambda s: replace(s, is_frozen=False, resume_version=6, freeze_version=3, outside=None),
    "decided": lambda s: replace(s, undecided_effects=0),
    **{f"exempt from {step}": lambda s, step=step: replace(s, exempt=s.exempt | {step}) for step in Step},
}


@given(incidents(), st.sampled_from([each for each in BETTER if each not in ("frozen", "resumed")]))
def test_more_facts_never_settle_less(facts, better):
    improved = replace(facts, sessions=[BETTER[better](each) for each in facts.sessions])
    before, after = rules.assess(facts), rules.assess(improved)
    for session in facts.sessions:
        for step in Step:
            if before.state(session.session_id, step) in SETTLED:
                assert after.state(session.session_id, step) in SETTLED
    for to in (Status.RESOLVED, Status.CLOSED):
        assert {(each.code, each.session_id) for each in rules.unmet_for(improved, to)} <= {
            (each.code, each.session_id) for each in rules.unmet_for(facts, to)
        }
    if facts.status in UNDER_WAY and facts.severity is not None:
        assert UNDER_WAY.index(after.status) >= UNDER_WAY.index(before.status)


@given(incidents())
def test_resolving_misses_nothing_exactly_when_all_is_settled(facts):
    facts = replace(facts, overridden=frozenset())
    found = rules.assess(facts)
    unmet = rules.unmet_for(facts, Status.RESOLVED)
    own_steps = [step for step in Step if step != Step.PREVENT]
    settled = all(
        found.state(each.session_id, step) in SETTLED for each in facts.sessions for step in own_steps
    )
    exempt = bool(facts.sessions) and all(Step.PREVENT in each.exempt for each in facts.sessions)
    s4 = facts.severity == Severity.S4
    answered = facts.is_answered or s4
    followed = any(each.kind == "deploy" for each in facts.follow_ups) if s4 else bool(facts.follow_ups)
    proven = facts.scenario_proven or facts.severity not in (Severity.S1, Severity.S2)
    may = (
        facts.severity is not None
        and settled
        and not any(each.undecided_effects for each in facts.sessions)
        and (exempt or (answered and followed and proven))
        and not any(each.blocks and not each.is_done for each in facts.follow_ups)
    )
    assert (unmet == []) == may


@given(incidents(statuses=(Status.RESOLVED,)))
def test_closing_misses_nothing_exactly_when_review_owners_and_watch_are_done(facts):
    facts = replace(facts, overridden=frozenset())
    reviewed = facts.is_approved or facts.peak_severity in (None, Severity.S4)
    still = [
        each
        for each in facts.sessions
        if each.is_frozen and each.freeze_version is not None and Step.RESUME not in each.exempt
    ]
    watched = facts.watch_until is None or facts.watch_until <= NOW
    owned = all(each.is_done or each.has_owner_and_date for each in facts.follow_ups)
    missing = {each.code for each in rules.unmet_for(facts, Status.CLOSED)}
    assert missing - {"review"} == {
        code
        for code, met in (
            ("session_frozen", not still),
            ("review_approval", reviewed),
            ("followup_owner", owned),
            ("watch_window", watched),
        )
        if not met
    }
    assert ("review" in missing) == (not reviewed and bool(facts.review_missing))


@given(incidents(statuses=UNDER_WAY))
def test_nothing_is_closed_that_is_not_resolved(facts):
    assert "not_resolved" in [each.code for each in rules.unmet_for(facts, Status.CLOSED)]


@given(incidents(), st.sampled_from([Status.RESOLVED, Status.CLOSED]))
def test_an_override_takes_away_its_own_code_and_no_other(facts, to):
    facts = replace(facts, overridden=frozenset())
    everything = rules.unmet_for(facts, to)
    for code in {each.code for each in everything}:
        left = rules.unmet_for(replace(facts, overridden=frozenset({code})), to)
        assert left == [each for each in everything if each.code != code]


@given(incidents())
def test_every_condition_says_what_to_do_and_names_its_session(facts):
    names = {each.session_id for each in facts.sessions}
    for to in (Status.RESOLVED, Status.CLOSED):
        for each in rules.unmet_for(facts, to):
            assert each.message.endswith(".")
            assert each.session_id is None or each.session_id in names
            assert each.session_id is None or each.session_id in each.message


@given(incidents(statuses=UNDER_WAY), st.sampled_from(Severity))
def test_duties_owed_are_those_that_lowering_would_drop_silently(facts, lower):
    if facts.severity is None or facts.severity >= lower:
        return
    owed = rules.duties_owed(facts, lower)
    waived = replace(
        facts,
        severity=lower,
        sessions=[
            replace(each, exempt=each.exempt | {step for name, step in owed if name == each.session_id})
            for each in facts.sessions
        ],
    )
    now, then = rules.assess(facts), rules.assess(waived)
    for session in facts.sessions:
        for step in (Step.FREEZE, Step.DIVERGENCE, Step.ROLLBACK):
            was, becomes = now.state(session.session_id, step), then.state(session.session_id, step)
            if was not in SETTLED and becomes in SETTLED:
                assert (session.session_id, step) in owed
                assert becomes == StepState.EXEMPT
            if was in SETTLED:
                assert (session.session_id, step) not in owed
    assert rules.duties_owed(replace(facts, severity=lower), lower) == []
