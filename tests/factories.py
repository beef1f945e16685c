"""Test data, built through the actions so that it obeys the rules, and the same on every run.

Actors are what actions take as `by`: `full_key`, `agent` and `person` make one, `asking` gives one a request.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.db.models import Model

from sessions_app import actions
from sessions_app.models import AgentSession, StateVersion, Turn
from statebase_site.access import scopes
from statebase_site.access.actor import (
    Actor,
    IdempotencyKey,
    RequestFacts,
    key_actor,
    person_actor,
    system_actor,
)
from statebase_site.access.models import ApiKey, Membership, Project
from statebase_site.base import clock, json
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Webhook

_Row = TypeVar("_Row", bound=Model)

# What the documentation advises for an agent (contract section 9): it can freeze itself, but not resume.
AGENT_SCOPES = (scopes.SESSIONS_READ, scopes.SESSIONS_WRITE, scopes.MEMORY_READ, scopes.MEMORY_WRITE)


# Projects and actors ------------------------------------------------------------------------------------


def project(name: str = "Acme") -> Project:
    """A project; each name once."""
    return Project.objects.create(name=name, slug=name.lower().replace(" ", "-"), created_at=clock.now())


def api_key(
    of: Project, *granted: str, name: str = "A key", rate_limit: int = 0, **fields: Any
) -> tuple[ApiKey, str]:
    """A key and its clear text; without scopes a full one. Leaves a `key.created` trace, as always."""
    return actions.create_key(
        name=name,
        scopes=granted or (scopes.FULL,),
        rate_limit=rate_limit,
        by=system_actor(of),
        **fields,
    )


def key_with(of: Project, *granted: str) -> Actor:
    """The actor of a new key with these scopes."""
    return key_actor(api_key(of, *granted)[0])


def full_key(of: Project) -> Actor:
    """A key that may do all."""
    return key_with(of, scopes.FULL)


def agent(of: Project) -> Actor:
    """A key as an agent should have it: may freeze, may neither resume nor roll back while frozen."""
    return key_with(of, *AGENT_SCOPES)


def user(name: str = "ada", password: str = "correct horse battery staple"):
    """A person who can sign in."""
    return get_user_model().objects.create_user(username=name, password=password)


def membership(of: Project, role: str = "admin", name: str = "ada", **fields: Any) -> Membership:
    """A person's membership; the person is made where there is none of that name."""
    found = get_user_model().objects.filter(username=name).first() or user(name, **fields)
    return Membership.objects.create(project=of, user=found, role=role)


def person(of: Project, role: str = "admin", name: str = "ada") -> Actor:
    """A member as an actor."""
    return person_actor(membership(of, role, name))


def system(of: Project) -> Actor:
    """The server itself."""
    return system_actor(of)


def asking(
    by: Actor,
    *,
    method: str = "PATCH",
    path: str = "/v1/sessions",
    body: bytes | json.JsonObject = b"{}",
    key: str | None = None,
) -> Actor:
    """The same actor through a request; `key` is its Idempotency-Key."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = RequestFacts(
        method=method,
        path=path,
        body=raw,
        ip_address="192.0.2.7",
        idempotency=IdempotencyKey(key, sha256(raw).hexdigest()) if key else None,
    )
    return Actor(by.project, by.kind, by.label, by.id, by.scopes, request)


def webhook(by: Actor, *events: str, **fields: Any) -> Webhook:
    """A webhook; without events it hears of everything."""
    fields = {"url": "https://example.org/hook", "secret": "not a secret", **fields}
    return actions.create_webhook(events=events or list(Event), by=by, **fields)[0]


# Sessions -----------------------------------------------------------------------------------------------


def session(by: Actor, state: json.JsonObject | None = None, **fields: Any) -> AgentSession:
    """A session at version 0 with this state; `fields` go to `create_session`."""
    fields.setdefault("agent_id", "support-bot")
    return actions.create_session(initial_state=state, by=by, **fields).agent_session


def session_with_versions(by: Actor, count: int, **fields: Any) -> AgentSession:
    """A session at version `count`, whose state at version n is `{"step": n, "kept": "as it was"}`."""
    made = session(by, {"step": 0, "kept": "as it was"}, **fields)
    for number in range(1, count + 1):
        update(made, {"step": number}, by=by, reasoning=f"Step {number}")
    return fresh(made)


def update(of: AgentSession, changes: json.JsonObject, *, by: Actor, **fields: Any) -> StateVersion:
    """Merge `changes` into the state."""
    return actions.update_state(session_id=of.public_id, changes=changes, by=by, **fields).version


def text(content: str) -> json.JsonObject:
    """Input or output of a turn."""
    return {"type": "text", "content": content}


def turn(
    of: AgentSession, question: str = "How are you?", answer: str = "Fine.", *, by: Actor, **fields: Any
) -> Turn:
    """Log one exchange."""
    return actions.add_turn(
        session_id=of.public_id, input=text(question), output=text(answer), by=by, **fields
    ).turn


def tool_call(of: AgentSession, tool: str, *, by: Actor, reversibility: str | None = None, **arguments: Any):
    """Log the call of a tool in the official SDK's shape; returns the turn."""
    metadata: json.JsonObject = {"name": tool, "arguments": arguments, "id": f"call-{tool}"}
    if reversibility:
        metadata["reversibility"] = reversibility
    return actions.add_turn(
        session_id=of.public_id,
        input={"type": "tool_call", "content": tool, "tool_metadata": metadata},
        output={"type": "tool_response", "content": "done", "output": "done"},
        by=by,
    ).turn


def freeze(of: AgentSession, *, by: Actor, reason: str | None = "Charged twice") -> StateVersion:
    """Freeze it."""
    return actions.freeze(session_id=of.public_id, reason=reason, by=by).version


def rollback(of: AgentSession, to: int, *, by: Actor, **fields: Any) -> StateVersion:
    """Roll back to a version."""
    return actions.rollback(session_id=of.public_id, version=to, by=by, **fields).version


def fresh(of: _Row) -> _Row:
    """The same session, incident or other row as it is stored now."""
    return type(of)._default_manager.get(pk=of.pk)
