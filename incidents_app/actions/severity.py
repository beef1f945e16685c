"""The severity ratchet: up by anyone, down by the commander, who answers for each duty that is dropped."""

from __future__ import annotations

from collections.abc import Mapping

from incidents_app import queries, rules
from incidents_app.actions._work import IncidentWritten, Work, incident_action, review_due
from incidents_app.actions.securing import secure
from incidents_app.enums import EventKind, Severity, Status, Step
from incidents_app.errors import GateUnmet
from incidents_app.limits import check_text
from incidents_app.matrix import freezes_at_once, is_worse
from incidents_app.models import AffectedSession, Exemption
from incidents_app.rules import Unmet
from statebase_site.access.actor import Actor
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base.errors import InvalidInput


def change_severity(
    *,
    reference: str,
    severity: str,
    reason: str | None = None,
    waived: Mapping[tuple[str, str], str] | None = None,
    by: Actor,
) -> IncidentWritten:
    """Raise or lower the severity, or give it one in triage. S1 freezes every session in this call.

    Raising needs no reason. Lowering needs one and the command, and each duty that the present severity
    asks for has to be fulfilled, exempt, or waived here: `waived` gives a reason by session and step. Freezes
    stay, and the review follows the peak. Raises `GateUnmet` with what is owed.
    """
    written = _change_severity(
        reference=reference, severity=severity, reason=reason, waived=waived or {}, by=by
    )
    secure(written.incident, by=by)
    written.incident.refresh_from_db()
    return written


@incident_action(SESSIONS_WRITE, to="change the severity of an incident")
def _change_severity(
    work: Work, *, severity: str, reason: str | None, waived: Mapping[tuple[str, str], str]
) -> None:
    wanted = check_severity(severity)
    if wanted == work.incident.severity:
        return
    reason = check_text(reason, "reason", required=False)
    if is_worse(wanted, work.incident.severity):
        raise_to(work, wanted, reason)
    else:
        _lower_to(work, wanted, reason, waived)


def check_severity(value: str) -> Severity:
    """One of S1 to S4. Raises `InvalidInput`."""
    if value not in Severity.values:
        raise InvalidInput(f"There is no severity {value!r}: choose S1, S2, S3 or S4.", param="severity")
    return Severity(value)


def raise_to(work: Work, severity: Severity, reason: str = "") -> None:
    """Raise the severity of a locked incident; what is frozen for it is frozen right afterwards."""
    incident = work.incident
    before = incident.severity
    incident.severity = severity
    if is_worse(severity, incident.peak_severity):
        incident.peak_severity = severity
    if incident.status == Status.TRIAGE:
        incident.status = Status.OPEN
    if incident.resolved_at and not work.episode.approved_at:
        incident.review_due = review_due(incident, incident.resolved_at)
    if freezes_at_once(severity):
        work.episode.affected.filter(freeze_version=None).update(freeze_wanted=True)
        # Those that were resumed outside are stopped again, too; a resume by this incident stands.
        running = [
            row.pk
            for row in work.episode.affected.filter(
                freeze_version__isnull=False, resume_version=None
            ).select_related("agent_session")
            if not row.agent_session.is_frozen
        ]
        AffectedSession.objects.filter(pk__in=running).update(freeze_wanted=True)
    text = f"Raised from {before} to {severity}." if before else f"Severity {severity}."
    work.tell(
        EventKind.SEVERITY,
        f"{text} {reason}".strip(),
        details={"from": before, "to": severity, "reason": reason},
    )


def _lower_to(work: Work, severity: Severity, reason: str, waived: Mapping[tuple[str, str], str]) -> None:
    work.require_command(to="lower its severity")
    if not reason:
        raise InvalidInput("Lowering the severity needs a reason.", param="reason")
    before = work.incident.severity
    owed = rules.duties_owed(queries.assess(work.incident).facts, severity)
    dropped = [duty for duty in owed if not waived.get((duty[0], duty[1]), "").strip()]
    if dropped:
        raise GateUnmet(
            f"{before} asks for more than {severity}; do it, or waive it with a reason",
            [Unmet(step, session_id, f"{session_id}: {step.label.lower()}.") for session_id, step in dropped],
        )
    for session_id, step in owed:
        row = queries.affected_by_session(work.incident, session_id)
        waive(work, row, step, check_text(waived[session_id, step], "reason"))
    work.incident.severity = severity
    work.tell(
        EventKind.SEVERITY,
        f"Lowered from {before} to {severity}: {reason}",
        details={"from": before, "to": severity, "reason": reason},
    )


def waive(work: Work, row: AffectedSession, step: Step, reason: str) -> None:
    """Exempt one step of one session; a freeze that still waits is not done any more."""
    if step == Step.FREEZE:
        AffectedSession.objects.filter(pk=row.pk).update(freeze_wanted=False, failure="")
    Exemption.objects.update_or_create(
        affected=row,
        step=step,
        defaults={"reason": reason, "made_by": work.by.label, "made_at": work.moment},
    )
    work.tell(
        EventKind.EXEMPTED,
        f"{row.session_id} is exempt from “{step.label.lower()}”: {reason}",
        session_id=row.session_id,
        details={"step": step, "reason": reason},
    )


@incident_action(SESSIONS_WRITE, to="exempt a session from a step")
def exempt(work: Work, *, session_id: str, step: str, reason: str) -> None:
    """Let a session do without a step, with the reason that is shown. Only who commands may."""
    work.require_command(to="exempt a session from a step")
    row = work.about(session_id)
    if step not in Step.values:
        raise InvalidInput(f"There is no step {step!r}: choose {', '.join(Step.values)}.", param="step")
    waive(work, row, Step(step), check_text(reason, "reason"))
