"""API keys, with the traces that they leave (contract section 10)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.enums import Action
from sessions_app.store import TraceDraft
from statebase_site.access import actions as access
from statebase_site.access.actor import Actor
from statebase_site.access.errors import KeyMadeAlready
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.models import ApiKey
from statebase_site.access.queries import key_for
from statebase_site.base.json import JsonObject


@action
def create_key(
    *,
    name: str,
    scopes: Iterable[str] = ("*",),
    rate_limit: int = 0,
    expires_at: datetime | None = None,
    owner_id: str | None = None,
    by: Actor,
) -> tuple[ApiKey, str]:
    """Make a key of the actor's project; returns it with the clear key, which is nowhere else.

    `rate_limit` is in requests a minute, 0 for none. Raises as `access.actions.create_key` does, and
    `KeyMadeAlready` where the request is repeated: the clear key can't be had again.
    """
    if made := recall(by):
        raise KeyMadeAlready(key_for(by, made["key"]))
    key, clear_key = access.create_key(
        name=name,
        scopes=scopes,
        rate_limit=rate_limit,
        expires_at=expires_at,
        owner_id=owner_id,
        by=by,
    )
    _trace(Action.KEY_CREATED, key, by)
    remember(by, {"key": key.public_id})
    return key, clear_key


@action
def revoke_key(*, key: ApiKey, by: Actor) -> ApiKey:
    """End a key: from a few seconds on it answers 401."""
    revoked = access.revoke_key(key=key, by=by)
    _trace(Action.KEY_REVOKED, revoked, by)
    return revoked


def _trace(name: Action, key: ApiKey, by: Actor) -> None:
    details: JsonObject = {"name": key.name, "scopes": [*sorted(key.scopes)]}
    store.append_project_trace(TraceDraft(name, "api_key", key.public_id, details), by)
