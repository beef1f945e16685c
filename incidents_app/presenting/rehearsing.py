"""What is told before a session of an incident is rolled back, and what changed while somebody decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incidents_app import queries
from incidents_app.models import Incident
from sessions_app import queries as sessions
from sessions_app.models import AgentSession, StateVersion
from statebase_site.base.errors import Conflict

_ROWS_SHOWN = 50


class TargetMoved(Conflict):
    """The last good version is another one than the person was shown."""

    code = "version_conflict"

    def __init__(self, target: int | None) -> None:
        now = "none is recorded any more" if target is None else f"it is v{target} now"
        super().__init__(f"The last good version was changed meanwhile: {now}.")


@dataclass(frozen=True, slots=True)
class Shown:
    """A version, as the short list of versions takes it."""

    version: StateVersion

    @property
    def number(self) -> int:
        return self.version.number


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The account of a rollback that was not made."""

    preview: sessions.RollbackPreview
    undone: Sequence[Shown]
    undone_more: int
    is_head: bool
    """Whether the target is the current version itself: then there is nothing to roll back."""
    irreversible: int


def rehearsal(agent_session: AgentSession, target: int) -> Rehearsal:
    """Rehearse a rollback to version `target`. Raises `VersionNotFound`."""
    preview = sessions.rollback_preview(agent_session, target)
    undone = list(reversed(preview.undone_versions))
    return Rehearsal(
        preview=preview,
        undone=[Shown(row) for row in undone[:_ROWS_SHOWN]],
        undone_more=max(0, len(undone) - _ROWS_SHOWN),
        is_head=target == agent_session.head_version,
        irreversible=sum(effect.reversibility != "reversible" for effect in preview.effects),
    )


@dataclass(frozen=True, slots=True)
class MovedOn:
    """The versions made since the one that somebody saw as the current one, newest first."""

    seen: int
    entries: Sequence[Shown]
    more: int

    @classmethod
    def since(cls, agent_session: AgentSession, seen: int) -> MovedOn:
        """What happened since version `seen`."""
        rows = sessions.versions_of(agent_session).filter(number__gt=seen).defer("changes_text")
        newest = list(rows.order_by("-number")[:_ROWS_SHOWN])
        return cls(
            seen, [Shown(row) for row in newest], max(0, agent_session.head_version - seen - _ROWS_SHOWN)
        )


def other_incidents(incident: Incident, session_ids: Iterable[str]) -> list[Incident]:
    """The other open incidents that affect any of the sessions, oldest first."""
    found = queries.open_incidents_of(session_ids, project=incident.project_id)
    others = {each.pk: each for incidents in found.values() for each in incidents if each.pk != incident.pk}
    return sorted(others.values(), key=lambda each: each.number)
