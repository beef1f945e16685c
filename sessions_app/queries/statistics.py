"""How much a project holds, for the API's statistics (contract 6.8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta

from django.db.models import Count, Q, Sum

from sessions_app.models import StateVersion
from sessions_app.queries.entities import entities_for
from sessions_app.queries.memories import memories_for
from sessions_app.queries.overview import Rate, Span, hours, rollback_rate
from sessions_app.queries.sessions import sessions_for
from statebase_site.access.actor import Actor

_HOURS = 24


@dataclass(frozen=True, slots=True)
class Statistics:
    """Totals, the rollback rate of the last 24 hours, and what was written in each of those hours.

    `storage_bytes` is what the states take in the database, compressed.
    """

    sessions: int
    turns: int
    memories: int
    entities: int
    frozen: int
    storage_bytes: int
    rate: Rate
    hours: list[Span]


def statistics(by: Actor) -> Statistics:
    """The numbers of what exists for the actor, as of now."""
    sessions = sessions_for(by)
    totals = sessions.aggregate(
        sessions=Count("pk"), turns=Sum("turn_count"), frozen=Count("pk", filter=Q(frozen_at__isnull=False))
    )
    stored = StateVersion.objects.filter(agent_session__in=sessions).aggregate(stored=Sum("stored_bytes"))
    return Statistics(
        sessions=totals["sessions"],
        turns=totals["turns"] or 0,
        memories=memories_for(by).count(),
        entities=entities_for(by).count(),
        frozen=totals["frozen"],
        storage_bytes=stored["stored"] or 0,
        rate=rollback_rate(by, timedelta(hours=_HOURS)),
        hours=hours(by, _HOURS, UTC),
    )
