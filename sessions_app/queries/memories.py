"""Memories: which an actor sees, and which have most to do with a query (contract 6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app import embedding, memory_index
from sessions_app.embedders import embedder
from sessions_app.errors import MemoryNotFound
from sessions_app.models import AgentSession, Memory, MemoryTag
from sessions_app.models.memory import MemoryScope
from sessions_app.queries.sessions import sessions_for
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base.ids import findable

CANDIDATES = 300
"""Memories that are compared with a query: those with a word in common, and the newest."""
CANDIDATES_BY_MEANING = 3_000


@dataclass(frozen=True, slots=True)
class Found:
    """A memory and how much it has to do with the query, from 0 to 1."""

    memory: Memory
    score: float


def memories_for(
    by: Actor,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> QuerySet[Memory]:
    """A project's memories, newest first, narrowed by what is given; those of a deleted session are gone."""
    memories = Memory.objects.filter(project=by.project).select_related("agent_session")
    memories = memories.filter(Q(agent_session=None) | Q(agent_session__in=sessions_for(by)))
    if user_id is not None:
        memories = memories.filter(user_id=user_id)
    if agent_id is not None:
        memories = memories.filter(agent_id=agent_id)
    if types:
        memories = memories.filter(type__in=types)
    if tags:
        memories = memories.filter(Exists(MemoryTag.objects.filter(memory=OuterRef("pk"), tag__in=tags)))
    return memories


def memory_for(by: Actor, memory_id: str) -> Memory:
    """One memory. Raises `MemoryNotFound`, also for one of another project or of a deleted session."""
    memory = memories_for(by).filter(public_id=findable(memory_id)).first()
    if memory is None:
        raise MemoryNotFound(memory_id)
    return memory


def memory_of_projects(memory_id: str, projects: Iterable[Project]) -> Memory:
    """One memory in any of `projects`: how a page finds out whose it is. Raises `MemoryNotFound`."""
    found = Memory.objects.filter(public_id=findable(memory_id), project__in=list(projects))
    memory = (
        found.exclude(agent_session__deleted_at__isnull=False)
        .select_related("agent_session", "project")
        .first()
    )
    if memory is None:
        raise MemoryNotFound(memory_id)
    return memory


def bound_to(memories: QuerySet[Memory], agent_session: AgentSession) -> QuerySet[Memory]:
    """Those bound to the session itself."""
    return memories.filter(agent_session=agent_session)


def visible_to(memories: QuerySet[Memory], agent_session: AgentSession) -> QuerySet[Memory]:
    """Those that a session may know: its own, its user's, its agent's, and everybody's (ruling R22).

    Never another user's, nor those bound to another session without the same user.
    """
    own = Q(agent_session=agent_session)
    if agent_session.user_id is not None:
        # Also what other sessions of the user remember; not what was bound to this one for somebody else.
        own = (own & Q(scope=MemoryScope.SESSION)) | Q(user_id=agent_session.user_id)
    agents = Q(scope=MemoryScope.AGENT, agent_id=agent_session.agent_id)
    return memories.filter(own | agents | Q(scope=MemoryScope.GLOBAL))


def search_memories(
    memories: QuerySet[Memory], query: str, *, limit: int, threshold: float = 0.0
) -> list[Found]:
    """The best of `memories`, highest score first, ties newest first.

    Those with a word in common are compared, and the newest, which may be spelt otherwise; where the embedder
    knows meaning, many more of the newest.
    """
    used = embedder()
    wanted = embedding.terms(query)
    vector = used.embed([query])[0]
    findable_ones = memories.exclude(vector=None)
    newest = CANDIDATES if used.related is None else CANDIDATES_BY_MEANING
    candidates = {
        memory.pk: memory
        for found in (memory_index.with_any(findable_ones, wanted), findable_ones)
        for memory in islice(found.order_by("-created_at", "-pk")[:newest], newest)
    }
    scored = [Found(memory, _score(memory, wanted, vector, used)) for memory in candidates.values()]
    scored.sort(key=lambda each: (each.score, each.memory.created_at, each.memory.pk), reverse=True)
    return [each for each in scored if each.score >= threshold][:limit]


def _score(memory: Memory, wanted: Sequence[str], vector: Sequence[float], used: embedding.Embedder) -> float:
    likeness = 0.0
    if memory.embedder == used.name and memory.vector is not None:
        likeness = embedding.dot(vector, embedding.from_bytes(memory.vector))
    found = embedding.score(wanted, memory.terms.split(), likeness)
    return found if used.related is None else embedding.by_meaning(found, likeness, used.related)
