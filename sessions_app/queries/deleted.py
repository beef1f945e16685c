"""Sessions that wait for their purge: deleted ones, which can come back until then, and expired ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Q, QuerySet

from sessions_app.enums import Action
from sessions_app.models import AgentSession, Trace
from statebase_site.access.actor import Actor
from statebase_site.base import clock


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many sessions wait for their purge, and how many of them the worker removes next.

    `kept` counts those past their life that are not purged, because they are frozen or held as evidence.
    """

    deleted: int
    expired: int
    due: int
    kept: int


def deleted_sessions(by: Actor) -> QuerySet[AgentSession]:
    """The deleted sessions of the project that are still there."""
    return AgentSession.objects.filter(project=by.project, deleted_at__isnull=False)


def deletions(sessions: Iterable[AgentSession]) -> dict[int, Trace]:
    """The trace of the last deletion of each session, by its key."""
    found = Trace.objects.filter(agent_session__in=list(sessions), action=Action.SESSION_DELETED)
    return {trace.agent_session_id: trace for trace in found.order_by("pk") if trace.agent_session_id}


def purgeable() -> Q:
    """Sessions deleted or expired long enough ago (settings), and neither frozen nor held."""
    now = clock.now()
    return Q(frozen_at=None, open_holds=0) & (
        Q(deleted_at__lte=now - timedelta(days=settings.PURGE_DELETED_AFTER_DAYS))
        | Q(deleted_at=None, expires_at__lte=now - timedelta(days=settings.PURGE_EXPIRED_AFTER_DAYS))
    )


def waiting_for_purge(by: Actor) -> Waiting:
    """The numbers of the project, as of now."""
    over = Q(deleted_at=None, expires_at__lte=clock.now())
    stands_still = Q(frozen_at__isnull=False) | Q(open_holds__gt=0)
    counts = AgentSession.objects.filter(project=by.project).aggregate(
        deleted=Count("pk", filter=Q(deleted_at__isnull=False)),
        expired=Count("pk", filter=over & ~stands_still),
        due=Count("pk", filter=purgeable()),
        kept=Count("pk", filter=over & stands_still),
    )
    return Waiting(**counts)
