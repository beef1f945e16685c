"""What of a session can be pinned as evidence: its versions, and the newest of its traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm

from incidents_app.enums import PinKind
from incidents_app.models import AffectedSession
from incidents_app.presenting.picker import Column, numbers_in, picker
from sessions_app import queries as sessions
from sessions_app.models import Trace
from statebase_site.access.actor import Actor

TRACES_SHOWN = 40


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """A trace, and whether it is chosen, or pinned already."""

    trace: Trace
    is_chosen: bool
    is_pinned: bool


def pinning(by: Actor, row: AffectedSession, form: BaseForm, *, at: int | None) -> dict[str, Any]:
    """What the page offers: `picker`, `traces`, and what was typed that is not among them."""
    agent_session = sessions.session_for(by, row.session_id)
    versions, traces = numbers_in(form["versions"]), [str(each) for each in form["traces"].value() or []]
    pinned = set(row.pins.values_list("kind", "target"))
    newest = list(sessions.traces_for(by, session_id=row.session_id)[:TRACES_SHOWN])
    shown = {trace.public_id for trace in newest}
    return {
        "agent_session": agent_session,
        "picker": picker(agent_session, row, [Column("versions", "pin", "x", versions, several=True)], at=at),
        "traces": [
            TraceChoice(trace, trace.public_id in traces, (PinKind.TRACE, trace.public_id) in pinned)
            for trace in newest
        ],
        "other_versions": [each for each in versions if each > agent_session.head_version],
        "other_traces": [each for each in traces if each not in shown],
    }
