"""The post-incident review (seed 2): written by anyone who manages incidents, approved by somebody else."""

from __future__ import annotations

from incidents_app import queries
from incidents_app.actions._work import Work, incident_action, stored_session
from incidents_app.actions.filing import check_failure_mode
from incidents_app.enums import EventKind, Severity
from incidents_app.errors import CommandRefused, EditConflict, GateUnmet, ScenarioNotFound
from incidents_app.limits import check_text
from incidents_app.matrix import MATRIX
from incidents_app.models import Episode, Incident
from incidents_app.queries.assessing import review_missing
from incidents_app.rules import Unmet
from sessions_app import queries as session_queries
from statebase_site.access.scopes import INCIDENT_MANAGE
from statebase_site.base.json import JsonObject


@incident_action(INCIDENT_MANAGE, to="write the review")
def write_review(
    work: Work,
    *,
    failure_mode: str | None = None,
    checkpoint: tuple[str, int] | None = None,
    no_checkpoint_why: str | None = None,
    lessons: str | None = None,
    lessons_seen: str | None = None,
    scenario_id: str | None = None,
) -> None:
    """Change what is given of the review. A change after the approval takes the approval back.

    `checkpoint`: the session, and the version after which a checkpoint was missing; or say in
    `no_checkpoint_why` why none was. `lessons_seen` is what the person began from: where somebody else wrote
    other lessons meanwhile, `EditConflict` holds them. Raises `VersionNotFound`, `SessionNotAffected`,
    `ScenarioNotFound`.
    """
    incident, episode = work.incident, work.episode
    before = _written(incident, episode)
    if failure_mode is not None:
        incident.failure_mode = check_failure_mode(failure_mode)
    if checkpoint is not None:
        session_id, version = checkpoint
        row = work.about(session_id)
        session = stored_session(row)
        episode.checkpoint_session = session_id
        episode.checkpoint_after = session_queries.absolute_version(session, version)
        episode.no_checkpoint_why = ""
    elif no_checkpoint_why is not None:
        episode.no_checkpoint_why = check_text(no_checkpoint_why, "why")
        episode.checkpoint_session = episode.checkpoint_after = None
    if lessons is not None:
        lessons = check_text(lessons, "lessons", required=False)
        if lessons_seen is not None and episode.lessons not in (lessons_seen, lessons):
            raise EditConflict(
                "lessons", current=episode.lessons, edited_by=episode.reviewed_by or "Somebody"
            )
        episode.lessons = lessons
    if scenario_id is not None:
        scenario = incident.scenarios.filter(public_id=scenario_id.replace("\x00", "")).first()
        if scenario is None:
            raise ScenarioNotFound(scenario_id)
        episode.review_scenario = scenario
    after = _written(incident, episode)
    changed: JsonObject = {name: [old, after[name]] for name, old in before.items() if old != after[name]}
    if not changed:
        return
    again = " Its approval is taken back." if episode.approved_at else ""
    episode.reviewed_by = work.by.label
    episode.approved_at, episode.approved_by, episode.approved_alone = None, "", False
    if incident.resolved_at and incident.peak_severity:
        incident.review_due = MATRIX[Severity(incident.peak_severity)].review_due(incident.resolved_at)
    work.tell(EventKind.REVIEW, f"Changed the review.{again}", details=changed)


def _written(incident: Incident, episode: Episode) -> JsonObject:
    """What the review says, as the timeline tells a change of it."""
    checkpoint: JsonObject | None = None
    if episode.checkpoint_session is not None:
        checkpoint = {"session_id": episode.checkpoint_session, "after_version": episode.checkpoint_after}
    elif episode.no_checkpoint_why:
        checkpoint = {"none": True, "why": episode.no_checkpoint_why}
    scenario = episode.review_scenario
    return {
        "failure_mode": incident.failure_mode,
        "missing_checkpoint": checkpoint,
        "lessons": episode.lessons,
        "scenario": scenario.public_id if scenario else None,
    }


@incident_action(INCIDENT_MANAGE, to="approve the review")
def approve_review(work: Work) -> None:
    """Approve the review: for a peak of S1 or S2 by somebody else than the commander.

    Where nobody else in the project may, the commander approves alone, and the review says so. Raises
    `GateUnmet` with what it lacks, `CommandRefused`.
    """
    incident, episode = work.incident, work.episode
    if episode.approved_at is not None:
        return
    if missing := review_missing(incident, episode):
        raise GateUnmet(
            "The review can't be approved yet",
            [Unmet("review", None, f"It lacks {each}.") for each in missing],
        )
    duties = MATRIX[Severity(incident.peak_severity)] if incident.peak_severity else None
    alone = duties is not None and duties.review_by_another and work.is_commander(work.by)
    if alone and len(queries.who_may_command(incident.project_id)) > 1:
        raise CommandRefused(
            "Somebody else than the commander has to approve this review.",
            suggestion="Ask another responder or admin to read it.",
        )
    episode.approved_at, episode.approved_by = work.moment, work.by.label
    episode.approved_alone = alone
    incident.review_due = None
    how = " by the commander, as nobody else may" if alone else ""
    work.tell(EventKind.REVIEW, f"Approved the review{how}.", details={"alone": alone})
