"""The post-mortem: the same bytes for the same facts, whole, and no text in it becomes structure."""

import re
from pathlib import Path

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from incidents_app import actions, queries
from incidents_app.payloads import markdown
from incidents_app.payloads.postmortem import postmortem
from tests import factories as make
from tests.incidents_app import exporting, runbook

EXPECTED = Path(__file__).with_name("postmortem.md")


@pytest.fixture(scope="module")
def told(module_db):
    return exporting.told()


def text_of(told) -> str:
    return postmortem(queries.record_of(queries.incident_for(told.maria, told.incident.reference)))


def without_chance(text: str) -> str:
    """The text with ids and hashes, which differ each time, numbered as they appear."""
    found = list(dict.fromkeys(re.findall(r"\b(?:sess|scn)_[0-9a-z]{20}|\b[0-9a-f]{64}\b", text)))
    for number, each in enumerate(found, 1):
        text = text.replace(each, f"ID-{number}")
    return text


def test_it_tells_everything_in_the_same_bytes_each_time(told):
    text = text_of(told)
    assert text_of(told) == text
    assert without_chance(text) == EXPECTED.read_text()
    assert exporting.SECRET not in text


def test_a_new_fact_changes_it(told):
    before = text_of(told)
    actions.add_note(reference=told.incident.reference, text="One more", by=told.maria)
    assert text_of(told) != before


def test_it_is_downloaded_from_the_incident_and_over_the_api(told, client):
    client.force_login(make.membership(told.project, "viewer", "vera").user)
    page = client.get(f"/incidents/{told.incident.reference}/postmortem.md")
    assert page["Content-Type"] == "text/markdown; charset=utf-8"
    assert page["Content-Disposition"] == 'attachment; filename="INCIDENT-1-postmortem.md"'
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page.content.decode() == text_of(told)
    key = make.api_key(told.project)[1]
    answer = Client().get("/v1/incidents/INCIDENT-1/postmortem.md", headers={"X-API-Key": key})
    assert (answer.status_code, answer.content) == (200, page.content)


def test_an_incident_in_triage_about_no_session_has_one_too(db):
    project = make.project("Beta")
    maria = make.person(project, "responder", "maria")
    incident = runbook.file(maria, severity=None, no_session_reason="Seen in the provider's logs")
    text = postmortem(queries.record_of(queries.incident_for(maria, incident.reference)))
    assert "- Severity: not chosen yet\n- Status: triage\n" in text
    assert "- Affected sessions: none. Seen in the provider's logs\n" in text
    assert "- Masked: nothing looked like a secret\n" in text
    assert "0 s" not in text


# Text stays text ----------------------------------------------------------------------------------------

_STRUCTURE = """# h|- i|1. i|1) i|===|---|***|> q|```|~~~|<script>|<!-- c -->|</p>|[a](javascript:x)|
![a](b)|[x]: /u|<https://a.example>|https://a.example|www.a.example|&lt;|&amp;|*|_|**b**|__b__|~~s~~|`c`|``|\\|:-:|a_b|a|é|
$x$|ada@example.org|#|+"""
_PIECES = [*_STRUCTURE.split("|"), "|", "| - |", "\n", "\n\n", "    ", "\t", " ", "\r", "\u2028", "\u202e"]
hostile = st.lists(
    st.sampled_from(_PIECES) | st.text(st.characters(codec="utf-8"), max_size=5), max_size=12
).map("".join)


def parsed(text: str) -> list:
    return MarkdownIt("gfm-like", {"linkify": False}).parse(text)


def seen_text(tokens) -> str:
    inline = [child for token in tokens for child in token.children or ()]
    return "".join(
        "\n" if token.type in ("softbreak", "hardbreak") else token.content
        for token in inline
        if token.type in ("softbreak", "hardbreak", "text", "code_inline")
    )


def kinds(tokens) -> set[str]:
    return {each.type for token in tokens for each in (token, *(token.children or ()))}


@pytest.mark.once
@given(hostile)
def test_a_text_in_a_line_is_only_text(text):
    for tokens in (parsed(f"- Title: {markdown.line(text)}"), parsed(f"# Title: {markdown.line(text)}")):
        assert kinds(tokens) <= {
            *("bullet_list_open", "list_item_open", "paragraph_open", "inline", "text", "paragraph_close"),
            *("list_item_close", "bullet_list_close", "heading_open", "heading_close"),
        }
        assert seen_text(tokens) == f"Title: {markdown._seen(' '.join(text.split()))}".strip()


@pytest.mark.once
@given(hostile)
def test_a_text_of_lines_is_only_quoted_text(text):
    tokens = parsed(f"Before\n\n{markdown.block(text)}\n\n## After")
    assert kinds(tokens) <= {
        *("paragraph_open", "inline", "text", "paragraph_close", "blockquote_open", "blockquote_close"),
        *("heading_open", "heading_close", "hardbreak"),
    }
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2"]


@pytest.mark.once
@given(hostile)
def test_code_is_only_code(text):
    tokens = parsed(f"- x {markdown.code(text)}, y")
    assert kinds(tokens) <= {
        *("bullet_list_open", "list_item_open", "paragraph_open", "inline", "text", "paragraph_close"),
        *("list_item_close", "bullet_list_close", "code_inline"),
    }
    assert seen_text(tokens) == f"x {markdown._seen(' '.join(text.split())) or '  '}, y"


@pytest.mark.once
def test_addresses_and_names_are_no_links():
    for text in ("https://evil.example/x", "www.evil.example", "see http://evil.example.", "WWW.a.example"):
        assert not re.search(r"://|\bwww\.", markdown.line(text), re.IGNORECASE)
        assert seen_text(parsed(markdown.line(text))) == text
