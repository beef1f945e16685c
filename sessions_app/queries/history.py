"""A session's versions, turns and traces merged in the order of time (contract 6.2, History)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal, TypeAlias

from django.db.models import Q, QuerySet

from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.queries.turns import turns_of
from sessions_app.queries.versions import versions_of
from statebase_site.base.ids import findable

Kind: TypeAlias = Literal["trace", "turn", "state"]
_ORDER: dict[Kind, int] = {"state": 0, "turn": 1, "trace": 2}
_BATCH = 200
_DIGITS_MOST = 10  # of a version's number


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
    agent_session: AgentSession,
    *,
    after: HistoryItem | None = None,
    limit: int,
    with_states: bool = True,
    with_traces: bool = True,
) -> tuple[list[HistoryItem], bool]:
    """The first `limit` rows `after` one, oldest first, and whether there are more.

    At one moment a version comes before the turn that brought it, and that before its traces.
    """
    kinds: list[tuple[Kind, QuerySet]] = [("turn", turns_of(agent_session))]
    if with_states:
        kinds.append(("state", versions_of(agent_session).defer("changes_text")))
    if with_traces:
        kinds.append(("trace", _traces_of(agent_session)))
    parts = [_items(kind, rows if after is None else _later(kind, rows, after)) for kind, rows in kinds]
    merged = heapq.merge(*parts, key=lambda item: (item.created_at, _ORDER[item.kind]))
    found = list(islice(merged, limit + 1))
    return found[:limit], len(found) > limit


def history_item(agent_session: AgentSession, public_id: str) -> HistoryItem | None:
    """The row of this id in the session's history, which a page goes on after."""
    sought = findable(public_id)
    if len(sought) <= _DIGITS_MOST and sought.isascii() and sought.isdecimal():
        version = versions_of(agent_session).filter(number=int(sought)).first()
        return HistoryItem("state", version) if version else None
    if turn := turns_of(agent_session).filter(public_id=sought).first():
        return HistoryItem("turn", turn)
    trace = _traces_of(agent_session).filter(public_id=sought).first()
    return HistoryItem("trace", trace) if trace else None


def _traces_of(agent_session: AgentSession) -> QuerySet[Trace]:
    return Trace.objects.filter(agent_session=agent_session).order_by("created_at", "pk")


def _later(kind: Kind, rows: QuerySet, after: HistoryItem) -> QuerySet:
    """Those of a kind that come after a row of any kind."""
    if kind == after.kind and not isinstance(after.row, Trace):
        return rows.filter(number__gt=after.row.number)
    later = Q(created_at__gt=after.created_at)
    if kind == after.kind:
        later |= Q(created_at=after.created_at, pk__gt=after.row.pk)
    elif _ORDER[kind] > _ORDER[after.kind]:
        later |= Q(created_at=after.created_at)
    return rows.filter(later)


def _items(kind: Kind, rows: QuerySet) -> Iterator[HistoryItem]:
    return (HistoryItem(kind, row) for row in rows.iterator(_BATCH))
