"""Erasing an end user: all that is stored of them, at once and for ever (contract 6.9, domain rule 6)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from django.db.models import Q
from django.dispatch import Signal

from sessions_app import memory_index, queries, store
from sessions_app.actions._action import action, refuse_if_frozen
from sessions_app.actions.lifecycle import refuse_if_held
from sessions_app.actions.maintenance import remove_rows, remove_sessions
from sessions_app.enums import Action
from sessions_app.models import AgentSession, Memory, MemoryTag
from sessions_app.store import Append, TraceDraft
from statebase_site.access import idempotency
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.access.scopes import MEMORY_WRITE, SESSIONS_DELETE
from statebase_site.base.json import JsonObject
from statebase_site.webhooks import outbox

sessions_erased = Signal()
"""Sent in the transaction of an erasure, with the `keys` of the sessions: copies of them go as well."""

_REASON = "erased with its user"


def erase_user(*, user_id: str, by: Actor) -> None:
    """Remove the user's sessions and memories, wherever those are bound, and the traces that name the user.

    What stays are traces that name neither the user nor content: one for each session, one for the erasure,
    and in other people's sessions that a memory went. Erasing again, or nobody, does nothing. Raises
    `SessionFrozen` or `SessionHeld`, and then nothing was removed.
    """
    # A refusal leaves evidence with the path of the request, perhaps in somebody else's session.
    nameless = replace(by.request, path="/v1/users/{user_id}")
    _erase(user_id=user_id, by=replace(by, request=nameless))


@action
def _erase(*, user_id: str, by: Actor) -> None:
    for scope in (SESSIONS_DELETE, MEMORY_WRITE):
        by.require(scope, to="erase a user")
    own, others = _locked_sessions(user_id, by)
    for agent_session in own:
        refuse_if_frozen(agent_session, operation="session.delete")
    for agent_session in others:
        refuse_if_frozen(agent_session, operation="memory.delete")
    for agent_session in own:
        refuse_if_held(agent_session)

    # The triggers let traces of no session go while the project is marked, which nobody else sees.
    Project.objects.filter(pk=by.project.pk).update(purging=True)
    memories = _remove_memories(user_id, others, by)
    traces = remove_rows(queries.traces_elsewhere(by, user_id))
    Project.objects.filter(pk=by.project.pk).update(purging=False)
    keys = [each.pk for each in own]
    sessions_erased.send(sender=None, keys=keys)
    outbox.forget_user(by.project.pk, user_id)
    remove_sessions(AgentSession.objects.filter(pk__in=keys))
    idempotency.forget_sessions(by.project, {each.public_id for each in own})
    memory_index.forget_removed()
    for agent_session in own:
        _leave_tombstone(agent_session, by)
    if own or memories or traces:
        removed: JsonObject = {"sessions": len(own), "memories_elsewhere": memories, "traces": traces}
        store.append_project_trace(TraceDraft(Action.USER_ERASED, "user", "", removed), by)


def _locked_sessions(user_id: str, by: Actor) -> tuple[list[AgentSession], list[AgentSession]]:
    """The user's sessions, and those of others that memories of the user are bound to, locked in key order.

    Wholly locked: no note of a client comes in between.
    """
    own = queries.sessions_of_user(by, user_id)
    bound = queries.memories_elsewhere(by, user_id).exclude(agent_session=None)
    wanted = Q(pk__in=own.order_by().values("pk")) | Q(pk__in=bound.order_by().values("agent_session"))
    locked = list(AgentSession.objects.filter(wanted).order_by("pk").select_for_update())
    return (
        [each for each in locked if each.user_id == user_id],
        [each for each in locked if each.user_id != user_id],
    )


def _remove_memories(user_id: str, others: list[AgentSession], by: Actor) -> int:
    """Remove the user's memories outside their sessions; returns how many there were."""
    by_key = {each.pk: each for each in others}
    here = Q(agent_session=None) | Q(agent_session__in=by_key)
    found = list(queries.memories_elsewhere(by, user_id).filter(here).order_by("pk").select_for_update())
    outbox.forget_memories(memory.public_id for memory in found)
    for memory in found:
        if memory.agent_session_id is not None:
            _trace_removed(memory, by_key[memory.agent_session_id], by)
    keys = [each.pk for each in found]
    remove_rows(MemoryTag.objects.filter(memory__in=keys))
    remove_rows(Memory.objects.filter(pk__in=keys))
    return len(found)


def _trace_removed(memory: Memory, agent_session: AgentSession, by: Actor) -> None:
    agent_session.memory_count -= 1
    agent_session.save(update_fields=["memory_count"])
    content_sha256 = sha256(memory.content.encode(errors="surrogatepass")).hexdigest()
    details: JsonObject = {"reason": _REASON, "content_sha256": content_sha256}
    append = Append(agent_session, by)
    append.add_trace(TraceDraft(Action.MEMORY_DELETED, "memory", memory.public_id, details))
    append.write()


def _leave_tombstone(agent_session: AgentSession, by: Actor) -> None:
    session_id = agent_session.public_id
    details: JsonObject = {
        "session_id": session_id,
        "reason": _REASON,
        "turn_count": agent_session.turn_count,
        "memory_count": agent_session.memory_count,
    }
    draft = TraceDraft(Action.SESSION_DELETED, "session", session_id, details)
    store.append_project_trace(draft, by, session_public_id=session_id)
