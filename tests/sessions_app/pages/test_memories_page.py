"""Memories: searched, reviewed, changed once and deleted; and the tree of forks."""

import pytest

from sessions_app import actions
from sessions_app.models import AgentSession, Memory, RefusedWrite, StateVersion
from tests import factories
from tests.sessions_app.pages.html import Page, send

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script> \u202elikes tea"


def remember(by, content, **fields):
    return actions.add_memory(content=content, by=by, **fields).memory


@pytest.fixture
def trip(agent):
    return factories.session(agent, {"n": 1}, agent_id="travel-agent", user_id="ann")


@pytest.fixture
def known(agent, trip):
    """A memory of each scope, and one of another user."""
    session_id = trip.public_id
    return {
        "bound": remember(agent, HOSTILE, session_id=session_id, type="preference", tags=["drink", "hot"]),
        "user": remember(agent, "Ann is allergic to peanuts", user_id="ann"),
        "agent": remember(agent, "Always confirm the airport", agent_id="travel-agent"),
        "global": remember(agent, "The office closes at noon", embed=False),
        "bob": remember(agent, "Bob drinks coffee", user_id="bob"),
    }


def shown(page):
    """The memories in the table, by their links, in order."""
    return [link.split("/")[2] for link in page.links if link.startswith("/memories/mem_")]


def ids(known, *names):
    return [known[name].public_id for name in names]


def test_memories_are_listed_filtered_and_searched_by_address(person, known, trip):
    page = Page(person.get("/memories/"))
    assert shown(page) == ids(known, "bob", "global", "agent", "user", "bound")
    assert "5 memories in all" in page.text
    assert "<script>alert" not in page.source
    for query, names in (
        ({"user": "ann"}, ("user", "bound")),
        ({"scope": "agent"}, ("agent",)),
        ({"type": "preference"}, ("bound",)),
        ({"tag": "hot"}, ("bound",)),
        ({"q": "peanuts allergic"}, ("user",)),
        ({"q": "peanuts", "user": "bob"}, ()),
    ):
        assert shown(Page(person.get("/memories/", query))) == ids(known, *names), query
    found = Page(person.get("/memories/", {"q": "drinks coffee", "score": "any"}))
    assert shown(found)[0] == known["bob"].public_id
    assert known["global"].public_id not in shown(found)
    assert "Nothing like that" in Page(person.get("/memories/", {"q": "zebra"})).text
    assert "No memory matches" in Page(person.get("/memories/", {"user": "x"})).text
    assert "can't be understood" in Page(person.get("/memories/", {"scope": "bogus"})).text
    part = Page(person.get("/memories/", {"q": "zebra"}, headers={"HX-Request": "true"}))
    assert "<html" not in part.source
    assert "No memory matches" in part.text

    tab = f"/sessions/{trip.public_id}/memories"
    assert shown(Page(person.get(tab))) == ids(known, "bound")
    assert shown(Page(person.get(tab, {"known": "yes"}))) == ids(known, "global", "agent", "user", "bound")
    assert "Memories 1" in Page(person.get(f"/sessions/{trip.public_id}/")).text


def test_nothing_remembered_says_which_case_it_is(person, trip):
    assert "when agents add them" in Page(person.get("/memories/")).text
    assert "with this session's id" in Page(person.get(f"/sessions/{trip.public_id}/memories")).text


def test_a_memory_is_changed_once_and_only_as_it_was_seen(person, known):
    memory = known["bound"]
    address = f"/memories/{memory.public_id}/"
    opened = Page(person.get(address))
    changed = {"content": "Ann likes\r\ngreen tea", "type": "taste", "tags": "cold\r\n\r\n drink "}
    for _ in range(2):
        assert send(person, opened, address, **changed).status_code == 302
    memory.refresh_from_db()
    assert (memory.content, memory.type, memory.tags) == ("Ann likes\ngreen tea", "taste", ["cold", "drink"])
    assert memory.version == 2
    assert shown(Page(person.get("/memories/", {"q": "green tea"}))) == [memory.public_id]

    late = Page(
        person.post(address, opened.form(address)[1] | changed | {"content": "Mine", "idempotency_key": "k"})
    )
    assert late.response.status_code == 409
    assert "Somebody changed this memory" in late.text
    assert "green tea" in late.text
    assert "Mine" in late.source
    assert send(person, late, address, **changed | {"content": "Mine"}).status_code == 302
    memory.refresh_from_db()
    assert (memory.content, memory.version) == ("Mine", 3)
    blank = Page(person.post(address, {"expected_version": "3", "content": " ", "type": "x"}))
    assert blank.response.status_code == 422
    assert "Write what is to be remembered" in blank.text


