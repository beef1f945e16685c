"""Several people, agents and workers at once on one incident, with real threads on one database."""

from contextlib import suppress

import pytest
from django.db import transaction

from incidents_app import actions, queries
from incidents_app.actions import maintenance
from incidents_app.actions.ending import SessionsChanged
from incidents_app.enums import EventKind, Severity, Status
from incidents_app.errors import EditConflict, GateUnmet, IncidentEnded
from incidents_app.models import AffectedSession, Helper, Incident, Pin
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.errors import SessionFrozen
from sessions_app.models import AgentSession
from statebase_site.base.errors import DomainError
from tests import factories as make
from tests.crowds import crowd, no_errors
from tests.incidents_app import runbook as run

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True)]
MANY = 6


# What is shared by all tests of a file elsewhere is made anew for each of these, as they commit.


@pytest.fixture
def acme():
    return make.project("Acme")


@pytest.fixture
def agent(acme):
    return make.agent(acme)


@pytest.fixture
def maria(acme):
    return make.person(acme, "responder", "maria")


@pytest.fixture
def jon(acme):
    return make.person(acme, "admin", "jon")


@pytest.fixture
def session(agent):
    return run.damaged(agent)


def whole(incident):
    """The timeline has no gap, holds are open while the incident is, and the stored status is what is so."""
    incident.refresh_from_db()
    events = run.events(incident)
    assert [each.sequence for each in events] == list(range(1, incident.event_count + 1))
    seen = run.look(incident)
    assert seen.status == incident.status
    for row in seen.affected:
        session = make.fresh(seen.sessions[row.session_id])
        assert session_queries.verify_session(session).ok
        assert (incident.reference in run.open_holds(session)) == incident.is_active
        assert session.open_holds == len(run.open_holds(session))
    return seen


def only_domain_errors(results):
    for each in results:
        if isinstance(each, BaseException) and not isinstance(each, DomainError):
            raise each
    return results


def people(acme, role="responder"):
    return [make.person(acme, role, f"{role}-{number}") for number in range(MANY)]


def test_numbers_have_no_gap_and_no_double(acme, agent, maria):
    session = run.damaged(agent)
    filed = no_errors(
        crowd(MANY, lambda place: [run.file(maria, session, severity="S4").number for _ in range(2)])
    )
    assert sorted(number for each in filed for number in each) == list(range(1, 2 * MANY + 1))


def test_filing_with_one_key_makes_one_incident_that_counts_all(session, agent, maria):
    results = no_errors(
        crowd(
            MANY,
            lambda place: actions.file(
                title=f"From {place}",
                severity=["S4", "S3", "S1"][place % 3],
                session_ids=[session.public_id],
                dedup_key="k",
                by=maria,
            ),
        )
    )
    incident = Incident.objects.get()
    assert sum(each.is_new for each in results) == 1
    assert (incident.count, incident.severity) == (MANY, Severity.S1)
    assert make.fresh(session).head_version == 3
    assert len(run.events(incident, EventKind.FILED_AGAIN)) == MANY - 1
    whole(incident)


def test_filing_while_the_last_one_ends_is_never_refused(session, agent, maria):
    run.file(agent, session, severity="S3")

    def act(place):
        if place:
            return [run.file(agent, session, severity="S3") for _ in range(3)]
        for each in queries.find_incidents(maria, status="contained"):
            actions.decline(reference=each.reference, reason="x", by=maria)
        return []

    no_errors(crowd(3, act))
    for incident in Incident.objects.all():
        whole(incident)
    assert Incident.objects.filter(status__in=["open", "contained"]).count() <= 1
    assert sum(Incident.objects.values_list("count", flat=True)) == 7


def test_two_people_freezing_at_once_make_one_version_and_are_both_named(acme, session, maria):
    incident = run.file(maria, session)
    everyone = people(acme, "engineer")
    no_errors(crowd(MANY, lambda place: actions.freeze(reference=incident.reference, by=everyone[place])))
    assert make.fresh(session).head_version == 3
    frozen = run.events(incident, EventKind.FROZEN)
    assert sum(each.version is not None for each in frozen) == 1
    named = {each.actor_label for each in frozen}
    assert named == {each.label for each in everyone}
    assert whole(incident).status == Status.CONTAINED


def test_workers_and_requests_freeze_each_session_once(agent, maria, monkeypatch):
    many = [make.session(agent, {"n": number}) for number in range(12)]
    run.without_time_to_freeze(monkeypatch)
    incident = run.file(maria, *many, severity="S1")
    monkeypatch.undo()

    def act(place):
        if place % 2:
            maintenance.run_once()
        else:
            actions.freeze(reference=incident.reference, by=maria)

    no_errors(crowd(4, act))
    maintenance.run_once()
    assert {make.fresh(each).head_version for each in many} == {1}
    assert whole(incident).status == Status.CONTAINED
    assert {each.failure for each in AffectedSession.objects.all()} == {""}


