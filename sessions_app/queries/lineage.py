"""The family of a session: where it was forked from, and what was forked from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from sessions_app.diff import changes
from sessions_app.models import AgentSession
from sessions_app.queries.versions import documents_of

LINEAGE_MOST = 1000


def lineage(agent_session: AgentSession) -> list[AgentSession]:
    """Every session of one lineage that still exists, the root first, then by depth and age.

    A source that was deleted is missing; its forks keep its id (domain rule 4). At most LINEAGE_MOST.
    """
    members = AgentSession.objects.filter(
        project=agent_session.project_id, lineage_root=agent_session.lineage_root, deleted_at=None
    )
    return list(members.order_by("lineage_depth", "pk")[:LINEAGE_MOST])


@dataclass(frozen=True, slots=True)
class Relative:
    """A line of a family tree; `agent_session` is None for a deleted session, of which only the id is known.

    `changed` counts the leaves in which the current state differs from the one that the session began with:
    its distance from its parent. None where it is not reckoned.
    """

    session_id: str
    agent_session: AgentSession | None
    level: int
    parent_is_left: bool = False
    changed: int | None = None


DISTANCES_MOST = 50


def family_tree(members: list[AgentSession]) -> list[Relative]:
    """The sessions of one lineage as a tree, each before its forks; distances of the first DISTANCES_MOST."""
    rows = list(_in_order(members))
    known = [each.agent_session for each in rows if each.agent_session and each.agent_session.forked_from]
    changed = {session.pk: _changed(session) for session in islice(known, DISTANCES_MOST)}
    return [
        replace(row, changed=changed.get(row.agent_session.pk)) if row.agent_session else row for row in rows
    ]


def _in_order(members: list[AgentSession]) -> Iterator[Relative]:
    forks: dict[str | None, list[AgentSession]] = {}
    for member in members:
        forks.setdefault(member.forked_from, []).append(member)
    present = {member.public_id for member in members}
    lost = [parent for parent in forks if parent is not None and parent not in present]
    waiting: list[Relative] = [Relative(each, None, 0) for each in reversed(lost)]
    waiting += [Relative(each.public_id, each, 0) for each in reversed(forks.get(None, []))]
    while waiting:
        row = waiting.pop()
        yield row
        waiting += [
            Relative(each.public_id, each, row.level + 1, parent_is_left=row.agent_session is not None)
            for each in reversed(forks.get(row.session_id, []))
        ]


def _changed(agent_session: AgentSession) -> int:
    if agent_session.head_version == 0:
        return 0
    first, current = documents_of((agent_session, 0), (agent_session, agent_session.head_version))
    found = changes(first.value, current.value)
    return found.added + found.removed + found.changed
