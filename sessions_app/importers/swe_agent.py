"""SWE-agent trajectories: a list `trajectory` of steps, each a thought, an action and an observation."""

from __future__ import annotations

from sessions_app.importers import openai_chat, states
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response, unpacked
from sessions_app.importers.states import RecordedVersion
from sessions_app.importers.values import (
    an_object,
    joined,
    objects,
    plain,
    required_list,
    required_object,
    text,
    text_of_parts,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "swe-agent"

_AROUND = ("trajectory", "history")


def recognises(document: JsonValue) -> bool:
    """Whether the document has a `trajectory` of steps with an action, or an empty one beside its history."""
    if not isinstance(document, dict) or not isinstance(trajectory := document.get("trajectory"), list):
        return False
    if not trajectory:
        return "history" in document
    return any("action" in step and "observation" in step for step in objects(trajectory))


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a trajectory, one turn a step, and one for the task as a whole. Raises RecordingFault.

    Its states are those beside it, else the shell's state after each step.
    """
    around = required_object(document, "The trajectory", "")
    steps = required_list(around, "trajectory", "The run")
    exchanges = Exchanges("steps")
    history = list(objects(around.get("history")))
    if (task := _task(history)) is not None:
        exchanges.ask(-1, said(task))
    recorded: list[RecordedVersion] = []
    functions = _functions(history)
    for index, item in enumerate(steps):
        step = required_object(item, f"Step {index}", f"/trajectory/{index}")
        action = step.get("action")
        if not isinstance(action, str):
            raise RecordingFault(f"Step {index} has no text `action`.", f"/trajectory/{index}")
        _tell(exchanges, index, step, action, functions[index] if len(functions) == len(steps) else None)
        if state := _state(step.get("state")):
            recorded.append(RecordedVersion(state, index))
    info = an_object(around.get("info"))
    if submission := plain(info.get("submission")):
        exchanges.answer(len(steps) - 1, said(submission))
    exchanges.end()
    beside = states.recorded_versions(states_beside, "after_step")
    initial_state, placed = states.placed(exchanges.turns, beside or states.where_changed(recorded))
    metadata = without(around, *_AROUND)
    if states_beside:
        metadata["states"] = states.about(states_beside)
    if prompt := openai_chat.instructions(history):
        metadata["system_prompt"] = prompt
    return Run("swe-agent", None, metadata, initial_state, placed)


def _tell(
    exchanges: Exchanges, index: int, step: JsonObject, action: str, function: JsonObject | None
) -> None:
    thought, response = plain(step.get("thought")), plain(step.get("response"))
    if reasoning := thought or response:
        exchanges.think(index, reasoning)
    about: JsonObject = {}
    if response and thought and thought.strip() not in response:
        about["response"] = response
    if "execution_time" in step:
        about["execution_time"] = step["execution_time"]
    called = an_object((function or {}).get("function"))
    name, arguments, call_id = (
        name_from(called.get("name")),
        called.get("arguments"),
        (function or {}).get("id"),
    )
    if name is None:  # the action is a command line
        name, arguments = (
            name_from(action.split(maxsplit=1)[0] if action.strip() else ""),
            {"command": action},
        )
    exchanges.call(
        index,
        name or "command",
        unpacked(arguments) if isinstance(arguments, str) else arguments,
        call_id=name_from(call_id),
        key=str(index),
        about=about,
    )
    exchanges.result(index, tool_response(text(step.get("observation"))), key=str(index))


def _task(history: list[JsonObject]) -> str | None:
    """The first thing that the user says which is no demonstration."""
    for message in history:
        if message.get("role") == "user" and not message.get("is_demo"):
            return joined(text_of_parts(message.get("content"))) or ""
    return None


def _functions(history: list[JsonObject]) -> list[JsonObject | None]:
    """The function call of each action, for an agent that calls functions."""
    actions = [message for message in history if message.get("role") == "assistant" and "action" in message]
    return [next(objects(message.get("tool_calls")), None) for message in actions]


def _state(state: JsonValue) -> JsonObject:
    """The shell's state: an object, in older files as JSON text."""
    return an_object(unpacked(state) if isinstance(state, str) else state)
