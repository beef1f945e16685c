"""Numbers and lists of the overview, of one project."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Count
from django.db.models.functions import TruncDate

from sessions_app.enums import Action, VersionKind
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace
from sessions_app.queries.sessions import sessions_for
from statebase_site.access.actor import Actor
from statebase_site.base import clock


@dataclass(frozen=True, slots=True)
class Rate:
    """Rollbacks to sessions created or changed in the same time (seed 1, "Monitoring")."""

    rollbacks: int
    sessions: int

    @property
    def share(self) -> float:
        """Rollbacks by sessions; 0 without sessions."""
        return self.rollbacks / self.sessions if self.sessions else 0.0

    @property
    def percent(self) -> float:
        return self.share * 100

    @property
    def health(self) -> str:
        """`healthy` under 2 %, `elevated` up to 5 %, `warning` over 5 %, `critical` over 10 %."""
        if self.share > 0.10:
            return "critical"
        if self.share > 0.05:
            return "warning"
        return "elevated" if self.share >= 0.02 else "healthy"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A frozen session with the writes refused since."""

    agent_session: AgentSession
    refused: int


@dataclass(frozen=True, slots=True)
class Day:
    """What happened on one day (UTC)."""

    date: date
    sessions: int
    writes: int
    rollbacks: int


def rollback_rate(by: Actor, period: timedelta) -> Rate:
    """The rate over the time up to now."""
    since = clock.now() - period
    rollbacks = Trace.objects.filter(
        project=by.project,
        action=Action.STATE_ROLLED_BACK,
        created_at__gte=since,
        agent_session__deleted_at=None,
    ).count()
    return Rate(rollbacks, sessions_for(by).filter(updated_at__gte=since).count())


def frozen_sessions(by: Actor) -> list[Frozen]:
    """All frozen sessions, the latest frozen first."""
    sessions = list(sessions_for(by).filter(frozen_at__isnull=False).order_by("-frozen_at"))
    refused = Counter(
        RefusedWrite.objects.filter(agent_session__in=sessions).values_list(
            "agent_session_id", "frozen_version"
        )
    )
    return [Frozen(each, refused[(each.pk, each.frozen_version)]) for each in sessions]


def latest_refusals(by: Actor, limit: int) -> list[RefusedWrite]:
    """The writes refused last, newest first."""
    refusals = RefusedWrite.objects.filter(project=by.project, agent_session__deleted_at=None)
    return list(refusals.select_related("agent_session").defer("attempted")[:limit])


def latest_rollbacks(by: Actor, limit: int) -> list[StateVersion]:
    """The rollbacks made last, newest first."""
    traces = list(
        Trace.objects.filter(
            project=by.project, action=Action.STATE_ROLLED_BACK, agent_session__deleted_at=None
        ).order_by("-created_at")[:limit]
    )
    versions = StateVersion.objects.filter(
        agent_session__in={trace.agent_session_id for trace in traces},
        number__in={trace.details["new_version"] for trace in traces},
        kind=VersionKind.ROLLBACK,
    )
    by_trace = {each.trace_id: each for each in versions.defer("body").select_related("agent_session")}
    return [by_trace[trace.public_id] for trace in traces if trace.public_id in by_trace]


def activity(by: Actor, *, days: int) -> list[Day]:
    """The last `days` days up to today, oldest first: sessions active, writes accepted, rollbacks."""
    today = clock.now().date()
    dates = [today - timedelta(days=back) for back in range(days - 1, -1, -1)]
    writes = [Action.SESSION_CREATED, Action.STATE_UPDATED, Action.STATE_ROLLED_BACK, Action.TURN_ADDED]
    rows = (
        Trace.objects.filter(
            project=by.project,
            action__in=writes,
            created_at__date__gte=dates[0],
            agent_session__deleted_at=None,
        )
        .annotate(day=TruncDate("created_at"))
        .values("day", "action")
        .annotate(count=Count("pk"))
    )
    counts = {(row["day"], row["action"]): row["count"] for row in rows.order_by()}
    active = (
        Trace.objects.filter(
            project=by.project,
            created_at__date__gte=dates[0],
            source="system",
            agent_session__deleted_at=None,
        )
        .annotate(day=TruncDate("created_at"))
        .values("day")
        .annotate(sessions=Count("agent_session", distinct=True))
    )
    sessions = {row["day"]: row["sessions"] for row in active.order_by()}
    return [
        Day(
            date=day,
            sessions=sessions.get(day, 0),
            writes=sum(counts.get((day, action), 0) for action in writes),
            rollbacks=counts.get((day, Action.STATE_ROLLED_BACK), 0),
        )
        for day in dates
    ]
