"""Two projects with the same words in everything, so that only the ids tell them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.test import Client
from ninja.operation import PathView

from statebase_site import urls  # noqa: F401 - only then the routers are complete
from statebase_site.api import api as ninja
from statebase_site.base import json
from statebase_site.views import _schema
from tests.api.conftest import Api

USER = "ann"
MARK = "zebra"
"""In all content, so that a search for it finds everything there is."""

TURN = {"input": MARK, "output": MARK}
_SCENARIO = {"name": MARK, "fork_version": 0, "predicate": "a", "fault": {"kind": "state_patch", "patch": {}}}


@dataclass(frozen=True)
class Twin:
    """A project, and its ids by the name that routes give them."""

    api: Api
    names: dict[str, str]

    def at(self, route: str, **others: str) -> str:
        """The address of a route with this project's ids, but for `others`."""
        return fill(route, self.names | others)


def fill(route: str, names: dict[str, str]) -> str:
    """A route with ids for its arguments."""
    return re.sub(r"\{(?:\w+:)?(\w+)\}", lambda found: names[found[1]], route)


def arguments(route: str) -> list[str]:
    """The names of a route's arguments."""
    return re.findall(r"\{(?:\w+:)?(\w+)\}", route)


def operations() -> list[tuple[str, str]]:
    """Method and path of every route of the API, its aliases too."""
    found = []
    for router in ninja._get_bound_routers():
        for path, view in router.path_operations.items():
            assert isinstance(view, PathView)
            for operation in view.operations:
                found += [(method, f"/v1{path}") for method in operation.methods]
    return sorted(found)


def fields_of_address(route: str) -> list[str]:
    """The names that a reading route knows in a query."""
    described = _schema()["paths"][re.sub(r"\{\w+:", "{", route)]["get"]
    return [each["name"] for each in described.get("parameters", ()) if each["in"] == "query"]


def grow(api: Api, incidents: int = 1) -> Twin:
    """Make one of everything, each write under an Idempotency-Key that every project uses."""
    numbers = iter(range(1000))

    def make(path: str, body: Any, status: int = 201, method: str = "POST") -> Any:
        answer = api(method, path, body, status=status, Idempotency_Key=f"key-{next(numbers)}")
        assert "Idempotency-Replayed" not in answer
        return json.parse(answer.content) if answer.content else None

    body = {"agent_id": "bot", "user_id": USER, "initial_state": {"a": MARK}, "metadata": {"team": "a"}}
    session_id = make("/v1/sessions", body)["id"]
    session = f"/v1/sessions/{session_id}"
    make(f"{session}/state", {"state": {"step": 1}, "reasoning": MARK}, 200, "PATCH")
    turn = make(f"{session}/turns", {**TURN, "state_after": {"a": MARK, "step": 2}})
    memory = make("/v1/memories", {"content": MARK, "session_id": session_id, "tags": ["t"]})
    for scope in ({}, {"user_id": USER}, {"agent_id": "bot"}):
        make("/v1/memories", {"content": f"{MARK} stripes", **scope})
    thing = {"session_id": session_id, "entity_type": "order", "entity_id": "1", "attributes": {"a": MARK}}
    entity = make("/v1/entities", thing)
    make("/v1/traces", {"action": "note", "details": {"said": MARK}})
    key = make("/v1/keys", {"name": "Agent", "scopes": ["sessions:read"], "rate_limit": 5})
    webhook = make("/v1/webhooks", {"url": "https://example.org/hook", "events": ["session.created"]})
    make(f"{session}/fork", {})
    for number in range(1, incidents + 1):
        filed = make("/v1/incidents", {"title": MARK, "severity": "S3", "dedup_key": f"key-{number}"})
        assert (filed["id"], filed["count"]) == (f"INCIDENT-{number}", 1)
    incident = f"/v1/incidents/{filed['id']}"
    make(f"{incident}/sessions", {"session_id": session_id}, 200)
    make(f"{incident}/followups", {"text": MARK, "kind": "validation"})
    scenario = make(f"{incident}/scenarios", {**_SCENARIO, "session_id": session_id})
    make(f"{session}/freeze", {"reason": MARK}, 200)
    refused = api.error("PATCH", f"{session}/state", {"state": {"a": 1}}, status=423)
    return Twin(
        api,
        {
            "session_id": session_id,
            "turn_id": turn["id"],
            "memory_id": memory["id"],
            "trace_id": refused["trace_id"],
            "entity_id": entity["id"],
            "key_id": key["id"],
            "webhook_id": webhook["id"],
            "incident_id": filed["id"],
            "scenario_id": scenario["id"],
            "user_id": USER,
            "number": "1",
            "n": "1",
        },
    )


_QUERIES = (
    "",
    f"query={MARK}&threshold=0&version=0&to=closed",
    f"limit=1&user_id={USER}&agent_id=bot&tags=t&left=0&right=1",
)


def told(twin: Twin, queries: tuple[str, ...] = _QUERIES) -> dict[str, bytes]:
    """Everything the API tells a project: every reading route, with some filters, and what is found."""
    found = {}
    for method, route in operations():
        if method == "GET":
            asked = queries if fields_of_address(route) else ("",)
            if route == "/v1/diff":
                asked = (f"left={twin.names['session_id']}:0&right={twin.names['session_id']}:1",)
            for address in (f"{twin.at(route)}?{query}" for query in asked):
                found[address] = _said(twin.api(method, address))
        elif route.endswith(("/context", "/search")):
            found[route] = _said(twin.api(method, twin.at(route), {"query": MARK, "threshold": 0}))
    return found


def _said(answer: HttpResponse) -> bytes:
    return f"{answer.status_code} ".encode() + body_of(answer).replace(answer["X-Request-Id"].encode(), b"")


def body_of(answer: HttpResponse) -> bytes:
    """The whole body, also of an answer that comes in pieces."""
    if answer.streaming:
        return b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    return answer.content


def signed_in(member: Any) -> Client:
    """The browser of a member."""
    client = Client()
    client.force_login(member.user)
    return client


def shown(answer: HttpResponse) -> str:
    """A page without its tokens and the request's id, which differ from one request to the next."""
    return re.sub(r"\b(form_\w+|req_\w+|[A-Za-z0-9]{64})\b", "", body_of(answer).decode())
