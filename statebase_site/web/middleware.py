"""Round every request: its id, its duration, and the headers that no answer may lack."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from statebase_site.base.ids import new_id
from statebase_site.web.errors import JSON_TYPE, to_json
from statebase_site.web.requests import NumberedRequest, is_api, speaks_json

_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class RequestMiddleware:
    """Outermost of all: sets `request.request_id` and `request.started`, and looks over what goes out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: NumberedRequest) -> HttpResponse:
        request.started = time.perf_counter()
        request.request_id = new_id("req")
        path = request.path_info
        for_api, for_programs = is_api(path), speaks_json(path)
        if for_programs and path[-1] == "/":  # both forms are one resource; never a redirect (contract 1)
            request.path_info = path[:-1]
            request.path = request.path[:-1]
        response = self.get_response(request)
        content_type = response.get("Content-Type", "")
        if for_programs:
            if response.status_code >= 400 and not content_type.startswith(JSON_TYPE):
                response = to_json(request, response)
            response.setdefault("Cache-Control", "no-store")
            if response.status_code != 204 and not response.streaming:
                response.setdefault("Content-Length", str(len(response.content)))
        elif content_type.startswith("text/html"):
            _protect_page(response)
        response["X-Request-Id"] = request.request_id
        if for_api:
            response["X-StateBase-Latency"] = f"{(time.perf_counter() - request.started) * 1000:.1f}"
        return response


def _protect_page(response: HttpResponse) -> None:
    response.setdefault("Content-Security-Policy", _CONTENT_SECURITY_POLICY)
    response.setdefault("Permissions-Policy", _PERMISSIONS_POLICY)
    # Pages show what only members may see: no copy stays behind after signing out.
    response.setdefault("Cache-Control", "no-store")
    # htmx asks for a part of the page at the page's own address.
    patch_vary_headers(response, ["HX-Request"])
