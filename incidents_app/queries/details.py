"""What is shown of one incident beyond its row in a list: evidence, effects, prevention, earlier episodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from incidents_app.models import (
    AffectedSession,
    Effect,
    Episode,
    Exemption,
    FollowUp,
    Override,
    Pin,
    Scenario,
)
from incidents_app.queries.assessing import Assessed
from incidents_app.queries.metrics import Metrics, metrics_of
from incidents_app.queries.people import commander_is_away
from incidents_app.queries.reaching import ContaminatedFork, contaminated_forks

_OfRow = TypeVar("_OfRow", Pin, Effect, Exemption)


@dataclass(frozen=True)
class Details:
    """The rows behind one assessed incident. What belongs to a session is by the key of its affected row.

    `past`: the earlier episodes, oldest first, each with its numbers. Pins come without their content.
    """

    pins: Mapping[int, Sequence[Pin]]
    effects: Mapping[int, Sequence[Effect]]
    exemptions: Mapping[int, Sequence[Exemption]]
    follow_ups: Sequence[FollowUp]
    scenarios: Sequence[Scenario]
    overrides: Sequence[Override]
    helpers: Sequence[str]
    past: Sequence[tuple[Episode, Metrics]]
    contaminated: Sequence[ContaminatedFork]
    commander_is_away: bool


def details_of(found: Assessed) -> Details:
    """Everything about an incident in the episode that was assessed; the number of queries is fixed."""
    incident = found.incident
    keys = [row.pk for row in found.affected]
    return Details(
        pins=_by_row(Pin.objects.filter(affected__in=keys).defer("content")),
        effects=_by_row(Effect.objects.filter(affected__in=keys)),
        exemptions=_by_row(Exemption.objects.filter(affected__in=keys)),
        follow_ups=list(incident.follow_ups.all()),
        scenarios=list(incident.scenarios.select_related("incident").prefetch_related("runs")),
        overrides=list(found.episode.overrides.all()),
        helpers=[each.user.get_username() for each in incident.helpers.select_related("user")],
        past=_past(found),
        contaminated=contaminated_forks(incident, found.affected),
        commander_is_away=commander_is_away(incident),
    )


def _by_row(rows: Iterable[_OfRow]) -> dict[int, list[_OfRow]]:
    grouped: dict[int, list[_OfRow]] = defaultdict(list)
    for row in rows:
        grouped[row.affected_id].append(row)
    return grouped


def _past(found: Assessed) -> list[tuple[Episode, Metrics]]:
    earlier = list(
        Episode.objects.filter(incident=found.incident, number__lt=found.episode.number).select_related(
            "review_scenario"
        )
    )
    affected: dict[int, list[AffectedSession]] = defaultdict(list)
    for row in AffectedSession.objects.filter(episode__in=earlier):
        affected[row.episode_id].append(row)
    return [(episode, metrics_of(episode, affected[episode.pk])) for episode in earlier]
