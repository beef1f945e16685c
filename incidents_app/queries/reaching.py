"""How far an incident reaches: sessions that carry the same bad state, and what a session suggests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from incidents_app.models import AffectedSession, Incident
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.base.ids import findable

CONTAMINATED_MOST = 200
_AGENT_SHOWN = 120  # characters, so that a title has room for it


@dataclass(frozen=True, slots=True)
class ContaminatedFork:
    """A session that descends from a state at or after a divergence, and is not in the incident."""

    agent_session: AgentSession
    source_id: str
    source_version: int


def contaminated_forks(incident: Incident, affected: Sequence[AffectedSession]) -> list[ContaminatedFork]:
    """Sessions forked at or after the divergence, and the forks of those; at most CONTAMINATED_MOST."""
    known = {row.session_id for row in affected}
    conditions = [
        Q(forked_from=row.session_id, forked_version__gte=row.divergence_version)
        for row in affected
        if row.divergence_version is not None
    ]
    found: list[ContaminatedFork] = []
    while conditions and len(found) < CONTAMINATED_MOST:
        one_of = conditions[0]
        for condition in conditions[1:]:
            one_of |= condition
        forks = AgentSession.objects.filter(one_of, project=incident.project_id, deleted_at=None)
        new = [
            ContaminatedFork(fork, fork.forked_from or "", fork.forked_version or 0)
            for fork in forks.exclude(public_id__in=known).order_by("pk")[:CONTAMINATED_MOST]
        ]
        found += new
        known |= {each.agent_session.public_id for each in new}
        # Whatever was forked from such a fork carries it too.
        conditions = [Q(forked_from=each.agent_session.public_id) for each in new]
    return found[:CONTAMINATED_MOST]


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
