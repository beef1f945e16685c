"""Metadata and life of a session, deletion, and the holds that keep it as evidence (contract 6.2)."""

from __future__ import annotations

from datetime import timedelta

from sessions_app import store
from sessions_app.actions._action import action, locked_session, refuse_if_frozen
from sessions_app.actions.create import index_metadata
from sessions_app.actions.outcomes import SessionWritten
from sessions_app.diff import state_diff
from sessions_app.enums import Action
from sessions_app.errors import InvalidInput, SessionHeld, SessionNotFound
from sessions_app.limits import check_metadata, check_reasoning, check_ttl
from sessions_app.models import AgentSession, EvidenceHold, SessionMetadataPair
from sessions_app.store import Append, TraceDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_DELETE, SESSIONS_WRITE
from statebase_site.base.json import JsonObject


@action
def update_session(
    *, session_id: str, metadata: JsonObject | None = None, ttl_seconds: int | None = None, by: Actor
) -> SessionWritten:
    """Merge metadata by top-level key; a new `ttl_seconds` counts from now. Makes no version.

    Raises `SessionNotFound`, `SessionFrozen`.
    """
    by.require(SESSIONS_WRITE, to="change a session")
    if ttl_seconds is not None:
        check_ttl(ttl_seconds)
    agent_session = locked_session(session_id, by)
    if made := recall(by):
        return SessionWritten.again(made)
    refuse_if_frozen(agent_session, operation="session.update")
    append = Append(agent_session, by)
    details: JsonObject = {"metadata_diff": None, "ttl_seconds": ttl_seconds}
    if metadata is not None:
        earlier = agent_session.metadata
        merged = {**earlier, **metadata}
        agent_session.metadata_text = check_metadata(merged)
        SessionMetadataPair.objects.filter(agent_session=agent_session).delete()
        index_metadata(agent_session)
        details["metadata_diff"] = state_diff(earlier, merged)
    if ttl_seconds is not None:
        agent_session.ttl_seconds = ttl_seconds
        agent_session.expires_at = append.moment + timedelta(seconds=ttl_seconds)
        agent_session.expired_at = None
        if agent_session.life_stopped_at:
            agent_session.life_stopped_at = append.moment
    agent_session.updated_at = append.moment
    agent_session.save(update_fields=["metadata_text", "ttl_seconds", "expires_at", "expired_at"])
    append.add_trace(TraceDraft(Action.SESSION_UPDATED, "session", agent_session.public_id, details))
    append.write()
    outcome = SessionWritten(agent_session)
    remember(by, outcome.made())
    return outcome


@action
def delete_session(*, session_id: str, reason: str | None = None, by: Actor) -> AgentSession:
    """Hide a session at once and purge it later; until then `restore_deleted_session` undoes it.

    Raises `SessionNotFound`, `SessionFrozen`, `SessionHeld`.
    """
    by.require(SESSIONS_DELETE, to="delete sessions")
    reason = check_reasoning(reason, "reason")
    agent_session = locked_session(session_id, by)
    refuse_if_frozen(agent_session, operation="session.delete")
    refuse_if_held(agent_session)
    append = Append(agent_session, by)
    agent_session.deleted_at = append.moment
    agent_session.save(update_fields=["deleted_at"])
    append.add_trace(
        TraceDraft(
            Action.SESSION_DELETED,
            "session",
            agent_session.public_id,
            {
                "session_id": agent_session.public_id,
                "reason": reason,
                "turn_count": agent_session.turn_count,
                "memory_count": agent_session.memory_count,
            },
        )
    )
    append.write()
    return agent_session


def refuse_if_held(agent_session: AgentSession) -> None:
    """Raise `SessionHeld` where a locked session is evidence of something that is not over."""
    if agent_session.open_holds:
        holds = EvidenceHold.objects.filter(agent_session=agent_session, released_at=None)
        raise SessionHeld([{"label": hold.label, "url": hold.url} for hold in holds])


@action
def restore_deleted_session(*, session_id: str, by: Actor) -> AgentSession:
    """Undo a deletion while the session is not purged. Raises `SessionNotFound`."""
    by.require(SESSIONS_DELETE, to="restore deleted sessions")
    agent_session = store.lock(by.project.pk, session_id)
    if agent_session is None or agent_session.deleted_at is None:
        raise SessionNotFound(session_id)
    append = Append(agent_session, by)
    agent_session.deleted_at = None
    agent_session.save(update_fields=["deleted_at"])
    append.add_trace(TraceDraft(Action.SESSION_RESTORED, "session", agent_session.public_id))
    append.write()
    return agent_session


@action
def hold(*, session_id: str, label: str, url: str, notice: str = "", by: Actor) -> EvidenceHold:
    """Keep a session as evidence until `release`: it is not deleted, expired or purged meanwhile.

    An expired one, too, for whoever asks (contract 16). One open hold a label: opening it again only changes
    what it says. Raises `SessionNotFound`.
    """
    by.require(SESSIONS_WRITE, to="hold a session as evidence")
    agent_session = store.lock(by.project.pk, session_id)
    if agent_session is None or agent_session.deleted_at:
        raise SessionNotFound(session_id)
    existing = EvidenceHold.objects.filter(agent_session=agent_session, label=label, released_at=None).first()
    if existing and (existing.url, existing.notice) == (url, notice):
        return existing
    append = Append(agent_session, by)
    if existing:
        existing.url, existing.notice = url, notice
        existing.save(update_fields=["url", "notice"])
        append.add_trace(
            TraceDraft(Action.SESSION_HELD, "session", agent_session.public_id, {"label": label})
        )
        append.write()
        return existing
    opened = EvidenceHold.objects.create(
        agent_session=agent_session,
        label=label,
        url=url,
        notice=notice,
        opened_at=append.moment,
        opened_by=by.label,
    )
    agent_session.open_holds += 1
    agent_session.settle_life(append.moment)
    append.add_trace(TraceDraft(Action.SESSION_HELD, "session", agent_session.public_id, {"label": label}))
    append.write()
    return opened


@action
def release(*, session_id: str, label: str, by: Actor) -> EvidenceHold:
    """End an open hold. Raises `SessionNotFound`, or `InvalidInput` where none with that label is open."""
    by.require(SESSIONS_WRITE, to="release a session that is held as evidence")
    agent_session = locked_session(session_id, by)
    opened = EvidenceHold.objects.filter(agent_session=agent_session, label=label, released_at=None).first()
    if opened is None:
        raise InvalidInput(f"No hold {label} is open on session {session_id}.", param="label")
    append = Append(agent_session, by)
    opened.released_at, opened.released_by = append.moment, by.label
    opened.save(update_fields=["released_at", "released_by"])
    agent_session.open_holds -= 1
    agent_session.settle_life(append.moment)
    append.add_trace(
        TraceDraft(Action.SESSION_RELEASED, "session", agent_session.public_id, {"label": label})
    )
    append.write()
    return opened
