"""Secrets in exports: none survives, and nothing else is touched."""

import string
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from incidents_app.masking import Rule, mask, mask_text
from statebase_site.base import json

pytestmark = pytest.mark.once

ALNUM = string.ascii_letters + string.digits
random_text = st.text(ALNUM, min_size=24, max_size=40).filter(lambda text: any(c.isdigit() for c in text))
secret_names = st.sampled_from(
    [
        "password", "DB_PASSWORD", "userPassword2", "client_secret", "apiKey", "X-Api-Key", "api_key",
        "authorization", "Authorization", "access_token", "authToken", "token", "private_key", "passphrase",
        "credentials", "cvv", "card_number", "set-cookie", "AWS_SECRET_ACCESS_KEY", "pwd", "APIKEY",
    ]
)  # fmt: skip
harmless_names = st.sampled_from(
    ["user", "agent", "key", "dedup_key", "note", "tokens_used", "token_count", "password_policy",
     "secret_id", "author", "cookie_banner", "keyboard", "email", "access", "sha256"]
)  # fmt: skip
harmless_text = st.sampled_from(
    [
        "", "UA123", "08:15", "cancel everything", "ada@example.org", "sess_4f9Kq2mZ8xRt", "…4242",
        "NO93 8601 1117 947", "1700000000000", "2026-11-29T14:30:00Z", "https://example.org:8080/a@b?x=1",
        "The token expired: ask again", "risk-assessment-of-everything", "bearer of bad news everywhere",
        "Authorization: needed from maria", "{not json", "12,400.00", "a" * 64, "4111 1111 1111 1112",
        "call 4111-2222", "[1, 2, 3]", '{"a": 1}', "0.4111111111111111", "sb_9f2cQ",
    ]
)  # fmt: skip
numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
leaves = harmless_text | numbers | st.booleans() | st.none()
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(harmless_names, inner, max_size=4)
)


def luhn(digits: str) -> str:
    """The digits with their check digit."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        n = int(digit) * (2 if place % 2 == 0 else 1)
        total += n - 9 if n > 9 else n
    return digits + str(-total % 10)


cards = st.tuples(st.sampled_from("3456"), st.text(string.digits, min_size=11, max_size=17)).map(
    lambda parts: luhn("".join(parts))
)


@st.composite
def given_away(draw) -> tuple[str, str]:
    """(a text that holds a secret, the part of it that must not survive)."""
    secret = draw(random_text)
    shape = draw(st.integers(0, 12))
    if shape == 0:
        card = draw(cards)
        shown = draw(st.sampled_from([card, "-".join(card[n : n + 4] for n in range(0, len(card), 4))]))
        return f"card {shown}, thanks", shown
    if shape == 1:
        shown = f"-----BEGIN RSA PRIVATE KEY-----\n{secret}\n-----END RSA PRIVATE KEY-----"
        return shown, secret
    texts = {
        2: f"eyJhbGciOiJI.{secret}.{secret}",
        3: f"Bearer {secret}",
        4: f"Authorization: Basic {secret}",
        5: f"sk-{secret}",
        6: f"postgres://ada:{secret}@db.example/app",
        7: f"https://ada:{secret}@example.org/x",
        8: f"login with password={secret}; then go on",
        9: f"sb_{secret[:24]}",
        10: json.dumps({"nested": json.dumps({"password": secret})}),
        11: f'said {{\\"api_key\\": \\"{secret}\\"}} and more',
        12: f"?access_token={secret}&x=1",
    }
    return texts[shape], secret[:24]


@given(st.sampled_from(["", "see ", "\\n", '"', "=> "]), given_away(), st.sampled_from(["", " .", "\n", '"']))
def test_no_secret_in_a_text_survives(before, told, after):
    text, secret = told
    masked, counts = mask_text(before + text + after)
    assert secret not in masked
    assert sum(counts.values()) >= 1
    assert mask_text(masked) == (masked, {})


@given(secret_names, random_text, documents)
def test_no_secret_under_a_telling_name_survives(name, secret, other):
    masked = mask({"first": other, name: secret, "deep": [{name: [secret, secret]}], "last": other})
    assert secret not in json.dumps(masked.value)
    assert masked.counts == {Rule.NAMED: 3}
    assert json.same(masked.value["first"], other)
    assert json.same(masked.value["last"], other)


@given(given_away(), secret_names, documents)
def test_a_secret_as_a_key_does_not_survive_either(told, name, other):
    text, secret = told
    assume(text[0] not in "{[")
    masked = mask({text: other, f"{name} {text}": 1})
    assert secret not in json.dumps(masked.value)
    assert len(masked.value) == 2
    assert mask(masked.value).counts == {}


@given(documents)
def test_what_is_no_secret_stays_exactly_as_it_is(document):
    masked = mask(document)
    assert json.dumps(masked.value) == json.dumps(document)
    assert masked.counts == {}
    assert masked.total == 0


def shape(value):
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return value if isinstance(value, bool) or value is None else "leaf"


anything = st.recursive(
    leaves | given_away().map(lambda told: told[0]) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(secret_names | harmless_names | st.text(max_size=6), inner, max_size=4)
    ),
)


@given(anything)
def test_the_shape_stays_and_masking_again_changes_nothing(document):
    masked = mask(document)
    assert shape(masked.value) == shape(document)
    again = mask(masked.value)
    assert json.same(again.value, masked.value)
    assert again.counts == {}


def test_each_rule_is_counted_by_its_name_and_leaves_a_hint():
    masked = mask(
        {
            "password": "hunter2",
            "cvv": 123,
            "card": 4111111111111111,
            "dsn": "postgres://ada:s3cr3t-pw@db:5432/app",
            "usage": {"tokens": 512},
            "has_password": True,
            "authorization": {"granted_by": "maria", "limit": 500},
        }
    )
    assert masked.value == {
        "password": "[masked:named:text:1-7]",
        "cvv": "[masked:named:number:1-7]",
        "card": "[masked:card_number:number:16-31]",
        "dsn": "postgres://ada:[masked:connection_string:text:8-15]@db:5432/app",
        "usage": {"tokens": 512},
        "has_password": True,
        "authorization": {"granted_by": "maria", "limit": 500},
    }
    assert masked.counts == {"card_number": 1, "connection_string": 1, "named": 2}


def test_no_text_makes_it_slow():
    began = time.perf_counter()
    for piece in ('password="', "eyJ", "redis://", "4 1-", "-----BEGIN "):
        mask_text(piece * (200_000 // len(piece)))
    assert time.perf_counter() - began < 20
