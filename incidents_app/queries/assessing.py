"""The facts of an incident, read from its rows and its sessions, and what follows from them.

The number of queries does not grow with the number of sessions, except for those whose state has to be
compared with an earlier one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from incidents_app import rules
from incidents_app.enums import (
    ACTIVE,
    EventKind,
    Outcome,
    Severity,
    Status,
    Step,
    StepState,
)
from incidents_app.matrix import MATRIX, Need
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Incident,
    Override,
    Pin,
    ScenarioRun,
    TimelineEvent,
)
from incidents_app.rules import Assessment, IncidentFacts, Outside, SessionFacts, StepView, Unmet
from sessions_app import queries as sessions
from sessions_app.enums import VersionKind
from sessions_app.models import AgentSession, StateVersion
from statebase_site.base import clock

OWN_ACTS = (EventKind.FROZEN, EventKind.ROLLED_BACK, EventKind.RESUMED)
"""Timeline rows of versions that an incident made itself."""


@dataclass(frozen=True)
class Assessed:
    """An incident at this moment: its rows, and what they come to.

    `sessions` holds the agent sessions by their public ids; one that was purged since is missing.
    """

    incident: Incident
    episode: Episode
    affected: Sequence[AffectedSession]
    sessions: Mapping[str, AgentSession]
    facts: IncidentFacts
    assessment: Assessment

    @property
    def status(self) -> Status:
        """What the facts come to."""
        return self.assessment.status

    def unmet(self, to: Status) -> list[Unmet]:
        """What is missing before `to` (resolved or closed)."""
        return rules.unmet_for(self.facts, to, self.assessment)

    def steps_of(self, row: AffectedSession) -> Mapping[Step, StepView]:
        """The six steps of one session."""
        return self.assessment.steps[row.session_id]

    def facts_of(self, row: AffectedSession) -> SessionFacts:
        """The facts of one session."""
        return next(each for each in self.facts.sessions if each.session_id == row.session_id)

    def step(self, row: AffectedSession, step: Step) -> StepView:
        """One step of one session."""
        return self.steps_of(row)[step]


def assess(incident: Incident) -> Assessed:
    """The incident in its current episode. For one that has ended, as it was when it ended."""
    return assess_all([incident])[incident.pk]


def assess_all(incidents: Iterable[Incident]) -> dict[int, Assessed]:
    """The same for many, by the incident's key, with as many queries as for one."""
    by_key = {incident.pk: incident for incident in incidents}
    places = [
        (by_key[episode.incident_id], episode)
        for episode in Episode.objects.filter(incident__in=by_key)
        if episode.number == by_key[episode.incident_id].episode_number
    ]
    return {found.incident.pk: found for found in _assess(places)}


def assess_episode(incident: Incident, episode: Episode) -> Assessed:
    """The incident in one of its episodes; a past one as it was when it ended."""
    return _assess([(incident, episode)])[0]


def _assess(places: Sequence[tuple[Incident, Episode]]) -> list[Assessed]:
    affected: dict[int, list[AffectedSession]] = {episode.pk: [] for _, episode in places}
    for row in AffectedSession.objects.filter(episode__in=affected):
        affected[row.episode_id].append(row)
    heads = AgentSession.objects.in_bulk([row.agent_session_id for rows in affected.values() for row in rows])
    by_id = {session.public_id: session for session in heads.values()}
    present = {
        episode.pk: incident.project_id
        for incident, episode in places
        if incident.status in ACTIVE and episode.number == incident.episode_number
    }
    facts_of_row = _session_facts(
        [row for episode_key in present for row in affected[episode_key]],
        by_id,
        projects=set(present.values()),
    )
    facts_of_place = _facts(
        places,
        {
            episode.pk: [facts_of_row.get(row.pk) or _recorded(row) for row in affected[episode.pk]]
            for _, episode in places
        },
    )
    found = []
    for incident, episode in places:
        rows, facts = affected[episode.pk], facts_of_place[episode.pk]
        if episode.pk in present:
            assessment = rules.assess(facts)
        else:
            status = Status(incident.status) if episode.number == incident.episode_number else Status.CLOSED
            assessment = Assessment(status, {row.session_id: _stored_steps(row) for row in rows})
        own = {row.session_id: by_id[row.session_id] for row in rows if row.session_id in by_id}
        found.append(Assessed(incident, episode, rows, own, facts, assessment))
    return found


