"""What the worker does in the background: expiry, purge, and the index of changed paths."""

from __future__ import annotations

from functools import partial

from django.db.models import F, QuerySet

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.diff import Changes
from sessions_app.enums import Action
from sessions_app.models import (
    AgentSession,
    Entity,
    EvidenceHold,
    Memory,
    MemoryTag,
    RefusedWrite,
    SessionMetadataPair,
    SessionPath,
    StateVersion,
    Trace,
    Turn,
)
from sessions_app.queries.deleted import purgeable
from sessions_app.store import Append, TraceDraft
from statebase_site.access import idempotency
from statebase_site.access.actor import Actor, system_actor
from statebase_site.access.models import Project
from statebase_site.base import clock
from statebase_site.base.clock import isoformat
from statebase_site.base.jobs import do_all
from statebase_site.webhooks import outbox
from statebase_site.webhooks.models import Delivery

_BATCH = 200  # sessions a round
_VERSIONS_AT_ONCE = 1000


def run_once() -> int:
    """Do what is due, in small transactions; returns how much was done, so that the worker knows to go on."""
    return do_all((expire_due, purge_due, index_changed_paths, idempotency.forget_old))


def expire_due() -> int:
    """Trace the expiry of sessions past their life; a frozen or held one stands still (contract 8.3)."""
    due = AgentSession.objects.filter(
        expires_at__lte=clock.now(), expired_at=None, deleted_at=None, frozen_at=None, open_holds=0
    ).select_related("project")
    return do_all(
        partial(_expire, session_id=each.public_id, by=system_actor(each.project)) for each in due[:_BATCH]
    )


@action
def _expire(*, session_id: str, by: Actor) -> bool:
    agent_session = store.lock(by.project.pk, session_id)
    if agent_session is None or agent_session.deleted_at or agent_session.expired_at:
        return False
    if not agent_session.is_expired:
        return False
    append = Append(agent_session, by)
    agent_session.expired_at = append.moment
    agent_session.save(update_fields=["expired_at"])
    append.add_trace(
        TraceDraft(
            Action.SESSION_EXPIRED,
            "session",
            session_id,
            {"ttl_seconds": agent_session.ttl_seconds, "last_activity": isoformat(agent_session.updated_at)},
        )
    )
    append.write()
    return True


def purge_due() -> int:
    """Remove sessions deleted or expired long enough ago (settings), whole, leaving one tombstone each."""
    due = AgentSession.objects.filter(purgeable()).select_related("project")
    return do_all(
        partial(_purge, session_id=each.public_id, by=system_actor(each.project)) for each in due[:_BATCH]
    )


@action
def _purge(*, session_id: str, by: Actor) -> bool:
    agent_session = store.lock(by.project.pk, session_id)
    if agent_session is None or not AgentSession.objects.filter(purgeable(), pk=agent_session.pk).exists():
        return False
    remove_sessions(AgentSession.objects.filter(pk=agent_session.pk))
    store.append_project_trace(
        TraceDraft(
            Action.SESSION_DELETED,
            "session",
            session_id,
            {
                "session_id": session_id,
                "reason": "purged after its deletion"
                if agent_session.deleted_at
                else "purged after its expiry",
                "turn_count": agent_session.turn_count,
                "memory_count": agent_session.memory_count,
            },
        ),
        by,
        session_public_id=session_id,
    )
    return True


_OF_SESSION = (
    StateVersion,
    Turn,
    Trace,
    RefusedWrite,
    SessionMetadataPair,
    SessionPath,
    EvidenceHold,
    Memory,
    Entity,
)


def remove_sessions(sessions: QuerySet[AgentSession]) -> None:
    """Delete sessions with all that hangs on them; the caller's transaction and right to do so."""
    ids = dict(sessions.values_list("pk", "public_id"))
    keys = list(ids)
    outbox.forget(ids.values())
    # The triggers let the rows of a session go only once it is marked.
    AgentSession.objects.filter(pk__in=keys).update(purging=True)
    remove_rows(MemoryTag.objects.filter(memory__in=Memory.objects.filter(agent_session__in=keys)))
    for model in _OF_SESSION:
        remove_rows(model._base_manager.filter(agent_session_id__in=keys))
    remove_rows(AgentSession.objects.filter(pk__in=keys))


def remove_rows(rows: QuerySet) -> int:
    """Past Django's own delete, which append-only rows refuse; returns how many went."""
    return rows.order_by()._raw_delete(rows.db)


@action
def remove_project_content(*, project: Project) -> None:
    """Remove all sessions and traces of a project: `demo --reset`, for the demo project only."""
    Project.objects.filter(pk=project.pk).update(purging=True)
    remove_sessions(AgentSession.objects.filter(project=project))
    remove_rows(MemoryTag.objects.filter(memory__in=Memory.objects.filter(project=project)))
    remove_rows(Memory.objects.filter(project=project))
    remove_rows(Delivery.objects.filter(webhook__project=project))
    remove_rows(Trace._base_manager.filter(project=project))
    Project.objects.filter(pk=project.pk).update(purging=False)


def index_changed_paths() -> int:
    """Note which paths each session changed, for the sessions filter."""
    due = AgentSession.objects.filter(deleted_at=None, paths_indexed_to__lt=F("head_version"))[:_BATCH]
    return do_all(partial(_index_paths, each) for each in due)


def _index_paths(agent_session: AgentSession) -> bool:
    last_version: dict[str, int] = {}
    indexed_to = agent_session.paths_indexed_to
    # Versions never change, so they are read and taken apart before anything is locked.
    rows = StateVersion.objects.filter(agent_session=agent_session, number__gt=indexed_to).order_by("number")
    for number, changes_text in rows.values_list("number", "changes_text")[:_VERSIONS_AT_ONCE]:
        indexed_to = number
        for path in Changes.from_text(changes_text).paths():
            last_version[path.replace("\x00", "")[:255]] = number
    if indexed_to == agent_session.paths_indexed_to:
        return False
    return _note_paths(agent_session=agent_session, last_version=last_version, indexed_to=indexed_to)


@action
def _note_paths(*, agent_session: AgentSession, last_version: dict[str, int], indexed_to: int) -> bool:
    # First of all, because it locks the row: of two workers one goes on, and none once the session is purged.
    is_ours = AgentSession.objects.filter(
        pk=agent_session.pk, paths_indexed_to=agent_session.paths_indexed_to
    ).update(paths_indexed_to=indexed_to)
    if not is_ours:
        return False
    SessionPath.objects.bulk_create(
        [
            SessionPath(agent_session=agent_session, path=path, last_version=last)
            for path, last in last_version.items()
        ],
        update_conflicts=True,
        unique_fields=["path", "agent_session"],
        update_fields=["last_version"],
    )
    return True
