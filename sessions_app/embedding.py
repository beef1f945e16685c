"""How much a memory has to do with a query: words in common, and how alike both are spelt. Pure.

Lexical, so that it works without a network or a model: it finds other forms of a word and misspelt ones, and
knows nothing of meaning. Another `Embedder` can take its place (setting STATEBASE_EMBEDDER).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import sqrt
from operator import mul
from typing import Any, Protocol
from zlib import crc32

DIMENSIONS = 512
RELEVANT = 0.7
"""The threshold that the official SDK always sends (contract 6.5): scores are made so that it is useful."""

_WORD = re.compile(r"\w+")
# Scripts that write words without spaces between them: each pair of characters counts as a word.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been but by can could did do does for from had has
    have he her here him his how i if in into is it its just like me more most my no not of on one
    or our out she so some than that the their them then there these they this those to too up us
    was we were what when where which who why will with would you your
    """.split()  # noqa: SIM905 - one reads it as a text
)


class Embedder(Protocol):
    """Turns texts into vectors of one length, whose dot product says how alike they are (-1 to 1)."""

    name: str
    related: float | None
    """The likeness from which on a memory is what is looked for, even without any word of the query; None
    where the vectors know nothing of meaning."""

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """One vector a text, of length 1."""


class HashedEmbedder:
    """Words and runs of three characters, each at a place that its hash says."""

    name = "hashed-ngrams-1"
    related: float | None = None

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        return [_vector(text) for text in texts]


def words(text: str) -> list[str]:
    """The words of a text: lower case, without accents, those of unspaced scripts in pairs of characters."""
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", plain)):
        found += _pairs(word) if _UNSPACED.search(word) else [word]
    return found


def terms(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order; all words where there is no other."""
    found = words(text)
    return [_stem(word) for word in found if word not in _STOP_WORDS] or [_stem(word) for word in found]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """How alike two vectors of length 1 are; 0 where they were made by different embedders."""
    return sum(map(mul, one, other)) if len(one) == len(other) else 0.0


def score(query: Sequence[str], memory: Iterable[str], likeness: float) -> float:
    """From 0 to 1, from the terms of both and their vectors' likeness (contract 6.5).

    The same terms score 1. RELEVANT is passed from about a quarter of the query's terms on; without a term in
    common, spelling or meaning alone has to be very close.
    """
    wanted, there = set(query), set(memory)
    if not wanted:
        return 0.0
    shared = sum(_presence(term, there) for term in wanted) / len(wanted)
    alike = min(1.0, max(0.0, likeness))
    if wanted == there:
        return round(0.95 + 0.05 * alike, 4)
    if shared == 0:
        return round(min(0.65, 0.65 * alike), 4)
    return round(0.6 + 0.35 * (0.7 * shared + 0.3 * alike) ** 0.7, 4)


def by_meaning(shared_score: float, likeness: float, related: float) -> float:
    """The score where the embedder knows meaning: the better of what the words and the vectors say.

    The vectors alone pass RELEVANT at the likeness `related`.
    """
    alike = min(1.0, max(0.0, likeness))
    if alike < related:
        meant = RELEVANT * alike / related
    else:
        meant = RELEVANT + (1 - RELEVANT) * (alike - related) / (1 - related)
    return round(max(shared_score, meant), 4)


def to_bytes(vector: array[float]) -> bytes:
    """As it is stored: little-endian 32-bit floats."""
    stored = array("f", vector)
    if _BIG_ENDIAN:
        stored.byteswap()
    return stored.tobytes()


def from_bytes(stored: bytes | memoryview) -> array[float]:
    """The vector again."""
    vector = array("f")
    vector.frombytes(bytes(stored))
    if _BIG_ENDIAN:
        vector.byteswap()
    return vector


_BIG_ENDIAN = array("H", [1]).tobytes() == b"\x00\x01"


@cache
def _stemmer() -> Any:
    import snowballstemmer  # here, because it brings thirty languages into every process that starts

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return _stemmer().stemWord(word)


def _pairs(word: str) -> list[str]:
    return [word[place : place + 2] for place in range(len(word) - 1)] or [word]


def _presence(term: str, there: set[str]) -> float:
    """1 for a term that is there, less for one that is only spelt much like one, else 0."""
    if term in there:
        return 1.0
    if len(term) < 5 or term.isdigit():
        return 0.0
    own = _trigrams(term)
    best = max(
        (_overlap(own, _trigrams(other)) for other in there if abs(len(other) - len(term)) < 4), default=0
    )
    return 0.8 * best if best >= 0.5 else 0.0


@lru_cache(maxsize=20_000)
def _trigrams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[place : place + 3] for place in range(len(padded) - 2))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _vector(text: str) -> array[float]:
    vector = array("f", bytes(4 * DIMENSIONS))
    for term in terms(text):
        _add(vector, term, 1.0)
        for part in _trigrams(term):
            _add(vector, part, 0.35)
    length = sqrt(sum(map(mul, vector, vector)))
    return array("f", (each / length for each in vector)) if length else vector


def _add(vector: array[float], feature: str, weight: float) -> None:
    hashed = crc32(feature.encode())
    vector[hashed % DIMENSIONS] += weight if hashed & 0x1000000 else -weight
