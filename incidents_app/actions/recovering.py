"""Steps 3, 4 and 6: the divergence, the rollback and what it does not undo, the correction, the resume."""

from __future__ import annotations

from incidents_app import queries
from incidents_app.actions._work import IncidentWritten, Work, incident_action, session_action
from incidents_app.enums import Disposition, EventKind, Severity, Step
from incidents_app.errors import GateUnmet, IncidentEnded
from incidents_app.limits import check_line, check_text
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession, Effect, Incident
from incidents_app.queries.assessing import earliest_good
from incidents_app.rules import Unmet
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall
from statebase_site.access.scopes import INCIDENT_MANAGE
from statebase_site.base import json
from statebase_site.base.errors import Conflict, InvalidInput, NotFound

_ARGUMENTS_CHARACTERS = 2000


class NothingToRollBackTo(Conflict):
    """No last good version is recorded, or the session is at it already as its head."""

    code = "rollback_target"


class EffectNotFound(NotFound):
    """The turn is no effect of the session."""

    code = "effect_not_found"


@session_action(INCIDENT_MANAGE, to="record a divergence")
def record_divergence(
    work: Work, *, divergence_version: int, last_good_version: int, found_how: str = ""
) -> None:
    """Record where the state stopped matching reality, and the last version before that was good.

    Raises `InvalidInput` unless 0 <= last good < divergence <= the session's version, or where both states
    are the same: then nothing went wrong between them.
    """
    row, session = work.affected, _session(work)
    if not 0 <= last_good_version < divergence_version <= session.head_version:
        raise InvalidInput(
            f"The last good version must be at least 0 and before the divergence, and the divergence at most "
            f"{session.head_version}, the session's version.",
            param="divergence_version" if divergence_version > session.head_version else "last_good_version",
        )
    if session_queries.same_data(session, last_good_version, divergence_version):
        raise InvalidInput(
            f"The states of v{last_good_version} and v{divergence_version} are the same: "
            "the divergence lies elsewhere.",
            param="divergence_version",
        )
    found_how = check_line(found_how, "found_how", most=300, required=False)
    before = (row.divergence_version, row.last_good_version)
    if before == (divergence_version, last_good_version):
        return
    row.divergence_version, row.last_good_version = divergence_version, last_good_version
    row.found_how = found_how
    row.diverged_at = row.diverged_at or work.moment
    until = row.freeze_version if row.freeze_version is not None else session.head_version + 1
    row.tool_calls = len(session_queries.effects_since(session, last_good_version, before=until))
    row.save()
    how = f" Found by {row.found_how}." if row.found_how else ""
    moved = f" (was v{before[0]}, good v{before[1]})" if before[0] is not None else ""
    work.tell(
        EventKind.DIVERGENCE,
        f"Divergence of {row.session_id}: v{divergence_version}, last good v{last_good_version}{moved}.{how}",
        session_id=row.session_id,
        details={
            "from": [*before],
            "to": [divergence_version, last_good_version],
            "found_how": row.found_how,
        },
    )