def test_a_memory_is_deleted_once(person, known, trip):
    memory = known["bound"]
    ending = f"/memories/{memory.public_id}/delete"
    opened = Page(person.get(f"/memories/{memory.public_id}/"))
    done = send(person, opened, ending, reason="Asked to")
    assert (done.status_code, done["Location"]) == (302, f"/sessions/{trip.public_id}/memories")
    again = send(person, opened, ending)
    assert "gone already" in Page(person.get(again["Location"])).text
    assert not Memory.objects.filter(pk=memory.pk).exists()
    assert AgentSession.objects.get(pk=trip.pk).memory_count == 0
    assert person.get(f"/memories/{memory.public_id}/").status_code == 404


def test_what_is_not_allowed_says_why(person, signed_in, known, trip, agent):
    memory = known["bound"]
    address = f"/memories/{memory.public_id}/"
    opened = Page(person.get(address))
    reader = Page(signed_in("viewer").get(address))
    assert "Your role only reads" in reader.text
    assert not reader.has_form("/delete")
    factories.freeze(trip, by=agent)
    frozen = Page(person.get(address))
    assert "stays as it is until the session is resumed" in frozen.text
    assert not frozen.has_form("/delete")
    for ending in (address, f"{address}delete"):
        refused = send(person, opened, ending, content="Another")
        assert refused.status_code == 423
        assert "is frozen since version" in Page(refused).text
    assert RefusedWrite.objects.filter(operation__startswith="memory.").count() == 2
    assert Page(person.get(f"/memories/{known['user'].public_id}/")).has_form("/delete")

    other = factories.project("Other")
    foreign = remember(factories.full_key(other), "Secret")
    assert person.get(f"/memories/{foreign.public_id}/").status_code == 404
    assert person.post(f"/memories/{foreign.public_id}/", {"content": "x"}).status_code == 404
    assert Memory.objects.get(pk=foreign.pk).content == "Secret"


def fork(by, of, version=None):
    return actions.fork(session_id=of.public_id, version=version, by=by).agent_session


def test_a_lineage_is_a_tree_with_distances_and_diffs(person, agent):
    root = factories.session_with_versions(agent, 2)
    first = fork(agent, root, 1)
    factories.update(first, {"step": 9, "new": {"a": 1, "b": 2}}, by=agent)
    factories.update(first, {"step": 10}, by=agent)
    grandchild = fork(agent, first)
    second = fork(agent, root)
    page = Page(person.get(f"/sessions/{first.public_id}/lineage"))
    assert "4 sessions of one lineage" in page.text
    places = [page.source.index(f'faint">{each.public_id}') for each in (root, first, grandchild, second)][1:]
    assert places == sorted(places)
    assert "from v1 of its parent, then 2 versions and 3 changed leaves" in page.text
    assert "from v2 of its parent, then 0 versions, its data as they were" in page.text
    link = f"/sessions/{first.public_id}/diff?left={root.public_id}:1&right=2"
    assert link in page.links
    assert person.get(link).status_code == 200
    assert len(page.with_class("level-2")) == 1

    with_gap = factories.full_key(root.project)
    actions.delete_session(session_id=first.public_id, by=with_gap)
    left = Page(person.get(f"/sessions/{grandchild.public_id}/lineage"))
    assert f"{first.public_id} deleted; its forks are left" in left.text
    # The head of the page names the parent; the tree offers no diff with what is gone.
    assert left.text.count("diff to parent") == 2
    alone = factories.session(agent)
    assert "No forks yet" in Page(person.get(f"/sessions/{alone.public_id}/lineage")).text
    assert StateVersion.objects.filter(agent_session=grandchild).exists()
