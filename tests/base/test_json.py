"""What goes in as JSON comes back the same, and what cannot is refused with its place (contract 1)."""

import json as plain_json
import math

import pytest
from hypothesis import given

from statebase_site.base.json import (
    JsonFault,
    canonical,
    dumps,
    parse,
    parse_stored,
    pretty,
    same,
)
from tests.documents import documents, reordered, typed

pytestmark = pytest.mark.once

INTEGER_4300 = "9" * 4300


def fault_of(raw):
    with pytest.raises(JsonFault) as caught:
        parse(raw)
    return caught.value


class TestRoundTrip:
    @given(documents())
    def test_every_document_comes_back_with_its_types_and_order(self, document):
        text = dumps(document)
        assert typed(parse(text.encode())) == typed(document)
        assert typed(parse(text)) == typed(document)
        assert typed(parse_stored(text)) == typed(document)
        assert typed(parse_stored(text.encode())) == typed(document)
        assert dumps(parse(text)) == text

    @given(documents())
    def test_texts_of_other_writers_are_read_the_same(self, document):
        for text in (plain_json.dumps(document), pretty(document)):
            assert typed(parse(text)) == typed(document)

    @pytest.mark.parametrize(
        "text",
        [
            "1",
            "1.0",
            "true",
            "null",
            "0",
            "-0.0",
            "1e+16",
            "5e-324",
            "1.7976931348623157e+308",
            "0.1",
            '"\\u0000"',
            '"😀\u2028é"',
            '""',
            "[]",
            "{}",
            '{"":{"":[]},"a/b":1,"~":2,"a.b":3}',
            '{"b":1,"a":2}',
            INTEGER_4300,
            "-" + INTEGER_4300,
            "[" * 100 + "]" * 100,
            '{"a":' * 100 + "1" + "}" * 100,
            "[" + ",".join(["[[],{}]"] * 200) + "]",
        ],
        ids=lambda text: text[:20],
    )
    def test_text_in_the_shortest_form_comes_back_unchanged(self, text):
        assert dumps(parse(text)) == text

    def test_escaped_pairs_become_one_character(self):
        assert parse(rb'"\ud83d\ude00 \\ud83d \\\ud83d\ude00"') == "😀 \\ud83d \\😀"

    def test_brackets_inside_strings_are_not_nesting(self):
        text = dumps(["[" * 500, '\\"{' * 500, {"[" * 500: 1}])
        assert dumps(parse(text)) == text


class TestRefused:
    @pytest.mark.parametrize(
        ("raw", "path"),
        [
            ('{"a":[1,NaN]}', "/a/1"),
            ('{"a":[1,Infinity]}', "/a/1"),
            ('{"a":{"b":-Infinity}}', "/a/b"),
            ('{"a":1e400}', "/a"),
            ('{"a":-1e400}', "/a"),
            ("[" + "1" * 400 + ".0]", "/0"),
            ('{"n":' + INTEGER_4300 + "0}", "/n"),
            ('{"n":-' + INTEGER_4300 + "0}", "/n"),
            (r'{"s":["\ud800"]}', "/s/0"),
            (r'{"s":"\udc00x"}', "/s"),
            (r'{"s":"\ud83d\\\ude00"}', "/s"),
            (r'{"s":"\\ud83d\ude00"}', "/s"),
            (r'{"s":{"\uDfFf":1}}', "/s"),
            ('{"s":"\ud800"}', "/s"),
            ('{"x":{"a":1,"b":2,"a":3}}', "/x"),
            (r'{"x":[{"a":1,"\u0061":3}]}', "/x/0"),
            ('{"a/b":{"~":[NaN]}}', "/a~1b/~0/0"),
            ("[" * 101 + "]" * 101, "/0" * 100),
            ('[7,{"k":[' + '{"a":' * 98 + "[]" + "}" * 98 + "]}]", "/1/k/0" + "/a" * 97),
            ("NaN", ""),
            ("1e999", ""),
            (INTEGER_4300 + "0", ""),
        ],
        ids=lambda value: value[:30],
    )
    def test_faults_are_refused_with_their_path(self, raw, path):
        assert fault_of(raw).path == path

    @pytest.mark.parametrize(
        "raw",
        [
            "",
            " ",
            "{",
            "[1,]",
            "{'a':1}",
            "01",
            "1.",
            ".5",
            "+1",
            "{} {}",
            '{"a":1}x',
            "nul",
            '"\n"',
            '"\\x"',
            "[1",
        ],
    )
    def test_malformed_text_is_refused_with_line_and_column(self, raw):
        assert "line 1, column" in fault_of(raw).message

    def test_the_line_of_a_fault_is_named(self):
        assert "line 3, column 6" in fault_of('{\n "a": 1,\n "b":}').message

    def test_bytes_that_are_not_utf8_are_refused(self):
        assert "UTF-8" in fault_of(b'{"a":"\xff"}').message
        assert "UTF-8" in fault_of(b'"\xed\xa0\x80"').message

    def test_a_byte_order_mark_is_refused(self):
        assert "byte order mark" in fault_of(b"\xef\xbb\xbf{}").message

    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":[1],"b":', "[[],"])
    @pytest.mark.parametrize("closed", [True, False])
    def test_hostile_nesting_is_refused_as_nesting(self, opening, closed):
        count = 100_000
        closing = "".join(
            {"[": "]", "{": "}"}[mark]
            for mark in reversed(opening.replace("[1]", "").replace("[]", ""))
            if mark in "[{"
        )
        fault = fault_of(opening * count + ("0" + closing * count if closed else ""))
        assert "100 levels" in fault.message

    def test_the_repeated_key_is_named(self):
        assert '"b"' in fault_of('{"a":1,"b":2,"b":3}').message

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_numbers_that_json_lacks_are_never_written(self, value):
        for write in (dumps, canonical, pretty):
            with pytest.raises(ValueError):
                write({"a": value})


class TestSame:
    @given(documents())
    def test_a_copy_is_the_same_in_any_order_of_keys(self, document):
        assert same(document, parse(dumps(document)))
        assert same(document, reordered(document))
        assert canonical(document) == canonical(reordered(document))

    @given(documents(), documents())
    def test_same_means_equal_with_types(self, left, right):
        expected = typed(left, ordered=False) == typed(right, ordered=False)
        assert same(left, right) == expected
        assert (canonical(left) == canonical(right)) == expected

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (1, 1.0),
            (1, True),
            (0, False),
            (1.0, True),
            (0.0, -0.0),
            (None, False),
            ("1", 1),
            ([], {}),
            ("", None),
        ],
    )
    def test_types_and_signs_count(self, left, right):
        for one, other in ((left, right), ([left], [right]), ({"a": [left]}, {"a": [right]})):
            assert not same(one, other)
            assert not same(other, one)
            assert canonical(one) != canonical(other)

    def test_null_is_not_missing(self):
        assert not same({"a": None}, {})
