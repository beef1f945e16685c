"""Limits of what may be written (contract section 4.3), and the checks behind them."""

from sessions_app.errors import InvalidInput, TooLarge
from statebase_site.base import json

NAME_CHARACTERS = 255
REASONING_BYTES = 16 * 1024
REASONING_SHOWN = 500  # characters, in lists
METADATA_BYTES = 64 * 1024
ATTEMPTED_BYTES = 16 * 1024
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
