"""Limits of what may be written (contract section 4.3), and the checks behind them."""

from collections.abc import Sequence

from sessions_app.errors import ContentTooLarge, InvalidInput, TooLarge
from statebase_site.base import json

NAME_CHARACTERS = 255
REASONING_BYTES = 16 * 1024
REASONING_SHOWN = 500  # characters, in lists
METADATA_BYTES = 64 * 1024
ATTEMPTED_BYTES = 16 * 1024
MEMORY_CHARACTERS = 10_000
TAGS_MOST = 100
TTL_SECONDS_MAX = 2_592_000  # 30 days


def check_name(value: str, param: str) -> str:
    """A short plain text such as `agent_id`: 1 to 255 characters, not blank."""
    if not value.strip():
        raise InvalidInput(f"{param} must not be blank.", param=param)
    if len(value) > NAME_CHARACTERS:
        raise InvalidInput(
            f"{param} has {len(value):,} characters; the limit is {NAME_CHARACTERS}.", param=param
        )
    return _plain(value, param)


def check_reasoning(value: str | None, param: str = "reasoning") -> str | None:
    """A reasoning or reason: at most 16 KiB; an empty one counts as none."""
    if not value:
        return None
    if (size := len(value.encode())) > REASONING_BYTES:
        raise TooLarge(f"{param} has {size:,} bytes; the limit is {REASONING_BYTES:,}.", param=param)
    return _plain(value, param)


def check_metadata(value: json.JsonObject, param: str = "metadata") -> str:
    """The metadata's stored text: at most 64 KiB."""
    text = json.dumps(value)
    if (size := len(text.encode())) > METADATA_BYTES:
        raise TooLarge(f"{param} has {size:,} bytes; the limit is {METADATA_BYTES:,}.", param=param)
    return text


def check_memory(content: str) -> str:
    """The content of a memory: 1 to 10,000 characters, not blank."""
    if not content.strip():
        raise InvalidInput("content must not be blank.", param="content")
    if len(content) > MEMORY_CHARACTERS:
        raise ContentTooLarge(
            f"content has {len(content):,} characters; the limit is {MEMORY_CHARACTERS:,}.", param="content"
        )
    return _plain(content, "content")


def check_tags(tags: Sequence[str]) -> str:
    """The stored text of a memory's tags: each 1 to 255 characters, at most 100 of them."""
    if len(tags) > TAGS_MOST:
        raise InvalidInput(f"A memory has at most {TAGS_MOST} tags.", param="tags")
    return json.dumps([check_name(tag, "tags") for tag in tags])


def check_ttl(value: int) -> int:
    """A life in seconds: 1 to 2,592,000."""
    if not 1 <= value <= TTL_SECONDS_MAX:
        raise InvalidInput(
            f"ttl_seconds must be from 1 to {TTL_SECONDS_MAX:,}, not {value:,}.", param="ttl_seconds"
        )
    return value


def _plain(value: str, param: str) -> str:
    if "\x00" in value:
        raise InvalidInput(f"{param} holds the character U+0000, which plain text may not.", param=param)
    return value
