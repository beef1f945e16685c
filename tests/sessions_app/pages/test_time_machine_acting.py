"""Acting in the time machine: each form does it once, says what it did, and refuses in plain words."""

import re

import pytest
from django.test import Client

from sessions_app import actions, queries
from sessions_app.models import AgentSession, RefusedWrite, Trace
from statebase_site.base import clock
from tests import factories
from tests.sessions_app.pages.html import Page, send

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def four_versions(agent):
    return factories.session_with_versions(agent, 3)


@pytest.fixture
def session(four_versions):
    """Versions 0 to 3, with step 0 to 3."""
    return factories.fresh(four_versions)


def look(client, session, path="", **query):
    return Page(client.get(f"/sessions/{session.public_id}/{path}", query))


def state_of(session, number=None):
    session = factories.fresh(session)
    return queries.document_at(session, session.head_version if number is None else number).value


def head(session):
    return factories.fresh(session).head_version


# Roll back --------------------------------------------------------------------------------------------


def test_one_click_rolls_back_to_the_version_shown(signed_in, session):
    engineer = signed_in("engineer")
    page = look(engineer, session, "v/1")
    assert "Roll back to v1 · undoes v2, v3" in page.text
    answer = send(engineer, page, "/rollback")
    assert answer.status_code == 302
    assert head(session) == 4
    assert state_of(session)["step"] == 1
    made = session.versions.get(number=4)
    assert (made.restored_from, made.reasoning) == (1, "Rollback to last good state")
    assert made.actor_label == "user:engineer"
    done = Page(engineer.get(answer["Location"]))
    assert "Rolled back to v1: this is now v4" in done.text


def test_from_a_bad_version_to_the_one_before_it(person, session):
    page = look(person, session, "v/2")
    assert "to v1, before this change" in page.text
    send(person, page, "/rollback", version="1")
    assert state_of(session)["step"] == 1


def test_at_the_current_version_the_one_before_it_is_offered(person, session):
    page = look(person, session)
    assert "Roll back to v2, before this change · undoes v3" in page.text
    send(person, page, "/rollback")
    assert state_of(session)["step"] == 2


def test_version_0_of_a_new_session_has_nothing_to_go_back_to(person, agent):
    page = look(person, factories.session(agent))
    assert not page.has_form("/rollback")


def test_undo_takes_the_rollback_back_and_works_only_while_it_is_current(person, session, agent):
    answer = send(person, look(person, session, "v/1"), "/rollback")
    done = Page(person.get(answer["Location"]))
    # The first form of the page is Undo.
    action, fields = done.form("/rollback")
    assert (fields["version"], fields["expected_version"]) == ("3", "4")
    person.post(action, fields)
    assert state_of(session)["step"] == 3
    assert head(session) == 5
    stale = person.post(action, fields | {"idempotency_key": "another"})
    assert stale.status_code == 409


def test_if_the_session_moved_on_nothing_happens_and_what_changed_is_shown(person, session, agent):
    page = look(person, session, "v/1")
    factories.update(session, {"late": "news"}, by=agent, reasoning="In between")
    answer = send(person, page, "/rollback", reason="I typed this <b>myself</b>")
    conflict = Page(answer)
    assert answer.status_code == 409
    assert head(session) == 4
    assert "moved on from v3 to v4" in conflict.text
    assert '"late": "news"' in conflict.text
    assert "In between" in conflict.text
    assert "now undoes v2–v4" in conflict.text
    _, fields = conflict.form("/rollback")
    assert fields["reason"] == "I typed this <b>myself</b>"
    assert "<b>myself" not in conflict.source
    assert send(person, conflict, "/rollback").status_code == 302
    assert head(session) == 5
    assert session.versions.get(number=5).reasoning == "I typed this <b>myself</b>"


def test_sent_twice_it_acts_once_and_says_the_same(person, session):
    page = look(person, session, "v/1")
    first, second = send(person, page, "/rollback"), send(person, page, "/rollback")
    assert head(session) == 4
    assert first["Location"] == second["Location"]


def test_back_and_another_reason_is_refused_and_acts_no_second_time(person, session):
    page = look(person, session, "v/1")
    send(person, page, "/rollback")
    again = send(person, page, "/rollback", reason="Something else")
    assert again.status_code == 409
    assert head(session) == 4


def test_two_renderings_of_the_page_are_two_forms(person, session):
    keys = {
        look(person, session, "v/1").form(ending)[1]["idempotency_key"] for ending in ("/rollback", "/fork")
    }
    keys |= {look(person, session, "v/1").form("/rollback")[1]["idempotency_key"]}
    assert len(keys) == 3


def test_a_version_that_is_not_there_is_404(person, session):
    assert send(person, look(person, session, "v/1"), "/rollback", version="99").status_code == 404
    assert head(session) == 3


