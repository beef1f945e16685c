"""Which files hold recorded runs, and which file of states belongs to which run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from sessions_app.importers.reading import RunFile
from sessions_app.importers.source import Unreadable

STANDARD_INPUT = "-"
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj")
_STATES = ".states.json"


def run_files(paths: Iterable[str], standard_input: BinaryIO) -> Iterator[RunFile | Unreadable]:
    """The runs of files and of folders with all that is in them, by name; `-` is standard input.

    Of a folder only files that can be runs are taken, of a file its name does not matter.
    """
    for given in paths:
        if given == STANDARD_INPUT:
            yield RunFile("standard input", standard_input.read())
            continue
        path = Path(given)
        if path.is_dir():
            found = [each for each in sorted(path.rglob("*")) if _can_be_run(each, path)]
            if not found:
                endings = ", ".join(_SUFFIXES)
                yield Unreadable(
                    given, None, f"No recorded runs are in this folder: files ending in {endings}."
                )
            for each in found:
                yield from _load(each)
        else:
            yield from _load(path)


def _can_be_run(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.name.lower().endswith(_SUFFIXES) and not hidden and path.is_file()


def _load(path: Path) -> Iterator[RunFile | Unreadable]:
    """The file with the states beside it; a file of states beside its run comes with that."""
    try:
        if path.name.endswith(_STATES):
            if not _has_run(path):
                yield Unreadable(
                    str(path), None, "It holds the states of a run, but that run is not beside it."
                )
            return
        states = _states_beside(path)
        yield RunFile(
            name=str(path),
            content=path.read_bytes(),
            states_name=str(states or ""),
            states=states.read_bytes() if states else None,
        )
    except OSError as error:
        yield Unreadable(str(path), None, f"It can't be read: {error.strerror}.")


def _states_beside(path: Path) -> Path | None:
    """`run.traj.json` has its states in `run.traj.states.json` or `run.states.json`."""
    name = path.name
    while "." in name:
        name = name.rpartition(".")[0]
        states = path.with_name(name + _STATES)
        if name and states.is_file():
            return states
    return None


def _has_run(states: Path) -> bool:
    return any(
        not each.name.endswith(_STATES) and _states_beside(each) == states
        for each in states.parent.iterdir()
        if each.name.startswith(states.name.removesuffix(_STATES) + ".")
    )
