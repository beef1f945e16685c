"""Strict JSON: what comes in is checked once, and comes back the same (contract 1, "JSON fidelity").

`parse` is for text from outside, `parse_stored` for text that `dumps` wrote. Python's C scanner does the
work; what it lets through is looked for with cheap tests, and only when one of those says that a fault is
possible is the document searched for its place.
"""

import json
import marshal
import math
import re
import secrets
import sys
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any, NoReturn, TypeAlias, cast

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

MAX_DEPTH = 100
"""Levels of objects and lists inside each other (contract 1)."""
MAX_DIGITS = 4300
"""Digits of an integer (contract 1). Python's own guard is set to the same: what was read can be written."""

sys.set_int_max_str_digits(MAX_DIGITS)


class JsonFault(ValueError):
    """A text is not JSON that we keep. `path` is the JSON Pointer of the fault ("" = the document itself)."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def parse(raw: bytes | str) -> JsonValue:
    """Read a JSON text from outside; raises JsonFault for all that contract 1 refuses."""
    if isinstance(raw, str):
        text = raw
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            _explain(text)
    else:
        try:
            text = raw.decode()
        except UnicodeDecodeError as fault:
            raise JsonFault(f"The body is not valid UTF-8: byte {fault.start} cannot be read.") from None
    if text.startswith("\ufeff"):
        raise JsonFault("The JSON text starts with a byte order mark; send it without one.")
    if _may_hold_lone_surrogate(raw):
        _explain(text)
    try:
        value = cast(JsonValue, _strict.decode(text))
    except json.JSONDecodeError as fault:
        raise _malformed(fault) from None
    except (ValueError, RecursionError):
        _explain(text)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_too_deep(value):
        _refuse_depth(text)
    return value


def parse_stored(text: bytes | str) -> JsonValue:
    """Read a JSON text that `dumps` wrote: no checks, so never for text from outside."""
    return cast(JsonValue, _plain.decode(text if isinstance(text, str) else text.decode()))


def dumps(value: JsonValue) -> str:
    """Compact JSON text: keys in their order, characters as they are, numbers exact.

    Raises ValueError for NaN, Infinity and integers over MAX_DIGITS, none of which `parse` lets in.
    """
    return _compact.encode(value)


def canonical(value: JsonValue) -> str:
    """One text for all documents that are `same`: compact, keys sorted."""
    return _sorted.encode(value)


class Written:
    """A JSON text that `dumps` wrote, for a place in what `render` makes: it goes out unread."""

    __slots__ = ("text",)

    def __init__(self, text: bytes | str) -> None:
        self.text = text if isinstance(text, bytes) else text.encode()


def render(value: Any) -> bytes:
    """Compact UTF-8 JSON of plain values among which may stand `Written` texts, which go out as they are."""
    texts: list[bytes] = []

    def put_aside(written: Any) -> str:
        if not isinstance(written, Written):
            raise TypeError(f"{type(written).__name__} is no JSON value.")
        texts.append(written.text)
        return _PLACE

    frame = json.JSONEncoder(
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
        check_circular=False,
        default=put_aside,
    )
    pieces = frame.encode(value).encode().split(_QUOTED_PLACE)
    return b"".join(chain.from_iterable(zip(pieces, [*texts, b""], strict=True)))


# Nobody outside this process can know it, so no text from outside can pass for it.
_PLACE = secrets.token_hex(16)
_QUOTED_PLACE = f'"{_PLACE}"'.encode()


def pretty(value: JsonValue) -> str:
    """Text for people: two spaces a level, keys in their order."""
    return _indented.encode(value)


def exact(value: JsonValue) -> bytes:
    """Bytes that two documents share if types, values and key order are the same; quicker than JSON text.

    For comparing within one process only; nothing may be stored in this form.
    """
    return marshal.dumps(value, 2)  # the last version without references to what came before


def same(left: JsonValue, right: JsonValue) -> bool:
    """Typed equality: `1`, `1.0` and `true` differ, so do `0.0` and `-0.0`; key order does not count."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right) or left != right:
        return False
    if kind is dict or kind is list:
        return exact(left) == exact(right) or canonical(left) == canonical(right)
    if kind is float:
        return math.copysign(1, cast(float, left)) == math.copysign(1, cast(float, right))
    return True


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False)
_sorted = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False, sort_keys=True
)
_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, indent=2)
_plain = json.JSONDecoder()