@pytest.mark.parametrize("version", ["", "x", "-1", "1e3"])
def test_a_broken_form_is_told_and_keeps_the_reason(person, session, version):
    answer = send(person, look(person, session, "v/1"), "/rollback", version=version, reason="Kept")
    assert answer.status_code == 422
    assert Page(answer).form("/rollback")[1]["reason"] == "Kept"
    assert head(session) == 3


def test_a_reason_that_is_too_long_is_told_and_kept(person, session):
    answer = send(person, look(person, session, "v/1"), "/rollback", reason="é" * 9000)
    assert answer.status_code == 422
    assert "At most 16,384 bytes" in Page(answer).text
    assert Page(answer).form("/rollback")[1]["reason"] == "é" * 9000
    assert head(session) == 3


def test_while_a_hold_is_open_a_reason_must_be_typed(person, session, project):
    actions.hold(
        session_id=session.public_id, label="INCIDENT-1", url="/incidents/1", by=factories.full_key(project)
    )
    page = look(person, session, "v/1")
    assert page.form("/rollback")[1]["reason"] == ""
    assert "INCIDENT-1" in page.text
    refused = send(person, page, "/rollback")
    assert refused.status_code == 422
    assert "Say why" in Page(refused).text
    assert send(person, page, "/rollback", reason="Known good").status_code == 302


def test_a_viewer_sees_the_controls_disabled_with_why(signed_in, session):
    viewer = signed_in("viewer")
    page = look(viewer, session, "v/1")
    assert not any(page.has_form(ending) for ending in ("/rollback", "/fork", "/freeze"))
    assert "Your role only reads" in page.text
    for path in ("rollback", "fork", "freeze", "resume"):
        answer = viewer.post(
            f"/sessions/{session.public_id}/{path}", {"version": 1, "expected_version": 3, "reason": "x"}
        )
        assert answer.status_code == 403
    assert head(session) == 3


# Rehearse ---------------------------------------------------------------------------------------------


def test_the_rehearsal_tells_all_and_changes_nothing(person, session, agent):
    factories.tool_call(session, "refund", by=agent, reversibility="irreversible", amount=5)
    factories.turn(session, "Really?", "Done.", by=agent)
    fork = actions.fork(session_id=session.public_id, version=2, by=agent).agent_session
    traces = Trace.objects.count()
    page = look(person, session, "rollback/preview", version=1)
    assert "<del>3</del> <ins>1</ins>" in page.source
    assert "v2, v3; kept, not removed" in page.text
    assert "refund irreversible" in page.text
    assert "Really?" in page.text
    assert fork.public_id in page.text
    assert (head(session), Trace.objects.count()) == (3, traces)
    assert send(person, page, "/rollback").status_code == 302
    assert state_of(session)["step"] == 1


def test_a_tool_of_which_nothing_is_known_counts_as_irreversible(person, session, agent):
    factories.tool_call(session, "mystery", by=agent)
    assert "take it as irreversible" in look(person, session, "rollback/preview", version=1).text


def test_the_rehearsal_of_a_missing_version_is_404(person, session):
    assert look(person, session, "rollback/preview", version=9).response.status_code == 404


# Fork -------------------------------------------------------------------------------------------------


def test_one_click_forks_from_any_version_and_opens_the_fork(person, session):
    page = look(person, session, "v/2")
    answer = send(person, page, "/fork")
    fork = AgentSession.objects.get(forked_from=session.public_id)
    assert answer["Location"] == f"/sessions/{fork.public_id}/"
    assert (fork.forked_version, state_of(fork)["step"], head(session)) == (2, 2, 3)
    assert f"Forked from v2 of {session.public_id}" in Page(person.get(answer["Location"])).text
    again = send(person, page, "/fork")
    assert again["Location"] == answer["Location"]
    assert AgentSession.objects.filter(forked_from=session.public_id).count() == 1


@pytest.mark.parametrize("version", ["", "-1", "two"])
def test_a_form_that_names_no_version_forks_nothing(person, session, version):
    answer = person.post(f"/sessions/{session.public_id}/fork", {"version": version})
    assert answer.status_code == 400
    assert not AgentSession.objects.filter(forked_from=session.public_id).exists()


# Freeze and resume ------------------------------------------------------------------------------------


def test_one_click_freezes_and_whoever_did_may_undo_it(person, session, agent):
    send(person, look(person, session, "v/1"), "/freeze")
    frozen = look(person, session)
    assert "Frozen since" in frozen.text
    assert "by user:responder" in frozen.text
    assert frozen.has_form("/freeze/undo")
    assert not frozen.has_form("/freeze")
    send(person, frozen, "/freeze/undo")
    assert not factories.fresh(session).is_frozen
    factories.update(session, {"step": 9}, by=agent)


