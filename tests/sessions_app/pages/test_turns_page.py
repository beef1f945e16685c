"""Turns as a conversation: what was said, which tools were called, and pages of them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import actions
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def talk(agent):
    return factories.session(agent, {"step": 0}, agent_id="support-bot")


@pytest.fixture(scope="module")
def long(agent):
    """A talk of 120 turns, each with a version."""
    made = factories.session(agent, {"step": 0})
    for number in range(1, 121):
        factories.turn(made, f"Question {number}.", by=agent, state_after={"step": number})
    return made


def look(client, session, query=None):
    return Page(client.get(f"/sessions/{session.public_id}/turns", query or {}))


def test_reads_as_a_conversation(person, talk, agent):
    factories.turn(talk, "Where is my parcel?", "In Oslo.", by=agent, reasoning="Looked it up")
    factories.turn(talk, "Thanks", "Bye", by=agent, state_after={"step": 1})
    page = look(person, talk)
    assert (
        page.text.index("Where is my parcel?") < page.text.index("In Oslo.") < page.text.index("Looked it up")
    )
    assert "at v0" in page.text
    assert "made v1" in page.text
    assert f"/sessions/{talk.public_id}/v/1" in page.links


def test_a_tool_call_shows_what_it_was_given_and_gave_back(person, talk, agent):
    call = {"name": "refund", "arguments": {"amount": 12}, "id": "c1", "reversibility": "irreversible"}
    actions.add_turn(
        session_id=talk.public_id,
        input={"type": "tool_call", "content": "refund", "tool_metadata": call},
        output={"type": "tool_response", "content": '{"ok":true}', "output": {"ok": True}},
        by=agent,
    )
    page = look(person, talk)
    assert "Tool call refund irreversible" in page.text
    assert '{"amount":12}' in page.text
    assert page.text.count('{"ok":true}') == 1


def test_a_tool_that_says_nothing_of_its_effect_is_unknown(person, talk, agent):
    factories.tool_call(talk, "mail", by=agent, to="ann")
    assert "reversibility unknown" in look(person, talk).text


def test_a_stale_state_before_is_flagged(person, talk, agent):
    factories.update(talk, {"step": 1}, by=agent)
    factories.turn(talk, by=agent, state_before={"step": 0}, state_after={"step": 2})
    assert "stale state before" in look(person, talk).text


def test_pages_of_fifty_in_order(person, long):
    page = look(person, long)
    assert "turns 1 to 50 of 120" in page.text
    assert "Question 50." in page.text
    assert "Question 51." not in page.text
    assert f"/sessions/{long.public_id}/turns?from=51" in page.links
    page = look(person, long, {"from": "101"})
    assert "turns 101 to 120 of 120" in page.text
    assert f"/sessions/{long.public_id}/turns?from=51" in page.links


@pytest.mark.parametrize("wrong", ["0", "-3", "x", "", "9" * 40, "²", "1.5"])
def test_a_start_that_is_none_shows_turns_all_the_same(person, talk, agent, wrong):
    factories.turn(talk, "Only one", by=agent)
    page = look(person, talk, {"from": wrong})
    assert page.response.status_code == 200
    assert "Only one" in page.text


def test_long_texts_are_bounded_and_whole_in_the_json(person, talk, agent):
    factories.turn(talk, "A" * 1_000_000, "<b>&\u202e</b>", by=agent, metadata={"k": "v" * 20_000})
    page = look(person, talk)
    assert len(page.source) < 100_000
    assert "988,800 more in the whole turn as JSON" in page.text
    assert "<b>&amp;" not in page.source
    assert "U+202E" in page.text
    whole = person.get(f"/sessions/{talk.public_id}/turns/1.json").json()
    assert whole["input"]["content"] == "A" * 1_000_000


def test_says_when_there_is_none_yet(person, talk):
    assert "No turn yet" in look(person, talk).text


def test_strangers_and_unknown_turns_get_nothing(client, person, talk, agent):
    factories.turn(talk, by=agent)
    for number in ("2", "0", "99999999999999999999"):
        assert person.get(f"/sessions/{talk.public_id}/turns/{number}.json").status_code == 404
    client.force_login(factories.membership(factories.project("Elsewhere"), "admin", "eve").user)
    for path in ("turns", "turns/1.json"):
        assert client.get(f"/sessions/{talk.public_id}/{path}").status_code == 404


def test_a_frozen_session_says_so_here_too(person, talk, agent):
    factories.freeze(talk, by=agent, reason="Charged twice")
    assert "Frozen since" in look(person, talk).text
    assert "Charged twice" in look(person, talk).text


def test_the_number_of_queries_does_not_grow_with_the_turns(
    person, talk, long, agent, django_assert_num_queries
):
    factories.turn(talk, by=agent)
    look(person, talk)
    with CaptureQueriesContext(connection) as few:
        look(person, talk)
    with django_assert_num_queries(len(few)):
        look(person, long)
