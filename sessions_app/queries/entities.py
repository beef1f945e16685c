"""Entities of sessions."""

from __future__ import annotations

from django.db.models import QuerySet

from sessions_app.errors import EntityNotFound
from sessions_app.models import Entity
from sessions_app.queries.sessions import sessions_for
from statebase_site.access.actor import Actor
from statebase_site.base.ids import findable


def entities_for(
    by: Actor, *, session_id: str | None = None, entity_type: str | None = None
) -> QuerySet[Entity]:
    """The entities of the actor's sessions, newest first, narrowed by what is given."""
    entities = Entity.objects.filter(agent_session__in=sessions_for(by)).select_related("agent_session")
    if session_id is not None:
        entities = entities.filter(agent_session__public_id=findable(session_id))
    if entity_type is not None:
        entities = entities.filter(entity_type=entity_type)
    return entities


def entity_for(by: Actor, entity_id: str) -> Entity:
    """One entity. Raises `EntityNotFound`."""
    entity = entities_for(by).filter(public_id=findable(entity_id)).first()
    if entity is None:
        raise EntityNotFound(entity_id)
    return entity
