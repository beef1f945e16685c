"""What the state tree says of a single value. Pure."""

from __future__ import annotations

from itertools import islice

from statebase_site.base.json import JsonValue

_TYPE_NAMES = {dict: "object", list: "list", str: "text", bool: "boolean", int: "number", float: "number"}


def lines_of(value: JsonValue, most: int) -> int:
    """How many lines a value takes when all of it is open; counted no further than just over `most`."""
    found, waiting = 0, [value]
    while waiting and found <= most:
        found += 1
        each = waiting.pop()
        if each and isinstance(each, (dict, list)):
            found += 1
            waiting += islice(each.values() if isinstance(each, dict) else each, most)
    return found


def bytes_of(text: str) -> int:
    """Its length as UTF-8."""
    return len(text.encode())


def class_of(value: JsonValue) -> str:
    """The class that colours a value in the tree."""
    if isinstance(value, str):
        return "json-str"
    if isinstance(value, (dict, list)):
        return "json-mark"
    return "json-lit" if value is None or isinstance(value, bool) else "json-num"


def type_name(value: object) -> str:
    """The type of a value in plain words; integers and doubles are both numbers to a reader."""
    return "null" if value is None else _TYPE_NAMES[type(value)]
