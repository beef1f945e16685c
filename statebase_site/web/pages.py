"""Domain errors on pages: the same status as in the API, in words, with the way on."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from statebase_site.base.errors import DomainError
from statebase_site.web.errors import status_of
from statebase_site.web.requests import for_htmx

_TEMPLATES = {
    400: "400.html",
    403: "403.html",
    404: "404.html",
    409: "409.html",
    413: "413.html",
    423: "409.html",
}


def error_page(request: HttpRequest, error: DomainError, **context: object) -> HttpResponse:
    """The page of `error`; an htmx request gets the lines for the top of the page it stays on instead.

    `context` may hold `lines` (what changed meanwhile) and `action_url` (the page to open again).
    """
    status = status_of(error)
    if for_htmx(request):
        messages.error(request, error.in_words)
        answer = render(request, "components/_flash.html", {"oob": True}, status=status)
        answer["HX-Reswap"] = "none"
        return answer
    found = {
        "error": error,
        "reason": error.message,
        "lines": [error.suggestion] if error.suggestion else [],
        "action_url": _page_it_came_from(request),
    }
    return render(request, _TEMPLATES.get(status, "500.html"), found | context, status=status)


def _page_it_came_from(request: HttpRequest) -> str:
    came_from = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(came_from, {request.get_host()}):
        return came_from
    return request.path if request.method in {"GET", "HEAD"} else "/"


class PageErrorMiddleware:
    """Turns the domain errors that a page's view lets through into their page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return error_page(request, exception) if isinstance(exception, DomainError) else None
