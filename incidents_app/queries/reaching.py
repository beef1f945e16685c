"""How far an incident reaches: sessions that carry the same bad state, and what a session suggests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incidents_app.models import AffectedSession, Incident
from sessions_app.enums import VersionKind
from sessions_app.models import AgentSession, StateVersion
from statebase_site.access.actor import Actor
from statebase_site.base.ids import findable

CONTAMINATED_MOST = 200
_NO_END = 2**63
_AGENT_SHOWN = 120  # characters, so that a title has room for it


@dataclass(frozen=True, slots=True)
class ContaminatedFork:
    """A session that descends from a state at or after a divergence, and is not in the incident."""

    agent_session: AgentSession
    source_id: str
    source_version: int


def contaminated_forks(incident: Incident, affected: Sequence[AffectedSession]) -> list[ContaminatedFork]:
    """Sessions forked at or after the divergence, and the forks of those; at most CONTAMINATED_MOST.

    What was forked from a state that had been rolled back to a good one is clean.
    """
    known = {row.session_id for row in affected}
    bad = {row.session_id: _bad_versions(row) for row in affected if row.divergence_version is not None}
    found: list[ContaminatedFork] = []
    waiting, seen = list(bad), set(bad)
    while waiting and len(found) < CONTAMINATED_MOST:
        forks = AgentSession.objects.filter(
            forked_from__in=waiting, project=incident.project_id, deleted_at=None
        ).order_by("pk")
        waiting = []
        for fork in forks.exclude(public_id__in=seen):
            source, version = fork.forked_from or "", fork.forked_version or 0
            if source in bad and not any(version in each for each in bad[source]):
                continue
            # Whatever was forked from such a fork carries it too, also where the fork itself is known.
            waiting.append(fork.public_id)
            seen.add(fork.public_id)
            if fork.public_id not in known:
                found.append(ContaminatedFork(fork, source, version))
    return found[:CONTAMINATED_MOST]


def _bad_versions(row: AffectedSession) -> list[range]:
    """The versions that carry what went wrong: from the divergence on, except where a rollback undid it."""
    assert row.divergence_version is not None
    found: list[range] = []
    begun: int | None = row.divergence_version
    rollbacks = StateVersion.objects.filter(
        agent_session=row.agent_session_id, kind=VersionKind.ROLLBACK, number__gt=row.divergence_version
    ).order_by("number")
    for number, target in rollbacks.values_list("number", "restored_from"):
        assert target is not None
        restores_bad = any(target in each for each in found) or (begun is not None and target >= begun)
        if begun is not None and not restores_bad:
            found.append(range(begun, number))
            begun = None
        elif begun is None and restores_bad:
            begun = number
    return [*found, range(begun, _NO_END)] if begun is not None else found


def sessions_named(session_ids: Iterable[str], projects: Iterable[int]) -> dict[str, AgentSession]:
    """The sessions with these ids in any of `projects` (their keys), by id; also expired ones."""
    found = AgentSession.objects.filter(
        public_id__in=[findable(each) for each in session_ids], project__in=list(projects), deleted_at=None
    )
    return {each.public_id: each for each in found.select_related("project")}


def recently_active(by: Actor, *, but: Iterable[str], limit: int) -> list[AgentSession]:
    """The sessions that changed last, which are those an incident is most likely about."""
    others = AgentSession.objects.filter(project=by.project, deleted_at=None).exclude(public_id__in=list(but))
    return list(others.order_by("-updated_at", "-pk")[:limit])


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a filing form is filled with, from where it was opened."""

    title: str
    session_id: str
    agent_id: str
    version: int
    severity: str
    why_severity: str


def suggested_for(agent_session: AgentSession, version: int | None) -> Suggestion:
    """A title, the failing point and a severity for an incident about a session.

    The severity is a guess a person confirms: S2 for a session that is frozen already, S3 otherwise.
    """
    number = agent_session.head_version if version is None else version
    frozen = agent_session.is_frozen
    return Suggestion(
        title=f"{agent_session.agent_id[:_AGENT_SHOWN]}: wrong state at v{number}",
        session_id=agent_session.public_id,
        agent_id=agent_session.agent_id,
        version=number,
        severity="S2" if frozen else "S3",
        why_severity="it is frozen already" if frozen else "nothing says yet that data is lost",
    )
