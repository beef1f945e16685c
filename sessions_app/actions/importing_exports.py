"""What only a StateBase's own export holds, brought back: each kind of version, memories, entities, notes."""

from __future__ import annotations

from sessions_app import store
from sessions_app.actions.entities import entity_trace
from sessions_app.actions.memories import created_trace, memory_scope, put_memory
from sessions_app.actions.rollback import rollback_trace
from sessions_app.actions.state import MERGE, REPLACE, append_version, update_trace
from sessions_app.actions.traces import client_note
from sessions_app.enums import Action, VersionKind
from sessions_app.errors import InvalidInput
from sessions_app.importers import RecordedEntity, RecordedMemory, RecordedNote, RecordedState
from sessions_app.limits import check_memory, check_metadata, check_name, check_tags
from sessions_app.models import Entity, Memory
from sessions_app.store import Append, Document, Head, VersionDraft


def append_version_of_export(step: RecordedState, append: Append, head: Head, reasoning: str | None) -> None:
    """Add the version as it was made: by a merge, a replacement or a rollback. Raises `InvalidInput`."""
    agent_session = append.agent_session
    if step.restored is not None:
        kind = VersionKind.ROLLBACK
        trace = rollback_trace(agent_session, step.restored, requested=step.restored)
    else:
        kind = VersionKind.UPDATE if step.merged else VersionKind.REPLACE
        trace = update_trace(agent_session, MERGE if step.merged else REPLACE)
    draft = VersionDraft(
        Document.of(step.state),
        kind,
        reasoning,
        restored_from=step.restored,
        limited=step.restored is None,
    )
    append_version(append, draft, previous=head, trace=trace)
    check_number(append, step.version)


def check_number(append: Append, number: int | None) -> None:
    """Raise `InvalidInput` where the version in force has another number than the export says."""
    if append.agent_session.head_version != number:
        raise InvalidInput(
            f"The export is inconsistent: what it calls version {number} follows on "
            f"version {append.agent_session.head_version}.",
            param="version",
            suggestion="Export the session again.",
        )


def append_memory(step: RecordedMemory, append: Append) -> None:
    """Keep a memory bound to the session, as it was at last."""
    agent_session = append.agent_session
    check_memory(step.content)
    memory = Memory(
        project=append.by.project,
        agent_session=agent_session,
        user_id=step.user_id,
        agent_id=step.agent_id,
        scope=memory_scope(step.user_id, agent_session, step.agent_id),
        type=check_name(step.type, "type"),
        content=step.content,
        tags_text=check_tags(step.tags),
        metadata_text=check_metadata(step.metadata),
        version=step.revision,
        created_at=step.at,
        updated_at=step.changed_at,
    )
    put_memory(memory, embed=step.embed)
    agent_session.memory_count += 1
    agent_session.save(update_fields=["memory_count"])
    append.add_trace(created_trace(memory))


def append_entity(step: RecordedEntity, append: Append) -> None:
    """Add a thing that the session knows of, as it was at last."""
    entity = Entity.objects.create(
        agent_session=append.agent_session,
        entity_type=check_name(step.entity_type, "entity_type"),
        entity_id=check_name(step.entity_id, "entity_id"),
        attributes_text=check_metadata(step.attributes, "attributes"),
        version=step.revision,
        created_at=step.at,
        updated_at=step.changed_at,
    )
    append.add_trace(entity_trace(Action.ENTITY_CREATED, entity))


def append_note(step: RecordedNote, append: Append) -> None:
    """Write a client's trace at its time, which the caller sets."""
    action = check_name(step.action, "action")
    if action in Action.values:
        raise InvalidInput(f"The export has a note with the server's own name {action}.", param="action")
    note = client_note(append.agent_session, action, step.details, check_metadata(step.metadata), append.by)
    note.created_at = step.at
    store.append_client_trace(note, announced=False)
