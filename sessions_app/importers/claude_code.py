"""Claude Code's session logs: one entry a line, each naming the one it follows.

Going back to an earlier entry with a new message (a rewind) begins a fork, and so does the work of a
sub-agent (a sidechain). A compaction goes on where it says that it does. The to-do list is the state. An
entry that can't be read is left out, and the others stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sessions_app.importers.branching import Line, Tree, branches_of, turns_of
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response
from sessions_app.importers.values import a_list, an_object, moment, objects, plain, text_of_parts
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

NAME = "claude-code"

_SPEAKERS = ("user", "assistant")
_ABOUT = ("sessionId", "version", "cwd", "gitBranch")
_TODO_TOOL = "TodoWrite"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the log that can be read; `parts` are those of its message."""

    kind: str
    fields: JsonObject
    parts: list[JsonObject]
    at: datetime | None

    @property
    def is_prompt(self) -> bool:
        """Whether it is a message of the user's, and not what a tool gave back."""
        return self.kind == "user" and not any(part.get("type") == "tool_result" for part in self.parts)


def recognises(document: JsonValue) -> bool:
    """Whether one of the entries is a message with a `uuid` and a `sessionId`."""
    return isinstance(document, list) and any(
        item.get("type") in _SPEAKERS and {"uuid", "sessionId", "message"} <= item.keys()
        for item in objects(document)
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a log, with its forks and what it skipped. Raises nothing."""
    entries: dict[int, _Entry] = {}
    skipped: list[RecordingFault] = []
    for place, item in enumerate(a_list(document)):
        try:
            entries[place] = _entry(item, f"/{place}")
        except RecordingFault as fault:
            skipped.append(fault)
    lines = _lines(entries)

    def take(exchanges: Exchanges, place: int, node: int) -> None:
        _tell(exchanges, place, entries[node])

    turns = list(turns_of(lines, Exchanges("entries"), take))

    def about(line: Line[int]) -> JsonObject:
        first = entries[line.nodes[0][1]].fields
        return {"uuid": first.get("uuid"), "sidechain": first.get("isSidechain") is True}

    return Run(
        agent_id=NAME,
        user_id=None,
        metadata=_metadata(entries),
        initial_state={},
        steps=tuple(step for _, step in turns[0]) if turns else (),
        started_at=next((entry.at for entry in entries.values() if entry.at), None),
        branches=branches_of(lines, turns, about),
        skipped=tuple(skipped),
    )


def _entry(item: JsonValue, pointer: str) -> _Entry:
    """The entry, checked. Raises RecordingFault."""
    if not isinstance(item, dict):
        raise RecordingFault("The entry is not an object.", pointer)
    kind = item.get("type")
    if not isinstance(kind, str):
        raise RecordingFault("The entry has no text `type`.", pointer)
    parts: list[JsonObject] = []
    if kind in _SPEAKERS:
        message = item.get("message")
        if not isinstance(message, dict):
            raise RecordingFault("The `message` of the entry is not an object.", pointer)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            raise RecordingFault("The message has no `content` that is text or a list of parts.", pointer)
        for number, part in enumerate(content):
            if not isinstance(part, dict):
                raise RecordingFault(f"Part {number} of the message is not an object.", pointer)
            if part.get("type") == "tool_use" and name_from(part.get("name")) is None:
                raise RecordingFault(f"Part {number} of the message uses a tool without a name.", pointer)
            parts.append(part)
    return _Entry(kind, item, parts, moment(item.get("timestamp")))


def _lines(entries: dict[int, _Entry]) -> list[Line[int]]:
    """The entries on lines; one that says of no entry here that it follows it follows the one before it."""
    tree: Tree[int] = Tree()
    places: dict[str, int] = {}
    seen: dict[str, JsonObject] = {}
    # The last place on each line where somebody spoke: before it, a new message is a rewind.
    spoke: dict[int, int] = {}
    last: dict[bool, int] = {}
    for place, entry in entries.items():
        fields = entry.fields
        uuid, is_side = fields.get("uuid"), fields.get("isSidechain") is True
        if isinstance(uuid, str):
            if uuid in seen and json.same(seen[uuid], fields):
                continue  # a log that goes on with another repeats it
            seen.setdefault(uuid, fields)
        named = fields.get("parentUuid") or fields.get("logicalParentUuid")
        parent = places.get(named) if isinstance(named, str) else None
        known = parent is not None
        if parent is None:
            parent = last.get(is_side, last.get(False))
        if parent is None:
            tree.add(place, place, None)
        else:
            line, at = tree.where(parent)
            begins_side = is_side and entries[parent].fields.get("isSidechain") is not True
            side_anew = is_side and not known and entry.is_prompt
            if begins_side or side_anew:
                tree.add(place, place, last.get(False, parent), apart=True)
            elif known and entry.is_prompt and spoke.get(line, at) > at:
                tree.add(place, place, parent, apart=True)
            else:
                tree.append(line, place, place)
        if isinstance(uuid, str):
            places.setdefault(uuid, place)
        if entry.kind == "assistant" or entry.is_prompt:
            spoke[tree.where(place)[0]] = place
        last[is_side] = place
    return tree.lines


def _tell(exchanges: Exchanges, place: int, entry: _Entry) -> None:
    texts = [part["text"] for part in entry.parts if part.get("type") == "text" and plain(part.get("text"))]
    content: JsonObject = said("\n".join(map(str, texts)))
    if entry.is_prompt:
        others = [part for part in entry.parts if part.get("type") != "text"]
        if others:
            content["parts"] = [*others]
        flags: JsonObject = {
            name: True
            for key, name in (("isCompactSummary", "compact_summary"), ("isMeta", "meta"))
            if entry.fields.get(key) is True
        }
        exchanges.ask(place, content, entry.at, flags)
        return
    for part in entry.parts:
        kind = part.get("type")
        if kind == "thinking" and (thought := plain(part.get("thinking"))):
            exchanges.think(place, thought, entry.at)
        elif kind == "tool_result":
            _result(exchanges, place, part, entry.at)
    if texts and entry.kind == "assistant":
        exchanges.answer(place, content, entry.at)
    for part in entry.parts:
        if part.get("type") == "tool_use" and entry.kind == "assistant":
            given, call_id = part.get("input", {}), name_from(part.get("id"))
            todos = an_object(given).get("todos") if part["name"] == _TODO_TOOL else None
            state: JsonObject | None = {"todos": todos} if todos is not None else None
            exchanges.call(place, str(part["name"]), given, call_id=call_id, at=entry.at, state_after=state)


def _result(exchanges: Exchanges, place: int, part: JsonObject, at: datetime | None) -> None:
    content, failed = part.get("content"), part.get("is_error") is True
    response = tool_response(text_of_parts(content))
    if isinstance(content, list) and any(each.get("type") != "text" for each in objects(content)):
        response["parts"] = content
    if failed:
        response["is_error"] = True
    exchanges.result(place, response, key=name_from(part.get("tool_use_id")), at=at, failed=failed)


def _metadata(entries: dict[int, _Entry]) -> JsonObject:
    """What the entries say of themselves, each as the first has it, and what was summed up."""
    metadata: JsonObject = {}
    sessions: dict[str, None] = {}
    for entry in entries.values():
        for key in _ABOUT:
            if key not in metadata and isinstance(value := entry.fields.get(key), str):
                metadata[key] = value
        if isinstance(session := entry.fields.get("sessionId"), str):
            sessions[session] = None
        if entry.kind == "summary" and "summary" in entry.fields:
            metadata["summary"] = entry.fields["summary"]
        model = an_object(entry.fields.get("message")).get("model")
        if "model" not in metadata and isinstance(model, str):
            metadata["model"] = model
    if len(sessions) > 1:
        metadata["session_ids"] = [*sessions]
    return metadata
