"""A session's versions, turns and traces merged in the order of time (contract 6.2, History)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal, TypeAlias

from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.queries.turns import turns_of
from sessions_app.queries.versions import versions_of

Kind: TypeAlias = Literal["trace", "turn", "state"]
_ORDER: dict[Kind, int] = {"state": 0, "turn": 1, "trace": 2}
_BATCH = 200


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One row of a history."""

    kind: Kind
    row: StateVersion | Turn | Trace

    @property
    def created_at(self) -> datetime:
        return self.row.created_at

    @property
    def public_id(self) -> str:
        """The number of a version, else the row's id."""
        return str(self.row.number) if isinstance(self.row, StateVersion) else self.row.public_id


def history(
    agent_session: AgentSession, *, limit: int, with_states: bool = True, with_traces: bool = True
) -> tuple[list[HistoryItem], bool]:
    """The first `limit` rows, oldest first, and whether there are more.

    At one moment a version comes before the turn that brought it, and that before its traces.
    """
    parts: list[Iterator[HistoryItem]] = [_items("turn", turns_of(agent_session))]
    if with_states:
        parts.append(_items("state", versions_of(agent_session).defer("changes_text")))
    if with_traces:
        traces = Trace.objects.filter(agent_session=agent_session).order_by("created_at", "pk")
        parts.append(_items("trace", traces))
    merged = heapq.merge(*parts, key=lambda item: (item.created_at, _ORDER[item.kind]))
    found = list(islice(merged, limit + 1))
    return found[:limit], len(found) > limit


def _items(kind: Kind, rows) -> Iterator[HistoryItem]:
    return (HistoryItem(kind, row) for row in rows.iterator(_BATCH))
