"""Numbers and lists of the overview, of one project."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDay, TruncHour

from sessions_app.enums import Action, VersionKind
from sessions_app.models import AgentSession, RefusedWrite, StateVersion, Trace
from sessions_app.queries.sessions import sessions_for
from statebase_site.access.actor import Actor
from statebase_site.base import clock

# What creates or changes a session, and is traced once a time.
_WRITES = (
    Action.SESSION_CREATED,
    Action.SESSION_UPDATED,
    Action.STATE_UPDATED,
    Action.STATE_ROLLED_BACK,
    Action.TURN_ADDED,
)


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
class Span:
    """What happened in one hour or day, which begins at `start`."""

    start: datetime
    writes: int
    rate: Rate


def rollback_rate(by: Actor, period: timedelta) -> Rate:
    """The rate over the time up to now."""
    since = clock.now() - period
    rollbacks = _traces(by, since).filter(action=Action.STATE_ROLLED_BACK).count()
    return Rate(rollbacks, sessions_for(by).filter(updated_at__gte=since).count())


def frozen_sessions(by: Actor, limit: int) -> tuple[list[Frozen], int]:
    """The sessions frozen last, the latest first, and how many there are in all."""
    frozen = sessions_for(by).filter(frozen_at__isnull=False).order_by("-frozen_at", "-pk")
    sessions = list(frozen[:limit])
    refused: Counter[tuple[int, int | None]] = Counter(
        RefusedWrite.objects.filter(agent_session__in=sessions)
        .order_by()
        .values_list("agent_session_id", "frozen_version")
    )
    count = len(sessions) if len(sessions) < limit else frozen.count()
    return [Frozen(each, refused[(each.pk, each.frozen_version)]) for each in sessions], count


def refusal_count(by: Actor, period: timedelta) -> int:
    """How many writes were refused in the time up to now."""
    return _refusals(by).filter(created_at__gte=clock.now() - period).count()


def latest_refusals(by: Actor, limit: int) -> list[RefusedWrite]:
    """The writes refused last, newest first."""
    return list(_refusals(by).select_related("agent_session").defer("attempted")[:limit])


def latest_rollbacks(by: Actor, limit: int) -> list[StateVersion]:
    """The rollbacks made last, newest first."""
    traces = list(_traces(by).filter(action=Action.STATE_ROLLED_BACK).order_by("-created_at", "-pk")[:limit])
    versions = StateVersion.objects.filter(
        agent_session__in={trace.agent_session_id for trace in traces},
        number__in={trace.details["new_version"] for trace in traces},
        kind=VersionKind.ROLLBACK,
    ).defer("body", "changes_text")
    by_trace = {each.trace_id: each for each in versions.select_related("agent_session")}
    return [by_trace[trace.public_id] for trace in traces if trace.public_id in by_trace]


def days(by: Actor, count: int, zone: tzinfo) -> list[Span]:
    """The last `count` days of a time zone up to today, oldest first."""
    today = clock.now().astimezone(zone).date()
    starts = [
        datetime.combine(today - timedelta(days=back), time.min, zone) for back in range(count - 1, -1, -1)
    ]
    return _spans(by, starts, TruncDay("created_at", tzinfo=zone))


def hours(by: Actor, count: int, zone: tzinfo) -> list[Span]:
    """The last `count` hours of a time zone up to this one, oldest first."""
    now = clock.now().astimezone(zone).replace(minute=0, second=0, microsecond=0)
    starts = [now - timedelta(hours=back) for back in range(count - 1, -1, -1)]
    return _spans(by, starts, TruncHour("created_at", tzinfo=zone))


def _spans(by: Actor, starts: list[datetime], start: TruncDay | TruncHour) -> list[Span]:
    rows = (
        _traces(by, starts[0])
        .filter(action__in=_WRITES)
        .annotate(start=start)
        .order_by()
        .values("start")
        .annotate(
            writes=Count("pk"),
            rollbacks=Count("pk", filter=Q(action=Action.STATE_ROLLED_BACK)),
            sessions=Count("agent_session", distinct=True),
        )
    )
    found = {
        row["start"]: Span(row["start"], row["writes"], Rate(row["rollbacks"], row["sessions"]))
        for row in rows
    }
    return [found.get(each) or Span(each, 0, Rate(0, 0)) for each in starts]


def _traces(by: Actor, since: datetime | None = None) -> QuerySet[Trace]:
    traces = Trace.objects.filter(project=by.project, agent_session__deleted_at=None)
    return traces.filter(created_at__gte=since) if since else traces


def _refusals(by: Actor) -> QuerySet[RefusedWrite]:
    return RefusedWrite.objects.filter(project=by.project, agent_session__deleted_at=None)
