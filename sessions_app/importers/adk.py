"""Saved sessions of Google's Agent Development Kit: events whose parts are text, calls and responses.

Written in snake_case or camelCase; an event changes the state by `options.update_context`, in later versions
by `actions.state_delta`.
"""

from __future__ import annotations

from datetime import datetime

from sessions_app.importers import states
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response
from sessions_app.importers.states import RecordedVersion
from sessions_app.importers.values import (
    a_list,
    an_object,
    moment,
    objects,
    plain,
    required_list,
    required_object,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "adk"

_USER = "user"
_AROUND = ("events", "event_logs", "eventLogs")


def recognises(document: JsonValue) -> bool:
    """Whether the document has an id, and `events` with an author and content."""
    return (
        isinstance(document, dict)
        and "id" in document
        and any("author" in event and "content" in event for event in objects(document.get("events")))
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a session; its state starts empty and takes each event's changes. Raises RecordingFault."""
    around = required_object(document, "The session", "")
    exchanges = Exchanges("events")
    versions = [RecordedVersion({}, -1)]
    times: list[datetime] = []
    authors: list[str] = []
    for index, item in enumerate(required_list(around, "events", "The session")):
        event = required_object(item, f"Event {index}", f"/events/{index}")
        if event.get("partial") is True:
            continue
        at = moment(event.get("timestamp"))
        if at:
            times.append(at)
        author = event.get("author")
        if not isinstance(author, str):
            raise RecordingFault(f"Event {index} has no text `author`.", f"/events/{index}")
        if author != _USER:
            authors.append(author)
        _tell(exchanges, index, event, author, at)
        if changes := _changes(event):
            versions.append(RecordedVersion({**versions[-1].state, **changes}, index, at=at))
    exchanges.end()
    initial_state, placed = states.placed(exchanges.turns, states.where_changed(versions))
    named = (_either(around, "app_name"), around.get("current_agent_name"), *authors[:1])
    return Run(
        agent_id=next((name for each in named if (name := name_from(each))), NAME),
        user_id=name_from(_either(around, "user_id")),
        metadata=without(around, *_AROUND),
        initial_state=initial_state,
        steps=placed,
        started_at=times[0] if times else None,
    )


def _tell(exchanges: Exchanges, index: int, event: JsonObject, author: str, at: datetime | None) -> None:
    texts: list[str] = []
    event_id, options = event.get("id"), an_object(event.get("options"))
    for number, part in enumerate(a_list(an_object(event.get("content")).get("parts"))):
        pointer = f"/events/{index}/content/parts/{number}"
        part = required_object(part, f"Part {number} of event {index}", pointer)
        call, response = _either(part, "function_call"), _either(part, "function_response")
        written = plain(part.get("text"))
        if call is not None:
            name = _name(call, pointer)
            call_id = name_from(an_object(call).get("id"))
            if texts:
                exchanges.think(index, "\n".join(texts), at)
                texts = []
            exchanges.call(
                index,
                name,
                an_object(call).get("args", {}),
                call_id=call_id,
                key=call_id or f"{event_id}/{name}",
                at=at,
                about={"agent": author},
            )
        elif response is not None:
            name = _name(response, pointer)
            key = (
                name_from(an_object(response).get("id")) or f"{options.get('function_call_event_id')}/{name}"
            )
            given = tool_response(an_object(response).get("response"))
            exchanges.result(index, given, key=key, name=name, at=at)
        elif written and part.get("thought") is True:
            exchanges.think(index, written, at)
        elif written:
            texts.append(written)
    if author == _USER and texts:
        exchanges.ask(index, said("\n".join(texts)), at)
    elif texts:
        exchanges.answer(index, {**said("\n".join(texts)), "agent": author}, at)


def _name(called: JsonValue, pointer: str) -> str:
    name = name_from(an_object(called).get("name"))
    if name is None:
        raise RecordingFault("A function call or response has no name.", pointer)
    return name


def _changes(event: JsonObject) -> JsonObject:
    options, actions = an_object(event.get("options")), an_object(event.get("actions"))
    return an_object(options.get("update_context")) | an_object(_either(actions, "state_delta"))


def _either(holder: JsonObject, name: str) -> JsonValue:
    """What stands under a name in snake_case or in camelCase."""
    first, *others = name.split("_")
    return holder.get(name, holder.get(first + "".join(each.capitalize() for each in others)))
