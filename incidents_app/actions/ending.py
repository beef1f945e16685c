"""Resolving, closing, declining, merging and reopening: what people press, and what must be true first."""

from __future__ import annotations

from collections.abc import Sequence

from incidents_app import queries, rules
from incidents_app.actions._work import (
    IncidentWritten,
    Work,
    acting,
    incident_action,
    locked_incident,
    review_due,
)
from incidents_app.actions.filing import link
from incidents_app.actions.recovering import resume
from incidents_app.actions.securing import hold_of, secure
from incidents_app.enums import ENDED, EventKind, Severity, Status
from incidents_app.errors import GateUnmet, IncidentEnded
from incidents_app.limits import check_text
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession, Episode, Incident, Override, Pin
from sessions_app import actions as sessions
from sessions_app.actions import action, locked_session
from sessions_app.models import AgentSession, EvidenceHold
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import FULL, INCIDENT_MANAGE
from statebase_site.base.errors import Conflict, InvalidInput


class CannotReopen(Conflict):
    """Only what is resolved, closed or declined can be reopened."""

    code = "cannot_reopen"


@incident_action(INCIDENT_MANAGE, to="resolve an incident")
def resolve(work: Work) -> None:
    """Say that it is over: raises `GateUnmet` with exactly what is missing."""
    incident = work.incident
    if incident.status == Status.RESOLVED:
        return
    work.require_command(to="resolve it")
    _pass_gate(work, Status.RESOLVED)
    incident.status = Status.RESOLVED
    incident.resolved_at = work.episode.resolved_at = work.moment
    incident.review_due = None if work.episode.approved_at else review_due(incident, work.moment)
    work.tell(EventKind.STATUS, "Resolved.", details={"to": Status.RESOLVED})


def _pass_gate(work: Work, to: Status) -> None:
    found = queries.assess(work.incident)
    if missing := rules.unmet_for(found.facts, to):
        raise GateUnmet(f"{work.reference} can't be {to} yet", missing)


@incident_action(INCIDENT_MANAGE, to="override a gate")
def override(work: Work, *, gate: str, reason: str) -> None:
    """Pass over a condition that is not met, with a reason that the page and every export show. Admins only.

    `gate` is the `code` of an unmet condition of resolving or closing.
    """
    work.by.require(FULL, to="override a gate")
    reason = check_text(reason, "reason")
    facts = queries.assess(work.incident).facts
    unmet = {each.code for to in (Status.RESOLVED, Status.CLOSED) for each in rules.unmet_for(facts, to)}
    if gate not in unmet:
        raise InvalidInput(
            f"Nothing with the code {gate!r} is unmet.",
            param="gate",
            suggestion=f"Unmet are {', '.join(sorted(unmet))}." if unmet else "Nothing is unmet.",
        )
    Override.objects.create(
        episode=work.episode, code=gate, reason=reason, made_by=work.by.label, made_at=work.moment
    )
    work.tell(
        EventKind.OVERRIDDEN,
        f"Overrode “{gate}”: {reason}",
        details={"gate": gate, "reason": reason},
        alarm=True,
    )


# Ends, which let the sessions go ------------------------------------------------------------------------


def close(*, reference: str, by: Actor) -> IncidentWritten:
    """End it: the review is approved, the watch is over. Its sessions are evidence no longer.

    Raises `GateUnmet` with exactly what is missing.
    """
    by.require(INCIDENT_MANAGE, to="close an incident")
    return _end(reference=reference, to=Status.CLOSED, reason="", by=by)


def decline(*, reference: str, reason: str, resume_sessions: bool = False, by: Actor) -> IncidentWritten:
    """Say that it is no incident, and why; with `resume_sessions` its frozen sessions go on first."""
    by.require(INCIDENT_MANAGE, to="decline an incident")
    reason = check_text(reason, "reason")
    if resume_sessions:
        incident = queries.incident_for(by, reference)
        if incident.status not in ENDED:
            resume(reference=reference, reason=f"declined: {reason}"[:1000], by=by.part())
    return _end(reference=reference, to=Status.DECLINED, reason=reason, by=by)


@action
def _end(*, reference: str, to: Status, reason: str, by: Actor) -> IncidentWritten:
    rows = _present_rows(queries.incident_for(by, reference))
    _lock_sessions(rows, by)
    incident = locked_incident(by, reference)
    if recall(by):
        return IncidentWritten(incident, replayed=True)
    work = Work(incident, by)
    if incident.status == to:
        return IncidentWritten(incident)
    work.refuse_if_ended()
    if to == Status.CLOSED:
        work.require_command(to="close it")
        _pass_gate(work, to)
        work.tell(EventKind.STATUS, "Closed.", details={"to": to})
    else:
        work.tell(EventKind.STATUS, f"Declined: {reason}", details={"to": to, "reason": reason})
    work.finish()
    work.episode.closed_at = work.moment
    work.episode.save()
    incident.status, incident.review_due = to, None
    incident.closed_at = work.moment if to == Status.CLOSED else None
    incident.save()
    _release(incident, rows, by)
    remember(by, {"incident": incident.pk})
    return IncidentWritten(incident)


def _present_rows(incident: Incident) -> list[AffectedSession]:
    return list(
        AffectedSession.objects.filter(
            episode__incident=incident, episode__number=incident.episode_number
        ).order_by("agent_session_id")
    )