def _stored_steps(row: AffectedSession) -> dict[Step, StepView]:
    stored = row.steps
    return {step: StepView(step, StepState(stored.get(step, StepState.PENDING))) for step in Step}


def _recorded(row: AffectedSession) -> SessionFacts:
    """What was recorded, for an incident that has ended: its sessions may have gone on since."""
    return SessionFacts(
        session_id=row.session_id,
        freeze_version=row.freeze_version,
        divergence=row.divergence_version,
        last_good=row.last_good_version,
        target=row.rolled_back_to if row.rolled_back_to is not None else row.last_good_version,
        resume_version=row.resume_version,
        previous=row.steps,
    )


def _facts(
    places: Sequence[tuple[Incident, Episode]], session_facts: Mapping[int, Sequence[SessionFacts]]
) -> dict[int, IncidentFacts]:
    """The facts of each incident in an episode, by the episode's key."""
    incidents = [incident.pk for incident, _ in places]
    follow_ups = defaultdict(list)
    for each in FollowUp.objects.filter(incident__in=incidents):
        follow_ups[each.incident_id].append(
            rules.FollowUpFacts(
                number=each.number,
                kind=each.kind,
                is_done=each.done_at is not None,
                blocks=each.blocks,
                has_owner_and_date=bool(each.owner) and each.due is not None,
            )
        )
    overridden = defaultdict(set)
    overrides = Override.objects.filter(episode__in=session_facts)
    for episode_key, code in overrides.values_list("episode", "code"):
        overridden[episode_key].add(code)
    proven = _proven(incidents)
    return {
        episode.pk: IncidentFacts(
            status=Status(incident.status),
            severity=Severity(incident.severity) if incident.severity else None,
            peak_severity=Severity(incident.peak_severity) if incident.peak_severity else None,
            sessions=session_facts[episode.pk],
            is_answered=episode.answered_at is not None,
            scenario_proven=incident.pk in proven,
            follow_ups=follow_ups[incident.pk],
            review_missing=review_missing(incident, episode),
            is_approved=episode.approved_at is not None,
            watch_until=incident.watch_until,
            now=clock.now(),
            overridden=frozenset(overridden[episode.pk]),
        )
        for incident, episode in places
    }


def review_missing(incident: Incident, episode: Episode) -> list[str]:
    """What the review still lacks before it can be approved, in words; the light form asks for less."""
    peak = incident.peak_severity
    duties = MATRIX[Severity(peak)] if peak else None
    missing = []
    if not incident.failure_mode:
        missing.append("the failure mode")
    if not episode.lessons:
        missing.append("the lessons")
    if duties and duties.review_by_another:
        if episode.checkpoint_session is None and not episode.no_checkpoint_why:
            missing.append("where the missing checkpoint was")
        if duties.scenario == Need.REQUIRED and episode.review_scenario_id is None:
            missing.append("the scenario for the failure-injection tests")
    return missing


def _proven(incidents: Collection[int]) -> set[int]:
    """Those of the incidents of which some scenario was seen failing, and later passing."""
    proven: set[int] = set()
    failed: set[int] = set()
    runs = ScenarioRun.objects.filter(scenario__incident__in=incidents, outcome__isnull=False)
    for incident, scenario, outcome in runs.order_by("finished_at", "pk").values_list(
        "scenario__incident", "scenario", "outcome"
    ):
        if outcome == Outcome.RED:
            failed.add(scenario)
        elif scenario in failed:
            proven.add(incident)
    return proven


# Facts of sessions --------------------------------------------------------------------------------------