@session_action(INCIDENT_MANAGE, to="roll back a session of an incident")
def rollback(
    work: Work, *, version: int | None = None, expected_version: int | None = None, confirm: bool = False
) -> None:
    """Roll the session back, to the last good version if none is given, and list what that does not undo.

    Of several open incidents the earliest last good version wins. Where the state is that of the target
    already, nothing is done: a double click makes one version. Raises `NothingToRollBackTo`, `GateUnmet`
    where another open incident affects the session and `confirm` is not given, and what
    `sessions_app.actions.rollback` raises.
    """
    row, session = work.affected, _session(work)
    _require_confirmation(work, row.session_id, confirm, "Roll back")
    target = version
    if target is None:
        target = earliest_good([row.session_id], project=work.incident.project_id).get(row.session_id)
    if target is None:
        raise NothingToRollBackTo(
            f"No last good version of {row.session_id} is recorded.",
            suggestion="Record the divergence first, or name a version.",
        )
    target = session_queries.absolute_version(session, target)
    if target == session.head_version:
        raise NothingToRollBackTo(
            f"v{target} is the current version of {row.session_id}: rolling back to it changes nothing.",
            suggestion="The divergence is probably wrong; look at it again.",
        )
    done_before = row.rollback_version is not None and row.rolled_back_to == target
    if done_before and session_queries.same_data(session, session.head_version, target):
        return
    effects = session_queries.effects_since(session, target)
    made = sessions.rollback(
        session_id=row.session_id,
        version=target,
        reason=f"{work.reference}: rollback to v{target}",
        expected_version=expected_version,
        by=work.acting,
    )
    row.rollback_version, row.rolled_back_to = made.version.number, target
    row.rolled_back_at = row.rolled_back_at or work.moment
    row.save()
    _keep_effects(row, effects)
    shared = _named(_others(work, row.session_id))
    work.tell(
        EventKind.ROLLED_BACK,
        f"Rolled back {row.session_id} to v{target} (new version v{made.version.number})."
        + (f" Also affected by {shared}; confirmed." if shared else ""),
        session_id=row.session_id,
        version=made.version.number,
        trace_id=made.version.trace_id,
        details={"to": target, "version": made.version.number, "effects": len(effects)},
    )


def _keep_effects(row: AffectedSession, effects: list[session_queries.Effect]) -> None:
    known = set(row.effects.values_list("turn_id", flat=True))
    Effect.objects.bulk_create(
        [
            Effect(
                affected=row,
                turn_id=effect.turn.public_id,
                turn_number=effect.turn.number,
                tool=effect.tool[:255],
                arguments_text=json.dumps(effect.arguments)[:_ARGUMENTS_CHARACTERS],
                reversibility=effect.reversibility,
            )
            for effect in effects
            if effect.turn.public_id not in known
        ]
    )


@incident_action(INCIDENT_MANAGE, to="decide about an effect")
def decide_effect(work: Work, *, session_id: str, turn_id: str, disposition: str, note: str = "") -> None:
    """Say what became of a tool call that the rollback did not undo. Raises `EffectNotFound`."""
    row = work.about(session_id)
    if disposition not in Disposition.values:
        raise InvalidInput(
            f"There is no disposition {disposition!r}: choose {', '.join(Disposition.values)}.",
            param="disposition",
        )
    effect = row.effects.filter(turn_id=turn_id.replace("\x00", "")).first()
    if effect is None:
        raise EffectNotFound(f"Turn {turn_id!r} is no effect of {session_id}.", param="turn_id")
    before = effect.disposition
    effect.disposition, effect.note = disposition, check_text(note, "note", required=False)
    effect.decided_by, effect.decided_at = work.by.label, work.moment
    effect.save()
    label = Disposition(disposition).label.lower()
    work.tell(
        EventKind.EFFECT,
        f"{effect.tool} of turn {effect.turn_number}: {label}.{' ' + effect.note if effect.note else ''}",
        session_id=session_id,
        details={"turn_id": turn_id, "from": before, "to": disposition, "note": effect.note},
    )


@session_action(INCIDENT_MANAGE, to="record a correction")
def correct(work: Work, *, text: str, version: int | None = None) -> None:
    """Record what was put right in place of a rollback, and in which version (S3)."""
    row, session = work.affected, _session(work)
    if version is not None:
        version = session_queries.absolute_version(session, version)
    row.correction, row.correction_version = check_text(text, "text"), version
    row.corrected_at = work.moment
    row.save()
    where = f" (v{version})" if version is not None else ""
    work.tell(
        EventKind.CORRECTED,
        f"Corrected {row.session_id}{where}: {row.correction}",
        session_id=row.session_id,
        version=version,
    )


