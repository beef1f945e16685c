"""The one JSON envelope of errors (contract section 3), and the status of each kind of domain error."""

import logging
from typing import Any

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from statebase_site.base import json
from statebase_site.base.errors import (
    Conflict,
    DomainError,
    Frozen,
    InvalidInput,
    NotFound,
    PermissionRefused,
    TooLarge,
)

log = logging.getLogger("statebase.requests")

JSON_TYPE = "application/json"


class NotAuthenticated(DomainError):
    """No key, or none that counts."""

    code = "authentication_failed"


class RouteNotFound(NotFound):
    """Nothing lives at this address."""


class MethodNotAllowed(DomainError):
    """The address exists, but not for this method."""

    code = "method_not_allowed"


class RateLimited(DomainError):
    """The key sent more than its limit; extra `retry_after` in seconds (contract 4.1)."""

    code = "rate_limit_exceeded"

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"This API key may send {limit:,} requests a minute, and has sent more.",
            suggestion=f"Try again in {retry_after} s, or ask an admin for a key with a higher limit. "
            "Freezing a session and filing an incident always work.",
            retry_after=retry_after,
        )


class Unavailable(DomainError):
    """The database does not answer at the moment."""

    code = "service_unavailable"


_STATUS_AND_TYPE: tuple[tuple[type[DomainError], int, str], ...] = (
    (InvalidInput, 400, "invalid_request_error"),
    (NotAuthenticated, 401, "authentication_error"),
    (PermissionRefused, 403, "permission_error"),
    (NotFound, 404, "invalid_request_error"),
    (MethodNotAllowed, 405, "invalid_request_error"),
    (Conflict, 409, "conflict_error"),
    (TooLarge, 413, "invalid_request_error"),
    (Frozen, 423, "frozen_error"),
    (RateLimited, 429, "rate_limit_error"),
    (Unavailable, 503, "api_error"),
    (DomainError, 500, "api_error"),
)


def status_of(error: DomainError) -> int:
    """The HTTP status of a domain error: the same for the API and for pages."""
    return _status_and_type(type(error))[0]


def codes_by_status() -> dict[int, set[str]]:
    """Every code that an error can have, by its status; complete once all apps are loaded."""
    found: dict[int, set[str]] = {}
    waiting: list[type[DomainError]] = [DomainError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        status = _status_and_type(kind)[0]
        if kind.code != DomainError.code or status == 500:
            found.setdefault(status, set()).add(kind.code)
    return found


def _status_and_type(kind: type[DomainError]) -> tuple[int, str]:
    return next((status, type_) for of, status, type_ in _STATUS_AND_TYPE if issubclass(kind, of))


def json_answer(data: Any, status: int = 200) -> HttpResponse:
    """`data` (plain JSON values, and texts that are `json.Written`) as a response."""
    return HttpResponse(json.render(data), status=status, content_type=JSON_TYPE)


def error_answer(
    request: HttpRequest, error: DomainError, *, detail: list[dict[str, Any]] | None = None
) -> HttpResponse:
    """The envelope of `error`; `detail` lists the faults of a validation, else it repeats the message."""
    status, type_ = _status_and_type(type(error))
    envelope = {
        "error": {
            "code": error.code,
            "message": error.message,
            "type": type_,
            "param": error.param,
            "request_id": getattr(request, "request_id", None),
            "suggestion": error.suggestion,
            "docs": None,
            **error.extras,
        },
        "detail": error.message if detail is None else detail,
    }
    answer = json_answer(envelope, status)
    # A client's mistake is the client's news, not a line in the server's log.
    answer._has_been_logged = True  # type: ignore[attr-defined]
    if status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateLimited):
        answer["Retry-After"] = str(error.extras["retry_after"])
    if status == 503:
        answer["Retry-After"] = "1"
    return answer


def crash_answer(request: HttpRequest, error: Exception) -> HttpResponse:
    """The answer to an exception that nobody expected: logged here with its trace, which never goes out."""
    if isinstance(error, (OperationalError, InterfaceError)):
        log.error("%s %s: the database does not answer: %s", request.method, request.path, error)
        return error_answer(
            request,
            Unavailable("The database does not answer at the moment.", suggestion="Try again in a second."),
        )
    log.error(
        "%s %s failed (%s)",
        request.method,
        request.path,
        getattr(request, "request_id", None),
        exc_info=error,
    )
    got_request_exception.send(sender=None, request=request)
    return error_answer(request, internal_error())


def internal_error() -> DomainError:
    """For a failure that tells the client nothing but that there was one."""
    return DomainError(
        "Something went wrong on the server.",
        suggestion="Try again; if it happens again, tell the operator the request_id.",
    )


def route_not_found(request: HttpRequest) -> RouteNotFound:
    """For an address at which nothing lives."""
    return RouteNotFound(
        f"There is nothing at {request.path}.", suggestion="The routes are listed at /openapi.json."
    )


def method_not_allowed(request: HttpRequest, allow: str) -> MethodNotAllowed:
    """For an address that does not know the method; `allow` names those it knows."""
    return MethodNotAllowed(f"{request.path} does not know {request.method}, only {allow}.")


_PLAIN_ERRORS = {
    400: lambda: InvalidInput("The request cannot be read, or names a host that is not served here."),
    403: lambda: PermissionRefused("This is not allowed."),
    413: lambda: TooLarge("The request is too large."),
}


def to_json(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The envelope in place of an error page that Django or a library made for an address of the API."""
    status = response.status_code
    if status == 404:
        error: DomainError = route_not_found(request)
    elif status == 405:
        error = method_not_allowed(request, response.get("Allow", ""))
    else:
        error = _PLAIN_ERRORS.get(status, internal_error)()
    answer = error_answer(request, error)
    for name, value in response.items():
        if name not in ("Content-Type", "Content-Length"):
            answer[name] = value
    return answer
