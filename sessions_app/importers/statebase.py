"""Sessions that a StateBase exported (`S/export`): they come back with the same versions, turns and hashes.

What the server wrote of itself (its traces, who acted) is written anew: an import can't claim who did what.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from sessions_app.importers.run import (
    RecordedEntity,
    RecordedMemory,
    RecordedNote,
    RecordedState,
    RecordedTurn,
    RecordingFault,
    Run,
    Step,
    name_from,
)
from sessions_app.importers.values import moment, objects, required_list, required_object
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue

NAME = "statebase"

_FORMAT = 1
_BEGINNINGS = ("create", "fork")


def recognises(document: JsonValue) -> bool:
    """Whether the document says that it is an exported session."""
    return isinstance(document, dict) and document.get("object") == "session_export"


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The exported session. Raises RecordingFault, also where the document was changed."""
    export = required_object(document, "The export", "")
    if export.get("format") != _FORMAT:
        raise RecordingFault(f"The format of the export is not {_FORMAT}, the one known here.", "/format")
    _check_digest(export)
    session = required_object(export.get("session"), "The session", "/session")
    agent_id = name_from(session.get("agent_id"))
    if agent_id is None:
        raise RecordingFault("The session has no `agent_id`.", "/session/agent_id")
    versions = [
        _Version(item, index) for index, item in enumerate(required_list(export, "versions", "The export"))
    ]
    return Run(
        agent_id=agent_id,
        user_id=name_from(session.get("user_id")),
        metadata=_object(session, "metadata", "/session"),
        initial_state=versions[0].state,
        steps=tuple(sorted(_steps(export, versions), key=lambda step: step.at or versions[0].at)),
        started_at=_time(session, "created_at", "/session"),
        from_export=True,
        first_reasoning=versions[0].reasoning or "Initial state",
    )


def _check_digest(export: JsonObject) -> None:
    without = {key: value for key, value in export.items() if key != "sha256"}
    if sha256(json.dumps(without).encode()).hexdigest() != export.get("sha256"):
        raise RecordingFault(
            "The export was changed or cut off since it was written: its SHA-256 differs. Export it again.",
            "/sha256",
        )


def _steps(export: JsonObject, versions: list[_Version]) -> Iterator[Step]:
    """Versions and turns as they followed each other; then the rest, for the sorting by time."""
    turns = [_Turn(item, index) for index, item in enumerate(objects(export.get("turns")))]
    waiting = iter([*turns, None])
    turn = next(waiting)
    for version in versions:
        if version.number and version.kind != "turn":
            yield version.step()
        while turn is not None and turn.version <= version.number:
            yield turn.step(versions)
            turn = next(waiting)
    if turn is not None:
        raise RecordingFault(f"Turn {turn.number} names a version that is not there.", turn.pointer)
    yield from _others(export)


def _others(export: JsonObject) -> Iterator[Step]:
    for index, item in enumerate(objects(export.get("memories"))):
        pointer = f"/memories/{index}"
        tags = item.get("tags")
        yield RecordedMemory(
            content=_text(item, "content", pointer),
            type=_text(item, "type", pointer),
            user_id=name_from(item.get("user_id")),
            agent_id=name_from(item.get("agent_id")),
            tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            metadata=_object(item, "metadata", pointer),
            embed=item.get("vector_available") is True,
            revision=_count(item, "version", pointer),
            at=_time(item, "created_at", pointer),
            changed_at=_time(item, "updated_at", pointer),
        )
    for index, item in enumerate(objects(export.get("entities"))):
        pointer = f"/entities/{index}"
        yield RecordedEntity(
            entity_type=_text(item, "entity_type", pointer),
            entity_id=_text(item, "entity_id", pointer),
            attributes=_object(item, "attributes", pointer),
            revision=_count(item, "version", pointer),
            at=_time(item, "created_at", pointer),
            changed_at=_time(item, "updated_at", pointer),
        )
    for index, item in enumerate(objects(export.get("traces"))):
        pointer = f"/traces/{index}"
        if item.get("source") == "client":
            yield RecordedNote(
                action=_text(item, "action", pointer),
                details=_object(item, "details", pointer),
                metadata=_object(item, "metadata", pointer),
                at=_time(item, "created_at", pointer),
            )