def resume(
    *,
    reference: str,
    session_id: str | None = None,
    reason: str | None = None,
    confirm: bool = False,
    by: Actor,
) -> IncidentWritten:
    """Let one session of the incident go on, or all that are frozen. Never blocked by open steps.

    Where another open incident affects a session, `confirm` is needed. Raises `GateUnmet`, `ThawRefused`.
    """
    by.require(INCIDENT_MANAGE, to="resume a frozen session")
    incident = queries.incident_for(by, reference)
    if session_id is not None:
        return _resume(reference=reference, session_id=session_id, reason=reason, confirm=confirm, by=by)
    if not incident.is_active:
        raise IncidentEnded(incident.reference, incident.status)
    if recall(by):
        return IncidentWritten(incident, replayed=True)
    found = queries.assess(incident)
    frozen = [row.session_id for row in found.affected if found.facts_of(row).is_frozen]
    if not confirm:
        _refuse_shared(incident, frozen, "Resume")
    # Each is repeatable by itself: one that goes on already is passed over.
    for each in frozen:
        _resume(reference=reference, session_id=each, reason=reason, confirm=confirm, by=by.part())
    return _resumed_all(reference=reference, by=by)


@incident_action(INCIDENT_MANAGE, to="resume a frozen session")
def _resumed_all(work: Work) -> None:
    """Settles the incident, and keeps the answer of a request that may be sent again."""


@session_action(INCIDENT_MANAGE, to="resume a frozen session")
def _resume(work: Work, *, reason: str | None, confirm: bool) -> None:
    row, session = work.affected, _session(work)
    if not session.is_frozen:
        return
    _require_confirmation(work, row.session_id, confirm, "Resume")
    reason = check_text(reason, "reason", required=False)
    found = queries.assess(work.incident)
    early = found.step(row, Step.PREVENT).why if found.step(row, Step.PREVENT).state == "pending" else ""
    made = sessions.resume(
        session_id=row.session_id,
        reason=f"{work.reference}: {reason or 'agent resumed'}",
        by=work.acting,
    )
    row.resume_version, row.resumed_at = made.version.number, work.moment
    row.save()
    incident = work.incident
    watch = MATRIX[Severity(incident.severity)].watch if incident.severity else None
    if watch:
        incident.watch_until = max(filter(None, (incident.watch_until, work.moment + watch)))
    shared = _named(_others(work, row.session_id))
    text = f"Resumed {row.session_id} (v{made.version.number})."
    if early:
        text += " Step 5 was still open."
    if shared:
        text += f" Also affected by {shared}; confirmed."
    work.tell(
        EventKind.RESUMED,
        text,
        session_id=row.session_id,
        version=made.version.number,
        trace_id=made.version.trace_id,
        details={"reason": reason, "watch_until": _iso(incident)},
    )


def _iso(incident: Incident) -> str | None:
    return incident.watch_until.isoformat() if incident.watch_until else None


# A session in two open incidents ------------------------------------------------------------------------


def _require_confirmation(work: Work, session_id: str, confirm: bool, verb: str) -> None:
    if not _others(work, session_id):
        return
    if not confirm:
        _refuse_shared(work.incident, [session_id], verb)
    work.require_command(to=f"{verb.lower()} a session that another incident affects too")


def _others(work: Work, session_id: str) -> list[Incident]:
    found = queries.open_incidents_of([session_id], project=work.incident.project_id)
    return [each for each in found.get(session_id, []) if each.pk != work.incident.pk]


def _refuse_shared(incident: Incident, session_ids: list[str], verb: str) -> None:
    shared = [
        Unmet("shared_session", session_id, f"{session_id} is also affected by {_named(others)}.")
        for session_id, found in queries.open_incidents_of(session_ids, project=incident.project_id).items()
        if (others := [each for each in found if each.pk != incident.pk])
    ]
    if shared:
        raise GateUnmet(f"{verb} only after confirming it", shared)


def _named(incidents: list[Incident]) -> str:
    return ", ".join(each.reference for each in incidents)


def _session(work: Work) -> AgentSession:
    assert work.session is not None
    return work.session
