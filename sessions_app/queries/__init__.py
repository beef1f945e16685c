"""Every reading of this app. Nothing here writes; what is not the actor's does not exist."""

from sessions_app.queries.preview import Effect, RollbackPreview, effect_of, rollback_preview
from sessions_app.queries.sessions import (
    newest_first,
    session_for,
    session_of_project,
    sessions_for,
    with_metadata,
)
from sessions_app.queries.timeline import LiveRange, Refusals, is_live, live_ranges, refusals
from sessions_app.queries.traces import trace_details, trace_for, traces_for
from sessions_app.queries.turns import states_of_turn, turn_for, turns_of
from sessions_app.queries.verify import FirstBad, Verification, verify_session
from sessions_app.queries.versions import (
    absolute_version,
    document_at,
    documents_at,
    version_row,
    versions_of,
)

__all__ = [
    "Effect",
    "FirstBad",
    "LiveRange",
    "Refusals",
    "RollbackPreview",
    "Verification",
    "absolute_version",
    "document_at",
    "documents_at",
    "effect_of",
    "is_live",
    "live_ranges",
    "newest_first",
    "refusals",
    "rollback_preview",
    "session_for",
    "session_of_project",
    "sessions_for",
    "states_of_turn",
    "trace_details",
    "trace_for",
    "traces_for",
    "turn_for",
    "turns_of",
    "verify_session",
    "version_row",
    "versions_of",
    "with_metadata",
]
