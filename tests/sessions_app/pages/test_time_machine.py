"""The time machine, looked at: the right state, what changed, the timeline, and strangers kept out."""

from datetime import UTC, datetime, timedelta

import pytest

from sessions_app import actions
from sessions_app.errors import SessionFrozen
from statebase_site.base import clock
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def booked(agent):
    """Five versions: the trip is chosen, paid for, and then lost."""
    with clock.at(NOON):
        made = factories.session(agent, {"step": "asking"}, agent_id="travel-agent")
    steps = (
        {"city": "Oslo", "step": "searching"},
        {"seats": [{"id": "a1", "price": 10}, {"id": "b2", "price": 12}]},
        {"paid": True},
        {"city": None, "step": "lost"},
    )
    for minute, changes in enumerate(steps, 1):
        with clock.at(NOON + timedelta(minutes=minute)):
            factories.update(made, changes, by=agent, reasoning=f"Because {minute}")
    return made


@pytest.fixture
def booking(booked):
    return factories.fresh(booked)


@pytest.fixture(scope="module")
def long(agent):
    return factories.session_with_versions(agent, 150)


def look(client, session, path="", **query):
    return Page(client.get(f"/sessions/{session.public_id}/{path}", query))


def test_shows_the_state_at_the_version_in_the_address(person, booking):
    page = look(person, booking, "v/1")
    assert '"city": "Oslo"' in page.text
    assert "lost" not in page.text.split("Versions")[0].split("State at v1")[-1]
    assert page.response.status_code == 200


def test_without_a_version_shows_the_current_one(person, booking):
    page = look(person, booking)
    assert "State at v4" in page.text
    assert "v4 of 4" in page.text


def test_what_the_version_changed_is_marked_in_place(person, booking):
    page = look(person, booking, "v/4")
    assert "<del>&quot;Oslo&quot;</del> <ins>null</ins>" in page.source
    assert "text → null" in page.text
    assert len(page.with_class("changed")) == 2


def test_a_removed_key_stands_where_it_was(person, booking, agent):
    actions.update_state(
        session_id=booking.public_id, changes={"step": "lost", "paid": True}, mode=actions.REPLACE, by=agent
    )
    page = look(person, booking, "v/5")
    assert page.text.index('"step"') < page.text.index('"city": null') < page.text.index('"paid"')
    assert len(page.with_class("removed")) == 2


def test_diff_only_leaves_the_unchanged_out(person, booking):
    page = look(person, booking, "v/4", view="diff")
    assert '"paid"' not in page.text
    assert "unchanged" in page.text
    assert "<ins>null</ins>" in page.source


def test_a_pinned_path_is_all_that_is_shown_and_stays_from_version_to_version(person, booking):
    page = look(person, booking, "v/4", pin="/seats/1/price")
    assert "Watching seats[1].price" in page.text
    assert '"city"' not in page.text
    assert f"/sessions/{booking.public_id}/v/3?pin=/seats/1/price" in page.links


def test_a_pinned_path_that_is_not_there_says_so(person, booking):
    assert "There is nothing at paid in v1" in look(person, booking, "v/1", pin="/paid").text


def test_a_missing_version_is_404_and_names_the_range(person, booking):
    page = look(person, booking, "v/9")
    assert page.response.status_code == 404
    assert "has no version 9: its versions are 0 to 4" in page.text


@pytest.mark.parametrize("path", ["", "v/0", "live", "rollback/preview", "resume", "v/0/state.json"])
def test_what_is_another_projects_does_not_exist(signed_in, path):
    elsewhere = factories.project("Elsewhere")
    theirs = factories.session(factories.agent(elsewhere), {"secret": "theirs"})
    answer = signed_in().get(f"/sessions/{theirs.public_id}/{path}")
    assert answer.status_code == 404
    assert b"theirs" not in answer.content


def test_an_unknown_and_a_deleted_session_are_404(signed_in, booking, project):
    admin = signed_in("admin")
    actions.delete_session(session_id=booking.public_id, by=factories.full_key(project))
    assert admin.get(f"/sessions/{booking.public_id}/").status_code == 404
    assert admin.get("/sessions/sess_nothing/").status_code == 404


def test_an_expired_session_stays_readable_and_says_so(person, agent):
    with clock.at(NOON - timedelta(days=90)):
        old = factories.session(agent, {"a": 1}, ttl_seconds=60)
    page = look(person, old)
    assert page.response.status_code == 200
    assert "Expired" in page.text


def test_strangers_are_asked_to_sign_in(client, booking):
    answer = client.get(f"/sessions/{booking.public_id}/v/1")
    assert answer.status_code == 302
    assert "/sign-in/" in answer["Location"]


def test_the_form_of_the_slider_leads_to_the_version(person, booking):
    answer = person.get(f"/sessions/{booking.public_id}/", {"v": "2", "view": "diff", "open": "/seats"})
    assert answer["Location"] == f"/sessions/{booking.public_id}/v/2?view=diff&open=/seats"


