"""Everything that the incident page shows, read with as many queries for one session as for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import Count, F, Q
from django.http import QueryDict

from incidents_app import queries
from incidents_app.actions import QUESTIONS
from incidents_app.enums import ACTIVE, Disposition, EventKind, FailureMode, Status
from incidents_app.matrix import MATRIX, Duties
from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Helper,
    Incident,
    Override,
    Pin,
    Scenario,
)
from incidents_app.presenting import duties, freezing, gates, numbers, runbook, stages, timeline
from incidents_app.presenting.addresses import Addresses
from incidents_app.presenting.allowed import Allowed, allowed
from incidents_app.presenting.next_action import NextAction, next_action
from incidents_app.presenting.runbook import Beside
from incidents_app.presenting.words import span
from incidents_app.queries import Assessed, Metrics
from incidents_app.queries.reaching import ContaminatedFork
from sessions_app.models import RefusedWrite
from statebase_site.access.actor import Actor

EFFECTS_SHOWN = 40
PINS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Past:
    """An episode that is over, with its numbers."""

    episode: Episode
    sessions: int
    numbers: list[numbers.Number]
    overrides: list[Override]

    @property
    def times(self) -> list[tuple[str, datetime | None]]:
        """When it reached each stage."""
        names = ("contained", "recovered", "resolved", "closed")
        return [(name.capitalize(), getattr(self.episode, f"{name}_at")) for name in names]


class IncidentPage:
    """One incident for one person; `asked` is what the address asks for."""

    def __init__(self, found: Assessed, by: Actor, asked: QueryDict) -> None:
        self.found = found
        self.by = by
        self.asked = asked
        self.incident: Incident = found.incident
        self.episode: Episode = found.episode
        self.allowed: Allowed = allowed(by, self.incident)
        self.to = Addresses.of(self.incident)

    # Head ------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Where it stands."""
        return self.found.status

    @property
    def is_active(self) -> bool:
        """Whether it is worked on."""
        return self.incident.status in ACTIVE

    @property
    def ended_at(self):
        """When the clock stopped: resolved, or else ended."""
        return self.episode.resolved_at or self.episode.closed_at

    @property
    def open_for(self) -> str:
        """How long it has been, or was, open."""
        until = self.ended_at or self.found.facts.now
        return span((until - self.episode.opened_at).total_seconds())

    @cached_property
    def commander_is_away(self) -> bool:
        """Whether the commander's account can't act any more."""
        return queries.commander_is_away(self.incident)

    @cached_property
    def may_command(self) -> list[User]:
        """Who could command it."""
        return queries.who_may_command(self.incident.project_id)

    @property
    def my_name(self) -> str:
        """The name that the person would take command under."""
        return self.by.label.removeprefix("user:")

    @property
    def could_take(self) -> bool:
        """Whether the person may take command: alone, or over somebody."""
        return not self.allowed.is_commander and not self.allowed.take_off

    @cached_property
    def metrics(self) -> Metrics:
        """The numbers of this episode."""
        return queries.metrics_of(self.episode, self.found.affected)

    @cached_property
    def numbers(self) -> list[numbers.Number]:
        return [*numbers.numbers(self.metrics), *numbers.ends(self.metrics)]

    @property
    def failure_mode(self) -> str:
        """In words, or nothing."""
        mode = self.incident.failure_mode
        return FailureMode(mode).label.lower() if mode else ""

    @cached_property
    def stages(self) -> list[stages.Stage]:
        """The line of stages."""
        changes = self.incident.events.filter(
            kind=EventKind.STATUS, episode_number=self.episode.number
        ).order_by("sequence")
        return stages.stages(self.found, list(changes))

    # What comes next -------------------------------------------------------------------------------------

    @cached_property
    def next(self) -> NextAction | None:
        """The one thing to do next."""
        return next_action(self.found, scenarios=len(self.scenarios))

    @property
    def next_off(self) -> str:
        """Why the person may not do it, or nothing."""
        return self.allowed.off(self.next.needs) if self.next else ""

    @property
    def look_off(self) -> str:
        """Why the person may not do what is offered beside it, or nothing."""
        return self.allowed.off(self.next.look_needs) if self.next else ""

    @cached_property
    def freezing(self) -> freezing.Freezing | None:
        """How far freezing has come, while the server is at it."""
        return freezing.freezing(self.found.affected) if self.is_active else None

    @cached_property
    def to_resolve(self) -> list[gates.Missing]:
        return gates.still_missing(self.found, Status.RESOLVED)

    @cached_property
    def to_close(self) -> list[gates.Missing]:
        return gates.still_missing(self.found, Status.CLOSED)

    @cached_property
    def overrides(self) -> list[Override]:
        """Gates that were passed over in this episode."""
        return list(Override.objects.filter(episode=self.episode))

    @cached_property
    def overridable(self) -> list[str]:
        """The codes of what is unmet now, each once."""
        to = Status.CLOSED if self.status == Status.RESOLVED else Status.RESOLVED
        return list(dict.fromkeys(each.code for each in self.found.unmet(to)))

    @cached_property
    def duties(self) -> list[duties.Duty]:
        return duties.duties(self.found, self.metrics)

    @property
    def matrix(self) -> list[Duties]:
        """The severity matrix, worst first."""
        return list(MATRIX.values())

    # Sessions --------------------------------------------------------------------------------------------

    @property
    def shows_all(self) -> bool:
        """Whether the address asks for every session."""
        return self.asked.get("sessions") == "all"

    @cached_property
    def shown_rows(self) -> list[AffectedSession]:
        """The sessions on the page, those needing attention first where not all of them are."""
        rows = list(self.found.affected)
        if len(rows) <= runbook.SESSIONS_SHOWN:
            return rows
        ordered = runbook.in_order_of_need(self.found, self.asked.get("at"))
        return ordered if self.shows_all else ordered[: runbook.SESSIONS_SHOWN]

    @cached_property
    def runbook(self) -> runbook.Runbook:
        """Sessions and steps."""
        following = dict(self.next.fields or ()).get("session_id") if self.next else None
        exempts = self.next.exempts if self.next else None
        session_id = following or (exempts[0] if exempts else None)
        return runbook.runbook(self.found, self.shown_rows, self._beside, next_session=session_id)

    @cached_property
    def _beside(self) -> Beside:
        keys = [row.pk for row in self.shown_rows]
        pins: dict[int, dict[str, int]] = {}
        counted = Pin.objects.filter(affected__in=keys).values_list("affected", "kind")
        for row_pk, kind, count in counted.annotate(Count("pk")).order_by():
            pins.setdefault(row_pk, {})[kind] = count
        reasons = {
            (each.affected_id, each.step): each.reason for each in Exemption.objects.filter(affected__in=keys)
        }
        return Beside(pins, reasons, self._refused(), self.others)

    def _refused(self) -> dict[int, int]:
        """Writes refused in the present freeze, by the session's key."""
        rows = RefusedWrite.objects.filter(
            agent_session__in=[row.agent_session_id for row in self.shown_rows],
            agent_session__frozen_version=F("frozen_version"),
        )
        return dict(rows.values_list("agent_session").annotate(Count("pk")).order_by())

    @cached_property
    def others(self) -> Mapping[str, Sequence[Incident]]:
        """The other open incidents that affect the sessions shown, while this one is open, too."""
        if not self.is_active:
            return {}
        held = queries.open_incidents_of(
            [row.session_id for row in self.shown_rows], project=self.incident.project_id
        )
        return {
            session_id: others
            for session_id, incidents in held.items()
            if (others := [each for each in incidents if each.pk != self.incident.pk])
        }

    @cached_property
    def contaminated(self) -> list[ContaminatedFork]:
        """Sessions that carry the bad state, too, and are not in the incident."""
        return queries.contaminated_forks(self.incident, self.found.affected) if self.is_active else []

    # What was found out ----------------------------------------------------------------------------------

    @cached_property
    def _all_effects(self):
        return Effect.objects.filter(affected__episode=self.episode).select_related("affected")

    @cached_property
    def effects(self) -> list[Effect]:
        """What the rollbacks did not undo: undecided ones first."""
        ordered = self._all_effects.order_by(
            F("decided_at").asc(nulls_first=True), "affected", "turn_number", "pk"
        )
        return list(ordered[:EFFECTS_SHOWN])

    @cached_property
    def effect_counts(self) -> dict[str, int]:
        """How many there are, and how many are undecided."""
        return self._all_effects.aggregate(
            total=Count("pk"), undecided=Count("pk", filter=Q(disposition=None))
        )

    @property
    def dispositions(self) -> list[tuple[str, str]]:
        return Disposition.choices

    @cached_property
    def pins(self) -> list[Pin]:
        """The evidence, newest first."""
        rows = Pin.objects.filter(affected__episode=self.episode).select_related("affected").defer("content")
        if session_id := self.asked.get("pin"):
            rows = rows.filter(affected__session_id=session_id) if self._is_affected(session_id) else rows
        return list(rows.order_by("-pinned_at", "-pk")[:PINS_SHOWN])

    @cached_property
    def pin_count(self) -> int:
        return Pin.objects.filter(affected__episode=self.episode).count()

    @property
    def pin_of(self) -> str:
        """The session whose evidence the address asks for."""
        asked = self.asked.get("pin", "")
        return asked if self._is_affected(asked) else ""

    def _is_affected(self, session_id: str) -> bool:
        return any(row.session_id == session_id for row in self.found.affected)

    @cached_property
    def timeline(self) -> timeline.Timeline:
        return timeline.timeline(self.incident, self.asked)

    # Prevention, review, people --------------------------------------------------------------------------

    @property
    def causes(self) -> list[tuple[str, bool | None]]:
        """The four questions with their answers."""
        return [(words, getattr(self.episode, name)) for name, words in QUESTIONS.items()]

    @cached_property
    def follow_ups(self) -> list[FollowUp]:
        """What has to be done, what is open first."""
        rows = FollowUp.objects.filter(incident=self.incident)
        return list(rows.order_by(F("done_at").asc(nulls_first=True), "number"))

    @property
    def today(self):
        """The day that dates are held against, in UTC."""
        return self.found.facts.now.date()

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """The failure-injection scenarios with their runs."""
        return list(Scenario.objects.filter(incident=self.incident).prefetch_related("runs"))

    @cached_property
    def helpers(self) -> list[Helper]:
        return list(Helper.objects.filter(incident=self.incident).select_related("user"))

    @property
    def is_helping(self) -> bool:
        """Whether the person is one of the helpers."""
        return any(f"user:{each.user_id}" == self.by.id for each in self.helpers)

    @cached_property
    def duplicates(self) -> list[Incident]:
        """Incidents that were merged into this one."""
        return list(self.incident.duplicates.order_by("number"))

    @cached_property
    def past(self) -> list[Past]:
        """Earlier episodes, newest first."""
        if self.episode.number == 1:
            return []
        episodes = Episode.objects.filter(incident=self.incident, number__lt=self.episode.number)
        rows: dict[int, list[AffectedSession]] = {}
        for row in AffectedSession.objects.filter(episode__in=episodes):
            rows.setdefault(row.episode_id, []).append(row)
        overrides: dict[int, list[Override]] = {}
        for each in Override.objects.filter(episode__in=episodes):
            overrides.setdefault(each.episode_id, []).append(each)
        return [
            self._past(each, rows.get(each.pk, []), overrides.get(each.pk, []))
            for each in episodes.order_by("-number")
        ]

    def _past(self, episode: Episode, rows: list[AffectedSession], overrides: list[Override]) -> Past:
        metrics = queries.metrics_of(episode, rows)
        return Past(episode, len(rows), [*numbers.numbers(metrics), *numbers.ends(metrics)], overrides)
