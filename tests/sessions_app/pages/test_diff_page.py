"""Any two versions compared: what is said, in each way of showing it, and what is refused."""

import json
import shutil
import subprocess

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import actions
from sessions_app.codec import KEYFRAME_EVERY
from sessions_app.diff import apply_patch
from tests import factories
from tests.sessions_app.pages.html import Page

pytestmark = pytest.mark.django_db

BEFORE = {
    "a": 1,
    "b": 2,
    "c": 3,
    "big": 12345678901234567890123,
    "price": 1.0,
    "count": "5",
    "gone": {"x": [1, {"y": None}]},
    "items": [{"id": "a", "qty": 1}, {"id": "b", "qty": 2}, {"id": "c", "qty": 3}],
    "text": "The quick brown fox jumps over the lazy dog and runs away.",
    "<b>key\u202e": "<i>x</i>",
}
AFTER = {
    "a": 1,
    "b": 2,
    "c": 3,
    "big": 12345678901234567890124,
    "price": 1,
    "count": 5,
    "items": [{"id": "c", "qty": 3}, {"id": "a", "qty": 9}, {"id": "d", "qty": 1}],
    "text": "The quick brown fox jumps over the lazy cat and runs away.",
    "<b>key\u202e": "<i>y</i>",
    "new": {"deep": [True]},
}


@pytest.fixture(scope="module")
def booked(agent):
    """Version 1 replaces all, version 2 only the order of keys, version 3 adds one."""
    made = factories.session(agent, BEFORE, agent_id="travel-agent")
    backwards = dict(reversed(list(AFTER.items())))
    for state, why in (
        (AFTER, "All kinds of change"),
        (backwards, "Other order"),
        (AFTER | {"z": 1}, "One more"),
    ):
        actions.update_state(
            session_id=made.public_id, changes=state, mode=actions.REPLACE, by=agent, reasoning=why
        )
    return made


@pytest.fixture
def booking(booked):
    return factories.fresh(booked)


@pytest.fixture(scope="module")
def large(agent):
    """Thousands of changes, and one in a text of 300,000 characters."""
    rows = {f"k{number}": {"v": number, "text": "word " * 8} for number in range(15_000)}
    other = {key: {**row, "v": row["v"] + (row["v"] % 5 == 0)} for key, row in rows.items()}
    made = factories.session(agent, {"rows": rows, "long": "x" * 300_000})
    actions.update_state(
        session_id=made.public_id,
        changes={"rows": other, "long": "x" * 150_000 + "y" + "x" * 150_000},
        mode=actions.REPLACE,
        by=agent,
    )
    return made


def look(client, session, **query):
    query = {name.rstrip("_"): value for name, value in query.items()}
    return Page(client.get(f"/sessions/{session.public_id}/diff", query))


def test_tells_every_kind_of_change_exactly(person, booking):
    page = look(person, booking, left="0", right="1")
    assert '"big": 12345678901234567890123 → 12345678901234567890124' in page.text
    assert '"price": 1.0 → 1, decimal number → whole number' in page.text
    assert '"count": "5" → 5, text → whole number' in page.text
    assert "3 unchanged keys" in page.text
    assert '"y": null' in page.text
    assert "moved from 0 to 1" in page.text
    assert "the lazy <del>dog</del><ins>cat</ins> and runs" in page.source
    assert "U+202E" in page.text
    assert "<i>" not in page.source
    assert "+2 added" in page.text


def test_texts_with_no_word_in_common_are_told_whole(person, agent):
    made = factories.session(agent, {"status": "reading"})
    factories.update(made, {"status": "ready for the partner"}, by=agent)
    assert '"status": "reading" → "ready for the partner"' in look(person, made).text


def test_says_whose_the_versions_are(person, booking, agent):
    page = look(person, booking, left="1", right="3")
    assert f"Replacement by {agent.label}" in page.text
    assert "All kinds of change" in page.text
    assert "One more" in page.text
    assert f"/sessions/{booking.public_id}/v/1" in page.links


def test_without_sides_compares_the_current_version_with_the_one_before(person, booking):
    page = look(person, booking)
    assert "Left v2" in page.text
    assert "Right v3" in page.text
    assert '"z": 1' in page.text
    assert "Left v0" in look(person, booking, right="1").text


