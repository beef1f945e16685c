"""Notes, evidence, the summary, and who works on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from incidents_app.actions._work import IncidentWritten, Work, incident_action, stored_session
from incidents_app.actions.securing import secure, tell_agents_again
from incidents_app.enums import EventKind, PinKind
from incidents_app.errors import CommandRefused, EditConflict
from incidents_app.limits import check_line, check_text
from incidents_app.models import Helper, Pin
from sessions_app import queries as session_queries
from sessions_app.models import AgentSession, Trace
from statebase_site.access import scopes
from statebase_site.access.actor import Actor, ActorKind
from statebase_site.access.models import Membership
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.base import json
from statebase_site.base.clock import isoformat
from statebase_site.base.errors import InvalidInput, NotFound
from statebase_site.base.json import JsonObject

PINS_AT_ONCE = 100
_FUTURE_TOLERATED_SECONDS = 60  # of a client's clock


class PersonNotFound(NotFound):
    """Nobody of that name works in the project."""

    code = "person_not_found"


@incident_action(SESSIONS_WRITE, to="add a note to an incident")
def add_note(
    work: Work,
    *,
    text: str,
    occurred_at: datetime | None = None,
    session_id: str | None = None,
    supersedes: int | None = None,
) -> None:
    """Add a line to the timeline, perhaps at a time in the past, never in the future.

    `supersedes` names the row that it corrects; both stay.
    """
    text = check_text(text, "text")
    if occurred_at and (occurred_at - work.moment).total_seconds() > _FUTURE_TOLERATED_SECONDS:
        raise InvalidInput("A note can't lie in the future.", param="occurred_at")
    if session_id is not None:
        work.about(session_id)
    if supersedes is not None and not work.incident.events.filter(sequence=supersedes).exists():
        raise InvalidInput(f"The timeline has no row {supersedes} to correct.", param="supersedes")
    work.tell(
        EventKind.NOTE,
        text,
        session_id=session_id,
        supersedes=supersedes,
        occurred_at=min(occurred_at, work.moment) if occurred_at else None,
        backdated=occurred_at is not None and occurred_at < _beginning(work, session_id),
    )


def _beginning(work: Work, session_id: str | None) -> datetime:
    """When the session began, or the first of the incident's sessions, or the incident itself."""
    rows = work.episode.affected.all()
    if session_id is not None:
        rows = rows.filter(session_id=session_id)
    begun = AgentSession.objects.filter(pk__in=rows.values_list("agent_session_id", flat=True))
    moments = list(begun.values_list("created_at", flat=True))
    return min(moments) if moments else work.incident.created_at


@incident_action(SESSIONS_WRITE, to="pin evidence to an incident")
def pin(
    work: Work,
    *,
    session_id: str,
    versions: Sequence[int] = (),
    traces: Sequence[str] = (),
    note: str = "",
) -> None:
    """Keep a copy of versions and traces of a session, with its hash; what is pinned already stays as it is.

    Raises `VersionNotFound`, `TraceNotFound`, `SessionNotAffected`.
    """
    row = work.about(session_id)
    if not versions and not traces:
        raise InvalidInput("Name at least one version or trace to pin.", param="versions")
    if len(versions) + len(traces) > PINS_AT_ONCE:
        raise InvalidInput(f"At most {PINS_AT_ONCE} rows can be pinned at once.", param="versions")
    note = check_text(note, "note", required=False)
    session = stored_session(row)
    wanted = [(PinKind.VERSION, *_version_copy(session, number)) for number in dict.fromkeys(versions)]
    wanted += [(PinKind.TRACE, *_trace_copy(work, session, each)) for each in dict.fromkeys(traces)]
    known = set(row.pins.values_list("kind", "target"))
    added = []
    for kind, target, content in wanted:
        if (kind, target) in known:
            continue
        known.add((kind, target))
        text = json.dumps(content)
        Pin.objects.create(
            affected=row,
            kind=kind,
            target=target,
            content=text,
            sha256=sha256(text.encode()).hexdigest(),
            note=note,
            pinned_by=work.by.label,
            pinned_at=work.moment,
        )
        added.append(f"v{target}" if kind == PinKind.VERSION else target)
    if added:
        work.tell(
            EventKind.PINNED,
            f"Pinned {', '.join(added)} of {session_id}.{' ' + note if note else ''}",
            session_id=session_id,
            details={"pinned": [*added], "note": note},
        )


def _version_copy(session: AgentSession, requested: int) -> tuple[str, JsonObject]:
    number = session_queries.absolute_version(session, requested)
    row = session_queries.version_row(session, number)
    return str(number), {
        "object": "state_version",
        "session_id": session.public_id,
        "version": number,
        "source": row.kind,
        "restored_from": row.restored_from,
        "reasoning": row.reasoning,
        "actor": row.actor_label,
        "trace_id": row.trace_id,
        "frozen": row.frozen,
        "created_at": isoformat(row.created_at),
        "state_sha256": bytes(row.sha256).hex(),
        "state": session_queries.document_at(session, number).value,
    }


