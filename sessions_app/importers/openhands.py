"""OpenHands: a list of events, alone or as the `history` of an evaluation.

An action and the observation whose `cause` is its id make a tool call. Times have no zone.
"""

from __future__ import annotations

from datetime import datetime

from sessions_app.importers import states
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response
from sessions_app.importers.states import RecordedVersion
from sessions_app.importers.values import (
    ZONELESS,
    an_object,
    content_of,
    has_no_zone,
    moment,
    objects,
    plain,
    required_object,
    text,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "openhands"

# What the program does by itself: neither asked, nor answered, nor a tool call.
_HOUSEKEEPING = frozenset(
    ("system", "recall", "change_agent_state", "null", "condensation", "condensation_request")
)


def recognises(document: JsonValue) -> bool:
    """Whether the document, or its `history`, is a list of events with a source and what they are."""
    return any(
        isinstance(event.get("id"), int)
        and "source" in event
        and ("action" in event or "observation" in event)
        for event in objects(_events_of(document)[1])
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of the events; its states are those beside it, else the agent's own state.

    Raises RecordingFault.
    """
    pointer, events = _events_of(document)
    exchanges = Exchanges("events")
    own: list[RecordedVersion] = []
    started: datetime | None = None
    about: JsonObject = {}
    last = -1
    for index, item in enumerate(events):
        event = required_object(item, f"Event {index}", f"{pointer}/{index}")
        number = event.get("id")
        if type(number) is not int or number <= last:
            raise RecordingFault(f"Event {index} has no number `id` above {last}.", f"{pointer}/{index}")
        last = number
        at = moment(event.get("timestamp"))
        started = started or at
        if at and has_no_zone(event.get("timestamp")):
            about["times"] = ZONELESS
        arguments, extras = an_object(event.get("args")), an_object(event.get("extras"))
        if event.get("action") == "system":
            about["system_prompt"] = text(arguments.get("content"))
            about["agent_class"] = arguments.get("agent_class")
        elif event.get("observation") == "agent_state_changed" and "agent_state" in extras:
            own.append(RecordedVersion({"agent_state": extras["agent_state"]}, number, at=at))
        elif "action" in event:
            _action(exchanges, number, event, arguments, at, f"{pointer}/{index}")
        else:
            _observation(exchanges, number, event, extras, at)
    exchanges.end()
    beside = states.recorded_versions(states_beside, "after_event_id")
    initial_state, placed = states.placed(exchanges.turns, beside or states.where_changed(own))
    around = without(document, "history") if isinstance(document, dict) else {}
    if states_beside:
        about["states"] = states.about(states_beside)
    agent = an_object(around.get("metadata")).get("agent_class") or about.get("agent_class")
    return Run(
        agent_id=name_from(agent) or NAME,
        user_id=None,
        metadata=around | about,
        initial_state=initial_state,
        steps=placed,
        started_at=started,
    )


def _events_of(document: JsonValue) -> tuple[str, list[JsonValue]]:
    if isinstance(document, dict):
        found = document.get("history")
        return "/history", found if isinstance(found, list) else []
    return "", document if isinstance(document, list) else []


def _action(
    exchanges: Exchanges,
    number: int,
    event: JsonObject,
    arguments: JsonObject,
    at: datetime | None,
    pointer: str,
) -> None:
    kind, thought = event.get("action"), plain(arguments.get("thought"))
    if not isinstance(kind, str):
        raise RecordingFault("The action of an event is no text.", f"{pointer}/action")
    from_user = event.get("source") == "user"
    if kind in _HOUSEKEEPING or event.get("source") == "environment":
        return
    if kind == "message":
        content = content_of(arguments.get("content"), f"{pointer}/args/content")
        if from_user:
            exchanges.ask(number, content, at)
        else:
            exchanges.answer(number, content, at)
    elif kind == "finish":
        final = plain(arguments.get("final_thought")) or thought or plain(event.get("message")) or ""
        exchanges.answer(
            number, {**said(final), "finish": without(arguments, "thought", "final_thought")}, at
        )
    elif kind == "think":
        exchanges.think(number, thought or "", at, tool=kind, key=str(number))
    else:
        call = an_object(event.get("tool_call_metadata"))
        if thought:
            exchanges.think(number, thought, at)
        exchanges.call(
            number,
            name_from(call.get("function_name")) or name_from(kind) or "unknown",
            without(arguments, "thought"),
            call_id=name_from(call.get("tool_call_id")),
            key=str(number),
            at=at,
            about={"action": kind, **({"by": "user"} if from_user else {})},
        )


def _observation(
    exchanges: Exchanges, number: int, event: JsonObject, extras: JsonObject, at: datetime | None
) -> None:
    kind, cause = event.get("observation"), event.get("cause")
    if kind in _HOUSEKEEPING or kind == "agent_state_changed" or event.get("source") == "environment":
        return
    about: JsonObject = {"observation": kind}
    exit_code = an_object(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    if exit_code is not None:
        about["exit_code"] = exit_code
    exchanges.result(
        number,
        tool_response(text(event.get("content"))),
        key=str(cause) if type(cause) is int else None,
        at=at,
        about=about,
    )