def test_links_keep_how_the_state_is_shown(person, booking):
    page = look(person, booking, "v/2", view="diff", open="/seats")
    assert f"/sessions/{booking.public_id}/v/3?view=diff&open=/seats" in page.links


# Timeline ---------------------------------------------------------------------------------------------


def test_rollback_is_drawn_and_what_it_undid_stays_in_the_list(person, booking, agent):
    factories.rollback(booking, 2, by=agent)
    page = look(person, booking)
    assert "restores v2" in page.text
    assert page.text.count("undone by v5") >= 2
    rows = [attrs["class"] for attrs in page.with_class("version")]
    assert len(rows) == 6
    assert sum("undone" in each for each in rows) == 2


def test_rolling_a_rollback_back_makes_what_it_had_undone_live_again(person, booking, agent):
    factories.rollback(booking, 2, by=agent)
    factories.rollback(booking, 4, by=agent)
    undone = [
        attrs["id"] for attrs in look(person, booking).with_class("version") if "undone" in attrs["class"]
    ]
    assert undone == ["v5"]


def test_only_rollbacks_can_be_listed(person, booking, agent):
    factories.rollback(booking, 2, by=agent)
    page = look(person, booking, only="rollbacks")
    assert [attrs["id"] for attrs in page.with_class("version")] == ["v5"]


def test_a_session_without_rollbacks_says_so_instead_of_an_empty_list(person, booking):
    assert "Nothing was ever rolled back" in look(person, booking, only="rollbacks").text


def test_silence_of_more_than_five_minutes_is_folded_and_named(person, booking, agent):
    with clock.at(NOON + timedelta(minutes=11)):
        factories.update(booking, {"late": 1}, by=agent)
    page = look(person, booking)
    assert "7 min later" in page.text
    assert "1 min later" not in page.text


def test_a_freeze_is_a_band_until_the_resume_and_refused_writes_are_crosses(person, booking, agent, project):
    responder = factories.full_key(project)
    factories.freeze(booking, by=agent)
    with pytest.raises(SessionFrozen):
        factories.update(booking, {"x": 1}, by=factories.asking(agent))
    frozen = look(person, booking)
    assert len(frozen.with_class("band")) == 1
    assert "1 refused" in frozen.text
    assert "1 write refused" in frozen.text
    actions.resume(session_id=booking.public_id, reason="Safe", by=responder)
    resumed = look(person, booking)
    assert "Frozen since" not in resumed.text
    assert len(resumed.with_class("band")) == 1


def test_forks_branch_off_with_their_id(person, booking, agent):
    fork = actions.fork(session_id=booking.public_id, version=2, by=agent).agent_session
    page = look(person, booking)
    assert f"/sessions/{fork.public_id}/" in page.links
    assert f"Fork {fork.public_id} from version 2" in page.source


def test_a_fork_names_its_parent_with_a_way_to_compare(person, booking, agent):
    fork = actions.fork(session_id=booking.public_id, version=2, by=agent).agent_session
    page = look(person, fork, "v/0")
    assert f"/sessions/{booking.public_id}/v/2" in page.links
    assert "diff to parent" in page.text


@pytest.mark.parametrize("shown", [0, 75, 150])
def test_a_long_session_draws_and_lists_a_window_round_the_version(person, long, shown):
    page = look(person, long, f"v/{shown}")
    listed = [int(attrs["id"][1:]) for attrs in page.with_class("version")]
    assert shown in listed
    assert len(listed) <= 60
    assert len(page.with_class("mark")) <= 40
    assert sum(int(group["data-v"]) not in listed for group in page.with_class("group")) > 0


def test_older_and_newer_leave_no_version_out(person, long):
    seen, url = set(), f"/sessions/{long.public_id}/"
    while url:
        page = Page(person.get(url))
        seen |= {int(attrs["id"][1:]) for attrs in page.with_class("version")}
        starts = [int(link.split("list=")[1].split("&")[0]) for link in page.links if "list=" in link]
        earlier = min(starts, default=None)
        url = None if earlier is None or 0 in seen else f"/sessions/{long.public_id}/?list={earlier}"
    assert seen == set(range(151))


def test_the_number_of_queries_does_not_grow_with_the_session(
    person, agent, long, django_assert_max_num_queries
):
    short = factories.session_with_versions(agent, 3)
    for each in (short, long):
        factories.turn(each, by=agent)
        factories.rollback(each, 1, by=agent)
    with django_assert_max_num_queries(20) as spent:
        look(person, short, "v/2")
    with django_assert_max_num_queries(len(spent.captured_queries)):
        look(person, long, "v/80")


# Why --------------------------------------------------------------------------------------------------


def test_why_names_actor_trace_turn_and_size(person, booking, agent):
    factories.turn(booking, "Is it cheap?", "It is now.", by=agent)
    version = booking.versions.get(number=4)
    page = look(person, booking, "v/4")
    assert "Because 4" in page.text
    assert "Is it cheap?" in page.text
    assert "It is now." in page.text
    assert version.trace_id in page.text
    assert agent.label in page.text
    assert bytes(version.sha256).hex()[:4] in page.text


