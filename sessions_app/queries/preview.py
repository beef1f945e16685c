"""The rehearsal of a rollback: what comes back, what is undone, what it can't undo (contract 15)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from sessions_app import control_keys
from sessions_app.diff import Comparison, compare
from sessions_app.models import AgentSession, StateVersion, Turn
from sessions_app.queries.timeline import LiveRange, is_live, live_ranges
from sessions_app.queries.turns import turns_of
from sessions_app.queries.versions import absolute_version, documents_of, version_row, versions_of
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
    current, snapshot = documents_of((agent_session, agent_session.head_version), (agent_session, target))
    restored = control_keys.rolled_back(snapshot.value, current.value)
    live_now, live_then = live_ranges(agent_session), live_ranges(agent_session, at=target)
    undone = [
        version
        for version in versions_of(agent_session)
        .filter(number__gt=_shared_to(live_now, live_then))
        .defer("changes_text")
        if is_live(version.number, live_now) and not is_live(version.number, live_then)
    ]
    turns = list(_turns_since(agent_session, target))
    return RollbackPreview(
        from_version=agent_session.head_version,
        to_version=target,
        comparison=compare(current.value, restored),
        undone_versions=undone,
        turns=turns,
        effects=_effects(turns),
        forks=list(
            AgentSession.objects.filter(
                project=agent_session.project_id,
                forked_from=agent_session.public_id,
                forked_version__gt=target,
                deleted_at=None,
            )
        ),
    )


def effects_since(agent_session: AgentSession, number: int, *, before: int | None = None) -> list[Effect]:
    """The tool calls logged after version `number`, up to the one before version `before`, oldest first."""
    turns = _turns_since(agent_session, number)
    return _effects(turns if before is None else turns.filter(state_version__lt=before))


def _turns_since(agent_session: AgentSession, number: int) -> QuerySet[Turn]:
    """By version, not by time: two rows may share a moment. The turn that made the version is before it."""
    made_it = version_row(agent_session, number).turn_id or ""
    return turns_of(agent_session).filter(state_version__gte=number).exclude(public_id=made_it)


def _effects(turns: Iterable[Turn]) -> list[Effect]:
    return [effect for turn in turns if (effect := effect_of(turn))]


def _shared_to(one: list[LiveRange], other: list[LiveRange]) -> int:
    """The last version of the beginning that two lines of descent share.

    Not always the target of the rollback: where that is itself undone now, versions before it are undone too.
    """
    shared = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left.first == right.first:
            shared = min(left.last, right.last)
        if left != right:
            break
    return shared


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
