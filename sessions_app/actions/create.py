"""New sessions: created, or forked from a version of another (contract 6.2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from django.conf import settings

from sessions_app import control_keys
from sessions_app.actions._action import action, locked_session
from sessions_app.actions.outcomes import SessionWritten
from sessions_app.actions.state import append_version
from sessions_app.enums import Action, VersionKind
from sessions_app.limits import check_metadata, check_name, check_ttl
from sessions_app.models import AgentSession, SessionMetadataPair
from sessions_app.models.agent_session import metadata_pairs, new_session_id
from sessions_app.queries.versions import absolute_version, document_at
from sessions_app.store import Append, Document, TraceDraft, VersionDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base import clock
from statebase_site.base.json import JsonObject

NEVER: Literal["never"] = "never"


@action
def create_session(
    *,
    agent_id: str,
    user_id: str | None = None,
    initial_state: JsonObject | None = None,
    metadata: JsonObject | None = None,
    ttl_seconds: int | Literal["never"] | None = None,
    imported_from: str | None = None,
    reasoning: str = "Initial state",
    by: Actor,
) -> SessionWritten:
    """Make a session with version 0; `ttl_seconds` None is the default life, `NEVER` none at all.

    `imported_from` is the fingerprint of a recorded run: unique in its project, so that a run loads once.
    """
    by.require(SESSIONS_WRITE, to="create sessions")
    check_name(agent_id, "agent_id")
    if user_id is not None:
        check_name(user_id, "user_id")
    metadata_text = check_metadata(metadata or {})
    ttl = _ttl(ttl_seconds)
    if made := recall(by):
        return SessionWritten.again(made)
    agent_session = _new_session(by, agent_id=agent_id, user_id=user_id, ttl_seconds=ttl)
    agent_session.metadata_text = metadata_text
    agent_session.imported_from = imported_from
    append = Append(agent_session, by)
    append_version(
        append,
        VersionDraft(Document.of(initial_state or {}), VersionKind.CREATE, reasoning),
        previous=None,
        trace=TraceDraft(Action.SESSION_CREATED, "session", agent_session.public_id, {"version": 0}),
    )
    append.write_new()
    index_metadata(agent_session)
    outcome = SessionWritten(agent_session)
    remember(by, outcome.made())
    return outcome


@action
def fork(
    *,
    session_id: str,
    version: int | None = None,
    new_agent_id: str | None = None,
    metadata: JsonObject | None = None,
    by: Actor,
) -> SessionWritten:
    """Make a new, running session whose version 0 is `version` (default: the current) of another.

    Its metadata say what it was forked from, beside the `metadata` given.
    The source keeps its version, times and counts; it only gains a trace. Raises `SessionNotFound`,
    `VersionNotFound`.
    """
    by.require(SESSIONS_WRITE, to="fork a session")
    if new_agent_id is not None:
        check_name(new_agent_id, "new_agent_id")
    source = locked_session(session_id, by)
    if made := recall(by):
        return SessionWritten.again(made)
    number = absolute_version(source, source.head_version if version is None else version)
    snapshot = document_at(source, number)
    state = control_keys.thawed(snapshot.value)
    origin: JsonObject = {"forked_from": source.public_id, "forked_version": number}

    agent_session = _new_session(
        by, agent_id=new_agent_id or source.agent_id, user_id=source.user_id, ttl_seconds=source.ttl_seconds
    )
    agent_session.metadata_text = check_metadata({**(metadata or {}), **origin})
    agent_session.forked_from = source.public_id
    agent_session.forked_version = number
    agent_session.lineage_root = source.lineage_root
    agent_session.lineage_depth = source.lineage_depth + 1
    append = Append(agent_session, by)
    append_version(
        append,
        VersionDraft(
            snapshot if state is snapshot.value else Document.of(state),
            VersionKind.FORK,
            f"Forked from version {number} of {source.public_id}",
            limited=False,
        ),
        previous=None,
        trace=TraceDraft(
            Action.SESSION_CREATED, "session", agent_session.public_id, {"version": 0, **origin}
        ),
    )
    append.write_new()
    index_metadata(agent_session)

    on_source = Append(source, by)
    on_source.add_trace(
        TraceDraft(
            Action.SESSION_FORKED,
            "session",
            source.public_id,
            {"fork_version": number, "new_session_id": agent_session.public_id},
        )
    )
    on_source.write()
    outcome = SessionWritten(agent_session)
    remember(by, outcome.made())
    return outcome


def index_metadata(agent_session: AgentSession) -> None:
    """Fill the narrow index of metadata pairs from the session's metadata; of a new session it is empty."""
    SessionMetadataPair.objects.bulk_create(
        SessionMetadataPair(agent_session=agent_session, name=name, value_sha256=value_sha256)
        for name, value_sha256 in metadata_pairs(agent_session.metadata)
    )


def _ttl(ttl_seconds: int | Literal["never"] | None) -> int | None:
    if ttl_seconds == NEVER:
        return None
    if ttl_seconds is None:
        return settings.DEFAULT_TTL_SECONDS or None
    return check_ttl(ttl_seconds)


def _new_session(by: Actor, *, agent_id: str, user_id: str | None, ttl_seconds: int | None) -> AgentSession:
    moment = clock.now()
    public_id = new_session_id()
    return AgentSession(
        public_id=public_id,
        project=by.project,
        agent_id=agent_id,
        user_id=user_id,
        created_at=moment,
        updated_at=moment,
        ttl_seconds=ttl_seconds,
        expires_at=moment + timedelta(seconds=ttl_seconds) if ttl_seconds else None,
        lineage_root=public_id,
    )
