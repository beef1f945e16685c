"""Keyset pages over rows ordered by a moment and their key: no COUNT, no row skipped or repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and whether there are more on either side of them in the order shown."""

    rows: list[Row]
    has_earlier_page: bool
    has_later_page: bool


def keyset_page(
    rows: QuerySet[Row],
    *,
    moment: str = "created_at",
    descending: bool = True,
    after: Row | None = None,
    before: Row | None = None,
    limit: int,
) -> Page[Row]:
    """The `limit` rows that follow `after`, or precede `before`, in the order of `moment` and key."""
    if before is not None:
        page = keyset_page(rows, moment=moment, descending=not descending, after=before, limit=limit)
        return Page(page.rows[::-1], has_earlier_page=page.has_later_page, has_later_page=True)
    if after is not None:
        at = getattr(after, moment)
        further = "lt" if descending else "gt"
        rows = rows.filter(Q(**{f"{moment}__{further}": at}) | Q(**{moment: at, f"pk__{further}": after.pk}))
    sign = "-" if descending else ""
    found = list(rows.order_by(f"{sign}{moment}", f"{sign}pk")[: limit + 1])
    return Page(found[:limit], has_earlier_page=after is not None, has_later_page=len(found) > limit)


def numbered_page(
    rows: QuerySet[Row], *, descending: bool = False, after: int | None = None, limit: int
) -> Page[Row]:
    """The `limit` rows that follow number `after` among numbered rows such as versions, in their order."""
    if after is not None:
        rows = rows.filter(number__lt=after) if descending else rows.filter(number__gt=after)
    found = list(rows.order_by("-number" if descending else "number")[: limit + 1])
    return Page(found[:limit], has_earlier_page=after is not None, has_later_page=len(found) > limit)
