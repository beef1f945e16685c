"""Limits of what may be written about an incident, and the checks behind them."""

from __future__ import annotations

from statebase_site.base.errors import InvalidInput, TooLarge

TITLE_CHARACTERS = 200
TEXT_BYTES = 16 * 1024
SESSIONS_MOST = 1000


def check_line(value: str | None, param: str, *, most: int = TITLE_CHARACTERS, required: bool = True) -> str:
    """One line of text: not blank where required, at most `most` characters, no U+0000."""
    line = " ".join((value or "").split())
    if required and not line:
        raise InvalidInput(f"{param} is required.", param=param)
    if len(line) > most:
        raise InvalidInput(f"{param} has {len(line):,} characters; the limit is {most}.", param=param)
    return _plain(line, param)


def check_text(value: str | None, param: str, *, required: bool = True) -> str:
    """A text of some lines: not blank where required, at most 16 KiB, no U+0000."""
    text = (value or "").strip()
    if required and not text:
        raise InvalidInput(f"{param} is required.", param=param)
    if (size := len(text.encode(errors="replace"))) > TEXT_BYTES:
        raise TooLarge(f"{param} has {size:,} bytes; the limit is {TEXT_BYTES:,}.", param=param)
    return _plain(text, param)


def _plain(value: str, param: str) -> str:
    if "\x00" in value:
        raise InvalidInput(f"{param} holds the character U+0000, which plain text may not.", param=param)
    return value
