"""The family of a session: where it was forked from, and what was forked from it."""

from __future__ import annotations

from sessions_app.models import AgentSession

LINEAGE_MOST = 1000


def lineage(agent_session: AgentSession) -> list[AgentSession]:
    """Every session of one lineage that still exists, the root first, then by depth and age.

    A source that was deleted is missing; its forks keep its id (domain rule 4). At most LINEAGE_MOST.
    """
    members = AgentSession.objects.filter(
        project=agent_session.project_id, lineage_root=agent_session.lineage_root, deleted_at=None
    )
    return list(members.order_by("lineage_depth", "pk")[:LINEAGE_MOST])
