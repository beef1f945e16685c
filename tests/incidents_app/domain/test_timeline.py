"""Timeline, summary, and who works on it (design "Timeline, roles, review, numbers")."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model

from incidents_app import actions, queries
from incidents_app.actions.noting import PersonNotFound
from incidents_app.enums import EventKind
from incidents_app.errors import CommandRefused, EditConflict, SessionNotAffected
from incidents_app.models import TimelineEvent
from sessions_app.models import EvidenceHold
from statebase_site.access.models import Membership
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput, PermissionRefused, TooLarge
from tests import factories as make
from tests.incidents_app import runbook as run


@pytest.fixture(scope="module")
def filed(damaged, maria):
    return run.file(maria, damaged, summary="It began")


@pytest.fixture
def incident(filed, db):
    return make.fresh(filed)


def note(incident, by, text="Called the bank", **fields):
    actions.add_note(reference=incident.reference, text=text, by=by, **fields)
    return run.events(incident, EventKind.NOTE)[-1]


# Notes ---------------------------------------------------------------------------------------------------


def test_a_note_lies_now_or_in_the_past_never_in_the_future(incident, session, agent, edda):
    now = clock.now()
    with clock.at(now):
        earlier = note(incident, edda, occurred_at=session.created_at, session_id=session.public_id)
        assert (earlier.occurred_at, earlier.created_at) == (session.created_at, now)
        assert not earlier.is_backdated
        slip = note(incident, agent, occurred_at=now + timedelta(seconds=59))  # of the client's clock
        assert slip.occurred_at == now
        before = len(run.events(incident))
        with pytest.raises(InvalidInput, match="future") as refused:
            note(incident, edda, occurred_at=now + timedelta(seconds=61))
        assert refused.value.param == "occurred_at"
        assert len(run.events(incident)) == before


def test_a_time_before_the_session_existed_is_kept_and_marked(incident, session, agent, maria):
    begun = session.created_at
    assert note(incident, maria, occurred_at=begun - timedelta(seconds=1)).is_backdated
    assert not note(incident, maria, occurred_at=begun).is_backdated
    with clock.at(clock.now() + timedelta(hours=1)):
        younger = run.damaged(agent)
        actions.add_session(**run.about(incident, younger, maria))
        between = begun + timedelta(minutes=1)
        assert not note(incident, maria, occurred_at=between).is_backdated
        assert note(incident, maria, occurred_at=between, session_id=younger.public_id).is_backdated


def test_without_sessions_the_incident_itself_is_the_beginning(acme, maria):
    incident = run.file(maria, no_session_reason="Seen elsewhere")
    assert note(incident, maria, occurred_at=incident.created_at - timedelta(days=1)).is_backdated
    assert not note(incident, maria, occurred_at=incident.created_at).is_backdated


def test_a_correction_names_the_row_it_corrects_and_both_stay(incident, maria, edda):
    wrong = note(incident, edda, "Called at 3")
    right = note(incident, maria, "Called at 4", supersedes=wrong.sequence)
    assert right.supersedes == wrong.sequence
    assert TimelineEvent.objects.get(pk=wrong.pk).text == "Called at 3"
    for nowhere in (0, 99, 2**40):
        with pytest.raises(InvalidInput) as refused:
            note(incident, maria, supersedes=nowhere)
        assert refused.value.param == "supersedes"


def test_the_timeline_is_ordered_by_time_then_sequence(incident, session, maria):
    with clock.at(clock.now()):
        for text in ("c", "d"):
            note(incident, maria, text)
        note(incident, maria, "a", occurred_at=session.created_at - timedelta(days=2))
        note(incident, maria, "b", occurred_at=session.created_at - timedelta(days=1))
    texts = [each.text for each in TimelineEvent.objects.filter(incident=incident)]
    assert texts[:2] == ["a", "b"]
    assert texts[-2:] == ["c", "d"]
    assert [each.sequence for each in run.events(incident)] == list(range(1, len(texts) + 1))


def test_what_is_no_note(incident, maria):
    for text, error in (
        ("", InvalidInput),
        (" ", InvalidInput),
        ("x\x00", InvalidInput),
        ("x" * 17000, TooLarge),
    ):
        with pytest.raises(error) as refused:
            note(incident, maria, text)
        assert refused.value.param == "text"


def test_a_note_is_about_a_session_of_the_incident(incident, agent, maria):
    with pytest.raises(SessionNotAffected):
        note(incident, maria, session_id=run.damaged(agent).public_id)


def test_viewers_write_nothing(acme, incident):
    vera = make.person(acme, "viewer", "vera")
    for act in (
        lambda: note(incident, vera),
        lambda: actions.edit(reference=incident.reference, title="x", by=vera),
        lambda: actions.join(reference=incident.reference, by=vera),
        lambda: actions.pin(reference=incident.reference, session_id="x", versions=[0], by=vera),
    ):
        with pytest.raises(PermissionRefused):
            act()


# Title and summary ---------------------------------------------------------------------------------------


def test_the_second_of_two_who_edit_the_summary_sees_both(incident, maria, edda):
    edit = {"reference": incident.reference, "summary_revision": incident.summary_revision}
    actions.edit(**edit, summary="Edda's words", by=edda)
    with pytest.raises(EditConflict, match="edda has changed the summary") as refused:
        actions.edit(**edit, summary="Maria's words", by=maria)
    assert (refused.value.current, refused.value.revision) == ("Edda's words", 1)
    actions.edit(**{**edit, "summary_revision": 1}, summary="Both words", by=maria)
    incident.refresh_from_db()
    assert (incident.summary, incident.summary_revision, incident.summary_by) == (
        "Both words",
        2,
        "user:maria",
    )
    told = run.events(incident, EventKind.EDITED)
    assert [each.details["from"] for each in told] == ["It began", "Edda's words"]


def test_the_same_summary_is_no_conflict_and_no_change(incident, maria, edda):
    edit = {"reference": incident.reference, "summary_revision": 0, "summary": "The same"}
    actions.edit(**edit, by=edda)
    actions.edit(**edit, by=maria)
    incident.refresh_from_db()
    assert (incident.summary_revision, incident.summary_by) == (1, "user:edda")


def test_a_refused_summary_keeps_the_title_as_well(incident, maria, edda):
    actions.edit(reference=incident.reference, summary="Edda's", summary_revision=0, by=edda)
    with pytest.raises(EditConflict):
        actions.edit(
            reference=incident.reference, title="New", summary="Maria's", summary_revision=0, by=maria
        )
    incident.refresh_from_db()
    assert incident.title == "Cancelled a booking"


def test_a_title_is_one_line_and_told(incident, edda):
    actions.edit(reference=incident.reference, title=" Two \n lines ", by=edda)
    incident.refresh_from_db()
    assert incident.title == "Two lines"
    assert run.texts(incident, EventKind.EDITED) == ["Title: Two lines"]
    with pytest.raises(InvalidInput):
        actions.edit(reference=incident.reference, title=" ", by=edda)


def test_a_new_title_is_what_agents_are_told_from_then_on(incident, session, edda):
    actions.edit(reference=incident.reference, title="Paid twice", by=edda)
    (hold,) = EvidenceHold.objects.filter(agent_session=session, released_at=None)
    assert hold.notice.startswith("INCIDENT-1: Paid twice.")
    assert run.row_of(incident, session).held_at is not None


# People --------------------------------------------------------------------------------------------------


def command(incident, name, by):
    actions.set_commander(reference=incident.reference, name=name, by=by)
    incident.refresh_from_db()
    return incident.commander.username


def test_command_is_handed_over_by_who_has_it_or_an_admin(incident, maria, rosa, jon, edda, agent):
    for by, error in ((rosa, CommandRefused), (edda, PermissionRefused), (agent, PermissionRefused)):
        with pytest.raises(error):
            command(incident, "rosa", by)
    assert command(incident, "rosa", maria) == "rosa"
    assert command(incident, "jon", jon) == "jon"
    assert [each.details for each in run.events(incident, EventKind.COMMANDER)] == [
        {"from": "maria", "to": "rosa"},
        {"from": "rosa", "to": "jon"},
    ]
    before = len(run.events(incident))
    assert command(incident, "user:jon", jon) == "jon"
    assert len(run.events(incident)) == before


def test_only_who_may_lead_can_command(acme, incident, maria, edda):
    with pytest.raises(InvalidInput, match="responder or admin"):
        command(incident, "edda", maria)
    other = make.project("Other")
    make.person(other, "admin", "olga")
    for nobody in ("olga", "nobody", "x\x00"):
        with pytest.raises((PersonNotFound, InvalidInput)):
            command(incident, nobody, maria)
    incident.refresh_from_db()
    assert incident.commander.username == "maria"


def test_a_commander_whose_account_is_disabled_is_flagged_and_an_admin_takes_over(incident, rosa, jon):
    assert not queries.commander_is_away(incident)
    get_user_model().objects.filter(username="maria").update(is_active=False)
    assert queries.commander_is_away(incident)
    with pytest.raises(CommandRefused):
        command(incident, "rosa", rosa)
    with pytest.raises(PersonNotFound):
        command(incident, "maria", jon)
    assert command(incident, "rosa", jon) == "rosa"
    assert not queries.commander_is_away(incident)


@pytest.mark.parametrize("role", ["viewer", "engineer", None])
def test_a_commander_who_may_no_longer_lead_is_flagged(incident, role):
    member = Membership.objects.filter(user__username="maria")
    if role:
        member.update(role=role)
    else:
        member.delete()
    assert queries.commander_is_away(incident)


def test_who_may_command_are_active_responders_and_admins(acme, incident, rosa, edda, jon):
    make.person(make.project("Other"), "admin", "olga")
    get_user_model().objects.filter(username="rosa").update(is_active=False)
    assert [each.username for each in queries.who_may_command(acme.pk)] == ["jon", "maria"]


def test_people_help_once_and_keys_do_not(incident, edda, agent):
    for _ in range(2):
        actions.join(reference=incident.reference, by=edda)
    assert run.texts(incident, EventKind.HELPER) == ["edda helps."]
    assert [each.user.username for each in incident.helpers.all()] == ["edda"]
    with pytest.raises(CommandRefused):
        actions.join(reference=incident.reference, by=agent)
