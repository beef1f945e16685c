"""What happens to an affected session outside the incident is told in it (design, "The six steps")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, F, OuterRef, QuerySet

from incidents_app.enums import ACTIVE, EventKind
from incidents_app.models import AffectedSession, Incident
from incidents_app.queries.assessing import OWN_ACTS
from sessions_app.enums import Action
from sessions_app.models import AgentSession, Trace

if TYPE_CHECKING:
    from incidents_app.actions._work import Work

_LOOKED_AT = (
    Action.SESSION_FROZEN,
    Action.SESSION_UNFROZEN,
    Action.STATE_ROLLED_BACK,
    Action.WRITE_REFUSED,
)


def with_news(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """The active ones of which a session has traces that were not looked through yet."""
    unseen = AffectedSession.objects.filter(
        episode__incident=OuterRef("pk"),
        episode__number=OuterRef("episode_number"),
        held_at__isnull=False,
        agent_session__chain_length__gt=F("seen_position"),
    )
    return incidents.filter(Exists(unseen), status__in=ACTIVE)


def watched(incident: Incident) -> list[AffectedSession]:
    """The sessions of the present episode that are held."""
    return list(
        AffectedSession.objects.filter(
            episode__incident=incident, episode__number=incident.episode_number, held_at__isnull=False
        )
    )


def notice(work: Work) -> None:
    """Tell what is new in the chains of the incident's sessions; the incident is locked, they are not."""
    rows = watched(work.incident)
    heads = AgentSession.objects.in_bulk([row.agent_session_id for row in rows])
    for row in rows:
        session = heads.get(row.agent_session_id)
        if session is not None and session.chain_length > row.seen_position:
            _look_through(work, row, session)


def _look_through(work: Work, row: AffectedSession, session: AgentSession) -> None:
    traces = Trace.objects.filter(
        agent_session=session,
        position__gt=row.seen_position,
        position__lte=session.chain_length,
        action__in=_LOOKED_AT,
    ).order_by("position")
    own = set(
        work.incident.events.filter(
            session_id=row.session_id, kind__in=OWN_ACTS, version__isnull=False
        ).values_list("version", flat=True)
    )
    refused: list[Trace] = []
    for trace in traces:
        if trace.action == Action.WRITE_REFUSED:
            refused.append(trace)
        else:
            _tell(work, row, trace, own)
    if refused:
        _tell_refused(work, row, refused)
    row.seen_position = session.chain_length
    row.save(update_fields=["seen_position", "freeze_version", "frozen_at", "frozen_by", "quiet_since"])


def _tell(work: Work, row: AffectedSession, trace: Trace, own: set[int | None]) -> None:
    details = trace.details
    version = details.get("new_version", details.get("version"))
    if not isinstance(version, int) or version in own:
        return
    name = row.session_id
    if trace.action == Action.SESSION_FROZEN:
        text = f"{name} was frozen outside this incident at v{version}."
        alarm = row.resume_version is not None
        if row.freeze_version is None:
            # It is stopped, whoever did it: that is what step 1 asks for.
            row.freeze_version, row.quiet_since = version, version
            row.frozen_at, row.frozen_by = trace.created_at, trace.actor_label
    elif trace.action == Action.SESSION_UNFROZEN:
        alarm = row.freeze_version is not None
        lost = "; step 1 no longer holds" if alarm and row.resume_version is None else ""
        text = f"{name} was resumed outside this incident at v{version}{lost}."
    else:
        alarm = True
        text = f"{name} was rolled back to v{details.get('to_version')} outside this incident (v{version})."
    work.tell(
        EventKind.OUTSIDE,
        text,
        session_id=name,
        version=version,
        trace_id=trace.public_id,
        alarm=alarm,
        occurred_at=trace.created_at,
        actor_label=trace.actor_label,
        actor_kind=trace.actor_kind,
    )


def _tell_refused(work: Work, row: AffectedSession, refused: list[Trace]) -> None:
    last = refused[-1]
    count = f"{len(refused)} writes were" if len(refused) > 1 else "A write was"
    work.tell(
        EventKind.WRITE_REFUSED,
        f"{count} refused on {row.session_id}; what was tried is kept.",
        session_id=row.session_id,
        trace_id=last.public_id,
        occurred_at=last.created_at,
        actor_label=last.actor_label,
        actor_kind=last.actor_kind,
    )
