"""Embedders that know meaning: another one in place of the default, and the optional `wordllama`."""

from __future__ import annotations

import sys
from array import array
from importlib.util import find_spec
from io import StringIO

import pytest
from django.core.management import call_command

from sessions_app import actions, embedders, queries
from sessions_app.embedding import RELEVANT
from sessions_app.models import Memory
from statebase_site import checks
from tests import factories


class Food:
    """Knows three meanings and nothing else."""

    name = "food"
    related = 0.5
    meanings = (("vegetarian", "meat"), ("sushi", "dinner"), ("flight", "window"))

    def embed(self, texts):
        return [
            array("f", [float(any(word in text for word in words)) for words in self.meanings])
            for text in texts
        ]


@pytest.fixture
def use(settings):
    """Puts another embedder in the place of the default: `use("wordllama")`."""

    def use(name):
        settings.EMBEDDER = name
        embedders.embedder.cache_clear()

    yield use
    embedders.embedder.cache_clear()


@pytest.fixture
def by(db):
    return factories.full_key(factories.project())


def best(by, query):
    """The content and score of what is found first."""
    found = queries.search_memories(queries.memories_for(by), query, limit=1)
    return found[0].memory.content, found[0].score


def test_another_embedder_finds_by_meaning_once_the_memories_have_its_vectors(by, use):
    for content in ("does not eat meat", "a window seat", "nothing of it"):
        actions.add_memory(content=content, by=by)
    actions.add_memory(content="hidden", embed=False, by=by)
    assert best(by, "vegetarian")[1] < RELEVANT
    before = Memory.objects.get(content="does not eat meat")
    use(f"{__name__}.Food")
    assert best(by, "vegetarian")[1] < RELEVANT
    assert best(by, "window seat") == ("a window seat", pytest.approx(0.95, abs=0.06))  # by its words
    for said in ("3 embedded anew by food.\n", "0 embedded anew by food.\n"):
        out = StringIO()
        call_command("embed_memories", stdout=out)
        assert out.getvalue() == said
    assert best(by, "vegetarian") == ("does not eat meat", 1.0)
    after = Memory.objects.get(pk=before.pk)
    assert (after.version, after.updated_at, after.terms) == (before.version, before.updated_at, before.terms)
    assert after.embedding_id != before.embedding_id
    assert Memory.objects.get(content="hidden").vector is None


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wordllama", "isn't installed. Install it with `"),
        ("no.such.Embedder", "can't be imported: No module named 'no'."),
    ],
)
def test_an_embedder_that_is_not_there_is_told_before_the_server_starts(use, monkeypatch, name, said):
    assert checks.embedder_is_installed() == []
    monkeypatch.setitem(sys.modules, "wordllama", None)  # as where the extra is not installed
    use(name)
    (message,) = checks.embedder_is_installed()
    assert said in message.msg


@pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is an optional extra")
def test_wordllama_finds_paraphrases(by, use):
    use("wordllama")
    contents = (
        "Does not eat meat",
        "User prefers dark mode UI",
        "Was born on 4 March 1990",
        "Runs marathons",
    )
    for content in contents:
        actions.add_memory(content=content, by=by)
    for query, content in (
        ("vegetarian", contents[0]),
        ("theme preference", contents[1]),
        ("birthday", contents[2]),
        ("runs MARATHONS", contents[3]),
    ):
        found, score = best(by, query)
        assert (found, score >= RELEVANT) == (content, True), (query, score)
    assert best(by, "runs marathons")[1] >= 0.95
    assert best(by, "the price of copper in London")[1] < RELEVANT
    assert best(by, "\u3000")[1] < RELEVANT
