"""Small exact pieces of text that pages, pictures and messages share."""

import re
import unicodedata
from collections.abc import Iterator

# Characters that change how a line reads without being seen: controls but tab and line feed, soft hyphen,
# zero widths, bidirectional controls, line separators, tags, and surrogates, which no page can carry.
# A joiner behind a pictograph is part of that pictograph.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
    "|\r(?!\n)"
    "|(?<![\ufe0f\u2600-\u27bf\U0001f000-\U0001faff])\u200d"
)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def count_noun(count: int, noun: str, plural: str = "") -> str:
    """`1 version`, `12,345 versions`; give `plural` where an s at the end is not it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def filesize(size: int) -> str:
    """Bytes in words, in steps of 1,000: `812 B`, `9.2 KB`, `1.4 MB`."""
    if size < 1000:
        return f"{size} B"
    unit, scale = next(((u, s) for u, s in (("KB", 1e3), ("MB", 1e6)) if size < 999.95 * s), ("GB", 1e9))
    return f"{size / scale:.1f} {unit}"


def hidden_parts(text: str) -> Iterator[tuple[str, str]]:
    """`text` in pieces: `(plain, "")`, or `(escape, name)` for a character that would not be seen."""
    at = 0
    for match in _HIDDEN.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], ""
        char = match.group()
        yield f"U+{ord(char):04X}", unicodedata.name(char, "control character").lower()
        at = match.end()
    if at < len(text):
        yield text[at:], ""


def pointer_dots(pointer: str) -> str:
    """A JSON pointer as a dotted path: `/a/0/b.c` is `a[0]."b.c"`; the whole document is `@`."""
    if pointer == "":
        return "@"
    path = ""
    for part in pointer.removeprefix("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if key.isascii() and key.isdecimal():
            path += f"[{key}]"
            continue
        if not _PLAIN_KEY.fullmatch(key):
            key = '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
        path += f".{key}" if path else key
    return path
