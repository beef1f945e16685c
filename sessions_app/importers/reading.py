"""From a file to its runs: parse it, find the reader that knows its format, name what can't be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import PurePath
from typing import Protocol

from sessions_app.importers import (
    adk,
    agentdojo,
    claude_code,
    codex,
    langfuse,
    langgraph,
    mini_swe_agent,
    openai_chat,
    openhands,
    otel_genai,
    statebase,
    swe_agent,
    toolbench,
    who_and_when,
)
from sessions_app.importers.run import RecordingFault, Run, Step
from sessions_app.importers.source import Parsed, Unreadable, parse_file
from statebase_site.base import json
from statebase_site.base.json import JsonObject, JsonValue


class Reader(Protocol):
    """One format. A module with these three names is a reader; it joins by being listed in `READERS`."""

    @property
    def NAME(self) -> str:
        """What metadata calls the format."""

    def recognises(self, document: JsonValue) -> bool:
        """Whether the document, or the list of a file's JSON lines, is of this format. Never raises."""

    def read(self, document: JsonValue, states_beside: JsonValue = None) -> Run:
        """Its run, with the branches that left it.

        Raises nothing but RecordingFault, with the JSON Pointer of the fault; where the rest of the record
        stands without the faulty part, that is among what the run skipped instead.
        """


# The first that recognises a document reads it: those with the narrower mark come first.
READERS: tuple[Reader, ...] = (
    claude_code,
    statebase,
    codex,
    langfuse,
    otel_genai,
    langgraph,
    openhands,
    swe_agent,
    toolbench,
    agentdojo,
    adk,
    who_and_when,
    mini_swe_agent,
    openai_chat,
)


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file's name and bytes, and those of the file of states beside it."""

    name: str
    content: bytes
    states_name: str = ""
    states: bytes | None = None


def read_file(file: RunFile) -> Iterator[Run | Unreadable]:
    """Each run of a file, or why there is none; one that can't be read does not hinder the next.

    A list of recordings, as one document or one a line, is read one by one.
    """
    parsed = parse_file(file.name, file.content)
    if isinstance(parsed, Unreadable):
        yield parsed
        return
    yield from parsed.broken
    beside = _states_of(file)
    if isinstance(beside, Unreadable):
        yield beside
    elif reader := _reader_of(parsed.document):
        yield from _read(reader, file, parsed, "", parsed.document, beside)
    elif isinstance(parsed.document, list) and any(_reader_of(item) for item in parsed.document):
        for index, item in enumerate(parsed.document):
            reader = _reader_of(item)
            if reader:
                yield from _read(reader, file, parsed, f"/{index}", item, None)
            else:
                yield Unreadable(file.name, parsed.line_of(f"/{index}"), _UNKNOWN)
    elif not parsed.broken:
        yield Unreadable(file.name, None, _UNKNOWN)


_UNKNOWN = f"The format is unknown; known are: {', '.join(reader.NAME for reader in READERS)}."


def _reader_of(document: JsonValue) -> Reader | None:
    return next((reader for reader in READERS if reader.recognises(document)), None)


def _states_of(file: RunFile) -> Parsed | Unreadable | None:
    return None if file.states is None else parse_file(file.states_name, file.states)


def _read(
    reader: Reader, file: RunFile, parsed: Parsed, pointer: str, document: JsonValue, beside: Parsed | None
) -> Iterator[Run | Unreadable]:
    def named(fault: RecordingFault) -> Unreadable:
        if fault.in_states and beside:
            return Unreadable(file.states_name, beside.line_of(fault.pointer), fault.reason)
        return Unreadable(file.name, parsed.line_of(pointer + fault.pointer), fault.reason)

    try:
        run = reader.read(document, beside.document if beside else None)
    except RecordingFault as fault:
        yield named(fault)
        return
    skipped = [named(fault) for fault in run.skipped]
    yield from skipped
    about: JsonObject = {"source_file": PurePath(file.name).name, "format": reader.NAME}
    if skipped or (parsed.broken and not pointer):
        lines = {each.line for each in (*skipped, *parsed.broken) if each.line}
        about["lines_left_out"] = [*sorted(lines)]
    if not run.from_export and not any(step.at for step in _all_steps(run)):
        about["times"] = "not recorded"
    yield replace(
        run,
        name=f"{file.name}#{pointer[1:]}" if pointer else file.name,
        metadata={**about, **run.metadata},
        branches=tuple(replace(each, metadata={**about, **each.metadata}) for each in run.branches),
        fingerprint=_fingerprint(document, beside.document if beside else None),
    )


def _all_steps(run: Run) -> Iterator[Step]:
    return chain(run.steps, *(branch.steps for branch in run.branches))


def _fingerprint(document: JsonValue, states: JsonValue) -> str:
    """Of what was recorded, not of how its text is spaced or its file is called."""
    digest = sha256(json.canonical(document).encode())
    if states is not None:
        digest.update(json.canonical(states).encode())
    return digest.hexdigest()
