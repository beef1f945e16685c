"""Entities: things that a session knows of (contract 6.7). Session content: refused while it is frozen."""

from __future__ import annotations

from sessions_app.actions._action import action, locked_session, refuse_if_frozen
from sessions_app.actions.outcomes import EntityWritten
from sessions_app.enums import Action
from sessions_app.errors import EntityExists, EntityNotFound
from sessions_app.limits import check_metadata, check_name
from sessions_app.models import AgentSession, Entity
from sessions_app.queries.entities import entity_for
from sessions_app.store import Append, TraceDraft
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base.json import JsonObject


@action
def create_entity(
    *, session_id: str, entity_type: str, entity_id: str, attributes: JsonObject | None = None, by: Actor
) -> EntityWritten:
    """Add a thing that the session knows of. Raises `EntityExists`, `SessionNotFound`, `SessionFrozen`."""
    by.require(SESSIONS_WRITE, to="add entities")
    check_name(entity_type, "entity_type")
    check_name(entity_id, "entity_id")
    attributes_text = check_metadata(attributes or {}, "attributes")
    agent_session = locked_session(session_id, by)
    if made := recall(by):
        return EntityWritten.again(made)
    refuse_if_frozen(agent_session, operation="entity.write")
    known = Entity.objects.filter(
        agent_session=agent_session, entity_type=entity_type, entity_id=entity_id
    ).first()
    if known:
        raise EntityExists(entity_type, entity_id, known.public_id)
    append = Append(agent_session, by)
    entity = Entity.objects.create(
        agent_session=agent_session,
        entity_type=entity_type,
        entity_id=entity_id,
        attributes_text=attributes_text,
        created_at=append.moment,
        updated_at=append.moment,
    )
    _trace(append, Action.ENTITY_CREATED, entity)
    outcome = EntityWritten(entity)
    remember(by, outcome.made())
    return outcome


@action
def update_entity(*, entity_id: str, attributes: JsonObject, by: Actor) -> EntityWritten:
    """Merge attributes by top-level key. Raises `EntityNotFound`, `SessionFrozen`."""
    by.require(SESSIONS_WRITE, to="change entities")
    entity, agent_session = _locked(entity_id, by)
    if made := recall(by):
        return EntityWritten.again(made)
    refuse_if_frozen(agent_session, operation="entity.write")
    append = Append(agent_session, by)
    entity.attributes_text = check_metadata({**entity.attributes, **attributes}, "attributes")
    entity.version += 1
    entity.updated_at = append.moment
    entity.save(update_fields=["attributes_text", "version", "updated_at"])
    _trace(append, Action.ENTITY_UPDATED, entity)
    outcome = EntityWritten(entity)
    remember(by, outcome.made())
    return outcome


@action
def delete_entity(*, entity_id: str, by: Actor) -> None:
    """Remove a thing from what the session knows. Raises `EntityNotFound`, `SessionFrozen`."""
    by.require(SESSIONS_WRITE, to="delete entities")
    entity, agent_session = _locked(entity_id, by)
    refuse_if_frozen(agent_session, operation="entity.write")
    _trace(Append(agent_session, by), Action.ENTITY_DELETED, entity)
    entity.delete()


def _locked(entity_id: str, by: Actor) -> tuple[Entity, AgentSession]:
    found = entity_for(by, entity_id)
    agent_session = locked_session(found.agent_session.public_id, by)
    # Under the session's lock nobody else changes it.
    entity = Entity.objects.filter(pk=found.pk).first()
    if entity is None:
        raise EntityNotFound(entity_id)
    entity.agent_session = agent_session
    return entity, agent_session


def _trace(append: Append, name: Action, entity: Entity) -> None:
    append.add_trace(entity_trace(name, entity))
    append.write()


def entity_trace(name: Action, entity: Entity) -> TraceDraft:
    """The trace of a write to an entity."""
    details: JsonObject = {
        "entity_type": entity.entity_type,
        "entity_id": entity.entity_id,
        "version": entity.version,
    }
    return TraceDraft(name, "entity", entity.public_id, details)
