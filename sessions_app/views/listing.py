"""What the table pages share: the page before and after in the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sessions_app.queries import Page, keyset_page
from statebase_site.web.requests import for_htmx

ROWS_A_PAGE = 50


def list_answer(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """The page `name`; to htmx only the part with the rows, and the page's address without empty fields."""
    if not for_htmx(request):
        return render(request, f"sessions_app/{name}.html", context)
    answer = render(request, f"sessions_app/_{name}.html", context)
    answer["HX-Push-Url"] = address(request)
    return answer


@dataclass(frozen=True, slots=True)
class ListPage:
    """Rows with the addresses of the pages around them; None where there is none."""

    rows: list
    newest: str | None
    newer: str | None
    older: str | None


def list_page(
    request: HttpRequest, rows: QuerySet, *, moment: str = "created_at", descending: bool = True
) -> ListPage:
    """The page that `?after=` or `?before=` (ids of rows) names; an id that is gone shows the first page."""
    after, before = _row(request, rows, "after"), _row(request, rows, "before")
    page: Page = keyset_page(
        rows,
        moment=moment,
        descending=descending,
        after=after,
        before=None if after else before,
        limit=ROWS_A_PAGE,
    )
    first, last = (page.rows[0], page.rows[-1]) if page.rows else (None, None)
    return ListPage(
        rows=page.rows,
        newest=address(request, after=None, before=None) if page.has_earlier_page else None,
        newer=address(request, before=first, after=None) if page.has_earlier_page and first else None,
        older=address(request, after=last, before=None) if page.has_later_page and last else None,
    )


def address(request: HttpRequest, **changed: Model | str | None) -> str:
    """The page's own address with some parameters changed; None takes one out."""
    query = request.GET.copy()
    for name in [name for name, text in query.items() if not text]:
        del query[name]  # fields of the filter that were left empty
    for name, value in changed.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value if isinstance(value, str) else value.public_id  # type: ignore[attr-defined]
    return f"{request.path}?{query.urlencode()}" if query else request.path


def _row(request: HttpRequest, rows: QuerySet, name: str) -> Model | None:
    public_id = request.GET.get(name, "").replace("\x00", "")
    return rows.filter(public_id=public_id).first() if public_id else None
