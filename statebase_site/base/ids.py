"""Opaque ids: a prefix that tells the kind, and 20 random characters of `[a-z0-9]` (contract section 1)."""

import os

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 20


def new_id(prefix: str) -> str:
    """A fresh id such as `sess_4k0z…`; 100 bits of randomness, so that ids can be made without asking."""
    number = int.from_bytes(os.urandom(13), "big")
    characters = []
    for _ in range(_LENGTH):
        number, remainder = divmod(number, 36)
        characters.append(_ALPHABET[remainder])
    return f"{prefix}_{''.join(characters)}"


def findable(text: str) -> str:
    """An id from outside as one may look for it: PostgreSQL refuses to look for U+0000, which no id holds."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