def test_a_tool_call_is_shown_as_one_with_what_can_be_taken_back(person, booking, agent):
    factories.tool_call(booking, "cancel_booking", by=agent, reversibility="irreversible", id="UA1")
    page = look(person, booking, "v/4")
    assert 'cancel_booking({"id":"UA1"})' in page.text
    assert "irreversible" in page.text


# State as JSON ----------------------------------------------------------------------------------------


def test_the_state_as_json_is_what_was_stored(person, agent):
    state = {"b": 1.50, "a": 10**30, "text": "ü\u202e</script>", "n": None}
    made = factories.session(agent, state)
    answer = person.get(f"/sessions/{made.public_id}/v/0/state.json")
    assert (
        answer.content.decode()
        == '{"b":1.5,"a":1000000000000000000000000000000,"text":"ü\u202e</script>","n":null}'
    )
    assert answer["Content-Type"] == "application/json"


def test_one_value_as_json(person, booking):
    url = f"/sessions/{booking.public_id}/v/2/state.json"
    assert person.get(url, {"path": "/seats/1/price"}).content == b"12"
    assert person.get(url, {"path": "/nowhere"}).status_code == 404
    assert person.get(url, {"path": "no pointer"}).status_code == 404


# Large and hostile ------------------------------------------------------------------------------------


def test_what_agents_write_is_shown_as_text_and_bounded(person, agent):
    state = {
        "<script>alert(1)</script>": "<img src=x onerror=alert(2)>",
        "bidi": "a\u202eb",
        "nul": "a\x00b",
        "blob": "A" * 1_000_000,
    }
    made = factories.session(agent, state, agent_id="<b>bot</b>")
    factories.update(made, {"x": 1}, by=agent, reasoning="<i>why</i>" + "W" * 4000)
    page = look(person, made, "v/0")
    latest = look(person, made)
    assert "<script>alert(1)" not in page.source
    assert "<img src=x" not in page.source
    assert "<i>why</i>" not in latest.source
    assert "U+202E" in page.text
    assert "1.0 MB" in page.text
    assert len(page.source) < 150_000
    assert len(latest.source) < 150_000


def test_a_large_state_opens_folded_with_exact_sizes_and_shows_the_change_inside(person, agent):
    rows = [{"id": number, "balance": number * 1.5, "note": "x" * 60} for number in range(3000)]
    made = factories.session(agent, {"rows": rows, "small": {"a": 1}})
    changed = [dict(row) for row in rows]
    changed[1500]["balance"] = -1
    factories.update(made, {"rows": changed}, by=agent)
    page = look(person, made, "v/1")
    assert "<del>2250.0</del> <ins>-1</ins>" in page.source
    assert "unchanged items" in page.text
    assert len(page.source) < 150_000
    folded = look(person, made, "v/0")
    assert "[ 3,000 items · " in folded.text
    opened = look(person, made, "v/0", open="/rows")
    assert "2,900 unchanged items" in opened.text or "2,900 more items" in opened.text
    further = look(person, made, "v/0", open="2900:/rows")
    assert '"balance": 4498.5' in further.text or "2999" in further.text


def test_a_long_text_opens_in_parts(person, agent):
    made = factories.session(agent, {"blob": "a" * 30_000 + "END"})
    folded = look(person, made, "v/0")
    assert "END" not in folded.text
    first = look(person, made, "v/0", open="/blob")
    assert "END" not in first.text
    rest = look(person, made, "v/0", open="20000:/blob")
    assert "END" in rest.text


def test_nonsense_in_the_address_is_passed_over(person, booking):
    answer = person.get(
        f"/sessions/{booking.public_id}/v/2",
        {
            "pin": "nonsense",
            "open": ["nope", "9" * 30 + ":/x", "/missing"],
            "fold": "x",
            "list": "-4",
            "mark": "²",
        },
    )
    assert answer.status_code == 200


# Live -------------------------------------------------------------------------------------------------


def test_live_is_silent_until_something_is_new(person, booking, agent, django_assert_max_num_queries):
    url = f"/sessions/{booking.public_id}/live"
    seen = {"after": "4", "turns": "0", "frozen": "0"}
    with django_assert_max_num_queries(4):
        assert person.get(url, seen).status_code == 204
    factories.update(booking, {"x": 1}, by=agent)
    factories.update(booking, {"x": 2}, by=agent)
    page = Page(person.get(url, seen))
    assert "2 new" in page.text
    assert f"/sessions/{booking.public_id}/" in page.links


def test_live_tells_of_a_freeze(person, booking, agent):
    factories.freeze(booking, by=agent)
    page = Page(
        person.get(f"/sessions/{booking.public_id}/live", {"after": "5", "turns": "0", "frozen": "0"})
    )
    assert "frozen now" in page.text


def test_the_part_that_moves_is_sent_alone_and_told_apart_from_the_page(person, booking):
    whole = person.get(f"/sessions/{booking.public_id}/v/2")
    part = person.get(f"/sessions/{booking.public_id}/v/2", headers={"HX-Request": "true"})
    assert b"<html" in whole.content
    assert b"<html" not in part.content
    assert "HX-Request" in part["Vary"]
