"""Who acts, and through which request: handed to every action as `by`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import StrEnum

from statebase_site.access import scopes
from statebase_site.access.models import ApiKey, Membership, Project
from statebase_site.base.errors import PermissionRefused
from statebase_site.base.ids import new_id


class ActorKind(StrEnum):
    """How the actor came in."""

    KEY = "key"
    PERSON = "user"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The client's key of a request, with what the request was (contract section 4.2)."""

    key: str
    body_sha256: str


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The request behind an action, as it is written into traces and evidence.

    `body` is the raw request body; `started` is `time.perf_counter()` at its beginning.
    """

    request_id: str = field(default_factory=lambda: new_id("req"))
    started: float = field(default_factory=time.perf_counter)
    method: str = ""
    path: str = ""
    body: bytes = b""
    ip_address: str | None = None
    idempotency: IdempotencyKey | None = None

    def latency_ms(self) -> float:
        """Milliseconds since the request began, to a tenth."""
        return round((time.perf_counter() - self.started) * 1000, 1)


@dataclass(frozen=True, slots=True)
class Actor:
    """A key, a person or the system, acting in one project.

    `label` is what traces show and keep: a key's prefix, `user:NAME`, or `system`;
    `id` is the key's public id, or `user:` with the user's number.
    """

    project: Project
    kind: ActorKind
    label: str
    id: str
    scopes: frozenset[str]
    request: RequestFacts = field(default_factory=RequestFacts)

    def may(self, scope: str) -> bool:
        """Whether the actor holds `scope`."""
        return scopes.allows(self.scopes, scope)

    def require(self, scope: str, *, to: str) -> None:
        """Raise `PermissionRefused` unless the actor holds `scope`; `to` says what for, in plain words."""
        if not self.may(scope):
            raise PermissionRefused(self.lacking(scope, to=to), required_scope=scope)

    def lacking(self, scope: str, *, to: str) -> str:
        """The sentence that says why the actor may not: `to` completes "This API key may not …"."""
        who = "This API key" if self.kind == ActorKind.KEY else "Your role"
        return f"{who} may not {to}: it lacks the scope {scope}."

    def part(self) -> Actor:
        """The same actor for an action inside another, which alone answers for an `Idempotency-Key`."""
        return replace(self, request=replace(self.request, idempotency=None))

    @property
    def is_agent(self) -> bool:
        """Whether a key acts: expired sessions no longer exist for it (contract 6.2)."""
        return self.kind == ActorKind.KEY


def key_actor(key: ApiKey, request: RequestFacts | None = None) -> Actor:
    """The actor of an API key."""
    return Actor(key.project, ActorKind.KEY, key.prefix, key.public_id, key.scopes, request or RequestFacts())


def person_actor(membership: Membership, request: RequestFacts | None = None) -> Actor:
    """The actor of a signed-in member."""
    user = membership.user
    return Actor(
        membership.project,
        ActorKind.PERSON,
        f"user:{user.get_username()}",
        f"user:{user.pk}",
        membership.scopes,
        request or RequestFacts(),
    )


def system_actor(project: Project) -> Actor:
    """The server itself: the worker, imports, demo data."""
    return Actor(project, ActorKind.SYSTEM, "system", "system", frozenset((scopes.FULL,)))
