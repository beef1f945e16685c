"""LangChain's messages, as LangGraph's states and traces hold them, in the shape of OpenAI's."""

from __future__ import annotations

from sessions_app.importers.values import a_list, an_object, objects
from statebase_site.base.json import JsonObject, JsonValue

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "humanmessage": "user",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "function",
}
_KNOWN = frozenset(("user", "assistant", "system", "developer", "tool", "function"))


def as_openai(message: JsonValue) -> JsonObject | None:
    """The message with `role`, `content` and `tool_calls`; None for what is no message that we know.

    It may be OpenAI's already, have a `type` instead of the role, or be a serialised constructor.
    """
    fields = an_object(message)
    kind = fields.get("role", fields.get("type"))
    if fields.get("type") == "constructor" and isinstance(fields.get("kwargs"), dict):
        kind = (a_list(fields.get("id")) or [None])[-1]
        fields = an_object(fields["kwargs"])
    if not isinstance(kind, str):
        return None
    role = _ROLES.get(kind.lower(), kind)
    if role not in _KNOWN:
        return None
    found: JsonObject = {**fields, "role": role}
    if not isinstance(found.get("content"), str | list | None):
        found["content"] = None
    calls = [_call(each) for each in objects(fields.get("tool_calls"))]
    if calls:
        found["tool_calls"] = [*calls]
    else:
        found.pop("tool_calls", None)
    return found


def _call(call: JsonObject) -> JsonObject:
    if "function" in call:
        return call
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("args", {})}}
