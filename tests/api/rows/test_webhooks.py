"""Sections 6.9, 11 and 16: webhooks of the running server, sent by a real worker to a real receiver."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter

import pytest

from tests.api.rows.conftest import ident
from tests.patience import until
from tests.webhooks.receiver import Receiver

OF_SESSIONS = (
    "session.created",
    "session.updated",
    "session.deleted",
    "session.expired",
    "session.frozen",
    "session.unfrozen",
)
OF_TRACES = ("trace.created", "trace.rollback", "trace.error", "write.refused")
OF_INCIDENTS = ("filed", "severity", "contained", "recovered", "resolved", "closed", "reopened")
EVENTS = (
    *OF_SESSIONS,
    "turn.added",
    "memory.created",
    *OF_TRACES,
    *(f"incident.{name}" for name in OF_INCIDENTS),
)


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.end()


@pytest.fixture
def webhook(wire, receiver):
    """A webhook that hears of everything, as its POST was answered; gone after the test."""
    made = wire.made("/v1/webhooks", {"url": receiver.url, "events": [*EVENTS], "secret": "a-long-secret"})
    yield made
    wire("DELETE", f"/v1/webhooks/{made['id']}", status=204)


def test_6_9_webhooks_row(wire, receiver):
    made = wire.made("/v1/webhooks", {"url": receiver.url, "events": ["turn.added"]})
    address = f"/v1/webhooks/{made['id']}"
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert made["secret"]
    assert {**shown, "created_at": None} == {
        "object": "webhook",
        "id": made["id"],
        "url": receiver.url,
        "events": ["turn.added"],
        "is_active": True,
        "created_at": None,
    }
    assert wire.get(address) == shown
    assert shown in wire.get("/v1/webhooks")["data"]
    changed = wire.json("PATCH", address, {"is_active": False, "events": ["trace.error"]})
    assert changed == shown | {"is_active": False, "events": ["trace.error"]} == wire.get(address)
    refused = wire.error("POST", "/v1/webhooks", {"url": receiver.url, "events": ["no.such"]}, status=400)
    assert refused["param"] == "events"
    wire("DELETE", address, status=204)
    assert wire.error("GET", address, status=404)["code"] == "webhook_not_found"


def test_11_every_event_is_sent_signed_after_its_commit(wire, agent_wire, webhook, receiver, worker):
    path = wire.session({"n": 0}, metadata={"team": "a"})
    wire.json("PATCH", f"{path}/state", {"state": {"n": 1}})
    wire.turn(path, state_after={"n": 2})
    wire.memory("Ann prefers window seats", session_id=ident(path))
    wire.made("/v1/traces", {"action": "tool_call.failed", "session_id": ident(path)})
    incident = wire.made("/v1/incidents", {"title": "Bad", "severity": "S2", "sessions": [ident(path)]})["id"]
    wire.json("POST", f"/v1/incidents/{incident}/freeze")
    agent_wire.error("PATCH", f"{path}/state", {"state": {"n": 9}}, status=423)
    wire.json("POST", f"/v1/incidents/{incident}/severity", {"severity": "S1"})
    divergence = {"session_id": ident(path), "divergence_version": 2, "last_good_version": 1}
    wire.json("POST", f"/v1/incidents/{incident}/divergence", divergence)
    wire.json("POST", f"/v1/incidents/{incident}/rollback", {"session_id": ident(path)})
    wire.json("POST", f"/v1/incidents/{incident}/resume")
    other = wire.session()
    wire("DELETE", other, status=204)
    wire.made("/v1/sessions", {"agent_id": "rows-bot", "ttl_seconds": 1})

    ending = {"incident.resolved", "incident.closed", "incident.reopened"}  # tests/webhooks walks to the end
    until(lambda: {each.headers["x-statebase-event"] for each in receiver.received} >= {*EVENTS} - ending)
    for each in receiver.received:
        assert (
            each.headers["x-statebase-signature"]
            == hmac.new(b"a-long-secret", each.body, hashlib.sha256).hexdigest()
        )
        assert each.json.keys() == {"id", "type", "created_at", "data"}
        assert (each.json["id"], each.json["type"]) == (
            each.headers["x-statebase-delivery"],
            each.headers["x-statebase-event"],
        )
    told = [each.json for each in receiver.received]
    assert max(Counter(each["id"] for each in told).values()) == 1
    states = {
        each["data"]["version"]: each["data"]["state"]
        for each in told
        if each["type"] == "session.updated" and each["data"]["id"] == ident(path)
    }
    assert [states[number] for number in (1, 2)] == [{"n": 1}, {"n": 2}]
    kinds = {each["type"]: each["data"]["object"] for each in told}
    assert {kinds[name] for name in OF_SESSIONS} == {"session"}
    assert {kinds[name] for name in OF_TRACES} == {"trace"}
    assert (kinds["turn.added"], kinds["memory.created"], kinds["incident.filed"]) == (
        "turn",
        "memory",
        "incident",
    )
