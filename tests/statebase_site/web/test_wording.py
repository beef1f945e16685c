"""Sizes, counts, paths, and characters that would not be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statebase_site.web.wording import count_noun, filesize, hidden_parts, pointer_dots

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 versions"), (1, "1 version"), (2, "2 versions"), (12345, "12,345 versions")]
)
def test_counts(count, words):
    assert count_noun(count, "version") == words


def test_a_plural_of_its_own():
    assert count_noun(2, "entry", "entries") == "2 entries"
    assert count_noun(1, "entry", "entries") == "1 entry"


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (9_421, "9.4 KB"),
        (999_949, "999.9 KB"),
        (999_950, "1.0 MB"),
        (2_097_152, "2.1 MB"),
        (5_000_000_000, "5.0 GB"),
    ],
)
def test_sizes(size, words):
    assert filesize(size) == words


@pytest.mark.parametrize(
    ("char", "escape"),
    [
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u200b", "U+200B"),
        ("\u200f", "U+200F"),
        ("\ufeff", "U+FEFF"),
        ("\x00", "U+0000"),
        ("\x1b", "U+001B"),
        ("\x7f", "U+007F"),
        ("\u2028", "U+2028"),
        ("\U000e0041", "U+E0041"),
        ("\ud800", "U+D800"),
        ("\r", "U+000D"),
    ],
)
def test_what_is_not_seen_is_written_out(char, escape):
    parts = list(hidden_parts(f"a{char}b"))
    assert [text for text, _name in parts] == ["a", escape, "b"]
    assert parts[1][1]


@pytest.mark.parametrize(
    "text", ["tab\tand\nline", "windows\r\nline", "naïve – „quoted“", "عربى", "👩‍💻 ❤️", "日本"]
)
def test_ordinary_text_stays_as_it_is(text):
    assert list(hidden_parts(text)) == [(text, "")]


def test_a_joiner_between_letters_is_shown():
    assert ("U+200D", "zero width joiner") in list(hidden_parts("pay\u200dpal"))


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_shown_can_be_sent_and_loses_nothing_else(text):
    parts = list(hidden_parts(text))
    shown = "".join(part for part, _name in parts)
    shown.encode()  # a lone surrogate would raise
    back = "".join(chr(int(part[2:], 16)) if name else part for part, name in parts)
    assert back == text


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", "@"),
        ("/a", "a"),
        ("/a/0/b", "a[0].b"),
        ("/a/b.c", 'a."b.c"'),
        ("/x~1y/t~0", '"x/y"."t~"'),
        ("/", '""'),
        ('/say "hi"', '"say \\"hi\\""'),
        ("/0", "[0]"),
    ],
)
def test_pointers_as_dotted_paths(pointer, path):
    assert pointer_dots(pointer) == path