class _Refused(ValueError):
    """A hook of the strict decoder met a fault; the place is found afterwards."""


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0.0:  # infinite: the one case in which the difference is not zero
        raise _Refused(digits)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Refused
    return made


_strict = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique)


_SURROGATES = re.compile(rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F])|\\u[dD][89a-fA-F]")


def _may_hold_lone_surrogate(raw: bytes) -> bool:
    """True where an escape stands for half of a character (in a malformed text perhaps where it does not)."""
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return False
    without_backslashes = raw.replace(b"\\\\", b"##")
    return any(found[1] is None for found in _SURROGATES.finditer(without_backslashes))


def _is_too_deep(value: JsonValue) -> bool:
    # Level by level over the containers alone, until none are left or one level too many is reached.
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inner = chain.from_iterable(item.values() if type(item) is dict else item for item in level)
        level = [item for item in inner if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


# The place of a fault, for the message: slower, and only for texts that are refused.

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_LONE = re.compile("[\ud800-\udfff]")


class _Fault:
    """Stands in the tree where a value could not be kept."""

    def __init__(self, message: str) -> None:
        self.message = message


def _mark_float(digits: str) -> float | _Fault:
    number = float(digits)
    return _Fault("The number is too large for a double.") if math.isinf(number) else number


def _mark_int(digits: str) -> int | _Fault:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        return _Fault(f"The integer has more than {MAX_DIGITS} digits.")
    return int(digits)


def _mark_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Fault:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    count = Counter(key for key, _ in pairs)
    return _Fault(f"The key {_shown(max(count, key=count.__getitem__))} stands twice in one object.")


_marking = json.JSONDecoder(
    parse_constant=lambda name: _Fault(f"{name} is not a JSON number."),
    parse_float=cast("Callable[[str], float]", _mark_float),
    parse_int=cast("Callable[[str], int]", _mark_int),
    object_pairs_hook=_mark_pairs,
)


def _explain(text: str) -> NoReturn:
    """Raise the JsonFault of a text that the strict decoder or a test refused."""
    try:
        tree = _marking.decode(text)
    except json.JSONDecodeError as fault:
        raise _malformed(fault) from None
    except RecursionError:
        _refuse_depth(text)
    _raise_fault_of(tree, "")
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        path, container = waiting.pop()
        pairs = container.items() if type(container) is dict else enumerate(container)
        for key, value in pairs:
            kind = type(value)
            if type(key) is str and _LONE.search(key):
                raise JsonFault(
                    f"The key {_shown(key)} holds half of a surrogate pair, which is no character.", path
                )
            if kind is dict or kind is list:
                waiting.append((f"{path}/{_escaped(key)}", value))
            elif kind is str or kind is _Fault:
                _raise_fault_of(value, f"{path}/{_escaped(key)}")
    raise JsonFault("The JSON text cannot be read.")


def _raise_fault_of(value: Any, path: str) -> None:
    if isinstance(value, _Fault):
        raise JsonFault(value.message, path)
    if isinstance(value, str) and _LONE.search(value):
        raise JsonFault("The text holds half of a surrogate pair, which is no character.", path)


def _refuse_depth(text: str) -> NoReturn:
    """Raise the JsonFault of a text that nests too deep, with the path of the first container too many."""
    closing: list[str] = []
    cut = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "{" or mark == "[":
            if len(closing) == MAX_DEPTH:
                cut = token.start()
                break
            closing.append("}" if mark == "{" else "]")
        elif (mark == "}" or mark == "]") and closing:
            closing.pop()
    try:
        kept = _marking.decode(text[:cut] + "null" + "".join(reversed(closing)))
    except json.JSONDecodeError as fault:
        raise _malformed(fault) from None
    path = ""
    while isinstance(kept, (dict, list)) and kept:  # what was cut off is the last value on every level
        key = next(reversed(kept)) if isinstance(kept, dict) else len(kept) - 1
        path += f"/{_escaped(key)}"
        kept = kept[key]
    raise JsonFault(f"Objects and lists are nested over {MAX_DEPTH} levels deep.", path)


def _malformed(fault: json.JSONDecodeError) -> JsonFault:
    return JsonFault(f"The JSON text is malformed: {fault.msg} (line {fault.lineno}, column {fault.colno}).")


def _shown(key: str) -> str:
    return json.dumps(key[:100])


def _escaped(key: str | int) -> str:
    return str(key).replace("~", "~0").replace("/", "~1").encode(errors="replace").decode()
