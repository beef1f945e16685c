"""A turn's `input` and `output` as they are kept: objects with a text `type` and a text `content`. Pure."""

from sessions_app.errors import InvalidInput
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

_OWN_KEYS = ("type", "content")


def turn_text(given: JsonValue, param: str) -> JsonObject:
    """`given` with both texts filled in; further keys stay as they are (contract 6.4, R15).

    A text is its own content. A missing or null `type` is `text` beside a content, else `json`; a missing
    or null `content` is the other keys as compact JSON; a `content` that is no text is its JSON. Raises
    `InvalidInput`, naming `param`, for what is neither text nor object and for a `type` that is no text.
    """
    if isinstance(given, str):
        return {"type": "text", "content": given}
    if not isinstance(given, dict):
        raise InvalidInput(f"{param} must be a text or a JSON object.", param=param)
    kind, content = given.get("type"), given.get("content")
    if kind is None:
        kind = "json" if content is None else "text"
    elif not isinstance(kind, str):
        raise InvalidInput(f"{param}.type must be a text.", param=f"{param}.type")
    if content is None:
        content = json.dumps({key: value for key, value in given.items() if key not in _OWN_KEYS})
    elif not isinstance(content, str):
        content = json.dumps(content)
    return {**given, "type": kind, "content": content}
