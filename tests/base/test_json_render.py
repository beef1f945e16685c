"""Answers in which finished JSON texts stand as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statebase_site.base import json
from tests.documents import documents

pytestmark = pytest.mark.once


@given(st.dictionaries(st.text(max_size=4), documents(8), max_size=4), documents(8))
def test_a_written_text_comes_out_as_its_value_would(frame, document):
    written = json.Written(json.dumps(document))
    mixed = {**frame, "a": written, "b": [written, {"c": written}]}
    plain = {**frame, "a": document, "b": [document, {"c": document}]}
    assert json.render(mixed) == json.dumps(plain).encode()


def test_a_text_may_be_bytes_and_goes_out_unread():
    assert json.render([json.Written(b'{"kept" :1.0}')]) == b'[{"kept" :1.0}]'
    assert json.render(json.Written("{}")) == b"{}"


def test_what_is_no_json_is_refused():
    for value in ({"a": object()}, [float("nan")], {"a": b"bytes"}):
        with pytest.raises((TypeError, ValueError)):
            json.render(value)
