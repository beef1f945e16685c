"""`sb.memory`: what agents remember (contract 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import httpx

from statebase_client.calls import (
    AsyncGroup,
    JsonObject,
    Listing,
    Request,
    SyncGroup,
    call,
    nothing,
    paged,
    path,
    reads,
)
from statebase_client.official import AsyncMemoryClient, MemoryClient
from statebase_client.results import FoundMemory, Memory

_FoundMemories: TypeAlias = list[FoundMemory]


class MemoryCalls:
    """The calls of both clients."""

    @call
    def add(
        self,
        content: str,
        type: str = "fact",
        session_id: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: JsonObject | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        embed: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Memory]:
        """Remember something: for a user, a session, an agent or, without these, for all."""
        body = {
            "content": content,
            "type": type,
            "session_id": session_id,
            "tags": tags,
            "metadata": metadata,
            "user_id": user_id,
            "agent_id": agent_id,
            "embed": embed,
        }
        return Request("POST", path("memories"), reads(Memory), body, idempotency_key=idempotency_key)

    @call
    def search(
        self,
        query: str,
        session_id: str | None = None,
        types: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        limit: int = 10,
        threshold: float = 0.7,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> Request[_FoundMemories]:
        """The memories that fit best; `session_id`: all that this session may see."""
        asked = {
            "query": query,
            "session_id": session_id,
            "types": _words(types),
            "tags": _words(tags),
            "limit": limit,
            "threshold": threshold,
            "user_id": user_id,
            "agent_id": agent_id,
        }
        return Request("GET", path("memories"), _found, query=asked)

    @call
    def get(self, memory_id: str) -> Request[Memory]:
        """One memory."""
        return Request("GET", path("memories", memory_id), reads(Memory))

    @call
    def update(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        type: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Memory]:
        """Change what is given; `tags` replaces, `metadata` merges."""
        body = {"content": content, "type": type, "tags": tags, "metadata": metadata}
        address = path("memories", memory_id)
        return Request("PATCH", address, reads(Memory), body, idempotency_key=idempotency_key)

    @call
    def delete(self, memory_id: str) -> Request[None]:
        """Forget a memory."""
        return Request("DELETE", path("memories", memory_id), nothing)

    @paged
    def list(
        self,
        session_id: str | None = None,
        *,
        user_id: str | None = None,
        types: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        limit: int = 20,
        starting_after: str | None = None,
    ) -> Listing[Memory]:
        """Memories, newest first; `session_id`: those bound to this session."""
        query = {
            "session_id": session_id,
            "user_id": user_id,
            "types": _words(types),
            "tags": _words(tags),
            "limit": limit,
            "starting_after": starting_after,
        }
        return Listing(path("memories"), Memory.model_validate, query)


class Memories(MemoryCalls, SyncGroup, MemoryClient):
    """Memories of `StateBase`."""


class AsyncMemories(MemoryCalls, AsyncGroup, AsyncMemoryClient):
    """Memories of `AsyncStateBase`."""


def _found(answer: httpx.Response) -> _FoundMemories:
    return [FoundMemory.model_validate(row) for row in answer.json()["data"]]


def _words(given: str | Sequence[str] | None) -> str | None:
    return given if given is None or isinstance(given, str) else ",".join(given)