def test_rolling_back_at_once_makes_one_version(acme, session, maria):
    incident = run.file(maria, session)
    run.frozen(incident, session, maria)
    run.diverged(incident, session, maria)
    everyone = people(acme)
    no_errors(crowd(MANY, lambda place: actions.rollback(**run.about(incident, session, everyone[place]))))
    assert make.fresh(session).head_version == 4
    assert len(run.events(incident, EventKind.ROLLED_BACK)) == 1
    assert run.row_of(incident, session).effects.count() == 1
    assert whole(incident).status == Status.RECOVERED


def test_resuming_at_once_makes_one_version(acme, session, maria):
    incident = run.file(maria, session)
    run.frozen(incident, session, maria)
    everyone = people(acme)

    def act(place):
        about = {} if place % 2 else {"session_id": session.public_id}
        actions.resume(reference=incident.reference, by=everyone[place], **about)

    no_errors(crowd(MANY, act))
    assert make.fresh(session).head_version == 4
    assert len(run.events(incident, EventKind.RESUMED)) == 1
    whole(incident)


def test_freezing_and_resuming_at_once_end_in_one_of_both(acme, session, maria, jon):
    incident = run.file(maria, session)

    def act(place):
        for _ in range(3):
            if place % 2:
                actions.freeze(reference=incident.reference, by=maria)
            else:
                actions.resume(reference=incident.reference, by=jon)

    no_errors(crowd(4, act))
    seen = whole(incident)
    row, head = seen.affected[0], make.fresh(session)
    assert seen.facts_of(row).is_frozen == head.is_frozen
    assert head.is_frozen or row.resume_version is not None
    assert seen.facts_of(row).outside is None


def test_resolving_at_once_resolves_once(session, maria, jon):
    incident = run.file(maria, session, severity="S4")
    actions.add_follow_up(reference=incident.reference, text="Ask first", kind="deploy", by=maria)
    no_errors(
        crowd(4, lambda place: actions.resolve(reference=incident.reference, by=[maria, jon][place % 2]))
    )
    assert [each.details["to"] for each in run.events(incident, EventKind.STATUS)].count("resolved") == 1
    whole(incident)


def test_of_all_who_edit_the_summary_one_wins_and_the_others_see_it(acme, session, maria):
    incident = run.file(maria, session)
    everyone = people(acme, "engineer")
    results = crowd(
        MANY,
        lambda place: actions.edit(
            reference=incident.reference, summary=f"Words {place}", summary_revision=0, by=everyone[place]
        ),
    )
    conflicts = [each for each in results if isinstance(each, EditConflict)]
    assert len(conflicts) == MANY - 1
    incident.refresh_from_db()
    assert (incident.summary_revision, len(run.events(incident, EventKind.EDITED))) == (1, 1)
    assert {each.current for each in conflicts} == {incident.summary}


def test_no_note_pin_follow_up_or_helper_is_lost_or_doubled(acme, session, maria):
    incident = run.file(maria, session)
    everyone = people(acme)

    def act(place):
        by, reference = everyone[place], incident.reference
        for number in range(2):
            actions.add_note(reference=reference, text=f"{place}-{number}", by=by)
        actions.pin(**run.about(incident, session, by), versions=[0, 1, 2])
        actions.add_follow_up(reference=reference, text=f"{place}", by=by)
        actions.join(reference=reference, by=by)

    no_errors(crowd(MANY, act))
    assert sorted(run.texts(incident, EventKind.NOTE)) == sorted(
        f"{place}-{number}" for place in range(MANY) for number in range(2)
    )
    assert sorted(Pin.objects.values_list("target", flat=True)) == ["0", "1", "2"]
    assert sorted(incident.follow_ups.values_list("number", flat=True)) == list(range(1, MANY + 1))
    assert Helper.objects.count() == MANY
    whole(incident)


def test_one_idempotency_key_in_many_threads_acts_once(session, maria):
    def act(place):
        by = make.asking(maria, key="once", method="POST", path="/v1/incidents")
        return actions.file(title="x", severity="S1", session_ids=[session.public_id], by=by)

    results = no_errors(crowd(MANY, act))
    assert len({each.incident.pk for each in results}) == 1
    assert sorted(each.replayed for each in results) == [False] + [True] * (MANY - 1)
    incident = Incident.objects.get()
    assert make.fresh(session).head_version == 3

    def note(place):
        by = make.asking(maria, key="note", method="POST", path="/note")
        return actions.add_note(reference=incident.reference, text="x", by=by)

    no_errors(crowd(MANY, note))
    assert len(run.events(incident, EventKind.NOTE)) == 1
    whole(incident)


def test_incidents_merged_into_each_other_leave_one(agent, maria, jon):
    one, other = run.damaged(agent), run.damaged(agent)
    first, second = run.file(maria, one, severity="S1"), run.file(jon, other, severity="S1")
    pairs = [(first, second), (second, first)]

    def act(place):
        source, into = pairs[place % 2]
        return actions.merge(reference=source.reference, into=into.reference, by=jon)

    results = only_domain_errors(crowd(4, act))
    assert any(isinstance(each, IncidentEnded) for each in results)
    for each in (first, second):
        each.refresh_from_db()
    assert sorted([first.status, second.status]) == ["contained", "duplicate"]
    left = first if first.is_active else second
    assert {row.session_id for row in whole(left).affected} == {one.public_id, other.public_id}
    for session in (one, other):
        assert run.open_holds(session) == [left.reference]