def test_an_engineer_may_undo_the_own_freeze_only_and_only_for_a_minute(signed_in, session):
    engineer = signed_in("engineer")
    send(engineer, look(engineer, session), "/freeze")
    page = look(engineer, session)
    assert not look(signed_in("engineer", "other"), session).has_form("/freeze/undo")
    frozen_at = factories.fresh(session).frozen_at
    with clock.at(frozen_at.replace(year=frozen_at.year + 1)):
        late = look(engineer, session)
        assert not late.has_form("/freeze/undo")
        assert "a responder of the project may" in late.text
        assert send(engineer, page, "/freeze/undo").status_code == 403
    assert factories.fresh(session).is_frozen


def test_a_responder_who_undoes_too_late_or_anothers_freeze_is_asked_why(signed_in, person, session, agent):
    send(person, look(person, session), "/freeze")
    page = look(person, session)
    frozen_at = factories.fresh(session).frozen_at
    with clock.at(frozen_at.replace(year=frozen_at.year + 1)):
        answer = send(person, page, "/freeze/undo")
    assert answer["Location"] == f"/sessions/{session.public_id}/resume"
    other = signed_in("responder", "other")
    answer = other.post(f"/sessions/{session.public_id}/freeze/undo")
    assert "say why the session may go on" in Page(other.get(answer["Location"])).text
    assert factories.fresh(session).is_frozen


def test_freezing_twice_with_one_form_is_one_freeze(person, session):
    page = look(person, session)
    send(person, page, "/freeze")
    send(person, page, "/freeze")
    assert head(session) == 4


def test_the_banner_stands_on_every_page_of_a_frozen_session(person, session, agent):
    factories.freeze(session, by=agent, reason="It <i>charged</i> twice")
    for path in ("", "v/1", "turns", "traces", "rollback/preview", "resume"):
        page = look(person, session, path)
        assert "Frozen since" in page.text, path
        assert "It <i>charged</i> twice" in page.text, path


def test_resuming_asks_why_and_then_lets_it_go_on(person, session, agent):
    factories.freeze(session, by=agent)
    page = look(person, session)
    assert f"/sessions/{session.public_id}/resume" in page.links
    ask = look(person, session, "resume")
    empty = person.post(f"/sessions/{session.public_id}/resume", {"reason": "  "})
    assert empty.status_code == 422
    assert factories.fresh(session).is_frozen
    _, fields = next(iter([ask.form("")]))
    answer = person.post(f"/sessions/{session.public_id}/resume", fields | {"reason": "Checked by hand"})
    assert answer.status_code == 302
    assert not factories.fresh(session).is_frozen
    assert session.versions.get(number=head(session)).reasoning == "Checked by hand"


def test_an_engineer_may_neither_resume_nor_roll_back_while_frozen_and_the_attempt_is_kept(
    signed_in, session, agent
):
    engineer = signed_in("engineer")
    before = look(engineer, session, "v/1")
    factories.freeze(session, by=agent)
    page = look(engineer, session, "v/1")
    assert not page.has_form("/rollback")
    assert "a responder of the project may" in page.text
    assert send(engineer, before, "/rollback", reason="Typed by me").status_code == 403
    assert engineer.post(f"/sessions/{session.public_id}/resume", {"reason": "Please"}).status_code == 403
    attempts = RefusedWrite.objects.filter(agent_session=session)
    assert attempts.count() == 2
    assert all("csrf" not in (each.attempted or "") for each in attempts)
    assert head(session) == 4


def test_a_responder_rolls_a_frozen_session_back_and_it_stays_frozen(person, session, agent):
    factories.freeze(session, by=agent)
    page = look(person, session, "v/1")
    assert "undoes v2–v4, stays frozen" in page.text
    send(person, page, "/rollback")
    assert factories.fresh(session).is_frozen
    assert state_of(session) == {"step": 1, "kept": "as it was", "frozen": True, "incident": True}
    assert "undone by" not in re.sub(r"undone by v5", "", look(person, session).text)


@pytest.mark.parametrize("path", ["resume", "freeze/undo"])
def test_letting_a_running_session_go_on_changes_nothing(person, session, path):
    answer = person.post(f"/sessions/{session.public_id}/{path}", {"reason": "From a page left open"})
    assert "The session is running already" in Page(person.get(answer["Location"])).text
    assert head(session) == 3


# Doors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["rollback", "fork", "freeze", "freeze/undo", "resume"])
def test_forms_need_their_token_and_the_session_of_another_project_is_404(signed_in, session, path, project):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(factories.membership(project, "admin", "strict").user)
    assert strict.post(f"/sessions/{session.public_id}/{path}", {"reason": "x"}).status_code == 403
    theirs = factories.session(factories.agent(factories.project("Elsewhere")))
    answer = signed_in().post(
        f"/sessions/{theirs.public_id}/{path}", {"reason": "x", "version": 0, "expected_version": 0}
    )
    assert answer.status_code == 404
    assert head(session) == 3


@pytest.mark.parametrize("path", ["rollback", "fork", "freeze", "freeze/undo"])
def test_acts_are_never_links(person, session, path):
    assert person.get(f"/sessions/{session.public_id}/{path}").status_code == 405
