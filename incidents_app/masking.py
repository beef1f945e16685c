"""Secrets in what leaves the house: found by rule, replaced by a mark, and counted. Pure.

A mark says which rule found what: `[masked:card_number:text:16-31]` stood in the place of a text of 16 to 31
characters. Whatever is no secret comes back exactly as it was; what is masked already stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from statebase_site.base import json
from statebase_site.base.json import JsonValue


class Rule(StrEnum):
    """What gave a secret away; counts go by these names."""

    NAMED = "named"  # the key it stands under
    ASSIGNED = "assigned"  # `password=…` within a text
    PRIVATE_KEY = "private_key"
    SIGNED = "jwt"
    BEARER = "bearer"
    PROVIDER = "provider_key"  # the shape of a provider's API key, or of one of ours
    CONNECTION = "connection_string"  # the password in an address
    CARD = "card_number"


@dataclass(frozen=True, slots=True)
class Masked:
    """A document or text without its secrets, and how many each rule found."""

    value: JsonValue
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many secrets were found."""
        return sum(self.counts.values())


def mask(document: JsonValue) -> Masked:
    """Mask a JSON document: keys, and the texts and numbers under them. Its shape stays."""
    counts: Counter[str] = Counter()
    return Masked(_document(document, counts), dict(sorted(counts.items())))


def mask_text(text: str) -> tuple[str, Mapping[str, int]]:
    """Mask a text, which may be JSON itself: returns it, and how many each rule found."""
    counts: Counter[str] = Counter()
    return _text(text, counts), dict(sorted(counts.items()))


# Marks --------------------------------------------------------------------------------------------------

_MARK = re.compile(r"(\[masked:[a-z_]+:(?:text|number):(?:1-7|8-15|16-31|32\+)\])")


def _mark(rule: Rule, secret: str | float, counts: Counter[str]) -> str:
    counts[rule] += 1
    kind, length = ("text", len(secret)) if isinstance(secret, str) else ("number", len(str(secret)))
    size = next((words for most, words in ((7, "1-7"), (15, "8-15"), (31, "16-31")) if length <= most), "32+")
    return f"[masked:{rule}:{kind}:{size}]"


# Documents ----------------------------------------------------------------------------------------------


class _Says(StrEnum):
    """What the name of a key says of its value."""

    NOTHING = "nothing"
    SECRET = "secret"  # noqa: S105
    SECRET_TEXT = "secret text"  # noqa: S105  a number is a count of tokens, an object says who may do what


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STRONG = _words(
    """password passwords passwd pwd passphrase passcode secret secrets credential credentials apikey
    secretkey privatekey accesskey accesstoken authtoken refreshtoken clientsecret"""
)
_NEUTRAL = _words(
    """id ids name names count length policy type kind enabled required valid verified at expires expiry
    ttl age version rotation status reset changed updated created strength attempts"""
)
_LAST = _words("cvv cvc otp")
_LAST_TEXT = _words("token tokens jwt bearer cookie cookies authorization")
_BEFORE_KEY = _words("api access private secret signing encryption auth ssh service account master")
_PAIRS = {("card", "number"), ("connection", "string")} | {
    (first, last) for first in _BEFORE_KEY for last in ("key", "keys")
}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _says(key: str) -> _Says:
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return _Says.NOTHING
    last = words[-1]
    if last in _LAST or tuple(words[-2:]) in _PAIRS:
        return _Says.SECRET
    if last not in _NEUTRAL and not _STRONG.isdisjoint(words):
        return _Says.SECRET
    return _Says.SECRET_TEXT if last in _LAST_TEXT else _Says.NOTHING


def _document(value: JsonValue, counts: Counter[str], says: _Says = _Says.NOTHING) -> JsonValue:
    if isinstance(value, dict):
        # An authorization may also be a permission: of an object only what its own keys say is secret.
        inner = says if says == _Says.SECRET else _Says.NOTHING
        return _object(value, counts, inner)
    if isinstance(value, list):
        return [_document(each, counts, says) for each in value]
    if isinstance(value, str):
        if says != _Says.NOTHING and value and not _MARK.fullmatch(value):
            return _mark(Rule.NAMED, value, counts)
        return _text(value, counts)
    if isinstance(value, bool) or value is None:
        return value
    if says == _Says.SECRET:
        return _mark(Rule.NAMED, value, counts)
    if isinstance(value, int) and _is_card(str(value)):
        return _mark(Rule.CARD, value, counts)
    return value


def _object(value: dict[str, JsonValue], counts: Counter[str], says: _Says) -> JsonValue:
    made: dict[str, JsonValue] = {}
    for key, inner in value.items():
        name = base = _text(key, counts)
        number = 1
        while name in made:
            number += 1
            name = f"{base}#{number}"
        made[name] = _document(inner, counts, says if says != _Says.NOTHING else _says(name))
    return made


# Texts --------------------------------------------------------------------------------------------------

_Replace = Callable[[re.Match[str], Counter[str]], str]


def _text(text: str, counts: Counter[str]) -> str:
    if text[:1] in ("{", "["):
        try:
            inner = json.parse(text)
        except json.JsonFault:
            pass
        else:
            masked = mask(inner)
            counts.update(masked.counts)
            return json.dumps(masked.value) if masked.counts else text
    # A mark may uncover another secret beside it: until nothing more is found.
    while (masked_text := _once(text, counts)) != text:
        text = masked_text
    return text


