"""What a request is, read with care: who sent it, whether the API or a page is meant, and its body."""

import contextlib
import ipaddress
from typing import BinaryIO, cast

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, UnreadablePostError

from statebase_site.base.errors import InvalidInput, TooLarge


class NumberedRequest(HttpRequest):
    """A request that has passed the outermost middleware; `started` is `time.perf_counter()` then."""

    request_id: str
    started: float


_PASSED_OVER_MOST = 32 * 1024 * 1024  # bytes
_PART = 64 * 1024
_API_ROOT = "/v1"
_API_BESIDE_ROOT = ("/health", "/openapi.json")


def is_api(path: str) -> bool:
    """Whether `path` is a resource of the API, for which a key is needed."""
    return path.startswith(_API_ROOT) and (len(path) == 3 or path[3] == "/")


def speaks_json(path: str) -> bool:
    """Whether errors at `path` are JSON: the API, and what stands beside it for machines."""
    return is_api(path) or path.startswith(_API_BESIDE_ROOT)


def client_address(request: HttpRequest) -> str | None:
    """The client's IP address, or None where it is not known.

    Behind `TRUSTED_PROXIES` proxies the entry of X-Forwarded-For that the first of them wrote counts;
    what stands left of it may be made up by the client.
    """
    address = request.META.get("REMOTE_ADDR") or None
    hops = settings.TRUSTED_PROXIES
    if not hops:
        return address
    forwarded = [entry.strip() for entry in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if len(forwarded) < hops:
        return address
    try:
        return str(ipaddress.ip_address(forwarded[-hops].strip("[]")))
    except ValueError:
        return address


def is_loopback(request: HttpRequest) -> bool:
    """Whether the client runs on this machine; not told by a proxy that nobody said to trust."""
    if not settings.TRUSTED_PROXIES and "HTTP_X_FORWARDED_FOR" in request.META:
        return False
    try:
        return ipaddress.ip_address(client_address(request) or "").is_loopback
    except ValueError:
        return False


def for_htmx(request: HttpRequest) -> bool:
    """Whether htmx asks, which wants a part of a page."""
    return "HX-Request" in request.headers


def prefers_html(request: HttpRequest) -> bool:
    """Whether the client would rather read a page than JSON (browsers and htmx do, `*/*` does not)."""
    return for_htmx(request) or request.get_preferred_type(["application/json", "text/html"]) == "text/html"


def read_body(request: HttpRequest) -> bytes:
    """The raw body, also of a chunked request, which Django alone takes for empty.

    Raises TooLarge where it is over `MAX_BODY_BYTES`, InvalidInput where the client broke off.
    """
    try:
        return _body_up_to(settings.MAX_BODY_BYTES, request)
    except TooLarge:
        length = request.META.get("CONTENT_LENGTH") or ""
        _pass_over(request.META.get("wsgi.input"), int(length) if length.isdecimal() else _PASSED_OVER_MOST)
        raise


def _body_up_to(limit: int, request: HttpRequest) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and int(length) > limit:
        raise _too_large(limit)
    if not length and request.META.get("wsgi.input_terminated") and not hasattr(request, "_body"):
        request._stream = cast(BinaryIO, LimitedStream(request.META["wsgi.input"], limit + 1))
    try:
        body = request.body
    except UnreadablePostError as broken:
        raise InvalidInput("The request broke off before its body was complete.") from broken
    except RequestDataTooBig as too_large:
        raise _too_large(limit) from too_large
    if len(body) > limit:
        raise _too_large(limit)
    return body


def pass_over_body(request: HttpRequest) -> None:
    """Read a body that no route asked for, so that the connection stays good for the client's next request.

    A server that has not got to the end of a body closes the connection after its answer, and tells nobody.
    """
    if getattr(request, "_read_started", False):
        return
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and int(length) <= settings.MAX_BODY_BYTES:
        _pass_over(request.META.get("wsgi.input"), int(length))


def _pass_over(stream: BinaryIO | None, size: int) -> None:
    """Read the rest of a body that is too large, within reason, and keep nothing of it.

    Most clients listen only once they have sent all: closing before that would lose them the answer.
    """
    left = min(size, _PASSED_OVER_MOST)
    with contextlib.suppress(OSError):
        while stream and left > 0 and (part := stream.read(min(left, _PART))):
            left -= len(part)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"The request body is over the limit of {limit:,} bytes.",
        suggestion="Send less in one request, and keep large data outside the state.",
    )