def test_ending_and_adding_at_once_leaves_no_session_held(agent, maria, jon):
    incident = run.file(maria, run.damaged(agent), severity="S3")
    more = [run.damaged(agent) for _ in range(4)]

    def act(place):
        if place:
            return actions.add_session(**run.about(incident, more[place - 1], maria))
        for _ in range(20):
            with suppress(SessionsChanged):
                return actions.decline(reference=incident.reference, reason="x", by=jon)
        return None

    only_domain_errors(crowd(5, act))
    maintenance.run_once()
    incident.refresh_from_db()
    assert incident.status == Status.DECLINED
    for session in AgentSession.objects.all():
        assert run.open_holds(session) == []
        assert session.open_holds == 0


def test_an_agent_that_writes_on_meets_the_freeze_exactly(session, agent, maria):
    incident = run.file(maria, session)

    def act(place):
        if place:
            return run.frozen(incident, session, maria)
        versions = []
        while True:
            try:
                versions.append(make.update(session, {"n": len(versions)}, by=agent).number)
            except SessionFrozen as refusal:
                return versions, refusal

    written, refusal = no_errors(crowd(2, act))[0]
    head = make.fresh(session)
    assert head.frozen_version == head.head_version == 2 + len(written) + 1
    assert "INCIDENT-1" in str(refusal)
    seen = whole(incident)
    assert seen.status == Status.CONTAINED
    assert seen.affected[0].freeze_version == head.frozen_version


def test_everything_at_once_ends_without_a_deadlock(acme, agent, maria, jon):
    """Sessions are locked before incidents, in every act: PostgreSQL would end a circle with an error."""
    sessions_of = [run.damaged(agent) for _ in range(2)]
    first = run.file(maria, *sessions_of, severity="S2")
    second = run.file(jon, *sessions_of, severity="S2")
    made = run.scenario(first, sessions_of[0], jon)
    scenario = {"scenario_id": made.scenario.public_id, "by": jon}

    def tried(act, *args, **kwargs):
        try:
            act(*args, **kwargs)
        except DomainError as refusal:
            return refusal

    def act(place):
        incident = [first, second][place % 2]
        reference, by = incident.reference, jon
        for session in sessions_of if place % 3 else reversed(sessions_of):
            about = run.about(incident, session, by)
            for step in (
                lambda: actions.freeze(reference=reference, by=by),
                lambda about=about: actions.record_divergence(
                    **about, divergence_version=1, last_good_version=0
                ),
                lambda about=about: actions.rollback(**about, confirm=True),
                lambda: actions.direct_traffic(
                    reference=reference, traffic=["reject", "human_queue"][place % 2], by=by
                ),
                lambda about=about: actions.resume(**about, confirm=True),
                lambda: actions.request_run(**scenario),
                lambda: actions.report_run(**scenario, session_id=made.run.session_id, agent_version="1"),
                lambda: maintenance.run_once(),
                lambda session=session: sessions.update_state(
                    session_id=session.public_id, changes={"n": place}, by=agent
                ),
                lambda about=about: actions.correct(**about, text="x"),
                lambda: actions.change_severity(reference=reference, severity=["S1", "S2"][place % 2], by=by),
                lambda incident=incident: actions.take_notice(Incident.objects.get(pk=incident.pk)),
            ):
                tried(step)
        if place == 0:
            tried(actions.merge, reference=second.reference, into=first.reference, by=by)
        if place == 1:
            tried(actions.reopen, reference=first.reference, reason="x", by=by)

    no_errors(crowd(4, act))
    maintenance.run_once()
    for incident in (first, second):
        whole(incident)
    for row in AffectedSession.objects.all():
        assert row.failure == ""


@pytest.mark.skipif(
    "transaction.get_connection().vendor != 'postgresql'", reason="SQLite lets one writer in at a time"
)
def test_an_incident_that_is_worked_on_keeps_nobody_from_another(session, maria):
    """A lock on one incident is none on its project, its sessions, or other incidents."""
    first, second = run.file(maria, session), run.file(maria, session)
    with transaction.atomic():
        Incident.objects.select_for_update(no_key=True).get(pk=first.pk)
        no_errors(
            crowd(
                1,
                lambda place: (
                    actions.add_note(reference=second.reference, text="x", by=maria),
                    actions.file(title="x", no_session_reason="x", by=maria),
                    sessions.create_trace(action="note", session_id=session.public_id, by=maria),
                    make.update(session, {"a": 1}, by=maria),
                ),
            )
        )


def test_refusals_at_once_are_refusals(acme, session, maria):
    incident = run.file(maria, session, severity="S1")
    results = crowd(MANY, lambda place: actions.resolve(reference=incident.reference, by=maria))
    assert all(isinstance(each, GateUnmet) for each in results)
    whole(incident)
