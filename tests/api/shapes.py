"""Whether an answer is exactly what the OpenAPI document says of it."""

from typing import Any

from pydantic import TypeAdapter


def assert_shape(value: Any, shape: Any) -> None:
    """Every field is there with its type, and none that the document does not name."""
    read = TypeAdapter(shape).validate_python(value, strict=True)
    assert read == value, "The answer has fields that the OpenAPI document does not name."
