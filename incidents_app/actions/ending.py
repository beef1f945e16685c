"""Resolving, closing, declining, merging and reopening: what people press, and what must be true first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db import IntegrityError
from django.db.models import Model

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
from incidents_app.actions.severity import raise_to
from incidents_app.enums import ACTIVE, ENDED, EventKind, Severity, Status
from incidents_app.errors import GateUnmet, IncidentEnded, IncidentNotFound
from incidents_app.limits import check_text
from incidents_app.matrix import freezes_at_once, is_worse
from incidents_app.models import AffectedSession, Effect, Episode, Exemption, Incident, Override, Pin
from sessions_app import actions as sessions
from sessions_app.actions import action
from sessions_app.models import AgentSession, EvidenceHold
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import FULL, INCIDENT_MANAGE
from statebase_site.base.errors import Conflict, InvalidInput

Copied = TypeVar("Copied", bound=Model)


class CannotReopen(Conflict):
    """Only what is resolved, closed or declined can be reopened."""

    code = "cannot_reopen"


class SessionsChanged(Conflict):
    """A session was added while the incident was about to end."""

    code = "sessions_changed"


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
    if resume_sessions and not recall(by):
        incident = queries.incident_for(by, reference)
        if incident.status not in ENDED:
            resume(reference=reference, reason=f"declined: {reason}"[:1000], by=by.part())
    return _end(reference=reference, to=Status.DECLINED, reason=reason, by=by)


@action
def _end(*, reference: str, to: Status, reason: str, by: Actor) -> IncidentWritten:
    rows = _locked_rows(queries.incident_for(by, reference))
    incident = locked_incident(by, reference)
    if recall(by):
        return IncidentWritten(incident, replayed=True)
    work = Work(incident, by)
    if incident.status == to:
        return IncidentWritten(incident)
    work.refuse_if_ended()
    _refuse_if_grown(incident, rows)
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


def _locked_rows(incident: Incident) -> list[AffectedSession]:
    """The rows of its sessions, and the sessions locked: all, in ascending order, before the incident."""
    rows = _present_rows(incident)
    sessions_of = AgentSession.objects.filter(pk__in=[row.agent_session_id for row in rows])
    list(sessions_of.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    return rows


def _refuse_if_grown(incident: Incident, rows: Sequence[AffectedSession]) -> None:
    """Raise where a session came to the locked incident after its sessions were locked."""
    if {row.pk for row in _present_rows(incident)} != {row.pk for row in rows}:
        raise SessionsChanged(f"The sessions of {incident.reference} changed at this moment; try again.")


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
    source = queries.incident_for(by, reference)
    try:
        target = queries.incident_for(by, into)
    except IncidentNotFound as missing:
        missing.param = "into"
        raise
    if source.pk == target.pk:
        raise InvalidInput("An incident can't be merged into itself.", param="into")
    rows = _locked_rows(source)
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
    _refuse_if_grown(source, rows)
    _bring_over(rows, joining)
    # They move: what is to be done is to be done once.
    for follow_up in source.follow_ups.all():
        follow_up.incident, follow_up.number = target, target.follow_ups.count() + 1
        follow_up.save(update_fields=["incident", "number"])
    target.count += source.count
    joining.tell(
        EventKind.MERGED,
        f"{source.reference} was merged into this: {source.title}",
        details={"from": reference},
    )
    # What was worse before does not become harmless by merging it.
    if source.severity is not None and is_worse(source.severity, target.severity):
        raise_to(joining, Severity(source.severity), f"{source.reference} was {source.severity}")
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
    """Copy the sessions that the other does not have yet, with all that was recorded about them."""
    known = set(joining.episode.affected.values_list("session_id", flat=True))
    present = set(
        AgentSession.objects.filter(
            pk__in=[row.agent_session_id for row in rows], deleted_at=None
        ).values_list("pk", flat=True)
    )
    for old in rows:
        if old.session_id in known:
            continue
        row = _copy(AffectedSession.objects.get(pk=old.pk), episode=joining.episode, held_at=None)
        if row.freeze_version is None and freezes_at_once(joining.incident.severity):
            row.freeze_wanted = True
        if row.agent_session_id in present:
            row.held_at = joining.moment
            sessions.hold(session_id=row.session_id, **hold_of(joining.incident), by=joining.acting)
        row.save()
        for model in (Pin, Effect, Exemption):
            kept: list[Any] = [_copy(each, affected=row) for each in model.objects.filter(affected=old)]
            model.objects.bulk_create(kept)


def _copy(row: Copied, **changes: Any) -> Copied:
    """The same row once more, not stored yet."""
    for name, value in changes.items():
        setattr(row, name, value)
    row.pk = None
    row._state.adding = True
    return row


def reopen(*, reference: str, reason: str, by: Actor) -> IncidentWritten:
    """Begin a new episode: its sessions are held again, and the old times and review stay readable."""
    try:
        written = _reopen(reference=reference, reason=reason, by=by)
    except IntegrityError:  # the same was filed a moment ago: now that is found
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
    _refuse_beside_another(incident)
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


def _refuse_beside_another(incident: Incident) -> None:
    """Of what is filed under one key, one incident is open."""
    same = Incident.objects.filter(
        project=incident.project_id, dedup_key=incident.dedup_key, dedup_key__isnull=False, status__in=ACTIVE
    )
    if other := same.exclude(pk=incident.pk).first():
        raise CannotReopen(
            f"{other.reference} is open already about the same as {incident.reference}.",
            suggestion=f"Go on in {other.reference}.",
        )