def _once(text: str, counts: Counter[str]) -> str:
    for pattern, replace in _RULES:
        if pattern.search(text):
            pieces = _MARK.split(text)
            pieces[::2] = [
                pattern.sub(lambda found, replace=replace: replace(found, counts), piece)
                for piece in pieces[::2]
            ]
            text = "".join(pieces)
    return text


def _whole(rule: Rule) -> _Replace:
    return lambda found, counts: _mark(rule, found[0], counts)


def _only_secret(rule: Rule) -> _Replace:
    """Masks the group `secret` of a match, or `quoted`, and leaves what is around it."""

    def replace(found: re.Match[str], counts: Counter[str]) -> str:
        group = "quoted" if found.groupdict().get("quoted") is not None else "secret"
        before, after = found.start(group) - found.start(), found.end(group) - found.start()
        return found[0][:before] + _mark(rule, found[group], counts) + found[0][after:]

    return replace


def _cards(found: re.Match[str], counts: Counter[str]) -> str:
    """Masks the card numbers in a row of digit groups."""
    row, made, at = found[0], "", 0
    groups = list(re.finditer(r"\d+", row))
    place = 0
    while place < len(groups):
        start = groups[place].start()
        window = groups[place : place + _CARD_DIGITS_MOST]
        size = next((size for size in range(len(window), 0, -1) if _is_card(_digits(window[:size]))), 0)
        if size:
            end = window[size - 1].end()
            made += row[at:start] + _mark(Rule.CARD, row[start:end], counts)
            at = end
        place += size or 1
    return made + row[at:]


def _digits(groups: Sequence[re.Match[str]]) -> str:
    return "".join(group[0] for group in groups)


def _is_card(digits: str) -> bool:
    """13 to 19 digits that begin as those of card networks do, with a right check digit (Luhn)."""
    if not 13 <= len(digits) <= _CARD_DIGITS_MOST or digits[0] not in "23456" or not digits.isdigit():
        return False
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (
        sum(int(digit) for digit in digits[-1::-2]) + sum(n - 9 if n > 9 else n for n in doubled)
    ) % 10 == 0


# Where a word begins: behind no letter or digit, or behind an escape that is written out, such as \n.
_BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_CARD_DIGITS_MOST = 19
_LENGTH_MOST = 4096  # bounds each search, so that no text makes it slow
_NAME = (
    r"(?:passwords?|passwd|pwd|passphrase|passcode|secret|api[_-]?key|(?:access|private|signing)[_-]?key"
    r"|cvv|cvc|otp)"
)
_QUOTED = rf"(?P<quote>\\*[\"'])(?P<quoted>[^\n]{{1,{_LENGTH_MOST}}}?)(?P=quote)"
_BARE = r"\\*[\"']?(?P<secret>[^\s,;&\"'\\<>()\[\]{}]+)"

_RULES: tuple[tuple[re.Pattern[str], _Replace], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
        _whole(Rule.PRIVATE_KEY),
    ),
    (
        re.compile(_BEGIN + r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
        _whole(Rule.SIGNED),
    ),
    (
        re.compile(
            _BEGIN + r"(?:sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
            r"|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[\w-]{30,}|sb_[A-Za-z0-9]{24}"
            r"|hf_\w{20,}|npm_\w{30,}|pypi-[\w-]{40,}|whsec_[\w+/=]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}"
            r"|ya29\.[\w-]{16,})",
            re.ASCII,
        ),
        _whole(Rule.PROVIDER),
    ),
    (
        re.compile(
            r"(?i)authorization[\\\"']*\s*[:=]\s*[\\\"']*(?:basic|bearer|token|digest|apikey)\s+"
            r"(?P<secret>[^\s\"',\\]+)"
        ),
        _only_secret(Rule.BEARER),
    ),
    (
        re.compile(r"(?i)" + _BEGIN + r"bearer\s+(?P<secret>(?=[A-Za-z._~+/-]{0,128}\d)[\w.~+/-]{16,}=*)"),
        _only_secret(Rule.BEARER),
    ),
    (
        re.compile(
            r"(?i)"
            + _BEGIN
            + r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|oracle)(?:\+\w{1,20})?://"
            r"[^\s/:@\"'<>]{0,128}:(?P<secret>[^\s\"'<>]{1,1024})@"
        ),
        _only_secret(Rule.CONNECTION),
    ),
    (
        re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@\"'<>]{0,128}:(?P<secret>[^\s/\"'<>]{1,1024})@"),
        _only_secret(Rule.CONNECTION),
    ),
    (
        re.compile(rf"(?i){_NAME}\\*[\"']?\s{{0,20}}(?:=>|[:=])\s{{0,20}}(?:{_QUOTED}|{_BARE})"),
        _only_secret(Rule.ASSIGNED),
    ),
    (
        # A sentence may go on behind "token:"; what holds a digit and is long is no word of it.
        re.compile(
            rf"(?i)token(?:\\*[\"']?\s{{0,20}}=>?\s{{0,20}}|\\*[\"']\s{{0,20}}:\s{{0,20}})(?:{_QUOTED}|{_BARE})"
        ),
        _only_secret(Rule.ASSIGNED),
    ),
    (
        re.compile(r"(?i)token:\s{0,20}(?P<secret>(?=[A-Za-z._~+/-]{0,128}\d)[\w.~+/-]{8,}=*)"),
        _only_secret(Rule.ASSIGNED),
    ),
    (
        re.compile(r"(?<![0-9A-Za-z_+])(?<!\d[.,])\d(?:[ -]?\d){12,}(?![0-9A-Za-z_])", re.ASCII),
        _cards,
    ),
)
