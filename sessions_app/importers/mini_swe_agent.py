"""mini-SWE-agent trajectories: messages in which the assistant writes one code block to run, and the user's
side reports its return code and output."""

from __future__ import annotations

import re

from sessions_app.importers import openai_chat
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, said, tool_response
from sessions_app.importers.values import objects, plain, required_object, text_of_parts, without
from statebase_site.base.json import JsonObject, JsonValue

NAME = "mini-swe-agent"

_RAN = "<returncode>"
_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_TOOL = "bash"


def recognises(document: JsonValue) -> bool:
    """Whether the messages hold a command and what it returned."""
    messages = list(objects(_messages_of(document)[1]))
    return any(
        message.get("role") == "user" and text_of_parts(message.get("content")).startswith(_RAN)
        for message in messages
    ) and any(_command_of(message) is not None for message in messages)


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of the messages: the task, and a tool call for each command. Raises RecordingFault."""
    pointer, listed = _messages_of(document)
    exchanges = Exchanges("messages")
    waiting: str | None = None
    for index, item in enumerate(listed):
        message = required_object(item, f"Message {index}", f"{pointer}/{index}")
        content = message.get("content")
        if not isinstance(content, str | list):
            raise RecordingFault(f"Message {index} has no content.", f"{pointer}/{index}")
        said_text = text_of_parts(content)
        if message.get("role") == "assistant":
            command = _command_of(message)
            if command is None:
                exchanges.answer(index, said(said_text))
                continue
            if thought := plain(_BLOCK.sub("", said_text)):
                exchanges.think(index, thought.strip())
            waiting = str(index)
            exchanges.call(index, _TOOL, {"command": command}, key=waiting)
        elif waiting is not None:
            exchanges.result(index, tool_response(said_text), key=waiting, about=_return_code(said_text))
            waiting = None
        elif message.get("role") == "user":
            exchanges.ask(index, said(said_text))
    exchanges.end()
    around = without(document, "messages") if isinstance(document, dict) else {}
    if prompt := openai_chat.instructions(listed):
        around["system_prompt"] = prompt
    return Run(NAME, None, around, {}, tuple(turn for _, turn in exchanges.turns))


def _messages_of(document: JsonValue) -> tuple[str, list[JsonValue]]:
    if isinstance(document, dict):
        found = document.get("messages")
        return "/messages", found if isinstance(found, list) else []
    return "", document if isinstance(document, list) else []


def _command_of(message: JsonObject) -> str | None:
    """The command of the one code block that an assistant's message is to hold."""
    if message.get("role") != "assistant":
        return None
    found = _BLOCK.search(text_of_parts(message.get("content")))
    return found.group(1) if found else None


def _return_code(result: str) -> JsonObject:
    found = re.match(r"<returncode>(-?\d{1,9})</returncode>", result)
    return {"return_code": int(found.group(1))} if found else {}