def _trace_copy(work: Work, session: AgentSession, trace_id: str) -> tuple[str, JsonObject]:
    trace: Trace = session_queries.trace_for(work.by, trace_id)
    if trace.agent_session_id != session.pk:
        raise InvalidInput(f"Trace {trace_id} is none of session {session.public_id}.", param="traces")
    return trace.public_id, {
        "object": "trace",
        "id": trace.public_id,
        "session_id": session.public_id,
        "action": trace.action,
        "source": trace.source,
        "actor": trace.actor_label,
        "resource_type": trace.resource_type,
        "resource_id": trace.resource_id,
        "request_id": trace.request_id,
        "created_at": isoformat(trace.created_at),
        "hash": bytes(trace.hash).hex(),
        "details": session_queries.trace_details([trace])[trace.pk],
    }


def edit(
    *,
    reference: str,
    title: str | None = None,
    summary: str | None = None,
    summary_revision: int | None = None,
    by: Actor,
) -> IncidentWritten:
    """Change title or summary. Whoever saves a summary that another changed meanwhile sees both.

    `summary_revision` is the one that the person began from. A new title is told to agents in each 423, too.
    Raises `EditConflict` with the present text.
    """
    written = _edit(
        reference=reference, title=title, summary=summary, summary_revision=summary_revision, by=by
    )
    secure(written.incident, by=by)
    return written


@incident_action(SESSIONS_WRITE, to="edit an incident")
def _edit(work: Work, *, title: str | None, summary: str | None, summary_revision: int | None) -> None:
    incident = work.incident
    if title is not None:
        title = check_line(title, "title")
        if title != incident.title:
            work.tell(EventKind.EDITED, f"Title: {title}", details={"from": incident.title, "to": title})
            incident.title = title
            tell_agents_again(work)
    if summary is not None:
        summary = check_text(summary, "summary", required=False)
        if summary == incident.summary:
            return
        if summary_revision is not None and summary_revision != incident.summary_revision:
            raise EditConflict(
                "summary",
                current=incident.summary,
                revision=incident.summary_revision,
                edited_by=incident.summary_by or "Somebody",
            )
        work.tell(EventKind.EDITED, "Changed the summary.", details={"from": incident.summary, "to": summary})
        incident.summary = summary
        incident.summary_revision += 1
        incident.summary_by = work.by.label


# Roles --------------------------------------------------------------------------------------------------


@incident_action(INCIDENT_MANAGE, to="take or hand over command")
def set_commander(work: Work, *, name: str) -> None:
    """Make a person the commander: by the present one, by an admin, or by a responder where there is none.

    Also where the present one's account is disabled, an admin takes over. Raises `PersonNotFound`.
    """
    user = _person(work, name)
    incident = work.incident
    if incident.commander_id == user.pk:
        return
    if incident.commander_id is not None:
        work.require_command(to="hand over command")
    if not _may_command(work, user):
        raise InvalidInput(
            f"{name} can't command: that takes the role responder or admin.",
            param="name",
            suggestion="Choose somebody else, or change their role.",
        )
    before = incident.commander.get_username() if incident.commander else None
    incident.commander = user
    text = f"{name} took command." if before is None else f"Command went from {before} to {name}."
    work.tell(EventKind.COMMANDER, text, details={"from": before, "to": name})


@incident_action(SESSIONS_WRITE, to="help with an incident")
def join(work: Work) -> None:
    """Note that the acting person works on the incident, too."""
    if work.by.kind != ActorKind.PERSON:
        raise CommandRefused("Only people help with an incident.", suggestion="Sign in, and join there.")
    user = get_user_model().objects.get(pk=int(work.by.id.removeprefix("user:")))
    _, is_new = Helper.objects.get_or_create(
        incident=work.incident, user=user, defaults={"joined_at": work.moment}
    )
    if is_new:
        work.tell(EventKind.HELPER, f"{user.get_username()} helps.")


def _person(work: Work, name: str) -> User:
    membership = (
        Membership.objects.filter(
            project=work.incident.project_id,
            user__username=check_line(name, "name").removeprefix("user:"),
            user__is_active=True,
        )
        .select_related("user")
        .first()
    )
    if membership is None:
        raise PersonNotFound(f"Nobody named {name!r} works in this project.", param="name")
    return membership.user


def _may_command(work: Work, user: User) -> bool:
    membership = Membership.objects.get(project=work.incident.project_id, user=user)
    return scopes.allows(membership.scopes, INCIDENT_MANAGE)
