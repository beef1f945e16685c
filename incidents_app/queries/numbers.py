"""Incidents in numbers: what is open now, how long the steps took, and how much damage was done."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import median

from django.db.models import Count, Q

from incidents_app.enums import ACTIVE, FailureMode, Severity, Status
from incidents_app.models import AffectedSession, Episode, Incident
from incidents_app.queries.metrics import Metrics, metrics_of
from statebase_site.access.actor import Actor
from statebase_site.base import clock

URGENT = (Severity.S1, Severity.S2)


@dataclass(frozen=True, slots=True)
class OpenNow:
    """How many incidents are active, by severity; `""` are those in triage."""

    by_severity: dict[str, int]
    overdue_reviews: int

    @property
    def count(self) -> int:
        return sum(self.by_severity.values())

    @property
    def found(self) -> list[tuple[str, int]]:
        """The severities of which there are any, the worst first, with how many."""
        return [(severity, count) for severity, count in self.by_severity.items() if count]

    @property
    def is_urgent(self) -> bool:
        """Whether one of them is an S1 or S2."""
        return any(self.by_severity[severity] for severity in URGENT)


def open_now(project: int) -> OpenNow:
    """What is open in a project, in one query."""
    severities = {severity: Count("pk", filter=Q(severity=severity)) for severity in Severity.values}
    found = Incident.objects.filter(project=project, status__in=ACTIVE).aggregate(
        **severities,
        triage=Count("pk", filter=Q(severity=None)),
        overdue=Count("pk", filter=Q(review_due__lt=clock.now())),
    )
    counts = {severity: found[severity] for severity in Severity.values}
    return OpenNow({**counts, "": found["triage"]}, found["overdue"])


@dataclass(frozen=True, slots=True)
class Measured:
    """One episode of an incident with its numbers. The severity is the incident's present one."""

    incident: Incident
    episode: Episode
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Measure:
    """One of the numbers: the field of `Metrics`, what people call it, and whether it is in seconds."""

    field: str
    label: str
    is_time: bool


MEASURES = (
    Measure("time_to_freeze_s", "To freeze", True),
    Measure("time_to_divergence_s", "To divergence", True),
    Measure("time_to_rollback_s", "To rollback", True),
    Measure("time_to_resume_s", "To resume", True),
    Measure("time_to_close_s", "To close", True),
    Measure("bad_versions", "Bad versions", False),
    Measure("tool_calls", "Tool calls", False),
)
TIMES = tuple(measure for measure in MEASURES if measure.is_time)


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle and the ninth of ten of what was recorded, and how many that is."""

    count: int
    median: float
    p90: float


@dataclass(frozen=True)
class Group:
    """Episodes that are looked at together."""

    key: str
    label: str
    rows: Sequence[Measured]

    @cached_property
    def spreads(self) -> list[Spread | None]:
        """One for each of `MEASURES`; None where nothing was recorded."""
        return [spread_of(values_of(self.rows, measure)) for measure in MEASURES]


def measured(by: Actor, *, since: datetime | None = None) -> list[Measured]:
    """Every episode that began since then, closed or not, except of declined and merged incidents."""
    episodes = (
        Episode.objects.filter(incident__project=by.project)
        .exclude(incident__status__in=(Status.DECLINED, Status.DUPLICATE))
        .select_related("incident")
        .order_by("-opened_at", "-pk")
    )
    if since:
        episodes = episodes.filter(opened_at__gte=since)
    rows: dict[int, list[AffectedSession]] = defaultdict(list)
    wanted = AffectedSession.objects.filter(episode__in=episodes.order_by().values("pk"))
    for row in wanted.defer("steps_text", "correction", "failure"):
        rows[row.episode_id].append(row)
    return [
        Measured(episode.incident, episode, metrics_of(episode, rows[episode.pk])) for episode in episodes
    ]


def values_of(rows: Iterable[Measured], measure: Measure) -> list[float]:
    """What was recorded of a measure; what was not is left out, never taken for zero."""
    found = (getattr(row.metrics, measure.field) for row in rows)
    return [value for value in found if value is not None]


def spread_of(values: Sequence[float]) -> Spread | None:
    """Median (of an even count: between the two in the middle), and 90th percentile by nearest rank."""
    if not values:
        return None
    ordered = sorted(values)
    return Spread(len(ordered), median(ordered), ordered[math.ceil(0.9 * len(ordered)) - 1])


def by_severity(rows: Sequence[Measured]) -> list[Group]:
    """A group for each severity, also for an empty one, and one in triage if there is any."""
    groups = [
        Group(severity, severity, [row for row in rows if row.incident.severity == severity])
        for severity in Severity.values
    ]
    in_triage = [row for row in rows if row.incident.severity is None]
    return [*groups, Group("", "Triage", in_triage)] if in_triage else groups


def by_failure_mode(rows: Sequence[Measured]) -> list[Group]:
    """A group for each failure mode that occurred, the most frequent first, then those without one."""
    found: dict[str, list[Measured]] = defaultdict(list)
    for row in rows:
        found[row.incident.failure_mode or ""].append(row)
    groups = [
        Group(key, FailureMode(key).label if key else "Not chosen", each) for key, each in found.items()
    ]
    return sorted(groups, key=lambda group: (not group.key, -len(group.rows), group.label))
