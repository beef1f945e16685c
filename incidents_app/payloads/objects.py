"""The objects of contract section 16, built from what queries found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from incidents_app.enums import ENDED, Status, Step
from incidents_app.errors import IncidentEnded
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    FollowUp,
    Pin,
    Scenario,
    ScenarioRun,
    TimelineEvent,
)
from incidents_app.queries import Assessed, Details, Metrics, metrics_of
from incidents_app.rules import SessionFacts, Unmet
from statebase_site.base import json
from statebase_site.base.clock import isoformat

Payload = dict[str, Any]


def incident(found: Assessed) -> Payload:
    """An incident as lists show it."""
    row, episode = found.incident, found.episode
    facts = {each.session_id: each for each in found.facts.sessions}
    return {
        "object": "incident",
        "id": row.reference,
        "title": row.title,
        "summary": row.summary,
        "severity": row.severity,
        "peak_severity": row.peak_severity,
        "status": str(found.status),
        "failure_mode": row.failure_mode,
        "commander": row.commander.get_username() if row.commander else None,
        "episode": episode.number,
        "created_at": isoformat(row.created_at),
        "updated_at": isoformat(row.updated_at),
        "resolved_at": _moment(row.resolved_at),
        "closed_at": _moment(row.closed_at),
        "duplicate_of": row.duplicate_of.reference if row.duplicate_of else None,
        "dedup_key": row.dedup_key,
        "count": row.count,
        "sessions": [_session(found, each, facts[each.session_id]) for each in found.affected],
        "metrics": asdict(metrics_of(episode, found.affected)),
        "filed_by": row.filed_by,
        "no_session_reason": row.no_session_reason or None,
        "traffic": row.traffic,
        "traffic_note": row.traffic_note or None,
        "watch_until": _moment(row.watch_until),
        "review_due": _moment(row.review_due),
    }


def incident_in_full(found: Assessed, details: Details) -> Payload:
    """An incident as it is read alone."""
    shown = incident(found)
    for each, row in zip(shown["sessions"], found.affected, strict=True):
        each |= {
            "exemptions": [
                {
                    "step": exemption.step,
                    "reason": exemption.reason,
                    "made_by": exemption.made_by,
                    "made_at": isoformat(exemption.made_at),
                }
                for exemption in details.exemptions.get(row.pk, ())
            ],
            "pins": [_pin(pin) for pin in details.pins.get(row.pk, ())],
            "effects": [_effect(effect) for effect in details.effects.get(row.pk, ())],
        }
    review_scenarios = {scenario.pk: scenario.public_id for scenario in details.scenarios}
    return shown | {
        "commander_is_away": details.commander_is_away,
        "helpers": list(details.helpers),
        "prevention": _prevention(found.episode),
        "follow_ups": [follow_up(each) for each in details.follow_ups],
        "scenarios": [scenario(each) for each in details.scenarios],
        "review": _review(found, review_scenarios),
        "overrides": [
            {
                "gate": override.code,
                "reason": override.reason,
                "made_by": override.made_by,
                "made_at": isoformat(override.made_at),
            }
            for override in details.overrides
        ],
        "contaminated_sessions": [
            {
                "session_id": fork.agent_session.public_id,
                "forked_from": fork.source_id,
                "forked_version": fork.source_version,
            }
            for fork in details.contaminated
        ],
        "earlier_episodes": [
            _earlier(episode, metrics, review_scenarios) for episode, metrics in details.past
        ],
    }


def _session(found: Assessed, row: AffectedSession, facts: SessionFacts) -> Payload:
    present = found.sessions.get(row.session_id)
    steps = found.steps_of(row)
    return {
        "session_id": row.session_id,
        "frozen": present is not None and present.is_frozen,
        "divergence_version": row.divergence_version,
        "last_good_version": row.last_good_version,
        "steps": {str(step): str(steps[step].state) for step in Step},
        "step_notes": {str(step): steps[step].why for step in Step if steps[step].why},
        "agent_id": row.agent_id,
        "added_at": isoformat(row.added_at),
        "added_by": row.added_by,
        "suspect_version": row.suspect_version,
        "held": row.held_at is not None and found.incident.status not in ENDED,
        "freeze_pending": row.freeze_wanted,
        "failure": row.failure or None,
        "freeze_version": row.freeze_version,
        "frozen_at": _moment(row.frozen_at),
        "frozen_by": row.frozen_by or None,
        "found_how": row.found_how or None,
        "rollback_version": row.rollback_version,
        "rolled_back_to": row.rolled_back_to,
        "rolled_back_at": _moment(row.rolled_back_at),
        "correction": row.correction or None,
        "correction_version": row.correction_version,
        "resume_version": row.resume_version,
        "resumed_at": _moment(row.resumed_at),
        "undecided_effects": facts.undecided_effects,
    }


def _pin(pin: Pin) -> Payload:
    return {
        "object": "pin",
        "kind": pin.kind,
        "target": pin.target,
        "sha256": pin.sha256,
        "note": pin.note or None,
        "pinned_by": pin.pinned_by,
        "pinned_at": isoformat(pin.pinned_at),
    }


def _effect(effect: Effect) -> Payload:
    return {
        "object": "effect",
        "turn_id": effect.turn_id,
        "turn_number": effect.turn_number,
        "tool": effect.tool,
        "arguments": _arguments(effect.arguments_text),
        "reversibility": effect.reversibility,
        "disposition": effect.disposition,
        "note": effect.note or None,
        "decided_by": effect.decided_by or None,
        "decided_at": _moment(effect.decided_at),
    }


def _arguments(text: str) -> Any:
    """The arguments as they were, or the beginning of their text where they were too long to keep."""
    try:
        json.parse(text)
    except json.JsonFault:
        return text
    return json.Written(text)


def _prevention(episode: Episode) -> Payload | None:
    if episode.answered_at is None:
        return None
    return {
        "missing_checkpoint": episode.missing_checkpoint,
        "no_validation": episode.no_validation,
        "no_permission_check": episode.no_permission_check,
        "state_drift": episode.state_drift,
        "text": episode.causes,
        "answered_at": isoformat(episode.answered_at),
        "answered_by": episode.answered_by,
    }


def follow_up(row: FollowUp) -> Payload:
    """Something that has to be done; `n` is its number in the incident."""
    return {
        "object": "follow_up",
        "n": row.number,
        "text": row.text,
        "kind": row.kind,
        "owner": row.owner or None,
        "due": row.due.isoformat() if row.due else None,
        "blocks": row.blocks,
        "done": row.done_at is not None,
        "done_at": _moment(row.done_at),
        "done_by": row.done_by or None,
        "created_at": isoformat(row.created_at),
        "created_by": row.created_by,
    }


def _review(found: Assessed, scenarios: dict[int, str]) -> Payload:
    return {
        "failure_mode": found.incident.failure_mode,
        **_written_review(found.episode, scenarios),
        "due": _moment(found.incident.review_due),
        "missing": list(found.facts.review_missing),
    }


def _written_review(episode: Episode, scenarios: dict[int, str]) -> Payload:
    checkpoint: Payload | None = None
    if episode.checkpoint_session is not None:
        checkpoint = {"session_id": episode.checkpoint_session, "after_version": episode.checkpoint_after}
    elif episode.no_checkpoint_why:
        checkpoint = {"none": True, "why": episode.no_checkpoint_why}
    return {
        "missing_checkpoint": checkpoint,
        "lessons": episode.lessons or None,
        "scenario": scenarios.get(episode.review_scenario_id) if episode.review_scenario_id else None,
        "reviewed_by": episode.reviewed_by or None,
        "approved_at": _moment(episode.approved_at),
        "approved_by": episode.approved_by or None,
        "approved_alone": episode.approved_alone,
    }


def _earlier(episode: Episode, metrics: Metrics, scenarios: dict[int, str]) -> Payload:
    return {
        "episode": episode.number,
        "opened_at": isoformat(episode.opened_at),
        "opened_by": episode.opened_by,
        "contained_at": _moment(episode.contained_at),
        "recovered_at": _moment(episode.recovered_at),
        "resolved_at": _moment(episode.resolved_at),
        "closed_at": _moment(episode.closed_at),
        "prevention": _prevention(episode),
        "review": _written_review(episode, scenarios),
        "metrics": asdict(metrics),
    }


def gates(found: Assessed, to: Status) -> Payload:
    """What is missing before `to`, resolved or closed; nothing where the incident is past it already."""
    status = Status(found.incident.status)
    if status in (Status.DECLINED, Status.DUPLICATE):
        ended = IncidentEnded(found.incident.reference, status)
        unmet = [Unmet(ended.code, None, ended.in_words)]
    elif status in (to, Status.CLOSED):
        unmet = []
    else:
        unmet = found.unmet(to)
    return {
        "object": "gates",
        "incident_id": found.incident.reference,
        "to": str(to),
        "met": not unmet,
        "unmet": [asdict(each) for each in unmet],
    }


def event_id(row: TimelineEvent, reference: str) -> str:
    """How a row of a timeline is named: `INCIDENT-12:5`."""
    return f"{reference}:{row.sequence}"


def event(row: TimelineEvent, reference: str) -> Payload:
    """A row of the timeline."""
    return {
        "object": "incident_event",
        "id": event_id(row, reference),
        "sequence": row.sequence,
        "episode": row.episode_number,
        "kind": row.kind,
        "text": row.text,
        "details": json.Written(row.details_text),
        "actor": row.actor_label,
        "actor_kind": row.actor_kind,
        "session_id": row.session_id,
        "version": row.version,
        "trace_id": row.trace_id,
        "alarm": row.is_alarm,
        "backdated": row.is_backdated,
        "supersedes": row.supersedes,
        "occurred_at": isoformat(row.occurred_at),
        "created_at": isoformat(row.created_at),
    }


def scenario(row: Scenario) -> Payload:
    """A scenario with its runs, which are prefetched, as its incident is."""
    runs = list(row.runs.all())
    return {
        "object": "scenario",
        "id": row.public_id,
        "incident_id": row.incident.reference,
        "name": row.name,
        "session_id": row.session_id,
        "agent_id": row.agent_id,
        "fork_version": row.fork_version,
        "fault": json.Written(row.fault_text),
        "predicate": row.predicate,
        "status": "waiting" if _waiting(runs) else "done",
        "waiting_session_id": _waiting(runs),
        "runs": [run(each, row.public_id) for each in runs],
        "created_at": isoformat(row.created_at),
        "created_by": row.created_by,
    }


def _waiting(runs: Iterable[ScenarioRun]) -> str | None:
    return next((each.session_id for each in runs if each.outcome is None), None)


def run(row: ScenarioRun, scenario_id: str) -> Payload:
    """A run: waiting for an agent, or red or green."""
    return {
        "object": "scenario_run",
        "scenario_id": scenario_id,
        "session_id": row.session_id,
        "agent_version": row.agent_version or None,
        "outcome": row.outcome,
        "judged_version": row.judged_version,
        "requested_at": isoformat(row.requested_at),
        "requested_by": row.requested_by,
        "finished_at": _moment(row.finished_at),
        "reported_by": row.reported_by or None,
    }


def _moment(moment: datetime | None) -> str | None:
    return isoformat(moment) if moment else None
