"""What the table pages share: the page before and after in the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from statebase_site.base.ids import findable
from statebase_site.base.paging import Page, keyset_page
from statebase_site.web.requests import for_htmx

ROWS_A_PAGE = 50


def list_answer(request: HttpRequest, app: str, name: str, context: dict[str, Any]) -> HttpResponse:
    """The page `name` of an app; to htmx only the part with the rows.

    The browser's address is then the page's, without empty fields.
    """
    if not for_htmx(request):
        return render(request, f"{app}/{name}.html", context)
    answer = render(request, f"{app}/_{name}.html", context)
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
    request: HttpRequest,
    rows: QuerySet,
    *,
    key: str = "public_id",
    moment: str = "created_at",
    descending: bool = True,
) -> ListPage:
    """The page that `?after=` or `?before=` names by the `key` of a row; one that is gone: the first page."""
    after, before = _row(request, rows, key, "after"), _row(request, rows, key, "before")
    page: Page = keyset_page(
        rows,
        moment=moment,
        descending=descending,
        after=after,
        before=None if after else before,
        limit=ROWS_A_PAGE,
    )
    first, last = (_named(page.rows[0], key), _named(page.rows[-1], key)) if page.rows else (None, None)
    return ListPage(
        rows=page.rows,
        newest=address(request, after=None, before=None) if page.has_earlier_page else None,
        newer=address(request, before=first, after=None) if page.has_earlier_page and first else None,
        older=address(request, after=last, before=None) if page.has_later_page and last else None,
    )


def address(request: HttpRequest, **changed: str | None) -> str:
    """The page's own address with some parameters changed; None takes one out."""
    query = request.GET.copy()
    for name in [name for name, text in query.items() if not text]:
        del query[name]  # fields of the filter that were left empty
    for name, value in changed.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    return f"{request.path}?{query.urlencode()}" if query else request.path


def _named(row: Model, key: str) -> str:
    return str(getattr(row, key))


def _row(request: HttpRequest, rows: QuerySet, key: str, name: str) -> Model | None:
    asked = findable(request.GET.get(name, ""))
    try:
        return rows.filter(**{key: asked}).first() if asked else None
    except ValueError:  # the key is a number, and this is none
        return None