def _session_facts(
    affected: Sequence[AffectedSession], by_id: Mapping[str, AgentSession], *, projects: Collection[int]
) -> dict[int, SessionFacts]:
    """The facts of rows of present episodes, by the row's key."""
    keys = [row.pk for row in affected]
    pins = _counts(Pin.objects.filter(affected__in=keys))
    undecided = _counts(Effect.objects.filter(affected__in=keys, disposition=None))
    exempt = defaultdict(set)
    for row_pk, step in Exemption.objects.filter(affected__in=keys).values_list("affected", "step"):
        exempt[row_pk].add(Step(step))
    session_ids = {row.session_id for row in affected}
    own_versions = versions_made(session_ids)
    targets: dict[str, int] = {}
    for project in projects:
        targets |= earliest_good(session_ids, project=project)
    found = {}
    for row in affected:
        session = by_id.get(row.session_id)
        target = targets.get(row.session_id, row.last_good_version)
        found[row.pk] = SessionFacts(
            session_id=row.session_id,
            is_frozen=session is not None and session.is_frozen,
            frozen_by=session.frozen_by if session else None,
            freeze_version=row.freeze_version,
            freeze_failure=row.failure,
            outside=_outside(row, session, own_versions.get(row.session_id, set())),
            pins=pins.get(row.pk, 0),
            divergence=row.divergence_version,
            last_good=row.last_good_version,
            target=target,
            # Looked at when it was recorded; versions never change.
            states_differ=None if row.divergence_version is None else True,
            is_good=_is_good(row, session, target),
            is_corrected=row.corrected_at is not None,
            resume_version=row.resume_version,
            undecided_effects=undecided.get(row.pk, 0),
            exempt=frozenset(exempt[row.pk]),
            previous=row.steps,
        )
    return found


def _counts(rows) -> dict[int, int]:
    return dict(rows.values_list("affected").annotate(Count("pk")).order_by())


def versions_made(session_ids) -> dict[str, set[int]]:
    """The versions that incidents made of these sessions, by freezing, rolling back and resuming."""
    made: dict[str, set[int]] = defaultdict(set)
    rows = TimelineEvent.objects.filter(
        session_id__in=list(session_ids), kind__in=OWN_ACTS, version__isnull=False
    )
    for session_id, version in rows.values_list("session_id", "version"):
        if session_id is not None and version is not None:
            made[session_id].add(version)
    return made


def earliest_good(session_ids, *, project: int) -> dict[str, int]:
    """The earliest last good version that the open incidents of each session recorded: it wins for safety."""
    rows = AffectedSession.objects.filter(
        session_id__in=list(session_ids),
        episode__incident__project=project,
        episode__incident__status__in=ACTIVE,
        episode__closed_at=None,
        last_good_version__isnull=False,
    ).values_list(
        "session_id",
        "last_good_version",
        "episode__number",
        "episode__incident__episode_number",
    )
    found: dict[str, int] = {}
    for session_id, last_good, number, current in rows:
        if number == current and last_good is not None:
            found[session_id] = min(last_good, found.get(session_id, last_good))
    return found


def _outside(row: AffectedSession, session: AgentSession | None, made: set[int]) -> Outside | None:
    """The first version after the freeze that no incident made and that is not just another freeze."""
    if session is None or row.quiet_since is None:
        return None
    since = range(row.quiet_since + 1, session.head_version + 1)
    if len(since) == sum(number in since for number in made):
        return None
    later = sessions.versions_of(session).filter(number__gt=row.quiet_since).exclude(number__in=made)
    if row.resume_version is not None:
        later = later.filter(number__lt=row.resume_version)
    first: StateVersion | None = (
        later.filter(Q(kind=VersionKind.ROLLBACK) | Q(frozen=False)).defer("changes_text").first()
    )
    if first is None:
        return None
    what = "rolled back" if first.kind == VersionKind.ROLLBACK else "resumed"
    return Outside(first.number, what, first.actor_label, first.created_at)


def _is_good(row: AffectedSession, session: AgentSession | None, target: int | None) -> bool | None:
    """Whether the state is that of the last good version: now, or when this incident let it go on."""
    if session is None or target is None or row.divergence_version is None:
        return None
    judged = session.head_version if row.resume_version is None else row.resume_version - 1
    if target > judged:
        return None
    if (judged, target) == (row.rollback_version, row.rolled_back_to):
        return True
    restored = StateVersion.objects.filter(
        agent_session=session, number=judged, kind=VersionKind.ROLLBACK, restored_from=target
    )
    return restored.exists() or sessions.same_data(session, judged, target)
