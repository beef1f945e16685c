"""Webhooks over the API (contract 6.9, 11), above all apps: their traces are of sessions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from django.http import HttpResponse
from ninja import Router
from pydantic import BaseModel, Field, StrictBool, StrictStr
from typing_extensions import TypedDict

from sessions_app import actions
from statebase_site.access.authentication import ApiRequest, needs
from statebase_site.access.scopes import KEYS_MANAGE
from statebase_site.base.paging import keyset_page
from statebase_site.web.answers import List
from statebase_site.web.api import list_envelope, row_after
from statebase_site.web.errors import json_answer
from statebase_site.web.fields import PlainText, limit_up_to
from statebase_site.webhooks import payloads, queries
from statebase_site.webhooks.actions import SECRET_LEAST, SECRET_MOST
from statebase_site.webhooks.addresses import URL_MOST

router = Router(tags=["webhooks"])

_MOST = 100  # rows of a page
manages_webhooks = needs(KEYS_MANAGE, to="manage webhooks")

Url = Annotated[PlainText, Field(max_length=URL_MOST)]
Events = Annotated[list[StrictStr], Field(min_length=1)]
Secret = Annotated[PlainText, Field(min_length=SECRET_LEAST, max_length=SECRET_MOST)]


class Webhook(TypedDict):
    """An address that is told of events; `secret`, which signs them, only in the answer that made it."""

    object: Literal["webhook"]
    id: str
    url: str
    events: list[str]
    is_active: bool
    created_at: str
    secret: NotRequired[str]


class MakeWebhook(BaseModel):
    """A new webhook; without a `secret` it gets a random one."""

    url: Url
    events: Events
    secret: Secret | None = None


class ChangeWebhook(BaseModel):
    """What to change of a webhook; one that is not active hears of nothing."""

    url: Url | None = None
    events: Events | None = None
    is_active: StrictBool | None = None


@router.post("/webhooks", auth=manages_webhooks, response={201: Webhook}, summary="Make a webhook")
def create(request: ApiRequest, body: MakeWebhook) -> HttpResponse:
    webhook, again = actions.create_webhook(
        url=body.url, events=body.events, secret=body.secret, by=request.actor
    )
    # A repeated request is answered with it again: only who knows its key and body asks for it.
    return _answer(payloads.webhook(webhook) | {"secret": webhook.secret}, 201, again=again)


@router.get("/webhooks", auth=manages_webhooks, response=List[Webhook], summary="List webhooks, newest first")
def list_webhooks(
    request: ApiRequest,
    limit: limit_up_to(_MOST) = 20,  # type: ignore[valid-type]
    starting_after: PlainText | None = None,
) -> HttpResponse:
    found = queries.webhooks_of(request.actor.project)
    page = keyset_page(found, after=row_after(found, starting_after), limit=limit)
    return json_answer(
        list_envelope([payloads.webhook(each) for each in page.rows], has_more=page.has_later_page)
    )


@router.get("/webhooks/{webhook_id}", auth=manages_webhooks, response=Webhook, summary="Read a webhook")
def read(request: ApiRequest, webhook_id: str) -> HttpResponse:
    return json_answer(payloads.webhook(queries.webhook_for(request.actor, webhook_id)))


@router.patch("/webhooks/{webhook_id}", auth=manages_webhooks, response=Webhook, summary="Change a webhook")
def change(request: ApiRequest, webhook_id: str, body: ChangeWebhook) -> HttpResponse:
    webhook, again = actions.update_webhook(
        webhook_id=webhook_id,
        url=body.url,
        events=body.events,
        is_active=body.is_active,
        by=request.actor,
    )
    return _answer(payloads.webhook(webhook), 200, again=again)


@router.delete(
    "/webhooks/{webhook_id}",
    auth=manages_webhooks,
    response={204: None},
    summary="End a webhook: nothing is sent to it any more",
)
def delete(request: ApiRequest, webhook_id: str) -> HttpResponse:
    actions.delete_webhook(webhook_id=webhook_id, by=request.actor)
    return HttpResponse(status=204)


def _answer(payload: dict[str, Any], status: int, *, again: bool) -> HttpResponse:
    answer = json_answer(payload, status)
    if again:
        answer["Idempotency-Replayed"] = "true"
    return answer
