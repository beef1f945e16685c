"""Adding, changing and deleting memories (contract 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from sessions_app import embedding, store
from sessions_app.actions._action import action, locked_session, refuse_if_frozen
from sessions_app.actions.outcomes import MemoryWritten
from sessions_app.embedders import embedder
from sessions_app.enums import Action
from sessions_app.errors import MemoryConflict, MemoryNotFound
from sessions_app.limits import check_memory, check_metadata, check_name, check_reasoning, check_tags
from sessions_app.models import AgentSession, Memory, MemoryTag
from sessions_app.models.memory import MemoryScope
from sessions_app.queries.memories import memory_for
from sessions_app.store import Append, TraceDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import MEMORY_WRITE
from statebase_site.base import clock
from statebase_site.base.ids import new_id
from statebase_site.base.json import JsonObject
from statebase_site.webhooks import outbox


@action
def add_memory(
    *,
    content: str,
    type: str = "general",
    session_id: str | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    tags: Sequence[str] = (),
    metadata: JsonObject | None = None,
    embed: bool = True,
    by: Actor,
) -> MemoryWritten:
    """Keep a text to be found again; makes no version. One that is not embedded is not found by search.

    It is the user's where it has a user (by default the session's), else the session's, else the agent's,
    else everybody's in the project. Raises `SessionNotFound`, `SessionFrozen`, `TooLarge`.
    """
    by.require(MEMORY_WRITE, to="add memories")
    check_memory(content)
    check_name(type, "type")
    for value, param in ((user_id, "user_id"), (agent_id, "agent_id")):
        if value is not None:
            check_name(value, param)
    tags_text, metadata_text = check_tags(tags), check_metadata(metadata or {})
    agent_session = locked_session(session_id, by) if session_id is not None else None
    if made := recall(by):
        return MemoryWritten.again(made)
    if agent_session:
        refuse_if_frozen(agent_session, operation="memory.add")
        user_id = user_id or agent_session.user_id
    moment = clock.now()
    memory = Memory(
        project=by.project,
        agent_session=agent_session,
        user_id=user_id,
        agent_id=agent_id,
        scope=memory_scope(user_id, agent_session, agent_id),
        type=type,
        content=content,
        tags_text=tags_text,
        metadata_text=metadata_text,
        created_at=moment,
        updated_at=moment,
    )
    put_memory(memory, embed=embed)
    if agent_session:
        agent_session.memory_count += 1
        agent_session.save(update_fields=["memory_count"])
    _write_trace(created_trace(memory), memory, agent_session, by)
    outcome = MemoryWritten(memory)
    remember(by, outcome.made())
    return outcome


def put_memory(memory: Memory, *, embed: bool) -> None:
    """Write a memory that is new, with its tags and, to be found by search, its vector."""
    if embed:
        _embed(memory)
    memory.save(force_insert=True)
    _write_tags(memory)


def created_trace(memory: Memory) -> TraceDraft:
    """The trace of a new memory."""
    details: JsonObject = {
        "session_id": memory.agent_session.public_id if memory.agent_session else None,
        "embedded": memory.vector is not None,
        "content_sha256": _hash(memory.content),
    }
    return TraceDraft(Action.MEMORY_CREATED, "memory", memory.public_id, details)


@action
def update_memory(
    *,
    memory_id: str,
    content: str | None = None,
    type: str | None = None,
    tags: Sequence[str] | None = None,
    metadata: JsonObject | None = None,
    expected_version: int | None = None,
    by: Actor,
) -> MemoryWritten:
    """Change what is given: `tags` replaces, `metadata` merges, new content is embedded anew.

    Raises `MemoryNotFound`, `SessionFrozen`, and `MemoryConflict` unless the memory still has the version
    that is expected.
    """
    by.require(MEMORY_WRITE, to="change memories")
    if content is not None:
        check_memory(content)
    if type is not None:
        check_name(type, "type")
    memory, agent_session = _locked(memory_id, by)
    if made := recall(by):
        return MemoryWritten.again(made)
    if agent_session:
        refuse_if_frozen(agent_session, operation="memory.update")
    if expected_version not in (None, memory.version):
        raise MemoryConflict(memory.version)
    is_new_content = content is not None and content != memory.content
    if content is not None:
        memory.content = content
        if is_new_content and memory.vector is not None:
            _embed(memory)
    memory.type = type or memory.type
    tags_changed = tags is not None and check_tags(tags) != memory.tags_text
    if tags is not None:
        memory.tags_text = check_tags(tags)
    if metadata is not None:
        memory.metadata_text = check_metadata({**memory.metadata, **metadata})
    memory.version += 1
    memory.updated_at = max(clock.now(), memory.updated_at)
    memory.save()
    _write_tags(memory)
    details: JsonObject = {
        "content_changed": is_new_content,
        "tags_changed": tags_changed,
        "content_sha256": _hash(memory.content),
    }
    _trace(Action.MEMORY_UPDATED, memory, agent_session, details, by)
    outcome = MemoryWritten(memory)
    remember(by, outcome.made())
    return outcome


@action
def delete_memory(*, memory_id: str, reason: str | None = None, by: Actor) -> None:
    """Forget a memory; its traces keep no content of it. Raises `MemoryNotFound`, `SessionFrozen`."""
    by.require(MEMORY_WRITE, to="delete memories")
    reason = check_reasoning(reason, "reason")
    memory, agent_session = _locked(memory_id, by)
    if agent_session:
        refuse_if_frozen(agent_session, operation="memory.delete")
        agent_session.memory_count -= 1
        agent_session.save(update_fields=["memory_count"])
    details: JsonObject = {"reason": reason, "content_sha256": _hash(memory.content)}
    outbox.forget_memories([memory.public_id])
    _trace(Action.MEMORY_DELETED, memory, agent_session, details, by)
    memory.delete()


def _locked(memory_id: str, by: Actor) -> tuple[Memory, AgentSession | None]:
    """The memory, its session locked before it."""
    found = memory_for(by, memory_id)
    agent_session = locked_session(found.agent_session.public_id, by) if found.agent_session else None
    memory = Memory.objects.select_for_update(no_key=True).filter(pk=found.pk).first()
    if memory is None:  # deleted a moment ago
        raise MemoryNotFound(memory_id)
    return memory, agent_session


def memory_scope(
    user_id: str | None, agent_session: AgentSession | None, agent_id: str | None
) -> MemoryScope:
    """Whose a memory is (contract 6.5)."""
    if user_id is not None:
        return MemoryScope.USER
    if agent_session is not None:
        return MemoryScope.SESSION
    return MemoryScope.AGENT if agent_id is not None else MemoryScope.GLOBAL


@action
def embed_anew(*, most: int) -> int:
    """Give memories whose vectors another embedder made those of the one in use; returns of how many.

    Until then they are found by their words alone. No content changes, so no trace is written.
    """
    stored = Memory.objects.exclude(vector=None).exclude(embedder=embedder().name)
    memories = list(stored.select_for_update(no_key=True).order_by("pk")[:most])
    for memory in memories:
        _give_vector(memory)
    Memory.objects.bulk_update(memories, ["vector", "embedder", "embedding_id"])
    return len(memories)


def _embed(memory: Memory) -> None:
    memory.terms = " ".join(dict.fromkeys(embedding.terms(memory.content)))
    _give_vector(memory)


def _give_vector(memory: Memory) -> None:
    used = embedder()
    memory.vector = embedding.to_bytes(used.embed([memory.content])[0])
    memory.embedder = used.name
    memory.embedding_id = new_id("emb")


def _write_tags(memory: Memory) -> None:
    MemoryTag.objects.filter(memory=memory).delete()
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory=memory, tag=tag[:255]) for tag in dict.fromkeys(memory.tags)]
    )


def _trace(
    name: Action, memory: Memory, agent_session: AgentSession | None, details: JsonObject, by: Actor
) -> None:
    _write_trace(TraceDraft(name, "memory", memory.public_id, details), memory, agent_session, by)


def _write_trace(draft: TraceDraft, memory: Memory, agent_session: AgentSession | None, by: Actor) -> None:
    if agent_session is None:
        store.append_project_trace(draft, by, user_id=memory.user_id)
        return
    append = Append(agent_session, by)
    append.add_trace(draft)
    append.write()


def _hash(content: str) -> str:
    return sha256(content.encode(errors="surrogatepass")).hexdigest()
