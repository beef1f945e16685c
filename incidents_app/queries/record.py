"""All that is kept of one incident, over all its episodes, for what is exported of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incidents_app.models import Incident, Pin, TimelineEvent
from incidents_app.queries.assessing import Assessed, assess_episode
from incidents_app.queries.details import Details, details_of


@dataclass(frozen=True)
class Record:
    """An incident with its episodes, oldest first, its timeline, and what was pinned, by the pin's key."""

    episodes: Sequence[tuple[Assessed, Details]]
    events: Sequence[TimelineEvent]
    contents: Mapping[int, str]

    @property
    def current(self) -> tuple[Assessed, Details]:
        """The present episode."""
        return self.episodes[-1]


def record_of(incident: Incident) -> Record:
    """Read the whole of an incident; each reading of the same facts is in the same order."""
    episodes = [assess_episode(incident, each) for each in incident.episodes.order_by("number")]
    return Record(
        episodes=[(found, details_of(found)) for found in episodes],
        events=list(incident.events.order_by("occurred_at", "sequence")),
        contents=dict(
            Pin.objects.filter(affected__episode__incident=incident)
            .values_list("pk", "content")
            .order_by("pk")
        ),
    )
