"""An API with one route of each kind, over the same frame as the real one."""

from typing import Any

from django.db import OperationalError
from django.urls import path
from ninja import Query, Schema, Status

from statebase_site.access.authentication import needs
from statebase_site.access.scopes import SESSIONS_READ, SESSIONS_WRITE
from statebase_site.base.errors import Conflict, Frozen, NotFound, TooLarge
from statebase_site.web.api import list_envelope, new_api
from statebase_site.web.fields import Moment, Name, Order, PlainText, limit_up_to


class Written(Schema):
    agent_id: Name
    state: dict[str, Any] = {}
    reasoning: PlainText | None = None
    times: int = 1


class Paging(Schema):
    limit: limit_up_to(100) = 20
    order: Order = "desc"
    created_after: Moment | None = None


class Held(Conflict):
    code = "session_held"


api = new_api(title="Frame", version="1", description="")
read, write = needs(SESSIONS_READ, to="read"), needs(SESSIONS_WRITE, to="write")


@api.get("/things", auth=read)
def things(request, paging: Query[Paging]):
    after = paging.created_after
    return list_envelope(
        [{"id": "a"}, {"id": "b"}],
        has_more=True,
        limit=paging.limit,
        order=paging.order,
        after=after and after.isoformat(),
    )


@api.post("/things", auth=write, response={201: Any})
def make_thing(request, payload: Written):
    facts = request.actor.request
    return Status(
        201,
        {
            "agent_id": payload.agent_id,
            "state": payload.state,
            "reasoning": payload.reasoning,
            "times": payload.times,
            "actor": request.actor.label,
            "path": facts.path,
            "ip": facts.ip_address,
            "idempotency": facts.idempotency and [facts.idempotency.key, facts.idempotency.body_sha256],
            "request_id": facts.request_id,
        },
    )


FAULTS = {
    "frozen": Frozen("It is frozen.", frozen_version=3),
    "held": Held("It is evidence.", holds=[{"label": "INCIDENT-1", "url": "/"}]),
    "missing": NotFound("Not there.", param="session_id"),
    "large": TooLarge("Too large.", param="state"),
    "crash": RuntimeError("secret detail"),
    "database": OperationalError("connection refused"),
}


@api.post("/faults/{name}", auth=write)
def fault(request, name: str):
    raise FAULTS[name]


urlpatterns = [path("v1/", api.urls)]
handler404 = "statebase_site.views.page_not_found"
handler500 = "statebase_site.views.server_error"
