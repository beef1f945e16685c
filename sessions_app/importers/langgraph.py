"""LangGraph checkpoint history: the `values` of each checkpoint are a state, `parent_config` the lineage.

The line that came first is the run; one that goes on from an earlier checkpoint becomes a fork. Messages may
stand in tables beside the history, to which `message_refs` and the like refer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sessions_app.importers import openai_chat, states
from sessions_app.importers.branching import Line, Tree, branches_of, turns_of
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.langchain_messages import as_openai
from sessions_app.importers.run import RecordingFault, Run, name_from
from sessions_app.importers.states import RecordedVersion
from sessions_app.importers.values import a_list, an_object, moment, objects, required_object, without
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

NAME = "langgraph"

# What the tables may make of a file: references to one long text, many times over, are an attack.
_RESOLVED_CHARACTERS = 200_000_000


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """One checkpoint, and which it follows."""

    id: str
    parent: str | None
    values: JsonObject
    at: datetime | None
    pointer: str


def recognises(document: JsonValue) -> bool:
    """Whether the document, or its `history`, is a list of checkpoints with values and a configuration."""
    return any(
        "values" in item and _checkpoint_id(item.get("config")) is not None
        for item in objects(_history_of(document)[1])
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a history, with its forks. Raises RecordingFault."""
    pointer, history = _history_of(document)
    around = document if isinstance(document, dict) else {}
    items = [
        (f"{pointer}/{index}", required_object(item, f"Checkpoint {index}", f"{pointer}/{index}"))
        for index, item in enumerate(history)
    ]
    tables = _Tables(around)
    tree: Tree[str] = Tree()
    found: dict[str, _Checkpoint] = {}
    for place, (where, item) in enumerate(_oldest_first(items)):
        checkpoint = _checkpoint(item, where, tables)
        if checkpoint.id in found:
            raise RecordingFault("The same checkpoint stands twice.", where)
        if place and checkpoint.parent not in found:
            raise RecordingFault("The checkpoint follows one that the record does not have.", where)
        found[checkpoint.id] = checkpoint
        tree.add(place, checkpoint.id, checkpoint.parent if place else None)
    messages = _Messages()

    def take(exchanges: Exchanges, place: int, node: str) -> None:
        for message in messages.news(found[node], found.get(found[node].parent or "")):
            openai_chat.tell(exchanges, place, message, found[node].pointer, found[node].at)

    turns = list(turns_of(tree.lines, Exchanges("checkpoints"), take))
    versions = [
        [RecordedVersion(found[node].values, place, at=found[node].at) for place, node in line.nodes]
        for line in tree.lines
    ]
    initial, versions[0] = versions[0][0], versions[0][1:]
    steps = [list(states.steps_of(*each)) for each in zip(turns, versions, strict=True)]

    def about(line: Line[str]) -> JsonObject:
        return {"checkpoint_id": line.nodes[0][1]}

    thread = an_object(an_object(items[0][1].get("config")).get("configurable")).get("thread_id")
    return Run(
        agent_id=NAME,
        user_id=name_from(around.get("user_id")),
        metadata={"thread_id": thread} | without(around, "history", *tables.names),
        initial_state=initial.state,
        steps=tuple(step for _, step in steps[0]),
        started_at=initial.at,
        branches=branches_of(tree.lines, steps, about),
    )


def _history_of(document: JsonValue) -> tuple[str, list[JsonValue]]:
    if isinstance(document, dict):
        return "/history", a_list(document.get("history"))
    return "", a_list(document)


def _checkpoint_id(config: JsonValue) -> str | None:
    found = an_object(an_object(config).get("configurable")).get("checkpoint_id")
    return found if isinstance(found, str) and found else None


def _oldest_first(items: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The checkpoints in the order of their making: a history has the newest first, a log the oldest."""
    places = {_checkpoint_id(item.get("config")): place for place, (_, item) in enumerate(items)}
    for place, (_, item) in enumerate(items):
        parent = places.get(_checkpoint_id(item.get("parent_config")))
        if parent is not None and parent != place:
            return items[::-1] if parent > place else items
    return items


def _checkpoint(item: JsonObject, pointer: str, tables: _Tables) -> _Checkpoint:
    checkpoint_id = _checkpoint_id(item.get("config"))
    if checkpoint_id is None:
        raise RecordingFault("The checkpoint has no `config.configurable.checkpoint_id`.", pointer)
    values = required_object(item.get("values"), "The values of a checkpoint", f"{pointer}/values")
    return _Checkpoint(
        checkpoint_id,
        _checkpoint_id(item.get("parent_config")),
        tables.resolved(values, f"{pointer}/values"),
        moment(item.get("created_at")),
        pointer,
    )


class _Tables:
    """The lists beside a history: `message_refs` in values are the places of messages in `messages`."""

    def __init__(self, around: JsonObject) -> None:
        self._lists = {
            key: value for key, value in around.items() if key != "history" and isinstance(value, list)
        }
        self._sizes = {key: [len(json.dumps(item)) for item in items] for key, items in self._lists.items()}
        self._left = _RESOLVED_CHARACTERS
        self.names: set[str] = set()

    def resolved(self, values: JsonObject, pointer: str) -> JsonObject:
        """The values with what they refer to in its place."""
        found: JsonObject = {}
        for key, value in values.items():
            many, one = key.removesuffix("_refs"), key.removesuffix("_ref")
            if many != key and f"{many}s" in self._lists and isinstance(value, list):
                found[f"{many}s"] = [self._item(f"{many}s", each, f"{pointer}/{key}") for each in value]
            elif one != key and f"{one}s" in self._lists:
                found[one] = None if value is None else self._item(f"{one}s", value, f"{pointer}/{key}")
            else:
                found[key] = value
        return found

    def _item(self, name: str, place: JsonValue, pointer: str) -> JsonValue:
        items = self._lists[name]
        if type(place) is not int or not 0 <= place < len(items):
            raise RecordingFault(f"A reference is no place in the list `{name}`.", pointer)
        self.names.add(name)
        self._left -= self._sizes[name][place]
        if self._left < 0:
            raise RecordingFault("The references make more text than can be read.", pointer)
        return items[place]


class _Messages:
    """Tells which messages of a checkpoint are new: a later one repeats those before it."""

    def __init__(self) -> None:
        self._keys: dict[int, str] = {}

    def news(self, checkpoint: _Checkpoint, parent: _Checkpoint | None) -> Iterator[JsonObject]:
        """The messages that the parent does not have."""
        heard = Counter(map(self._key, a_list(parent.values.get("messages")) if parent else ()))
        for message in a_list(checkpoint.values.get("messages")):
            key = self._key(message)
            if heard[key]:
                heard[key] -= 1
            elif (told := as_openai(message)) is not None:
                yield told

    def _key(self, message: JsonValue) -> str:
        # By its identity, which stands as long as its checkpoint: many checkpoints share one message.
        if (key := self._keys.get(id(message))) is None:
            message_id = an_object(message).get("id")
            key = message_id if isinstance(message_id, str) else json.canonical(message)
            self._keys[id(message)] = key
        return key
