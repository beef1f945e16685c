"""Who&When: failed runs of several agents, with what people found: which agent, at which step, why.

Either an orchestrator thinks, and hands work to agents, or experts talk in turn while a terminal runs the
code in what was said before.
"""

from __future__ import annotations

import re

from sessions_app.importers import states
from sessions_app.importers.run import (
    RecordedTurn,
    RecordingFault,
    Run,
    nothing,
    said,
    tool_call,
    tool_response,
)
from sessions_app.importers.values import (
    joined,
    objects,
    required_list,
    required_object,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "who-and-when"

_ANNOTATED = ("mistake_agent", "mistake_step", "mistake_reason")
_THINKS = re.compile(r"\(thought\)\s*$")
_HANDS_OVER = re.compile(r"\(->\s*([^)]*)\)\s*$")
_ENDS = re.compile(r"\(termination condition\)\s*$")
# Characters of a speaker's name that count.
_SPEAKER = 255
_FENCE = "```"
_RAN = re.compile(r"exitcode: (-?\d{1,9})")


def recognises(document: JsonValue) -> bool:
    """Whether the document has a `history` of what somebody said, and says where the mistake was."""
    return (
        isinstance(document, dict)
        and any(key in document for key in _ANNOTATED)
        and any("content" in item and "role" in item for item in objects(document.get("history")))
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run: a turn for each thing an agent said, and one for the question. Raises RecordingFault."""
    around = required_object(document, "The run", "")
    talk = _Talk(around)
    for index, item in enumerate(required_list(around, "history", "The run")):
        pointer = f"/history/{index}"
        said_here = required_object(item, f"Entry {index}", pointer)
        content, role, name = (said_here.get(key) for key in ("content", "role", "name"))
        if not isinstance(content, str) or not isinstance(role, str):
            raise RecordingFault(f"Entry {index} has no text `content` or no text `role`.", pointer)
        talk.take(index, content, (name if isinstance(name, str) else role)[:_SPEAKER])
    talk.end()
    versions = states.recorded_versions(states_beside, "after_history_index")
    initial_state, placed = states.placed(talk.turns, versions)
    metadata = without(around, "history")
    if states_beside:
        metadata["states"] = states.about(states_beside)
    return Run(NAME, None, metadata, initial_state, placed)


class _Talk:
    """Collects turns, each with the index of the entry that ends it."""

    def __init__(self, around: JsonObject) -> None:
        self.turns: list[tuple[int, RecordedTurn]] = []
        self._mistake = str(around.get("mistake_step"))
        self._reason = around.get("mistake_reason")
        self._question: JsonObject = nothing()
        self._asked: JsonObject = nothing()
        self._thoughts: list[str] = []
        self._answer: JsonObject | None = None
        self._begins = 0
        self._last = 0
        self._is_handed_over = False
        self._code: list[JsonValue] = []

    def take(self, index: int, content: str, speaker: str) -> None:
        """One entry of the history."""
        self._last = index
        if index == 0:
            self._question = {**said(content), "agent": speaker}
        elif _THINKS.search(speaker):
            self._thoughts.append(content)
        elif handed := _HANDS_OVER.search(speaker):
            if self._is_handed_over:
                self._turn(index - 1, nothing(), None)
            self._asked = {**said(content), "to": handed.group(1)}
            self._begins = index
            self._is_handed_over = True
        elif _ENDS.search(speaker):
            self._answer = said(content)
        elif ran := _RAN.match(content):
            self._ran(index, content, speaker, int(ran.group(1)))
        else:
            if not self._is_handed_over:
                self._begins = index
            self._turn(index, said(content), speaker)
        self._code = _code_in(content)

    def end(self) -> None:
        """The turn of the question, after all that was done for it."""
        if self._is_handed_over:
            self._turn(self._last, nothing(), None)
        metadata: JsonObject = {"history": [0, self._last]}
        if self._answer is None:
            metadata["answered"] = False
        if self._mistake == "0":
            metadata["annotated_mistake"] = self._reason
        answer = self._answer or nothing()
        self.turns.append(
            (self._last, RecordedTurn(self._question, answer, joined(*self._thoughts), metadata))
        )

    def _turn(self, ends: int, output: JsonObject, agent: str | None) -> None:
        metadata = self._metadata(self._begins, ends)
        metadata |= {"agent": agent} if agent else {"answered": False}
        self.turns.append((ends, RecordedTurn(self._asked, output, joined(*self._thoughts), metadata)))
        self._asked, self._thoughts, self._is_handed_over = nothing(), [], False

    def _ran(self, index: int, content: str, speaker: str, exit_code: int) -> None:
        """A terminal ran the code of the entry before."""
        metadata = {**self._metadata(index, index), "exit_code": exit_code}
        call = tool_call(speaker, {"code": self._code}, None)
        self.turns.append((index, RecordedTurn(call, tool_response(content), None, metadata)))

    def _metadata(self, begins: int, ends: int) -> JsonObject:
        metadata: JsonObject = {"history": [begins, ends]}
        if self._mistake.isdecimal() and len(self._mistake) < 10 and begins <= int(self._mistake) <= ends:
            metadata["annotated_mistake"] = self._reason
        return metadata


def _code_in(content: str) -> list[JsonValue]:
    """The code blocks in a text, without the line that opens each."""
    blocks = content.split(_FENCE)[1::2]
    return [block.partition("\n")[2] for block in blocks]
