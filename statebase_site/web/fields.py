"""Types of parameters and fields that many routes share; each refuses with words for who sent it."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictStr, StringConstraints, WithJsonSchema

from statebase_site.base.errors import InvalidInput

_WHOLE_NUMBER = re.compile(r"[0-9]+")
_INTEGER = re.compile(r"-?[0-9]{1,1000}")
_UNIX_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_UNESCAPED_PLUS = re.compile(r" (\d\d:?\d\d)$")


NOT_BLANK = r"\S"
"""The pattern of a text that may not be blank."""


def told(**keywords: Any) -> Any:
    """Part of a type that only the OpenAPI document hears of: what an action checks, not the reading."""
    return Field(json_schema_extra=keywords)


def read_limit(raw: Any, *, most: int) -> int:
    """The page length asked for, at most `most` (contract section 2); ValueError unless an integer >= 1."""
    text = str(raw)
    if not _WHOLE_NUMBER.fullmatch(text) or not text.strip("0"):
        raise ValueError("must be a whole number of at least 1.")
    return min(int(text), most)


def limit_up_to(most: int) -> Any:
    """The type of a `limit` parameter whose values over `most` are lowered to it."""
    return Annotated[int, BeforeValidator(lambda raw: read_limit(raw, most=most)), told(minimum=1)]


def read_whole_number(raw: Any) -> int:
    """An integer in an address; ValueError unless it is digits, perhaps behind a minus."""
    text = str(raw)
    if not _INTEGER.fullmatch(text):
        raise ValueError("must be a whole number.")
    return int(text)


WholeNumber = Annotated[int, BeforeValidator(read_whole_number)]
"""Read so because pydantic alone takes `1.0` and `1_0` too."""

Count = Annotated[int, BeforeValidator(read_whole_number), Field(ge=0)]

JsonObjectText = Annotated[
    str, WithJsonSchema({"contentMediaType": "application/json", "contentSchema": {"type": "object"}})
]
"""In an address: a JSON object as text, which the route reads."""

Order = Literal["asc", "desc"]


def read_moment(raw: Any) -> datetime:
    """An aware datetime from ISO 8601 (without zone = UTC) or from Unix seconds (contract section 1)."""
    text = str(raw).strip()
    try:
        if _UNIX_SECONDS.fullmatch(text):
            return datetime.fromtimestamp(float(text), UTC)
        # An unescaped + of a zone arrives as a space.
        moment = datetime.fromisoformat(_UNESCAPED_PLUS.sub(r"+\1", text.upper()))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            "must be a time such as 2026-01-31T12:00:00Z, or Unix seconds such as 1769860800."
        ) from None


Moment = Annotated[
    datetime,
    BeforeValidator(read_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("may not hold the character U+0000.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("may not be blank.")
    return text


PlainText = Annotated[StrictStr, AfterValidator(_without_nul)]
"""Text that goes into a column of its own; U+0000 is refused there (contract section 1)."""

Name = Annotated[
    StrictStr,
    StringConstraints(min_length=1, max_length=255),
    AfterValidator(_without_nul),
    AfterValidator(_not_blank),
    told(pattern=NOT_BLANK),
]
"""`agent_id`, `user_id`, `type`, `action`: 1 to 255 characters, not blank (contract 4.3)."""


def _object(value: Any) -> Any:
    if type(value) is not dict:
        raise ValueError("must be a JSON object.")
    return value


# Not `dict[str, Any]`, which pydantic would copy.
Object = Annotated[Any, AfterValidator(_object), WithJsonSchema({"type": "object"})]


def idempotency_header(raw: str) -> str:
    """An `Idempotency-Key`; raises InvalidInput unless it has 1 to 255 characters (contract 4.2)."""
    if not 1 <= len(raw) <= 255:
        raise InvalidInput("Idempotency-Key must have 1 to 255 characters.", param="Idempotency-Key")
    return raw
