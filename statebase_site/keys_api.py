"""API keys over the API (contract 6.8), above all apps: keys are of access, their traces of sessions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpResponse
from ninja import Router
from pydantic import BaseModel, Field, StrictInt, StrictStr
from typing_extensions import TypedDict

from sessions_app import actions
from statebase_site.access import queries
from statebase_site.access.actions import NAME_MOST
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.errors import KeyMadeAlready, KeyRevokedAlready
from statebase_site.access.models import ApiKey
from statebase_site.access.rates import RATE_LIMIT_MOST
from statebase_site.access.scopes import EVERY_SCOPE, KEYS_MANAGE
from statebase_site.base import clock
from statebase_site.base.clock import isoformat
from statebase_site.base.errors import InvalidInput
from statebase_site.base.paging import keyset_page
from statebase_site.web.answers import List
from statebase_site.web.api import list_envelope, row_after
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import NOT_BLANK, Moment, Name, PlainText, limit_up_to, told

router = Router(tags=["keys"])

_MOST = 100  # rows of a page
_ARRAY_MOST = 1_000  # keys of the answer that has no pages
_DAYS_MOST = 36_500
manages_keys = needs(KEYS_MANAGE, to="manage API keys")


class Key(TypedDict):
    """An API key; `full_key` is null except in the answer that made it."""

    object: Literal["api_key"]
    id: str
    key_prefix: str
    name: str
    is_active: bool
    rate_limit: int
    scopes: list[str]
    owner_id: str | None
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    total_requests: int
    full_key: str | None


Scope = Annotated[StrictStr, told(enum=list(EVERY_SCOPE))]


class MakeKey(BaseModel):
    """A new key; without `scopes` it may do all, `rate_limit` is in requests a minute, 0 for none."""

    name: Annotated[PlainText, told(pattern=NOT_BLANK, maxLength=NAME_MOST)]
    rate_limit: Annotated[StrictInt, told(minimum=0, maximum=RATE_LIMIT_MOST)] | None = None
    expires_days: Annotated[StrictInt, Field(ge=1, le=_DAYS_MOST)] | None = None
    expires_at: Moment | None = None
    owner_id: Name | None = None
    scopes: Annotated[list[Scope], told(minItems=1)] | None = None


@router.post("/keys", auth=manages_keys, response={201: Key}, summary="Make a key, shown this once")
def create(request: ApiRequest, body: MakeKey) -> HttpResponse:
    return _make(request, body, 201)


@router.post("/dashboard/keys", auth=manages_keys, response=Key, summary="Make a key, answered with 200")
def create_for_dashboard(request: ApiRequest, body: MakeKey) -> HttpResponse:
    return _make(request, body, 200)


def _make(request: ApiRequest, body: MakeKey, status: int) -> HttpResponse:
    limit = settings.DEFAULT_RATE_LIMIT if body.rate_limit is None else body.rate_limit
    try:
        key, clear_key = actions.create_key(
            name=body.name,
            scopes=["*"] if body.scopes is None else body.scopes,
            rate_limit=limit,
            expires_at=_expiry(body),
            owner_id=body.owner_id,
            by=request.actor,
        )
    except KeyMadeAlready as again:  # the clear key is stored nowhere, so it can't be answered again
        answer = json_answer(_payload(again.key), status)
        answer["Idempotency-Replayed"] = "true"
        return answer
    return json_answer(_payload(key, clear_key), status)


def _expiry(body: MakeKey) -> datetime | None:
    if body.expires_days is None:
        return body.expires_at
    if body.expires_at is not None:
        raise InvalidInput("Send expires_days or expires_at, not both.", param="expires_days")
    return clock.now() + timedelta(days=body.expires_days)


@router.get("/keys", auth=manages_keys, response=List[Key], summary="List keys, newest first")
def list_keys(
    request: ApiRequest,
    limit: limit_up_to(_MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
) -> HttpResponse:
    found = queries.keys_of(request.actor.project)
    page = keyset_page(found, after=row_after(found, starting_after), limit=limit)
    return json_answer(list_envelope([_payload(key) for key in page.rows], has_more=page.has_later_page))


@router.get(
    "/dashboard/keys",
    auth=manages_keys,
    response=list[Key],
    summary="List keys as a plain array, newest first",
)
def list_keys_for_dashboard(request: ApiRequest) -> HttpResponse:
    return json_answer([_payload(key) for key in queries.keys_of(request.actor.project)[:_ARRAY_MOST]])


def _at_both(add: Callable[..., Any], path: str, **options: Any) -> Callable[[Any], Any]:
    def decorate(view: Any) -> Any:
        add(f"/dashboard{path}", include_in_schema=False, **options)(view)
        return add(path, **options)(view)

    return decorate


@_at_both(
    router.delete,
    "/keys/{key_id}",
    auth=manages_keys,
    response={204: None},
    summary="End a key: it answers 401",
)
def revoke(request: ApiRequest, key_id: str) -> HttpResponse:
    key = queries.key_for(request.actor, key_id)
    with contextlib.suppress(KeyRevokedAlready):  # sent twice: what was asked for is the case
        actions.revoke_key(key=key, by=request.actor)
    return HttpResponse(status=204)


def _payload(key: ApiKey, clear_key: str | None = None) -> dict[str, Any]:
    return {
        "object": "api_key",
        "id": key.public_id,
        "key_prefix": key.prefix,
        "name": key.name,
        "is_active": key.opens_at(clock.now()),
        "rate_limit": key.rate_limit,
        "scopes": key.scopes_in_order,
        "owner_id": key.owner_id,
        "created_at": isoformat(key.created_at),
        "last_used_at": isoformat(key.last_used_at) if key.last_used_at else None,
        "expires_at": isoformat(key.expires_at) if key.expires_at else None,
        "total_requests": key.total_requests,
        "full_key": clear_key,
    }
