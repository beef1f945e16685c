"""Readers of recorded agent runs: pure, one module a format, all behind the `Reader` interface."""

from sessions_app.importers.files import run_files
from sessions_app.importers.reading import READERS, Reader, RunFile, read_file
from sessions_app.importers.run import (
    Branch,
    RecordedEntity,
    RecordedMemory,
    RecordedNote,
    RecordedState,
    RecordedTurn,
    RecordingFault,
    Run,
    Step,
)
from sessions_app.importers.source import Unreadable

__all__ = [
    "READERS",
    "Branch",
    "Reader",
    "RecordedEntity",
    "RecordedMemory",
    "RecordedNote",
    "RecordedState",
    "RecordedTurn",
    "RecordingFault",
    "Run",
    "RunFile",
    "Step",
    "Unreadable",
    "read_file",
    "run_files",
]
