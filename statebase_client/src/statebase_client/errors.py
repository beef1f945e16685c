"""What the server refuses, as exceptions (contract 3).

All are `httpx.HTTPStatusError`, which the official SDK raises, so code that catches that goes on working.
"""

from __future__ import annotations

from typing import Any

import httpx


class StateBaseError(httpx.HTTPStatusError):
    """An answer that is not a success.

    `status` is the HTTP status, `code` what went wrong in one word for programs, `param` the field at fault,
    `suggestion` what to do next, `request_id` what to tell whoever runs the server; `extras` holds what only
    this code carries.
    """

    def __init__(self, response: httpx.Response) -> None:
        fault = _fault(response)
        self.status = response.status_code
        self.code: str = fault.pop("code", f"http_{response.status_code}")
        self.type: str = fault.pop("type", "api_error")
        self.message: str = fault.pop("message", f"The server answered {response.status_code}.")
        self.param: str | None = fault.pop("param", None)
        self.suggestion: str | None = fault.pop("suggestion", None)
        self.docs: str | None = fault.pop("docs", None)
        self.request_id: str | None = fault.pop("request_id", None) or response.headers.get("X-Request-Id")
        self.extras: dict[str, Any] = fault
        told = " ".join(part for part in (self.message, self.suggestion) if part)
        named = ", ".join(part for part in (f"{self.status} {self.code}", self.request_id) if part)
        super().__init__(f"{told} ({named})", request=response.request, response=response)


class InvalidRequest(StateBaseError):
    """400: a field is missing or wrong; `param` names it."""


class AuthenticationFailed(StateBaseError):
    """401: no key, or one that is unknown, revoked or expired."""


class PermissionDenied(StateBaseError):
    """403: the key lacks a scope."""

    @property
    def required_scope(self) -> str | None:
        """The scope that the key would need."""
        return self.extras.get("required_scope")


class NotFound(StateBaseError):
    """404: there is no such thing, or it belongs to somebody else."""


class Conflict(StateBaseError):
    """409: things are not as the request takes them to be."""


class VersionConflict(Conflict):
    """409: the session has moved on from the expected version."""

    @property
    def current_version(self) -> int | None:
        """The version that the session is at."""
        return self.extras.get("current_version")


class SessionHeld(Conflict):
    """409: the session is evidence and may not be deleted."""

    @property
    def holds(self) -> list[dict[str, Any]]:
        """Who holds it: `label` and `url` of each."""
        return self.extras.get("holds") or []


class GateUnmet(Conflict):
    """409: an incident may not go on yet."""

    @property
    def unmet(self) -> list[dict[str, Any]]:
        """What is missing: `code`, `session_id` and `message` of each."""
        return self.extras.get("unmet") or []


class TooLarge(StateBaseError):
    """413: the body, the resulting state or the memory is over its limit."""


class SessionFrozen(StateBaseError):
    """423: the session is frozen; what was tried is kept as the trace `trace_id`."""

    @property
    def session_id(self) -> str | None:
        """The frozen session."""
        return self.extras.get("session_id")

    @property
    def frozen_at(self) -> str | None:
        """Since when, ISO 8601 in UTC."""
        return self.extras.get("frozen_at")

    @property
    def frozen_version(self) -> int | None:
        """The version that froze it."""
        return self.extras.get("frozen_version")

    @property
    def trace_id(self) -> str | None:
        """The trace that keeps the refused write."""
        return self.extras.get("trace_id")


class RateLimited(StateBaseError):
    """429: too many requests of this key; nothing was done."""

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait."""
        return self.extras.get("retry_after")


class ServerError(StateBaseError):
    """5xx: the server's fault."""


_BY_CODE: dict[str, type[StateBaseError]] = {
    "version_conflict": VersionConflict,
    "session_held": SessionHeld,
    "gate_unmet": GateUnmet,
}
_BY_STATUS: dict[int, type[StateBaseError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    423: SessionFrozen,
    429: RateLimited,
}


def error_of(response: httpx.Response) -> StateBaseError:
    """The exception for an answer that is not a success, as special as its code or status allows."""
    kind = _BY_STATUS.get(response.status_code)
    if kind is None:
        kind = ServerError if response.status_code >= 500 else StateBaseError
    return _BY_CODE.get(_fault(response).get("code", ""), kind)(response)


def _fault(response: httpx.Response) -> dict[str, Any]:
    """The `error` object of the answer; empty where a proxy or the like answered."""
    try:
        body = response.json()
    except ValueError:
        return {}
    fault = body.get("error") if isinstance(body, dict) else None
    return dict(fault) if isinstance(fault, dict) else {}