def test_negative_versions_count_from_the_current_one(person, booking):
    page = look(person, booking, left="-3", right="-2")
    assert "Left v0" in page.text
    assert "Right v1" in page.text
    assert 'value="0"' in page.source
    assert "Left v0" in look(person, booking, left="-0", right="1").text


@pytest.mark.parametrize("wrong", [{"left": "4"}, {"right": "99"}, {"left": "-4"}, {"right": "9" * 60}])
def test_a_version_that_is_not_there_is_404_and_names_the_range(person, booking, wrong):
    page = look(person, booking, **wrong)
    assert page.response.status_code == 404
    assert "its versions are 0 to 3" in page.text


@pytest.mark.parametrize("wrong", ["abc", "1.5", "v", "sess_x:", "1e3", "<b>"])
def test_what_names_no_version_is_said_by_its_field(person, booking, wrong):
    page = look(person, booking, left="1", right=wrong)
    assert page.response.status_code == 400
    assert "names no version" in page.text
    assert 'name="left" value="1"' in page.source
    assert "<b>" not in page.source


def test_two_sessions_of_one_project(person, booking, agent):
    fork = actions.fork(session_id=booking.public_id, version=1, by=agent).agent_session
    factories.update(fork, {"a": 7}, by=agent)
    page = look(person, fork, left=f"{booking.public_id}:1", right="1")
    assert '"a": 1 → 7' in page.text
    assert f"of travel-agent {booking.public_id}" in page.text
    swapped = next(link for link in page.links if link.endswith(f"right={booking.public_id}:1&as=inline"))
    assert '"a": 7 → 1' in Page(person.get(swapped)).text


def test_what_a_fork_began_as_is_compared_with_its_parent(person, booking, agent):
    fork = actions.fork(session_id=booking.public_id, version=1, by=agent).agent_session
    page = look(person, fork)
    assert f"Left v1 of travel-agent {booking.public_id}" in page.text
    assert "The two states are the same" in page.text


def test_the_first_version_has_nothing_before_it(person, agent):
    made = factories.session(agent, {"a": 1})
    page = look(person, made)
    assert "Left v0" in page.text
    assert "The two states are the same" in page.text


def test_a_session_of_another_project_does_not_exist(person, booking):
    elsewhere = factories.session(factories.agent(factories.project("Elsewhere")), {"secret": 1})
    assert look(person, elsewhere).response.status_code == 404
    page = look(person, booking, left=f"{elsewhere.public_id}:0")
    assert page.response.status_code == 404
    assert "secret" not in page.source


def test_not_even_between_two_projects_of_one_person(client, booking, project):
    both = factories.membership(project, "admin", "both")
    other = factories.project("Elsewhere")
    factories.membership(other, "admin", "both")
    elsewhere = factories.session(factories.agent(other), {"secret": 1})
    client.force_login(both.user)
    assert look(client, elsewhere).response.status_code == 200
    assert look(client, booking, left=f"{elsewhere.public_id}:0").response.status_code == 404


def test_equal_states_are_said_to_be(person, booking):
    assert "Every key, every value and every type" in look(person, booking, left="1", right="1").text
    page = look(person, booking, left="1", right="2")
    assert "the same, but for the order of keys" in page.text
    assert "@@ -" in look(person, booking, left="1", right="2", as_="text").text


def test_side_by_side_what_went_stands_beside_what_came(person, booking):
    page = look(person, booking, left="0", right="1", as_="side")
    row = page.source[page.source.index("&quot;big&quot;") :].partition("</tr>")[0]
    old, new = row.split("</td>")[:2]
    assert "12345678901234567890123" in old
    assert "12345678901234567890124" in new
    assert "decimal number → whole number" in page.text
    assert "3 unchanged keys" in page.text
    assert "<i>" not in page.source


@pytest.mark.skipif(shutil.which("patch") is None, reason="There is no `patch` here.")
@pytest.mark.parametrize(("left", "right"), [("0", "1"), ("1", "2"), ("3", "0"), ("1", "1")])
def test_the_text_is_what_patch_applies(person, booking, tmp_path, left, right):
    answer = person.get(
        f"/sessions/{booking.public_id}/diff", {"left": left, "right": right, "download": "text"}
    )
    assert answer["Content-Disposition"].endswith(f'-v{left}-v{right}.diff"')
    file, states = tmp_path / "state.json", {}
    for number in (left, right):
        state = person.get(f"/sessions/{booking.public_id}/v/{number}/state.json").content
        states[number] = json.dumps(json.loads(state), indent=2, ensure_ascii=False) + "\n"
    file.write_text(states[left])
    subprocess.run(["patch", "-s", str(file)], input=answer.content, check=True)
    assert file.read_text() == states[right]


