"""Holding and freezing the sessions of an incident: each in its own transaction, none forgotten.

What is wanted is committed with the incident; whatever of it fails, or takes longer than the request may, is
tried again by the worker until it is done (contract 16).
"""

from __future__ import annotations

import time

from django.db import DatabaseError
from django.db.models import Q

from incidents_app import queries
from incidents_app.actions._work import IncidentWritten, Work, acting, incident_action, locked_incident
from incidents_app.actions.noticing import settle
from incidents_app.enums import ACTIVE, EventKind, Traffic
from incidents_app.errors import IncidentEnded
from incidents_app.limits import check_line, check_text
from incidents_app.models import AffectedSession, Incident
from incidents_app.queries.assessing import versions_made
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.actions import action, locked_session
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor, system_actor
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base.errors import DomainError, InvalidInput

SECONDS_IN_REQUEST = 5.0
"""How long a request freezes sessions before it leaves the rest to the worker (contract 16)."""

_BATCH = 200  # sessions a round of the worker


def freeze(
    *,
    reference: str,
    session_id: str | None = None,
    reason: str | None = None,
    traffic: str | None = None,
    traffic_note: str | None = None,
    by: Actor,
) -> IncidentWritten:
    """Freeze one session of the incident, or all of them; one that is frozen already is taken as it is.

    `traffic` says where new traffic goes meanwhile; agents are told in the 423. Raises `SessionNotAffected`.
    """
    written = _want_freeze(
        reference=reference,
        session_id=session_id,
        reason=reason,
        traffic=traffic,
        traffic_note=traffic_note,
        by=by,
    )
    if not secure(written.incident, by=by) and not written.replayed:
        _name_as_well(reference=reference, session_id=session_id, by=by.part())
    written.incident.refresh_from_db()
    return written


@incident_action(SESSIONS_WRITE, to="freeze the sessions of an incident")
def _want_freeze(
    work: Work,
    *,
    session_id: str | None,
    reason: str | None,
    traffic: str | None,
    traffic_note: str | None,
) -> None:
    reason = check_text(reason, "reason", required=False)
    rows = [work.about(session_id)] if session_id else list(work.episode.affected.all())
    AffectedSession.objects.filter(pk__in=[row.pk for row in rows]).update(freeze_wanted=True)
    if reason:
        work.tell(EventKind.NOTE, f"Freeze: {reason}", session_id=session_id)
    if traffic is not None or traffic_note is not None:
        _direct(work, traffic, traffic_note)


@incident_action(SESSIONS_WRITE, to="freeze the sessions of an incident")
def _name_as_well(work: Work, *, session_id: str | None) -> None:
    """Of two who freeze at once, one does the work for both: the other is named, too."""
    found = queries.assess(work.incident)
    names = [row.session_id for row in found.affected if found.facts_of(row).is_frozen]
    frozen = [name for name in names if session_id in (None, name)]
    if len(frozen) == 1:
        work.tell(EventKind.FROZEN, f"{frozen[0]} was frozen already.", session_id=frozen[0])
    elif frozen:
        work.tell(EventKind.FROZEN, f"{len(frozen)} sessions were frozen already.")


def direct_traffic(*, reference: str, traffic: str, traffic_note: str = "", by: Actor) -> IncidentWritten:
    """Say where new traffic goes while sessions are stopped: shown on pages, and in each 423."""
    written = _direct_traffic(reference=reference, traffic=traffic, traffic_note=traffic_note, by=by)
    secure(written.incident, by=by)
    return written


@incident_action(SESSIONS_WRITE, to="direct the traffic of an incident")
def _direct_traffic(work: Work, *, traffic: str, traffic_note: str) -> None:
    _direct(work, traffic, traffic_note)


def _direct(work: Work, traffic: str | None, note: str | None) -> None:
    incident = work.incident
    if traffic is not None and traffic not in Traffic.values:
        raise InvalidInput(
            f"Traffic can't be {traffic!r}: choose {', '.join(Traffic.values)}.", param="traffic"
        )
    before = (incident.traffic, incident.traffic_note)
    incident.traffic = traffic or incident.traffic
    if note is not None:
        incident.traffic_note = check_line(note, "traffic_note", most=300, required=False)
    if before != (incident.traffic, incident.traffic_note):
        work.tell(
            EventKind.TRAFFIC,
            f"New traffic {Traffic(incident.traffic).label}.",
            details={"from": before[0], "to": incident.traffic, "note": incident.traffic_note},
        )
        tell_agents_again(work)


def tell_agents_again(work: Work) -> None:
    """Let each hold be opened again with what it says now; `secure` does it after the action."""
    AffectedSession.objects.filter(episode=work.episode).update(held_at=None)


def secure(incident: Incident, *, by: Actor, seconds: float = SECONDS_IN_REQUEST) -> int:
    """Hold and freeze what waits for it, for up to `seconds`; returns how many were done.

    A session that can't be is named on the incident and tried again.
    """
    deadline = time.monotonic() + seconds
    done = 0
    for tried, row in enumerate(waiting().filter(episode__incident=incident)):
        if tried and time.monotonic() > deadline:
            break
        done += _try(row, incident, acting(by))
    if done:
        settle(incident)
    return done


