"""Every reading of this app. Nothing here writes; what is not the actor's does not exist."""

from sessions_app.queries.deleted import (
    Waiting,
    deleted_sessions,
    deletions,
    purgeable,
    waiting_for_purge,
)
from sessions_app.queries.entities import entities_for, entity_for
from sessions_app.queries.history import HistoryItem, history
from sessions_app.queries.lineage import lineage
from sessions_app.queries.memories import (
    Found,
    bound_to,
    memories_for,
    memory_for,
    search_memories,
    visible_to,
)
from sessions_app.queries.preview import Effect, RollbackPreview, effect_of, effects_since, rollback_preview
from sessions_app.queries.sessions import (
    find_sessions,
    matching_text,
    session_for,
    session_of_project,
    session_once_listed,
    sessions_for,
    with_changed_path,
    with_metadata,
    with_status,
)
from sessions_app.queries.statistics import Statistics, statistics
from sessions_app.queries.timeline import LiveRange, Refusals, is_live, live_ranges, refusals
from sessions_app.queries.trace_details import trace_details
from sessions_app.queries.traces import (
    reasonings,
    trace_for,
    trace_of_projects,
    traces_for,
    version_made,
    with_reasoning,
)
from sessions_app.queries.turns import (
    states_of_turn,
    turn_for,
    turns_of,
    turns_that_made_versions,
    version_before_turns,
)
from sessions_app.queries.users import memories_elsewhere, sessions_of_user, traces_elsewhere
from sessions_app.queries.verify import FirstBad, Verification, verify_session
from sessions_app.queries.versions import (
    absolute_version,
    current_texts,
    document_at,
    documents_at,
    documents_of,
    fitting,
    same_data,
    text_at,
    texts_at,
    version_row,
    versions_of,
)
from statebase_site.base.paging import Page, keyset_page, numbered_page

__all__ = [
    "Effect",
    "FirstBad",
    "Found",
    "HistoryItem",
    "LiveRange",
    "Page",
    "Refusals",
    "RollbackPreview",
    "Statistics",
    "Verification",
    "Waiting",
    "absolute_version",
    "bound_to",
    "current_texts",
    "deleted_sessions",
    "deletions",
    "document_at",
    "documents_at",
    "documents_of",
    "effect_of",
    "effects_since",
    "entities_for",
    "entity_for",
    "find_sessions",
    "fitting",
    "history",
    "is_live",
    "keyset_page",
    "lineage",
    "live_ranges",
    "matching_text",
    "memories_elsewhere",
    "memories_for",
    "memory_for",
    "numbered_page",
    "purgeable",
    "reasonings",
    "refusals",
    "rollback_preview",
    "same_data",
    "search_memories",
    "session_for",
    "session_of_project",
    "session_once_listed",
    "sessions_for",
    "sessions_of_user",
    "states_of_turn",
    "statistics",
    "text_at",
    "texts_at",
    "trace_details",
    "trace_for",
    "trace_of_projects",
    "traces_elsewhere",
    "traces_for",
    "turn_for",
    "turns_of",
    "turns_that_made_versions",
    "verify_session",
    "version_before_turns",
    "version_made",
    "version_row",
    "versions_of",
    "visible_to",
    "waiting_for_purge",
    "with_changed_path",
    "with_metadata",
    "with_reasoning",
    "with_status",
]
