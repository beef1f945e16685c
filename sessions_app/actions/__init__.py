"""Every write of this app: one action is one transaction and leaves at least one trace.

All take keywords only and `by`, the actor. They raise domain errors and know no status codes. With an
idempotency key on `by.request`, a repeated call returns what the first one made and runs nothing.
"""

from sessions_app.actions._action import action, locked_session, may_undo_freeze
from sessions_app.actions.create import create_session, fork
from sessions_app.actions.entities import create_entity, delete_entity, update_entity
from sessions_app.actions.erasure import erase_user, sessions_erased
from sessions_app.actions.importing import RunImported, import_run
from sessions_app.actions.keys import create_key, revoke_key
from sessions_app.actions.lifecycle import (
    delete_session,
    hold,
    release,
    restore_deleted_session,
    update_session,
)
from sessions_app.actions.members import add_member, change_role, remove_member
from sessions_app.actions.memories import add_memory, delete_memory, embed_anew, update_memory
from sessions_app.actions.outcomes import (
    EntityWritten,
    MemoryWritten,
    SessionWritten,
    StateWritten,
    TraceWritten,
    TurnWritten,
)
from sessions_app.actions.rollback import rollback
from sessions_app.actions.state import MERGE, REPLACE, freeze, resume, update_state
from sessions_app.actions.traces import create_trace
from sessions_app.actions.turns import add_turn
from sessions_app.actions.webhooks import create_webhook, delete_webhook, update_webhook

__all__ = [
    "MERGE",
    "REPLACE",
    "EntityWritten",
    "MemoryWritten",
    "RunImported",
    "SessionWritten",
    "StateWritten",
    "TraceWritten",
    "TurnWritten",
    "action",
    "add_member",
    "add_memory",
    "add_turn",
    "change_role",
    "create_entity",
    "create_key",
    "create_session",
    "create_trace",
    "create_webhook",
    "delete_entity",
    "delete_memory",
    "delete_session",
    "delete_webhook",
    "embed_anew",
    "erase_user",
    "fork",
    "freeze",
    "hold",
    "import_run",
    "locked_session",
    "may_undo_freeze",
    "release",
    "remove_member",
    "restore_deleted_session",
    "resume",
    "revoke_key",
    "rollback",
    "sessions_erased",
    "update_entity",
    "update_memory",
    "update_session",
    "update_state",
    "update_webhook",
]