def secure_waiting() -> int:
    """What the worker does: everything that still waits, in every project."""
    done: list[Incident] = []
    for row in waiting().select_related("episode__incident__project")[:_BATCH]:
        incident = row.episode.incident
        if _try(row, incident, system_actor(incident.project)):
            done.append(incident)
    for incident in dict.fromkeys(done):
        settle(incident)
    return len(done)


def waiting():
    """The affected sessions of active incidents that are still to be held or frozen.

    Those that failed before come last, so that however many they are, they keep no other from its turn.
    """
    return AffectedSession.objects.filter(
        Q(held_at=None) | Q(freeze_wanted=True), episode__incident__status__in=ACTIVE, episode__closed_at=None
    ).order_by("failure", "agent_session_id")


def _try(row: AffectedSession, incident: Incident, by: Actor) -> bool:
    try:
        return _secure(reference=incident.reference, row_pk=row.pk, session_id=row.session_id, by=by)
    except IncidentEnded:
        return False  # it was closed, declined or merged a moment ago: nothing is to be held any more
    except (DomainError, DatabaseError) as failure:
        words = failure.message if isinstance(failure, DomainError) else "The database did not answer."
        _note_failure(reference=incident.reference, row_pk=row.pk, words=words, by=by)
        return False


@action
def _secure(*, reference: str, row_pk: int, session_id: str, by: Actor) -> bool:
    incident = Incident.objects.filter(project=by.project, episodes__affected=row_pk).get()
    hold = hold_of(incident)
    sessions.hold(session_id=session_id, **hold, by=by)
    session = locked_session(session_id, by)
    # Read under the session's lock: of two who freeze it at once, the second finds it done.
    row = AffectedSession.objects.get(pk=row_pk)
    wanted, made = row.freeze_wanted, None
    if wanted and not (session.is_frozen and _is_quiet(row, session)):
        reason = f"{reference}: {incident.title}"
        made = sessions.freeze(session_id=session_id, reason=reason, by=by)
        session = made.agent_session
    work = Work(locked_incident(by, reference), by)
    if not work.incident.is_active:
        raise IncidentEnded(reference, work.incident.status)
    row = AffectedSession.objects.get(pk=row_pk)  # afresh: what the incident recorded meanwhile stays
    if row.held_at is not None and not wanted:
        return False  # another one did it a moment ago
    if hold == hold_of(work.incident):  # or else it says something new since, and is opened again
        row.held_at = row.held_at or work.moment
    # A session that was stopped before it was linked is stopped, whoever did it.
    if wanted or (session.is_frozen and row.freeze_version is None):
        _record_freeze(work, row, session, made.version.number if made else None)
        row.freeze_wanted = False
    row.failure = ""
    row.save()
    # The whole incident is settled once all of its sessions had their turn: until then they are news.
    work.save()
    return True


def _is_quiet(row: AffectedSession, session: AgentSession) -> bool:
    """Whether the freeze there is stands as it was found: only incidents wrote through it since."""
    if row.quiet_since is None:
        return True
    made = versions_made([row.session_id])[row.session_id]
    later = session_queries.versions_of(session).filter(number__gt=row.quiet_since)
    return not later.exclude(number__in=made).exists()


def _record_freeze(work: Work, row: AffectedSession, session: AgentSession, made: int | None) -> None:
    assert session.frozen_version is not None
    version = session.frozen_version
    again = " again" if row.freeze_version is not None else ""
    if made is not None:
        text = f"Froze {row.session_id}{again} (v{made})."
    else:
        text = f"{row.session_id} was frozen already, at v{version} by {session.frozen_by}."
    if row.freeze_version is None:
        row.freeze_version, row.frozen_by = version, session.frozen_by or work.by.label
        row.frozen_at = max(session.frozen_at or work.moment, work.episode.opened_at)
    row.quiet_since = session.head_version
    # A freeze after the resume begins the step anew.
    row.resume_version = row.resumed_at = None
    work.tell(EventKind.FROZEN, text, session_id=row.session_id, version=made)


@action
def _note_failure(*, reference: str, row_pk: int, words: str, by: Actor) -> None:
    work = Work(locked_incident(by, reference), by)
    row = AffectedSession.objects.get(pk=row_pk)
    if row.failure != words:
        row.failure = words
        row.save(update_fields=["failure"])
        work.tell(
            EventKind.FREEZE_FAILED,
            f"{row.session_id} could not be {'frozen' if row.freeze_wanted else 'held'}: {words} "
            "It is tried again.",
            session_id=row.session_id,
            alarm=True,
        )
    work.save()


def hold_of(incident: Incident) -> dict[str, str]:
    """The evidence hold of an incident: its name, its address, and what agents are told in each 423."""
    note = f" {incident.traffic_note}" if incident.traffic_note else ""
    traffic = Traffic(incident.traffic).label
    return {
        "label": incident.reference,
        "url": incident.get_absolute_url(),
        "notice": f"{incident.reference}: {incident.title}. New traffic {traffic}.{note}",
    }
