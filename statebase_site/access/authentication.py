"""The API's door: who holds this key, and may they do that.

The middleware checks the key of every request under /v1 before its route is looked at (contract section 3),
and answers it without the machinery of browsers. Each route names the scope it needs with `needs`.
"""

import hashlib
import time
from collections.abc import Callable
from typing import NamedTuple

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from ninja.security import APIKeyHeader

from statebase_site.access import rates, usage
from statebase_site.access.actor import Actor, IdempotencyKey, RequestFacts, key_actor
from statebase_site.access.freezing import freezes
from statebase_site.access.models import ApiKey
from statebase_site.base import clock
from statebase_site.web.api import dispatch
from statebase_site.web.errors import NotAuthenticated, RateLimited, crash_answer, error_answer
from statebase_site.web.fields import idempotency_header
from statebase_site.web.requests import NumberedRequest, client_address, is_api, pass_over_body, read_body

REMEMBERED_SECONDS = 2.0
"""How long a process trusts a key without asking the database: so soon a revocation counts everywhere."""

_REMEMBERED_AT_MOST = 10_000
_NO_LIMIT = 1_000_000_000  # requests a minute: what clients are told where there is no limit (contract 4.1)


class ApiRequest(NumberedRequest):
    """A request that the API's door let through."""

    api_key: ApiKey
    actor: Actor


class _Remembered(NamedTuple):
    key: ApiKey
    until: float


_remembered: dict[str, _Remembered] = {}


def hash_of(clear_key: str) -> str:
    """What is stored of a key: SHA-256 in hex. Keys are long and random, so a slow hash would add nothing."""
    return hashlib.sha256(clear_key.encode("utf-8", "surrogateescape")).hexdigest()


def forget(key_hash: str) -> None:
    """Let this process ask the database again about a key, right after it was revoked."""
    _remembered.pop(key_hash, None)


def find_key(clear_key: str) -> ApiKey | None:
    """The key, unless it is unknown, revoked or expired.

    It is looked for by its hash, so the time that takes tells nothing of how near a wrong key is.
    """
    key_hash = hash_of(clear_key)
    found = _remembered.get(key_hash)
    if found is None or found.until < time.monotonic():
        found = _look_up(key_hash)
        if found is None:
            return None
    expires_at = found.key.expires_at
    return None if expires_at is not None and expires_at <= clock.now() else found.key


def _look_up(key_hash: str) -> _Remembered | None:
    key = ApiKey.objects.select_related("project").filter(key_hash=key_hash, revoked_at__isnull=True).first()
    if key is None:
        forget(key_hash)
        return None
    if len(_remembered) >= _REMEMBERED_AT_MOST:
        _remembered.clear()
    found = _Remembered(key, time.monotonic() + REMEMBERED_SECONDS)
    _remembered[key_hash] = found
    return found


class KeyMiddleware:
    """Answers everything under /v1, 401 first; lets all else pass."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiRequest) -> HttpResponse:
        if not is_api(request.path_info):
            return self.get_response(request)
        try:
            key = _authenticate(request)
            rate = rates.take(key) if key.rate_limit else _unlimited()
        except NotAuthenticated as refused:
            return error_answer(request, refused)
        except DatabaseError as error:
            return crash_answer(request, error)
        if rate.allowed or freezes(request):
            request.api_key = key
            usage.count(key.pk)
            answer = dispatch(request)
        else:
            answer = error_answer(request, RateLimited(rate.limit, rate.retry_after))
        pass_over_body(request)  # not a stranger's: who sends slowly would keep a thread
        answer["X-RateLimit-Limit"] = str(rate.limit)
        answer["X-RateLimit-Remaining"] = str(rate.remaining)
        answer["X-RateLimit-Reset"] = str(rate.reset)
        return answer


def _unlimited() -> rates.Verdict:
    return rates.Verdict(True, limit=_NO_LIMIT, remaining=_NO_LIMIT, reset=int(time.time()), retry_after=0)


def _authenticate(request: HttpRequest) -> ApiKey:
    """The key of the request; X-API-Key counts where both headers are there (contract section 1)."""
    clear_key = request.META.get("HTTP_X_API_KEY")
    if clear_key is None:
        scheme, _, credentials = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        clear_key = credentials if scheme.lower() == "bearer" else ""
    clear_key = clear_key.strip()
    if not clear_key:
        raise NotAuthenticated(
            "This request carries no API key.",
            suggestion="Send the key in the header X-API-Key. Keys are made on the page Settings, API keys.",
        )
    key = find_key(clear_key)
    if key is None:
        raise NotAuthenticated(
            "The API key is unknown, revoked or expired.",
            suggestion="Check the key, or make a new one on the page Settings, API keys.",
        )
    return key


class needs(APIKeyHeader):
    """`auth=needs(scope, to="…")` of a route: checks the scope, reads the body, and sets `request.actor`.

    `to` completes "This API key may not …"; a key with `instead` may do it as well. Raises PermissionRefused,
    TooLarge or InvalidInput, in that order (contract section 3, "Order of checks").
    """

    param_name = "X-API-Key"

    def __init__(self, scope: str, *, to: str, instead: str | None = None) -> None:
        super().__init__()
        self.scope = scope
        self.to = to
        self.instead = instead

    def __call__(self, request: ApiRequest) -> Actor:  # type: ignore[override]
        key = request.api_key
        actor = key_actor(key)
        if self.instead is None or not actor.may(self.instead):
            actor.require(self.scope, to=self.to)  # before the body is read
        request.actor = key_actor(key, _facts(request))
        return request.actor

    def authenticate(self, request: HttpRequest, key: str | None) -> None:
        """Not asked: the middleware has checked the key before the route was known."""


def _facts(request: ApiRequest) -> RequestFacts:
    method = request.method or ""
    body, idempotency = b"", None
    if method not in {"GET", "HEAD"}:
        body = read_body(request)
        if not body:
            request._body = b"{}"  # ninja looks for fields only where there is a body
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and method != "DELETE":
            idempotency = IdempotencyKey(idempotency_header(key), hashlib.sha256(body).hexdigest())
    return RequestFacts(
        request_id=request.request_id,
        started=request.started,
        method=method,
        path=request.path_info,
        body=body,
        ip_address=client_address(request),
        idempotency=idempotency,
    )
