"""Filing an incident, and adding sessions to it (contract 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.contrib.auth import get_user_model
from django.db import IntegrityError

from incidents_app.actions._work import IncidentWritten, Work, incident_action, locked_incident, require
from incidents_app.actions.securing import secure
from incidents_app.actions.severity import check_severity, raise_to
from incidents_app.enums import ACTIVE, EventKind, FailureMode, Severity, Status
from incidents_app.errors import IncidentEnded
from incidents_app.limits import SESSIONS_MOST, check_line, check_text
from incidents_app.matrix import freezes_at_once, is_worse
from incidents_app.models import AffectedSession, Episode, Incident, IncidentCounter
from sessions_app.actions import action
from sessions_app.errors import SessionNotFound
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor, ActorKind
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.base import clock, json
from statebase_site.base.errors import Conflict, InvalidInput
from statebase_site.base.ids import findable

_TRIES = 3


class FilingRaced(Conflict):
    """The same incident is being filed by others, again and again."""

    code = "filing_raced"


@dataclass(frozen=True, slots=True)
class Filed:
    """The incident that was filed; `is_new` is False where an open one was counted up instead."""

    incident: Incident
    is_new: bool
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class _Report:
    """What is filed, checked."""

    title: str
    severity: Severity | None
    session_ids: Sequence[str]
    suspects: Mapping[str, int]
    summary: str
    failure_mode: str | None
    dedup_key: str | None
    no_session_reason: str


def file(
    *,
    title: str,
    severity: str | None = None,
    session_ids: Sequence[str] = (),
    suspects: Mapping[str, int] | None = None,
    summary: str = "",
    failure_mode: str | None = None,
    dedup_key: str | None = None,
    no_session_reason: str = "",
    by: Actor,
) -> Filed:
    """File an incident; without `severity` it waits in triage. S1 freezes its sessions in this call.

    The incident is committed first, then each session is held and frozen on its own, for up to 5 s; the
    worker does the rest. An open incident with the same `dedup_key` is counted up instead; what an agent's
    key files about the same sessions again counts as the same. `suspects`: the version that looked wrong, by
    session. Raises `InvalidInput`, `SessionNotFound`.
    """
    require(by, SESSIONS_WRITE, to="file an incident")
    report = _Report(
        title=check_line(title, "title"),
        severity=check_severity(severity) if severity is not None else None,
        session_ids=_once_each(session_ids),
        suspects=suspects or {},
        summary=check_text(summary, "summary", required=False),
        failure_mode=check_failure_mode(failure_mode),
        dedup_key=check_line(dedup_key, "dedup_key", most=255, required=False) or None,
        no_session_reason=check_text(no_session_reason, "no_session_reason", required=False),
    )
    if report.dedup_key is None:
        report = replace(report, dedup_key=_own_key(by, report))
    for _ in range(_TRIES):
        try:
            filed = _file(report=report, by=by)
            break
        except (IntegrityError, IncidentEnded):  # another filed the same, or ended it, a moment ago
            continue
    else:
        raise FilingRaced("Others are filing the same incident at this moment; try again.")
    secure(filed.incident, by=by)
    filed.incident.refresh_from_db()
    return filed


def _once_each(session_ids: Sequence[str]) -> list[str]:
    wanted = list(dict.fromkeys(session_ids))
    if len(wanted) > SESSIONS_MOST:
        raise InvalidInput(f"An incident has at most {SESSIONS_MOST:,} sessions.", param="sessions")
    return wanted


def _own_key(by: Actor, report: _Report) -> str | None:
    """What an agent files in a loop is one incident: about the same sessions, or else with the same title."""
    if not by.is_agent or by.may(INCIDENT_MANAGE):
        return None
    about = sorted(report.session_ids) or [report.title]
    return f"agent:{sha256(json.dumps([by.id, *about]).encode()).hexdigest()}"


@action
def _file(*, report: _Report, by: Actor) -> Filed:
    if made := recall(by):
        return Filed(Incident.objects.get(pk=made["incident"]), is_new=made["is_new"], replayed=True)
    sessions = _sessions(by, report.session_ids)
    same = _open_one_like(report, by)
    if same:
        filed = _count_up(same.reference, report, sessions, by)
    else:
        if not sessions and not report.no_session_reason and not by.is_agent:
            raise InvalidInput(
                "Name the affected sessions, or say why there are none.",
                param="sessions",
                suggestion="Fill in a session id, or a reason such as “found in the logs of the provider”.",
            )
        filed = _new(report, sessions, by)
    remember(by, {"incident": filed.incident.pk, "is_new": filed.is_new})
    return filed


def _open_one_like(report: _Report, by: Actor) -> Incident | None:
    if report.dedup_key is None:
        return None
    return Incident.objects.filter(project=by.project, dedup_key=report.dedup_key, status__in=ACTIVE).first()


def _new(report: _Report, sessions: Sequence[AgentSession], by: Actor) -> Filed:
    moment = clock.now()
    severity = report.severity
    incident = Incident.objects.create(
        project=by.project,
        number=_next_number(by),
        title=report.title,
        summary=report.summary,
        severity=severity,
        peak_severity=severity,
        status=Status.OPEN if severity else Status.TRIAGE,
        failure_mode=report.failure_mode,
        commander_id=_commander(by),
        no_session_reason=report.no_session_reason,
        dedup_key=report.dedup_key,
        filed_by=by.label,
        filed_by_id=by.id,
        created_at=moment,
        updated_at=moment,
    )
    Episode.objects.create(incident=incident, number=1, opened_at=moment, opened_by=by.label)
    work = Work(incident, by)
    as_what = f"as {severity}" if severity else "for triage"
    about = f" about {len(sessions)} session{'' if len(sessions) == 1 else 's'}" if sessions else ""
    work.tell(
        EventKind.FILED, f"Filed {as_what}{about}.", details={"severity": severity, "title": report.title}
    )
    link(work, sessions, report.suspects)
    work.finish()
    return Filed(incident, is_new=True)


def _count_up(reference: str, report: _Report, sessions: Sequence[AgentSession], by: Actor) -> Filed:
    work = Work(locked_incident(by, reference), by)
    incident, severity = work.incident, report.severity
    work.refuse_if_ended()
    incident.count += 1
    work.tell(
        EventKind.FILED_AGAIN,
        f"Filed again ({incident.count} times): {report.title}",
        details={"severity": severity, "title": report.title, "count": incident.count},
    )
    known = set(work.episode.affected.values_list("session_id", flat=True))
    link(work, [each for each in sessions if each.public_id not in known], report.suspects)
    if severity is not None and is_worse(severity, incident.severity):
        raise_to(work, severity)
    work.finish()
    return Filed(incident, is_new=False)


def link(work: Work, sessions: Sequence[AgentSession], suspects: Mapping[str, int] | None = None) -> None:
    """Add sessions to the current episode. Each is held, and frozen where severity asks, right afterwards."""
    at_once = freezes_at_once(work.incident.severity)
    AffectedSession.objects.bulk_create(
        [
            AffectedSession(
                episode=work.episode,
                agent_session=session,
                session_id=session.public_id,
                agent_id=session.agent_id,
                added_at=work.moment,
                added_by=work.by.label,
                suspect_version=(suspects or {}).get(session.public_id),
                freeze_wanted=at_once,
                seen_position=session.chain_length,
            )
            for session in sessions
        ]
    )


def add_session(
    *, reference: str, session_id: str, suspect_version: int | None = None, by: Actor
) -> IncidentWritten:
    """One more affected session. One that is there already changes nothing. Raises `SessionNotFound`."""
    written = _add_session(reference=reference, session_id=session_id, suspect_version=suspect_version, by=by)
    secure(written.incident, by=by)
    written.incident.refresh_from_db()
    return written


@incident_action(SESSIONS_WRITE, to="add a session to an incident")
def _add_session(work: Work, *, session_id: str, suspect_version: int | None) -> None:
    sessions = _sessions(work.by, [session_id])
    if work.episode.affected.filter(session_id=session_id).exists():
        return
    suspects = {} if suspect_version is None else {session_id: suspect_version}
    link(work, sessions, suspects)
    work.tell(EventKind.SESSION_ADDED, f"Added {session_id}.", session_id=session_id)


def check_failure_mode(value: str | None) -> str | None:
    """One of the seven, or None. Raises `InvalidInput`."""
    if value is not None and value not in FailureMode.values:
        raise InvalidInput(
            f"There is no failure mode {value!r}: choose {', '.join(FailureMode.values)}.",
            param="failure_mode",
        )
    return value


def _sessions(by: Actor, session_ids: Sequence[str]) -> list[AgentSession]:
    """The sessions, also expired ones (contract 16). Raises `SessionNotFound`."""
    found = {
        each.public_id: each
        for each in AgentSession.objects.filter(
            project=by.project, deleted_at=None, public_id__in=[findable(each) for each in session_ids]
        )
    }
    for session_id in session_ids:
        if session_id not in found:
            raise SessionNotFound(session_id)
    return [found[session_id] for session_id in session_ids]


def _next_number(by: Actor) -> int:
    IncidentCounter.objects.get_or_create(project=by.project)
    counter = IncidentCounter.objects.select_for_update(no_key=True).get(project=by.project)
    counter.last += 1
    counter.save(update_fields=["last"])
    return counter.last


def _commander(by: Actor) -> int | None:
    """Whoever files and may lead, leads: a person who may manage incidents."""
    if by.kind != ActorKind.PERSON or not by.may(INCIDENT_MANAGE):
        return None
    key = by.id.removeprefix("user:")
    return int(key) if key.isdigit() and get_user_model().objects.filter(pk=int(key)).exists() else None
