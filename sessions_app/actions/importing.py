"""Recorded runs become sessions, and the branches of a run forks of its session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import IntegrityError

from sessions_app import control_keys, store
from sessions_app.actions import importing_exports as exports
from sessions_app.actions._action import action
from sessions_app.actions.create import NEVER, create_session, fork
from sessions_app.actions.state import REPLACE, append_update
from sessions_app.actions.turns import append_turn
from sessions_app.errors import InvalidInput
from sessions_app.importers import (
    RecordedEntity,
    RecordedMemory,
    RecordedNote,
    RecordedState,
    RecordedTurn,
    Run,
    Step,
)
from sessions_app.limits import METADATA_BYTES, REASONING_BYTES
from sessions_app.models import AgentSession, Turn
from sessions_app.store import Append, Document, Head
from statebase_site.access.actor import Actor, RequestFacts
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base import clock, json
from statebase_site.base.json import JsonObject

_IN_FULL = "reasoning_in_full"
# What a fork's metadata say of its source.
_LINEAGE_BYTES = 256


@dataclass(frozen=True, slots=True)
class RunImported:
    """The session of a recorded run, and its forks; `already_there` where an earlier import made them."""

    agent_session: AgentSession
    already_there: bool
    forks: tuple[AgentSession, ...] = ()


def import_run(*, run: Run, by: Actor) -> RunImported:
    """Make the session of a recorded run, and of each of its branches a fork: all of it or nothing.

    The same run again gives the same session. They never expire. Steps without a time follow each other by a
    microsecond from now on, so that their order stands. Raises `InvalidInput`, `TooLarge` or
    `StateTooLarge` for what can't be stored.
    """
    by.require(SESSIONS_WRITE, to="import runs")
    if not run.from_export:
        _refuse_frozen_middle(run)
    try:
        return _import(run=run, by=by)
    except IntegrityError:
        # Somebody else is importing the same run, and was first.
        if found := _imported(run, by):
            return RunImported(found, already_there=True)
        raise


@action
def _import(*, run: Run, by: Actor) -> RunImported:
    if found := _imported(run, by):
        return RunImported(found, already_there=True)
    moment = run.started_at or _beginning(run.steps) or clock.now()
    with clock.at(moment):
        agent_session = create_session(
            agent_id=run.agent_id,
            user_id=run.user_id,
            initial_state=run.initial_state,
            metadata=_fitting_metadata(run.metadata, METADATA_BYTES),
            ttl_seconds=NEVER,
            imported_from=run.fingerprint,
            reasoning=_fitting_reasoning(run.first_reasoning) or "Initial state",
            by=by,
        ).agent_session
    line = _append_all(run.steps, agent_session, by, moment)
    lines = [line]
    for branch in run.branches:
        source = lines[branch.of]
        moment = _beginning(branch.steps) or line.ended + timedelta(microseconds=1)
        with clock.at(moment):
            forked = fork(
                session_id=source.agent_session.public_id,
                version=source.versions[branch.after],
                metadata=_fitting_metadata(branch.metadata, METADATA_BYTES - _LINEAGE_BYTES),
                by=by.part(),
            ).agent_session
        line = _append_all(branch.steps, forked, by, moment)
        lines.append(line)
    if run.branches:
        agent_session.refresh_from_db()  # it gained a trace with each fork
    return RunImported(
        agent_session, already_there=False, forks=tuple(each.agent_session for each in lines[1:])
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A session with its steps: the version after each number of them, and when the last happened."""

    agent_session: AgentSession
    versions: list[int]
    ended: datetime


def _append_all(steps: Iterable[Step], agent_session: AgentSession, by: Actor, moment: datetime) -> _Line:
    """Append steps to a session that nobody else has seen, so it is neither locked nor read again."""
    head = store.head(agent_session)
    versions = [agent_session.head_version]
    appends: list[Append] = []
    for step in steps:
        moment = step.at or moment + timedelta(microseconds=1)
        with clock.at(moment):
            # Each step has its own latency.
            append = Append(agent_session, replace(by, request=RequestFacts(by.request.request_id)))
        _append(step, append, head)
        head = append.head_after(head)
        versions.append(agent_session.head_version)
        appends.append(append)
    store.write_all(agent_session, appends)
    return _Line(agent_session, versions, moment)


def _beginning(steps: Iterable[Step]) -> datetime | None:
    return next((step.at for step in steps if step.at), None)


def _append(step: Step, append: Append, head: Head) -> None:
    match step:
        case RecordedState():
            _append_state(step, append, head)
        case RecordedTurn():
            _append_recorded_turn(step, append, head)
        case RecordedMemory():
            exports.append_memory(step, append)
        case RecordedEntity():
            exports.append_entity(step, append)
        case RecordedNote():
            exports.append_note(step, append)


def _append_state(step: RecordedState, append: Append, head: Head) -> None:
    reasoning = _fitting_reasoning(step.reasoning)
    if step.version is None:
        append_update(append, step.state, mode=REPLACE, reasoning=reasoning, head=head)
    else:
        exports.append_version_of_export(step, append, head, reasoning)


def _append_recorded_turn(step: RecordedTurn, append: Append, head: Head) -> None:
    reasoning = _fitting_reasoning(step.reasoning)
    output = step.output
    if reasoning != step.reasoning:
        output = {**output, _IN_FULL: step.reasoning}
    append_turn(
        append,
        Turn(
            input_text=json.dumps(step.input),
            output_text=json.dumps(output),
            reasoning=reasoning or None,
            metadata_text=json.dumps(_fitting_metadata(step.metadata, METADATA_BYTES)),
        ),
        head=head,
        before=Document.of(step.state_before) if step.state_before is not None else None,
        after=Document.of(step.state_after) if step.state_after is not None else None,
    )
    if step.version is not None:
        exports.check_number(append, step.version)


def _imported(run: Run, by: Actor) -> AgentSession | None:
    return AgentSession.objects.filter(project=by.project, imported_from=run.fingerprint).first()


def _refuse_frozen_middle(run: Run) -> None:
    """A state that freezes a session (contract 8.1) can only be the last of a session's import."""
    for line in ([RecordedState(run.initial_state), *run.steps], *(each.steps for each in run.branches)):
        for place, step in enumerate(line[:-1]):
            state = step.state if isinstance(step, RecordedState) else None
            if isinstance(step, RecordedTurn):
                state = step.state_after
            if state is not None and control_keys.is_frozen(state):
                raise InvalidInput(
                    f"The state of step {place} holds `frozen: true`, which freezes a session here, "
                    "so that the steps after it can't be stored. Rename the key in the record.",
                    param="state",
                )


def _fitting_reasoning(reasoning: str | None) -> str | None:
    """The reasoning within its limit (contract 4.3) and without U+0000, which plain text may not hold."""
    if reasoning is None:
        return None
    plain = reasoning.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if len(plain.encode()) <= REASONING_BYTES:
        return plain
    ending = " … (shortened at import)"
    return plain.encode()[: REASONING_BYTES - len(ending.encode())].decode(errors="ignore") + ending


def _fitting_metadata(metadata: JsonObject, limit: int) -> JsonObject:
    """The metadata within a limit: the largest values are named with their size instead of kept."""
    fitting = dict(metadata)
    sizes = {key: len(json.dumps({key: value}).encode()) for key, value in metadata.items()}
    for key in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if len(json.dumps(fitting).encode()) <= limit:
            break
        fitting[key] = f"left out at import: {sizes[key]:,} bytes"
    return fitting
