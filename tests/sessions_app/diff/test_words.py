"""Long texts are compared by word, and no letter is lost."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.diff import words

pytestmark = pytest.mark.once

texts = st.text(alphabet="ab .\n,é😀", max_size=40) | st.text(max_size=20)


def shown(old, new):
    marks = {"same": "{}", "removed": "[-{}-]", "added": "[+{}+]"}
    return "".join(marks[kind.value].format(text) for kind, text in words(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("the order is paid", "the order is refunded", "the order is [-paid-][+refunded+]"),
        ("the order is paid", "the order is now paid", "the order is [+now +]paid"),
        ("one two three four", "one four", "one [-two three -]four"),
        ("see a b end of it", "see c d end of it", "see [-a b-][+c d+] end of it"),
        ("total: 10.", "total: 12.", "total: [-10-][+12+]."),
        (
            "line one here\nline two here",
            "line one here\nline 2 here",
            "line one here\nline [-two-][+2+] here",
        ),
        ("nothing in common", "XYZ", "[-nothing in common-][+XYZ+]"),
        ("", "new", "[+new+]"),
        ("old", "", "[-old-]"),
        ("same", "same", "same"),
        ("", "", ""),
    ],
)
def test_changed_words_are_marked(old, new, expected):
    assert shown(old, new) == expected


@given(texts, texts)
def test_the_pieces_make_up_both_texts(old, new):
    pieces = words(old, new)
    assert "".join(text for kind, text in pieces if kind.value != "added") == old
    assert "".join(text for kind, text in pieces if kind.value != "removed") == new
    assert all(text for _, text in pieces)


@given(texts)
def test_a_text_is_the_same_as_itself(text):
    assert [kind.value for kind, _ in words(text, text)] == (["same"] if text else [])


@pytest.mark.parametrize("size", [5_000, 60_000, 1_000_000])
def test_long_texts_keep_every_letter(size):
    source = random.Random(5)
    old = "".join(source.choices("abcdef \n", k=size))
    for new in (
        old[: size // 2] + " inserted " + old[size // 2 :],
        "".join(source.choices("abcdef \n", k=size)),
        old[::-1],
    ):
        pieces = words(old, new)
        assert "".join(text for kind, text in pieces if kind.value != "added") == old
        assert "".join(text for kind, text in pieces if kind.value != "removed") == new


def test_one_word_of_a_very_long_line_is_found():
    old = "word " * 200_000
    assert (
        shown(old, old[:500_000] + "other " + old[500_000:]) == old[:500_000] + "[+other +]" + old[500_000:]
    )
