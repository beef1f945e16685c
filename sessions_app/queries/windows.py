"""Parts of a session of any length: what stands round one version. Each is one query, and bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Count, Max, Min

from sessions_app.enums import VersionKind
from sessions_app.models import AgentSession, EvidenceHold, RefusedWrite, StateVersion, Turn
from sessions_app.queries.timeline import LiveRange
from sessions_app.queries.turns import turns_of
from sessions_app.queries.versions import versions_of

FORKS_SHOWN = 200


def versions_between(agent_session: AgentSession, first: int, last: int) -> list[StateVersion]:
    """The rows of versions `first` to `last`, oldest first, without states and operations."""
    return list(versions_of(agent_session).filter(number__range=(first, last)).defer("changes_text"))


def rollbacks_until(agent_session: AgentSession, last: int, limit: int) -> list[StateVersion]:
    """The newest rollbacks up to version `last`, newest first."""
    rows = versions_of(agent_session).filter(kind=VersionKind.ROLLBACK, number__lte=last)
    return list(rows.defer("changes_text").order_by("-number")[:limit])


def rollback_targets(agent_session: AgentSession) -> dict[int, int]:
    """Which version each rollback of the session restored."""
    rollbacks = StateVersion.objects.filter(agent_session=agent_session, restored_from__isnull=False)
    rows = (
        rollbacks.filter(kind=VersionKind.ROLLBACK).order_by("number").values_list("number", "restored_from")
    )
    return {number: target for number, target in rows if target is not None}


def undone_by(number: int, ranges: Sequence[LiveRange]) -> int | None:
    """The rollback that undid a version; None where the current state descends from it."""
    for newer, older in pairwise(ranges):
        if older.last < number < newer.first:
            return newer.first
    return None


def forks_of(agent_session: AgentSession) -> list[AgentSession]:
    """The sessions forked from this one, by the version they began at; at most FORKS_SHOWN."""
    forks = AgentSession.objects.filter(
        project=agent_session.project_id, forked_from=agent_session.public_id, deleted_at=None
    )
    return list(forks.order_by("forked_version", "pk").only("public_id", "forked_version")[:FORKS_SHOWN])


@dataclass(frozen=True, slots=True)
class FreezeRefusals:
    """The writes that one freeze refused; the freeze is named by its version."""

    frozen_version: int
    count: int
    first_at: datetime
    last_at: datetime


def refusals_by_freeze(agent_session: AgentSession) -> list[FreezeRefusals]:
    """What each freeze of the session refused, oldest freeze first."""
    found = (
        RefusedWrite.objects.filter(agent_session=agent_session)
        .order_by("frozen_version")
        .values("frozen_version")
        .annotate(count=Count("pk"), first_at=Min("created_at"), last_at=Max("created_at"))
    )
    return [FreezeRefusals(**each) for each in found]


def turns_per_version(agent_session: AgentSession, first: int, last: int) -> dict[int, tuple[int, int]]:
    """The turns that ended at versions `first` to `last`: first turn and how many, by version."""
    found = (
        Turn.objects.filter(agent_session=agent_session, state_version__range=(first, last))
        .order_by("state_version")
        .values("state_version")
        .annotate(first_turn=Min("number"), count=Count("number"))
    )
    return {each["state_version"]: (each["first_turn"], each["count"]) for each in found}


def turns_up_to(agent_session: AgentSession, number: int, limit: int) -> list[Turn]:
    """The last turns that ended at version `number` or before, newest first, without states of their own."""
    turns = turns_of(agent_session).filter(state_version__lte=number).order_by("-state_version", "-number")
    return list(turns.defer("state_before_body", "state_after_body")[:limit])


def open_holds(agent_session: AgentSession) -> list[EvidenceHold]:
    """Why the session must stay; asks nothing where its head says that there is no hold."""
    if not agent_session.open_holds:
        return []
    return list(EvidenceHold.objects.filter(agent_session=agent_session, released_at=None))
