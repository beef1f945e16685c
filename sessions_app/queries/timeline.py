"""What a session's timeline is drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from sessions_app.enums import VersionKind
from sessions_app.models import AgentSession, RefusedWrite, StateVersion


@dataclass(frozen=True, slots=True)
class LiveRange:
    """Versions `first` to `last` that the current state descends from; those between ranges are undone."""

    first: int
    last: int


def live_ranges(agent_session: AgentSession, *, at: int | None = None) -> list[LiveRange]:
    """The line of descent of the state at a version (default: the current one), newest first.

    It goes through each rollback to what that restored: rolling back a rollback makes what it had undone
    live again.
    """
    rollbacks = (
        StateVersion.objects.filter(agent_session=agent_session, kind=VersionKind.ROLLBACK)
        .order_by("-number")
        .values_list("number", "restored_from")
    )
    ranges = []
    last = agent_session.head_version if at is None else at
    for number, restored_from in rollbacks:
        if number <= last and restored_from is not None:
            ranges.append(LiveRange(number, last))
            last = restored_from
    ranges.append(LiveRange(0, last))
    return ranges


def is_live(number: int, ranges: Iterable[LiveRange]) -> bool:
    """Whether a version is in the current state's line of descent."""
    return any(each.first <= number <= each.last for each in ranges)


@dataclass(frozen=True, slots=True)
class Refusals:
    """How many writes were refused since the freeze, and when the last was."""

    count: int
    last_at: datetime | None


def refusals(agent_session: AgentSession) -> Refusals:
    """Of the present freeze; none where the session runs."""
    if agent_session.frozen_version is None:
        return Refusals(0, None)
    found = RefusedWrite.objects.filter(
        agent_session=agent_session, frozen_version=agent_session.frozen_version
    ).aggregate(count=Count("pk"), last_at=Max("created_at"))
    return Refusals(found["count"], found["last_at"])
