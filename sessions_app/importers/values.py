"""Reading values of which a format promises more than a file may keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sessions_app.importers.run import RecordingFault, said
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

ZONELESS = "recorded without a zone, read as UTC"
_YEARS = range(1970, 9999)


def an_object(value: JsonValue) -> JsonObject:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def a_list(value: JsonValue) -> list[JsonValue]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: JsonValue) -> Iterator[JsonObject]:
    """The objects in a list."""
    return (item for item in a_list(value) if isinstance(item, dict))


def text(value: JsonValue) -> str:
    """`value` as text: nothing for null, JSON for what is no text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def plain(value: JsonValue) -> str | None:
    """`value` where it is a text that says something."""
    return value if isinstance(value, str) and value.strip() else None


def joined(*texts: str | None) -> str | None:
    """The texts that there are, as paragraphs; None where there are none."""
    return "\n\n".join(each for each in texts if each) or None


def required_list(holder: JsonObject, key: str, what: str, pointer: str = "") -> list[JsonValue]:
    """The list under `key`, with something in it. Raises RecordingFault."""
    found = holder.get(key)
    if not isinstance(found, list) or not found:
        raise RecordingFault(f"{what} has no list `{key}` with anything in it.", f"{pointer}/{key}")
    return found


def required_object(value: JsonValue, what: str, pointer: str) -> JsonObject:
    """`value` as an object. Raises RecordingFault."""
    if not isinstance(value, dict):
        raise RecordingFault(f"{what} is not an object.", pointer)
    return value


def without(holder: JsonObject, *keys: str) -> JsonObject:
    """The object without some of its keys."""
    return {key: value for key, value in holder.items() if key not in keys}


def content_of(content: JsonValue, pointer: str) -> JsonObject:
    """What a message says: its text, or its parts, whose texts are joined and which are kept beside it.

    Raises RecordingFault.
    """
    if content is None or isinstance(content, str):
        return said(content or "")
    if not isinstance(content, list):
        raise RecordingFault("The content of a message is text or a list of parts.", pointer)
    return {**said(text_of_parts(content)), "parts": content}


def text_of_parts(content: JsonValue) -> str:
    """The texts of a text or of a list of parts, joined."""
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else an_object(part).get("text") for part in a_list(content)]
    return "\n".join(part for part in parts if isinstance(part, str))


def moment(value: JsonValue) -> datetime | None:
    """A time: ISO 8601 text (read as UTC where it has no zone) or seconds since 1970. None for all else."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.year in _YEARS else None


def has_no_zone(value: JsonValue) -> bool:
    """Whether a time is text that leaves its zone open."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False