def test_the_patch_gives_the_right_side_exactly(person, booking):
    answer = person.get(f"/sessions/{booking.public_id}/diff", {"left": 0, "right": 1, "download": "patch"})
    assert answer["Content-Type"] == "application/json-patch+json"
    assert apply_patch(BEFORE, json.loads(answer.content)) == AFTER
    page = look(person, booking, left="0", right="1", as_="patch")
    assert '{"op":"replace","path":"/big","value":12345678901234567890124}' in page.text
    equal = person.get(f"/sessions/{booking.public_id}/diff", {"left": 1, "right": 1, "download": "patch"})
    assert json.loads(equal.content) == []


def test_the_way_of_showing_is_remembered_but_not_the_machine_form(person, booking):
    assert 'class="columns' not in look(person, booking).source
    look(person, booking, as_="side")
    assert 'class="columns' in look(person, booking).source
    look(person, booking, as_="patch")
    assert 'class="columns' in look(person, booking).source
    look(person, booking, as_="bogus")
    assert 'class="columns' in look(person, booking).source


def test_unchanged_runs_open_on_demand(person, booking):
    page = look(person, booking, left="0", right="1")
    opened = next(link for link in page.links if "open=" in link)
    assert '"c": 3' not in page.text
    assert '"c": 3' in Page(person.get(opened)).text


def test_changes_are_numbered_and_carry_the_paths_of_their_values(person, booking):
    page = look(person, booking, left="0", right="1")
    starts = [attrs for attrs in page.with_class("tree-line") if "data-change" in attrs]
    assert [attrs["id"] for attrs in starts] == [f"c{number}" for number in range(1, len(starts) + 1)]
    assert f"{len(starts)} changes" in page.text
    moved = next(attrs for attrs in starts if attrs.get("data-new") == "/items/1")
    assert moved["data-old"] == "/items/0"
    gone = next(attrs for attrs in starts if attrs.get("data-old") == "/gone")
    assert "data-new" not in gone
    for side, number in (("old", 0), ("new", 1)):
        for attrs in starts:
            if f"data-{side}" in attrs:
                value = person.get(
                    f"/sessions/{booking.public_id}/v/{number}/state.json", {"path": attrs[f"data-{side}"]}
                )
                assert value.status_code == 200, attrs


def test_neighbours_and_swap_are_links(person, booking):
    page = look(person, booking, left="1", right="2")
    base = f"/sessions/{booking.public_id}/diff"
    for left, right in ((2, 1), (0, 1), (2, 3), (0, 2), (2, 2), (1, 1), (1, 3)):
        assert f"{base}?left={left}&right={right}&as=inline" in page.links
    last = look(person, booking, left="2", right="3")
    assert f"{base}?left=3&right=4&as=inline" not in last.links


@pytest.mark.parametrize("shape", ["inline", "side", "text", "patch"])
def test_large_states_make_a_small_page(person, large, shape):
    page = look(person, large, as_=shape)
    assert page.response.status_code == 200
    assert len(page.source) < 600_000


def test_a_change_in_a_long_text_is_found_in_it(person, agent):
    text = "word " * 40_000
    made = factories.session(agent, {"t": text + "end here"})
    factories.update(made, {"t": text + "end there"}, by=agent)
    page = look(person, made)
    assert "<del>here</del><ins>there</ins>" in page.source
    assert len(page.source) < 60_000


def test_a_frozen_session_says_so_here_too(person, booking, agent):
    factories.freeze(booking, by=agent, reason="Charged twice")
    assert "Charged twice" in look(person, booking).text


def test_the_number_of_queries_is_the_same_for_any_versions(
    person, booking, agent, django_assert_max_num_queries
):
    look(person, booking)
    with CaptureQueriesContext(connection) as few:
        look(person, booking, left="0", right="1")
    last = KEYFRAME_EVERY + 5
    longer = factories.session_with_versions(agent, last)
    with django_assert_max_num_queries(len(few) + 1):  # the keyframe of another stretch
        look(person, longer, left="3", right=str(last))


def test_strangers_are_asked_to_sign_in(client, booking):
    assert client.get(f"/sessions/{booking.public_id}/diff").status_code == 302
