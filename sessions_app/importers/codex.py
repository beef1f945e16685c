"""Codex's session logs: one record a line, `session_meta` first, then events and the model's items.

A record that can't be read is left out, and the others stay.
"""

from __future__ import annotations

from datetime import datetime

from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response, unpacked
from sessions_app.importers.values import (
    a_list,
    an_object,
    joined,
    moment,
    objects,
    plain,
    text_of_parts,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "codex"

_META, _EVENT, _ITEM = "session_meta", "event_msg", "response_item"
_USER, _AGENT = "user_message", "agent_message"


def recognises(document: JsonValue) -> bool:
    """Whether one of the records is the session's `session_meta`."""
    return any(
        item.get("type") == _META and isinstance(item.get("payload"), dict) for item in objects(document)
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a log, with what it skipped. Raises nothing."""
    records = a_list(document)
    # What was said stands twice, as an event and as the model's item; older logs have the item only.
    events = {
        an_object(each.get("payload")).get("type") for each in objects(records) if each.get("type") == _EVENT
    }
    exchanges = Exchanges("records")
    skipped: list[RecordingFault] = []
    about: JsonObject = {}
    times: list[datetime] = []
    for place, item in enumerate(records):
        try:
            kind, payload = _record(item, f"/{place}")
            at = moment(an_object(item).get("timestamp"))
            times += [at] if at else []
            if kind == _META:
                about = without(payload, "instructions", "base_instructions") | about
            elif kind == "turn_context":
                about.setdefault("model", payload.get("model"))
            elif kind == _EVENT:
                _event(exchanges, place, payload, at, f"/{place}")
            elif kind == _ITEM:
                _item(exchanges, place, payload, at, events, f"/{place}")
        except RecordingFault as fault:
            skipped.append(fault)
    exchanges.end()
    return Run(
        agent_id=NAME,
        user_id=None,
        metadata=about,
        initial_state={},
        steps=tuple(turn for _, turn in exchanges.turns),
        started_at=times[0] if times else None,
        skipped=tuple(skipped),
    )


def _record(item: JsonValue, pointer: str) -> tuple[str, JsonObject]:
    if not isinstance(item, dict):
        raise RecordingFault("The record is not an object.", pointer)
    kind, payload = item.get("type"), item.get("payload")
    if not isinstance(kind, str):
        raise RecordingFault("The record has no text `type`.", pointer)
    if kind in (_META, _EVENT, _ITEM) and not isinstance(payload, dict):
        raise RecordingFault("The record's `payload` is not an object.", pointer)
    return kind, an_object(payload)


def _event(exchanges: Exchanges, place: int, payload: JsonObject, at: datetime | None, pointer: str) -> None:
    kind, message = payload.get("type"), payload.get("message")
    if kind in (_USER, _AGENT):
        if not isinstance(message, str):
            raise RecordingFault("The event's `message` is not text.", pointer)
        if kind == _USER:
            exchanges.ask(place, said(message), at)
        else:
            exchanges.answer(place, said(message), at)


def _item(
    exchanges: Exchanges,
    place: int,
    payload: JsonObject,
    at: datetime | None,
    events: set[JsonValue],
    pointer: str,
) -> None:
    kind, call_id = payload.get("type"), name_from(payload.get("call_id"))
    if kind == "message":
        content, role = said(text_of_parts(payload.get("content"))), payload.get("role")
        if role == "user" and _USER not in events:
            exchanges.ask(place, content, at)
        elif role == "assistant" and _AGENT not in events:
            exchanges.answer(place, content, at)
    elif kind == "reasoning":
        summary = joined(*(plain(part.get("text")) for part in objects(payload.get("summary"))))
        if summary:
            exchanges.think(place, summary, at)
    elif kind in ("function_call", "custom_tool_call"):
        name = name_from(payload.get("name"))
        if name is None:
            raise RecordingFault("The tool call has no name.", pointer)
        given = payload.get("arguments", payload.get("input", {}))
        arguments = unpacked(given) if isinstance(given, str) and kind == "function_call" else given
        exchanges.call(place, name, arguments, call_id=call_id, at=at)
    elif kind == "local_shell_call":
        exchanges.call(place, "local_shell", payload.get("action", {}), call_id=call_id, at=at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = payload.get("output")
        if isinstance(output, dict) and "content" in output:
            output = output["content"]
        response = tool_response(text_of_parts(output) if isinstance(output, list) else output)
        exchanges.result(place, response, key=call_id, at=at)
