"""What pages of one session share: the banner of a frozen one, and words for its versions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context

from sessions_app import queries
from sessions_app.models import AgentSession
from sessions_app.queries import windows
from sessions_app.time_machine.allowed import allowed
from sessions_app.time_machine.entries import silence_in_words
from statebase_site.access.current import actor_for, new_form_key
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.web.times import ViewerTimes

register = template.Library()


@register.inclusion_tag("sessions_app/_frozen.html", takes_context=True)
def frozen_banner(context: Context, agent_session: AgentSession) -> dict[str, Any]:
    """Since when the session is frozen, by whom and why, what was refused, and the ways on; else nothing."""
    if agent_session.frozen_version is None:
        return {"agent_session": None}
    request = context["request"]
    return {
        "request": request,
        "agent_session": agent_session,
        "version": queries.version_row(agent_session, agent_session.frozen_version),
        "refusals": queries.refusals(agent_session),
        "hold": next(iter(windows.open_holds(agent_session)), None),
        "allowed": allowed(actor_for(request, agent_session.project), agent_session),
        "form_key": new_form_key,
    }


@register.inclusion_tag("sessions_app/_declare.html", takes_context=True)
def declare_incident(
    context: Context,
    agent_session: AgentSession,
    version: int | None = None,
    trace_id: str = "",
    *,
    in_row: bool = False,
) -> dict[str, Any]:
    """The way to an incident about the session; `in_row`: one of many, so without a key."""
    by = actor_for(context["request"], agent_session.project)
    may = by.may(SESSIONS_WRITE) or by.may(INCIDENT_MANAGE)
    about = {"session": agent_session.public_id, "version": version, "trace": trace_id}
    return {
        "query": urlencode({name: value for name, value in about.items() if value not in (None, "")}),
        "off": "" if may else "Your role only reads; an engineer of the project may.",
        "in_row": in_row,
    }


@register.filter
def in_words(silence: timedelta) -> str:
    """How long nothing happened: `7 min`, `3 h 20 min`."""
    return silence_in_words(silence)


@register.filter
def as_seen(moment: datetime, times: ViewerTimes) -> str:
    """A moment as plain text for a picture, written as the viewer set it."""
    return times.text(moment)


@register.filter
def fingerprint(value: bytes) -> str:
    """The first bytes of a hash, in pairs: `a41f 09c2`."""
    text = bytes(value).hex()
    return f"{text[:4]} {text[4:8]}"
