"""Shapes of answers that every app's routes share, for the OpenAPI document."""

from typing import Generic, Literal, TypeVar

from typing_extensions import TypedDict

Item = TypeVar("Item")


class List(TypedDict, Generic[Item]):
    """The envelope of every list (contract section 2)."""

    object: Literal["list"]
    data: list[Item]
    has_more: bool
    first_id: str | None
    last_id: str | None
