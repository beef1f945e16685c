"""JSON Pointers (RFC 6901): where a value stands in a document."""

from collections.abc import Iterable

from statebase_site.base.json import JsonValue


def pointer(parts: Iterable[str | int]) -> str:
    """The JSON Pointer of keys and indexes: `["cart", "a/b", 0]` gives `/cart/a~1b/0`, none give ""."""
    return "".join([f"/{escaped(part)}" for part in parts])


def escaped(part: str | int) -> str:
    """One key or index as a part of a JSON Pointer."""
    if isinstance(part, int):
        return str(part)
    return part.replace("~", "~0").replace("/", "~1") if "~" in part or "/" in part else part


def parts(pointer: str) -> list[str]:
    """The keys and indexes (as text) of a JSON Pointer; raises ValueError where it is none."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"A JSON Pointer is empty or starts with a slash, unlike {pointer[:100]!r}.")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def resolve(document: JsonValue, pointer: str) -> JsonValue:
    """The value at a JSON Pointer ("" = the document).

    Raises LookupError where the document has none, ValueError for a text that is no JSON Pointer.
    """
    value = document
    for part in parts(pointer):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and (index := list_index(part)) is not None and index < len(value):
            value = value[index]
        else:
            raise LookupError(f"Nothing stands at {pointer[:200]}.")
    return value


def list_index(part: str) -> int | None:
    """A part as the index of a list: digits without a leading zero; None for all else."""
    if part.isascii() and part.isdigit() and (part == "0" or part[0] != "0") and len(part) < 16:
        return int(part)
    return None
