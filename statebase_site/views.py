"""The front door, health for machines, and what is shown when something goes wrong."""

import time
from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from statebase_site.base import clock
from statebase_site.openapi import openapi_document
from statebase_site.overview import overview
from statebase_site.web.errors import error_answer, internal_error, json_answer, route_not_found
from statebase_site.web.requests import prefers_html, speaks_json

_started = time.monotonic()
_BROKEN = "The server failed. Go back and try once more; if it fails again, tell whoever runs this server."


@login_not_required
@csrf_exempt  # a wrong method is told which are right; nothing is changed here
@require_safe
def root(request: HttpRequest) -> HttpResponse:
    """What this is, for programs (contract 6.1); for browsers the overview."""
    if prefers_html(request):
        return overview(request)
    return json_answer({"name": "StateBase", "version": settings.VERSION, "api": "/v1", "health": "/health"})


@login_not_required
@csrf_exempt
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """What runs and how it fares (contract 6.1); always 200, `status` tells."""
    database = _database()
    return json_answer(
        {
            "status": "healthy" if database["status"] == "healthy" else "unhealthy",
            "timestamp": clock.isoformat(clock.now()),
            "version": settings.VERSION,
            "uptime_seconds": round(time.monotonic() - _started),
            "services": {"api": {"status": "healthy"}, "database": database},
        }
    )


@login_not_required
@csrf_exempt
@require_safe
def health_live(request: HttpRequest) -> HttpResponse:
    """That this process answers."""
    return json_answer({"status": "alive"})


@login_not_required
@csrf_exempt
@require_safe
def health_ready(request: HttpRequest) -> HttpResponse:
    """Whether this process can serve: 503 while the database is out of reach."""
    database = _database()
    ready = database["status"] == "healthy"
    return json_answer(
        {"status": "ready" if ready else "not_ready", "database": database}, 200 if ready else 503
    )


def _database() -> dict[str, Any]:
    began = time.perf_counter()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return {"status": "unreachable", "kind": connection.vendor}
    return {
        "status": "healthy",
        "kind": connection.vendor,
        "latency_ms": round((time.perf_counter() - began) * 1000, 1),
    }


@login_not_required
@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document of the JSON API."""
    with _one_describes:
        document = _schema()
    return json_answer(document)


@login_not_required
@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """The routes of the JSON API, to be read and tried with a key of one's own."""
    settings = {"url": reverse("openapi"), "layout": "BaseLayout", "deepLinking": True}
    return render(request, "api_docs.html", {"swagger_settings": settings})


_one_describes = Lock()


@cache
def _schema() -> Any:
    from statebase_site.api import api  # its routes are complete once the addresses are loaded

    return openapi_document(api)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the host is not served here, or the form cannot be read; 413 where it is too large."""
    if isinstance(exception, RequestDataTooBig):
        return render(request, "413.html", status=413)
    if isinstance(exception, TooManyFieldsSent):
        request.GET = QueryDict()  # it cannot be read, and the frame of a page asks for it
    return render(request, "400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403, without saying more than that."""
    return render(request, "403.html", status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, in JSON for programs."""
    if speaks_json(request.path):
        return error_answer(request, route_not_found(request))
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, in JSON for programs, and in plain text where no page can be made."""
    if speaks_json(request.path):
        return error_answer(request, internal_error())
    try:
        return render(request, "500.html", status=500)
    except Exception:  # what broke the page may break this one too: say it without templates
        return HttpResponse(_BROKEN, status=500, content_type="text/plain; charset=utf-8")


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form whose token is missing or no longer good."""
    return render(request, "403_csrf.html", status=403)
