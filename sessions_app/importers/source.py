"""From the bytes of a file to its JSON documents, with the line of everything in them."""

from __future__ import annotations

import json as stdlib_json
from collections.abc import Callable
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]

from statebase_site.base import json
from statebase_site.base.json import JsonValue

LINE_SUFFIXES = (".jsonl", ".ndjson")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITESPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file, or a part of it, gave no session."""

    name: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = f"{self.name}:{self.line}" if self.line else self.name
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's JSON; `line_of` gives the line of a JSON Pointer in it.

    A file of JSON lines is the list of its good lines; `broken` are the others.
    """

    document: JsonValue
    line_of: Callable[[str], int]
    broken: list[Unreadable] = field(default_factory=list)


def parse_file(name: str, content: bytes) -> Parsed | Unreadable:
    """Read a file of one JSON document, or of one a line, told apart by its name and its content."""
    try:
        text = content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as fault:
        return _not_utf8(name, content, fault.start)
    if "\x00" in text:
        return Unreadable(name, None, "The file is binary, not text.")
    if not text.strip():
        return Unreadable(name, None, "The file is empty.")
    if name.lower().endswith(LINE_SUFFIXES):
        return _parse_lines(name, text)
    try:
        return Parsed(json.parse(text), lambda pointer: line_of(text, pointer))
    except json.JsonFault as fault:
        if _is_more_than_one(text):
            return _parse_lines(name, text)
        reason, line = _explained(text, fault)
        return Unreadable(name, line, reason)


def line_of(text: str, pointer: str) -> int:
    """The line, from 1, on which the value of a JSON Pointer begins; where it is absent, what leads to it."""
    at = _after_space(text, 0)
    try:
        for token in pointer.split("/")[1:]:
            found = _member(text, at, token.replace("~1", "/").replace("~0", "~"))
            if found is None:
                break
            at = found
    except (ValueError, IndexError, RecursionError):
        pass  # the place of what leads to it is near enough
    return text.count("\n", 0, at) + 1


def _parse_lines(name: str, text: str) -> Parsed | Unreadable:
    values: list[JsonValue] = []
    numbers: list[int] = []
    broken: list[Unreadable] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.parse(line))
            numbers.append(number)
        except json.JsonFault as fault:
            broken.append(Unreadable(name, number, _explained(line, fault)[0]))
    if not values:
        return broken[0]

    def line_of_item(pointer: str) -> int:
        index = pointer.split("/")[1] if pointer else "0"
        return numbers[int(index)] if index.isdecimal() and int(index) < len(numbers) else numbers[0]

    return Parsed(values, line_of_item, broken)


def _not_utf8(name: str, content: bytes, byte: int) -> Unreadable:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Unreadable(name, None, "The file is UTF-16 text; save it as UTF-8.")
    if b"\x00" in content:
        return Unreadable(name, None, "The file is binary, not text.")
    line = content.count(b"\n", 0, byte) + 1
    return Unreadable(name, line, f"The file is not UTF-8 text: byte {byte} can't be read. Save it as UTF-8.")


def _is_more_than_one(text: str) -> bool:
    """Whether a JSON document ends with its line and another follows."""
    try:
        _, end = _decoder.raw_decode(text, _after_space(text, 0))
    except (ValueError, RecursionError):
        return False
    rest = text[end:]
    return bool(rest.strip()) and rest.lstrip(" \t\r").startswith("\n")


def _explained(text: str, fault: json.JsonFault) -> tuple[str, int]:
    """In words, and the line on which it is."""
    try:
        stdlib_json.loads(text)
    except stdlib_json.JSONDecodeError as malformed:
        ending = malformed.pos >= len(text.rstrip()) or malformed.msg.startswith("Unterminated")
        hint = " The file seems to be cut off." if ending else ""
        return f"The JSON is malformed: {malformed.msg}, column {malformed.colno}.{hint}", malformed.lineno
    except (ValueError, RecursionError):
        pass  # what only the strict reader refuses has its pointer
    place = f" It is at {fault.path}." if fault.path else ""
    return f"{fault.message}{place}", line_of(text, fault.path)


_decoder = stdlib_json.JSONDecoder()


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _member(text: str, at: int, token: str) -> int | None:
    """Where the value of one key or index begins in the container at `at`; the text is valid JSON."""
    opening = text[at]
    if opening not in "{[":
        return None
    at = _after_space(text, at + 1)
    index = 0
    while text[at] not in "}]":
        key = str(index)
        if opening == "{":
            key, at = scanstring(text, at + 1)
            at = _after_space(text, _after_space(text, at) + 1)
        if key == token:
            return at
        _, at = _decoder.raw_decode(text, at)
        at = _after_space(text, at)
        if text[at] == ",":
            at = _after_space(text, at + 1)
        index += 1
    return None
