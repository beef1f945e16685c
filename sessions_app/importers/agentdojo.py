"""AgentDojo runs replayed step by step: `turns` with tool calls, and the whole environment in `states`."""

from __future__ import annotations

from sessions_app.importers import states
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, tool_response
from sessions_app.importers.values import (
    content_of,
    plain,
    required_list,
    required_object,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "agentdojo"


def recognises(document: JsonValue) -> bool:
    """Whether the document has a `suite`, a `user_task` and turns."""
    return (
        isinstance(document, dict)
        and {"suite", "user_task", "turns"} <= document.keys()
        and isinstance(document["turns"], list)
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of the turns, with the environment after each that changed it. Raises RecordingFault."""
    around = required_object(document, "The run", "")
    exchanges = Exchanges("turns")
    last = 0
    for index, item in enumerate(required_list(around, "turns", "The run")):
        pointer = f"/turns/{index}"
        turn = required_object(item, f"Turn {index}", pointer)
        number = turn.get("turn", index + 1)
        if type(number) is not int or number <= last:
            raise RecordingFault(f"Turn {index} has no number `turn` above {last}.", pointer)
        last = number
        _tell(exchanges, number, turn, pointer)
    exchanges.end()
    recorded = states.recorded_versions(
        around if "states" in around else None, "after_turn", "states", in_states=False
    )
    initial_state, placed = states.placed(exchanges.turns, recorded)
    return Run(
        agent_id=NAME,
        user_id=None,
        metadata=without(around, "turns", "states"),
        initial_state=initial_state,
        steps=placed,
    )


def _tell(exchanges: Exchanges, number: int, turn: JsonObject, pointer: str) -> None:
    if turn.get("role") == "user":
        exchanges.ask(number, content_of(turn.get("content"), f"{pointer}/content"))
        return
    if reasoning := plain(turn.get("reasoning")):
        exchanges.think(number, reasoning)
    if turn.get("tool_call") is None:
        exchanges.answer(number, content_of(turn.get("content"), f"{pointer}/content"))
        return
    called = required_object(turn["tool_call"], "The tool call", f"{pointer}/tool_call")
    name = name_from(called.get("function"))
    if name is None:
        raise RecordingFault("The tool call names no function.", f"{pointer}/tool_call")
    key = str(number)
    exchanges.call(number, name, called.get("args", {}), call_id=name_from(called.get("id")), key=key)
    response, error = tool_response(turn.get("tool_result")), turn.get("error")
    if error is not None:
        response["error"] = error
    exchanges.result(number, response, key=key)
