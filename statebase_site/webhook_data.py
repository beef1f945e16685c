"""What webhook deliveries tell, above all apps: each subject as the API answers it (contract 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from incidents_app import queries as incidents
from incidents_app.models import Incident
from incidents_app.payloads import objects as incident_objects
from sessions_app import queries
from sessions_app.models import AgentSession, Memory, Trace, Turn
from sessions_app.payloads import objects
from statebase_site.webhooks import payloads
from statebase_site.webhooks.models import Delivery

Payload = dict[str, Any]


def data_of(delivery: Delivery) -> Payload | None:
    """The object that the event is about, or None where it is gone.

    A session is told as it was right after the event; turns and traces never change. Memories and incidents
    keep no past that could be told, so they are as they are when they are sent; so is the webhook of a test.
    """
    subject: Any = delivery.subject
    kind = next(iter(subject))
    return _TOLD[kind](delivery, subject)


def _session(_: Delivery, subject: Any) -> Payload | None:
    found = AgentSession.objects.filter(public_id=subject["session"]).first()
    if found is None:
        return None
    then = found.as_of(subject["head"])
    return objects.session(then, queries.text_at(then, then.head_version))


def _turn(_: Delivery, subject: Any) -> Payload | None:
    turn = Turn.objects.select_related("agent_session").filter(public_id=subject["turn"]).first()
    if turn is None:
        return None
    states = queries.states_of_turn(turn.agent_session, [turn])[turn.number]
    return objects.turn(turn.agent_session.public_id, turn, states, listed=False)


def _trace(_: Delivery, subject: Any) -> Payload | None:
    trace = Trace.objects.filter(public_id=subject["trace"]).first()
    if trace is None:
        return None
    return objects.trace(trace, queries.trace_details([trace])[trace.pk], listed=False)


def _memory(_: Delivery, subject: Any) -> Payload | None:
    memory = Memory.objects.select_related("agent_session").filter(public_id=subject["memory"]).first()
    return objects.memory(memory) if memory else None


def _incident(delivery: Delivery, subject: Any) -> Payload | None:
    mine = Incident.objects.filter(project=delivery.webhook.project_id)
    incident = incidents.with_reference(mine, subject["incident"]).first()
    return incident_objects.incident(incidents.assess(incident)) if incident else None


def _webhook(delivery: Delivery, _: Any) -> Payload:
    told = payloads.webhook(delivery.webhook)
    del told["url"]  # often a secret; whoever may see deliveries may not see it, and the receiver knows it
    return told


_TOLD: dict[str, Callable[[Delivery, Any], Payload | None]] = {
    "session": _session,
    "turn": _turn,
    "trace": _trace,
    "memory": _memory,
    "incident": _incident,
    "webhook": _webhook,
}
