"""The rehearsal of a rollback: what comes back, what is undone, what it can't undo (contract 15)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app import control_keys
from sessions_app.diff import Comparison, compare
from sessions_app.models import AgentSession, StateVersion, Turn
from sessions_app.queries.timeline import is_live, live_ranges
from sessions_app.queries.turns import turns_of
from sessions_app.queries.versions import absolute_version, document_at, versions_of
from statebase_site.base import json

REVERSIBILITIES = ("reversible", "compensatable", "irreversible")


@dataclass(frozen=True, slots=True)
class Effect:
    """A tool call made since the target: the world outside does not roll back with the state."""

    turn: Turn
    tool: str
    arguments: json.JsonValue
    reversibility: str


@dataclass(frozen=True, slots=True)
class RollbackPreview:
    """What a rollback from `from_version` to `to_version` would do. Nothing was changed to find out."""

    from_version: int
    to_version: int
    comparison: Comparison
    undone_versions: list[StateVersion]
    turns: list[Turn]
    effects: list[Effect]
    forks: list[AgentSession]


def rollback_preview(agent_session: AgentSession, requested: int) -> RollbackPreview:
    """Rehearse a rollback. Raises `VersionNotFound`."""
    target = absolute_version(agent_session, requested)
    current = document_at(agent_session, agent_session.head_version)
    snapshot = document_at(agent_session, target)
    restored = (
        control_keys.restored_while_frozen(snapshot.value, current.value)
        if agent_session.is_frozen
        else control_keys.restored_while_running(snapshot.value)
    )
    ranges = live_ranges(agent_session)
    undone = [
        version
        for version in versions_of(agent_session).filter(number__gt=target)
        if is_live(version.number, ranges)
    ]
    turns = list(turns_of(agent_session).filter(created_at__gt=_made_at(agent_session, target)))
    return RollbackPreview(
        from_version=agent_session.head_version,
        to_version=target,
        comparison=compare(current.value, restored),
        undone_versions=undone,
        turns=turns,
        effects=[effect for turn in turns if (effect := effect_of(turn))],
        forks=list(
            AgentSession.objects.filter(
                project=agent_session.project_id,
                forked_from=agent_session.public_id,
                forked_version__gt=target,
                deleted_at=None,
            )
        ),
    )


def effect_of(turn: Turn) -> Effect | None:
    """The tool call of a turn in the official SDK's shape (`tool_call` with `tool_metadata`), if it is one.

    Its reversibility is what the tool's metadata says; where it says nothing it is unknown, and a person
    should take that as irreversible.
    """
    given = turn.input
    if given.get("type") != "tool_call":
        return None
    tool = given.get("tool_metadata")
    if not isinstance(tool, dict):
        tool = {}
    said = tool.get("reversibility", turn.metadata.get("reversibility"))
    name = tool.get("name")
    return Effect(
        turn=turn,
        tool=name if isinstance(name, str) else str(given.get("content", "")),
        arguments=tool.get("arguments"),
        reversibility=said if isinstance(said, str) and said in REVERSIBILITIES else "unknown",
    )


def _made_at(agent_session: AgentSession, number: int):
    return versions_of(agent_session).values_list("created_at", flat=True).get(number=number)