class _Version:
    """One of the exported versions, looked over."""

    def __init__(self, item: JsonValue, index: int) -> None:
        pointer = f"/versions/{index}"
        version = required_object(item, f"Version {index}", pointer)
        if version.get("version") != index:
            raise RecordingFault(f"Version {index} is missing, or out of its place.", f"{pointer}/version")
        self.number = index
        self.state = _object(version, "state", pointer)
        if sha256(json.dumps(self.state).encode()).hexdigest() != version.get("sha256"):
            raise RecordingFault(
                f"The state of version {index} is not the one of its SHA-256.", f"{pointer}/sha256"
            )
        self.kind = _text(version, "source", pointer)
        if (self.kind in _BEGINNINGS) != (index == 0):
            raise RecordingFault(f"Version {index} can't be a `{self.kind}`.", f"{pointer}/source")
        reasoning = version.get("reasoning")
        self.reasoning = reasoning if isinstance(reasoning, str) else None
        self.at = _time(version, "created_at", pointer)
        self.restored: int | None = None
        if self.kind == "rollback":
            self.restored = _count(version, "restored_from_version", pointer, least=0)
            if self.restored >= index:
                raise RecordingFault(
                    f"Version {index} can't restore a later one.", f"{pointer}/restored_from_version"
                )

    def step(self) -> RecordedState:
        return RecordedState(
            state=self.state,
            reasoning=self.reasoning,
            at=self.at,
            merged=self.kind == "update",
            restored=self.restored,
            version=self.number,
        )


class _Turn:
    """One of the exported turns, looked over."""

    def __init__(self, item: JsonObject, index: int) -> None:
        self.pointer = f"/turns/{index}"
        self.number = index + 1
        if item.get("turn_number") != self.number:
            raise RecordingFault(
                f"Turn {self.number} is missing, or out of its place.", f"{self.pointer}/turn_number"
            )
        self.item = item
        self.version = _count(item, "state_version", self.pointer, least=0)

    def step(self, versions: list[_Version]) -> RecordedTurn:
        reasoning = self.item.get("reasoning")
        return RecordedTurn(
            input=self._side("input"),
            output=self._side("output"),
            reasoning=reasoning if isinstance(reasoning, str) else None,
            metadata=_object(self.item, "metadata", self.pointer),
            state_before=self._given("state_before", versions),
            state_after=self._given("state_after", versions),
            at=_time(self.item, "created_at", self.pointer),
            version=self.version,
        )

    def _side(self, name: str) -> JsonObject:
        side = _object(self.item, name, self.pointer)
        for key in ("type", "content"):
            _text(side, key, f"{self.pointer}/{name}")
        return side

    def _given(self, name: str, versions: list[_Version]) -> JsonObject | None:
        """The state given with the turn: itself, or that of the version named."""
        number = self.item.get(f"{name}_version")
        if type(number) is int and 0 <= number < len(versions):
            return versions[number].state
        given = self.item.get(name)
        return given if isinstance(given, dict) else None


def _object(holder: JsonObject, key: str, pointer: str) -> JsonObject:
    return required_object(holder.get(key), f"`{key}`", f"{pointer}/{key}")


def _text(holder: JsonObject, key: str, pointer: str) -> str:
    found = holder.get(key)
    if not isinstance(found, str):
        raise RecordingFault(f"`{key}` is not a text.", f"{pointer}/{key}")
    return found


def _count(holder: JsonObject, key: str, pointer: str, *, least: int = 1) -> int:
    found = holder.get(key)
    if type(found) is not int or not least <= found < 2**31:
        raise RecordingFault(f"`{key}` is not a number from {least} on.", f"{pointer}/{key}")
    return found


def _time(holder: JsonObject, key: str, pointer: str) -> datetime:
    found = moment(holder.get(key))
    if found is None:
        raise RecordingFault(f"`{key}` is not a time.", f"{pointer}/{key}")
    return found