def _lock_sessions(rows: Sequence[AffectedSession], by: Actor) -> None:
    """All of them in ascending order, before the incident."""
    present = set(
        AgentSession.objects.filter(
            pk__in=[row.agent_session_id for row in rows], deleted_at=None
        ).values_list("public_id", flat=True)
    )
    for row in rows:
        if row.session_id in present and row.held_at:
            locked_session(row.session_id, by)


def _release(incident: Incident, rows: Sequence[AffectedSession], by: Actor) -> None:
    open_holds = set(
        EvidenceHold.objects.filter(
            agent_session__in=[row.agent_session_id for row in rows],
            label=incident.reference,
            released_at=None,
        ).values_list("agent_session_id", flat=True)
    )
    for row in rows:
        if row.agent_session_id in open_holds:
            sessions.release(session_id=row.session_id, label=incident.reference, by=acting(by))


def merge(*, reference: str, into: str, by: Actor) -> IncidentWritten:
    """Merge an incident into another: its sessions and what is known of them go there, in one transaction."""
    written = _merge(reference=reference, into=into, by=by)
    secure(queries.incident_for(by, into), by=by)
    return written


@action
def _merge(*, reference: str, into: str, by: Actor) -> IncidentWritten:
    by.require(INCIDENT_MANAGE, to="merge incidents")
    source, target = queries.incident_for(by, reference), queries.incident_for(by, into)
    if source.pk == target.pk:
        raise InvalidInput("An incident can't be merged into itself.", param="into")
    rows = _present_rows(source)
    _lock_sessions(rows, by)
    # Two who merge them into each other: the lower number first.
    locked = {
        each.pk: locked_incident(by, each.reference)
        for each in sorted((source, target), key=lambda each: each.number)
    }
    source, target = locked[source.pk], locked[target.pk]
    if recall(by):
        return IncidentWritten(source, replayed=True)
    if source.status == Status.DUPLICATE and source.duplicate_of_id == target.pk:
        return IncidentWritten(source)
    leaving, joining = Work(source, by), Work(target, by)
    leaving.refuse_if_ended()
    if target.status in ENDED:
        raise IncidentEnded(target.reference, target.status)
    _bring_over(rows, joining)
    for follow_up in source.follow_ups.all():
        follow_up.pk, follow_up.incident = None, target
        follow_up.number = target.follow_ups.count() + 1
        follow_up.save()
    target.count += source.count
    joining.tell(
        EventKind.MERGED,
        f"{source.reference} was merged into this: {source.title}",
        details={"from": reference},
    )
    joining.finish()
    leaving.tell(EventKind.MERGED, f"Merged into {target.reference}: {target.title}", details={"into": into})
    leaving.finish()
    leaving.episode.closed_at = leaving.moment
    leaving.episode.save()
    source.status, source.duplicate_of, source.review_due = Status.DUPLICATE, target, None
    source.save()
    _release(source, rows, by)
    remember(by, {"incident": source.pk})
    return IncidentWritten(source)


def _bring_over(rows: Sequence[AffectedSession], joining: Work) -> None:
    """Copy the sessions that the other does not have yet, with the facts and pins recorded about them."""
    known = set(joining.episode.affected.values_list("session_id", flat=True))
    for row in rows:
        if row.session_id in known:
            continue
        pins = list(row.pins.all())
        row = AffectedSession.objects.get(pk=row.pk)
        row.pk, row.episode, row.held_at = None, joining.episode, joining.moment
        row._state.adding = True
        row.freeze_wanted = row.freeze_version is None and _freezes_at_once(joining.incident)
        row.save()
        sessions.hold(session_id=row.session_id, **hold_of(joining.incident), by=joining.acting)
        Pin.objects.bulk_create(
            [
                Pin(
                    affected=row,
                    **{
                        name: getattr(pin, name)
                        for name in ("kind", "target", "content", "sha256", "note", "pinned_by", "pinned_at")
                    },
                )
                for pin in pins
            ]
        )


def _freezes_at_once(incident: Incident) -> bool:
    return incident.severity is not None and MATRIX[Severity(incident.severity)].freeze_at_once


def reopen(*, reference: str, reason: str, by: Actor) -> IncidentWritten:
    """Begin a new episode: its sessions are held again, and the old times and review stay readable."""
    written = _reopen(reference=reference, reason=reason, by=by)
    secure(written.incident, by=by)
    written.incident.refresh_from_db()
    return written


@incident_action(INCIDENT_MANAGE, to="reopen an incident", on_ended=True)
def _reopen(work: Work, *, reason: str) -> None:
    incident = work.incident
    reason = check_text(reason, "reason")
    if incident.status not in (Status.RESOLVED, Status.CLOSED, Status.DECLINED):
        raise CannotReopen(
            f"{work.reference} is {incident.status}: "
            "only what is resolved, closed or declined can be reopened."
        )
    rows = _present_rows(incident)
    old = work.episode
    old.closed_at = old.closed_at or work.moment
    old.save()
    incident.episode_number += 1
    Episode.objects.create(
        incident=incident,
        number=incident.episode_number,
        opened_at=work.moment,
        opened_by=work.by.label,
        reason=reason,
    )
    incident.status = Status.OPEN if incident.severity else Status.TRIAGE
    incident.resolved_at = incident.closed_at = incident.review_due = incident.watch_until = None
    present = AgentSession.objects.filter(pk__in=[row.agent_session_id for row in rows], deleted_at=None)
    link(work, list(present.order_by("pk")))
    work.tell(
        EventKind.REOPENED,
        f"Reopened: {reason}",
        details={"episode": incident.episode_number, "reason": reason},
    )
