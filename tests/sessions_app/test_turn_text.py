"""A turn's input and output always have a text `type` and a text `content` (contract 6.4, R15)."""

import pytest
from hypothesis import given

from sessions_app.errors import InvalidInput
from sessions_app.payloads.turn_text import turn_text
from statebase_site.base import json
from tests.documents import documents, states, typed

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("given_value", "type_", "content"),
    [
        ("x", "text", "x"),
        ("", "text", ""),
        ({"content": "x"}, "text", "x"),
        ({"type": "image", "content": "x"}, "image", "x"),
        ({"role": "user"}, "json", '{"role":"user"}'),
        ({"type": "call", "role": "user"}, "call", '{"role":"user"}'),
        ({}, "json", "{}"),
        ({"content": ["a", 1]}, "text", '["a",1]'),
        ({"content": {"a": None}}, "text", '{"a":null}'),
        ({"content": 1.0}, "text", "1.0"),
        ({"content": False}, "text", "false"),
        ({"type": None, "content": None, "a": None}, "json", '{"a":null}'),
        ({"type": "", "content": ""}, "", ""),
    ],
)
def test_both_texts_are_filled_in(given_value, type_, content):
    made = turn_text(given_value, "input")
    assert (made["type"], made["content"]) == (type_, content)


@given(states())
def test_further_keys_stay_as_they_are(document):
    if document.get("type") is not None and not isinstance(document["type"], str):
        with pytest.raises(InvalidInput) as refused:
            turn_text(document, "output")
        assert refused.value.param == "output.type"
        return
    made = turn_text(document, "output")
    assert isinstance(made["type"], str)
    assert isinstance(made["content"], str)
    assert list(made)[: len(document)] == list(document)
    others = {key: value for key, value in made.items() if key not in ("type", "content")}
    assert typed(others) == typed({k: v for k, v in document.items() if k not in ("type", "content")})
    assert turn_text(made, "output") == made  # twice is no more than once


@given(documents())
def test_a_content_that_is_no_text_is_its_json(document):
    if isinstance(document, str) or document is None:
        return
    made = turn_text({"content": document}, "input")
    assert typed(json.parse(made["content"])) == typed(document)


@pytest.mark.parametrize("value", [None, 5, 1.5, True, [], ["x"]])
def test_neither_text_nor_object_is_refused(value):
    with pytest.raises(InvalidInput) as refused:
        turn_text(value, "input")
    assert refused.value.param == "input"
