"""The numbers of an incident: how long, and how much damage. A time that was not recorded is None, not 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incidents_app.models import AffectedSession, Episode


@dataclass(frozen=True, slots=True)
class Metrics:
    """Of one episode. Times in seconds from its opening until the last session was there.

    `bad_versions`: from the divergence up to the freeze, over all sessions. `tool_calls`: after the last good
    version, up to the freeze.
    """

    time_to_freeze_s: float | None
    time_to_divergence_s: float | None
    time_to_rollback_s: float | None
    time_to_resume_s: float | None
    time_to_resolve_s: float | None
    time_to_close_s: float | None
    bad_versions: int | None
    tool_calls: int | None


def metrics_of(episode: Episode, affected: Sequence[AffectedSession]) -> Metrics:
    """The numbers of one episode with its sessions."""

    def until(moments: Sequence[datetime | None]) -> float | None:
        known = [moment for moment in moments if moment is not None]
        return round((max(known) - episode.opened_at).total_seconds(), 3) if known else None

    spans = [
        max(0, row.freeze_version - row.divergence_version)
        for row in affected
        if row.freeze_version is not None and row.divergence_version is not None
    ]
    calls = [row.tool_calls for row in affected if row.tool_calls is not None]
    return Metrics(
        time_to_freeze_s=until([row.frozen_at for row in affected]),
        time_to_divergence_s=until([row.diverged_at for row in affected]),
        time_to_rollback_s=until([row.rolled_back_at for row in affected]),
        time_to_resume_s=until([row.resumed_at for row in affected]),
        time_to_resolve_s=until([episode.resolved_at]),
        time_to_close_s=until([episode.closed_at]),
        bad_versions=sum(spans) if spans else None,
        tool_calls=sum(calls) if calls else None,
    )
