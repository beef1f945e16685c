"""One try to send: signed, to a checked address, within ten seconds, following nothing (contract 11)."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ssl
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpcore

from statebase_site.base import clock
from statebase_site.base.clock import isoformat
from statebase_site.base.errors import DomainError
from statebase_site.webhooks.addresses import open_addresses
from statebase_site.webhooks.models import Attempt, is_success

SECONDS_MOST = 10.0
"""For all of a try, from looking up the name to the answer's headers."""
SAID_MOST = 200
"""Characters kept of how the answer began, where it was no success."""

SIGNATURE_HEADER = "X-StateBase-Signature"

_WRITTEN_AT_ONCE = 16_384  # bytes
_trusted = ssl.create_default_context()
# A look-up can't be told to end in time, only be left alone.
_looking_up = ThreadPoolExecutor(32, thread_name_prefix="webhook-names")


def signature(secret: str, body: bytes) -> str:
    """Lower-case hex of HMAC-SHA256 over the raw body, as the docs' sample check expects it."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers_of(
    url: str, body: bytes, *, secret: str, event: str, event_id: str, version: str
) -> dict[str, str]:
    """What stands above the body, but for its length."""
    return {
        "Host": urlsplit(url).netloc,
        "Content-Type": "application/json",
        "User-Agent": f"StateBase/{version}",
        "Connection": "close",
        "X-StateBase-Event": event,
        "X-StateBase-Delivery": event_id,
        SIGNATURE_HEADER: signature(secret, body),
    }


def send(
    url: str, body: bytes, *, secret: str, event: str, event_id: str, version: str, private_allowed: bool
) -> Attempt:
    """POST the body, and say how that ended; raises nothing that the other side can cause."""
    headers = headers_of(url, body, secret=secret, event=event, event_id=event_id, version=version)
    at, started = isoformat(clock.now()), time.perf_counter()
    status = fault = said = None
    try:
        status, said = _post(url, body, headers, _Door(private_allowed))
    except (DomainError, OSError, ValueError, httpcore.NetworkError, httpcore.TimeoutException) as error:
        fault = _in_words(error)
    except (httpcore.ProtocolError, httpcore.UnsupportedProtocol):
        fault = "What answers there does not speak HTTP."
    ms = round((time.perf_counter() - started) * 1000, 1)
    return Attempt(at, ms, status, fault, None if is_success(status) else said)


def _post(url: str, body: bytes, headers: Mapping[str, str], door: _Door) -> tuple[int, str]:
    with (
        httpcore.ConnectionPool(ssl_context=_trusted, network_backend=door) as pool,
        pool.stream("POST", url, headers=list(headers.items()), content=body) as answer,
    ):
        begun = b"" if is_success(answer.status) else _beginning(answer)
    said = begun.decode(errors="replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return answer.status, said[:SAID_MOST]


def _beginning(answer: httpcore.Response) -> bytes:
    """How the body begins: as much of it as comes in time, since the status is known in any case."""
    begun = b""
    with contextlib.suppress(httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError):
        for part in answer.iter_stream():
            begun += part
            if len(begun) >= SAID_MOST * 4:
                break
    return begun


def _in_words(error: Exception) -> str:
    if isinstance(error, DomainError):
        return error.in_words
    if isinstance(error, httpcore.TimeoutException):
        return f"No answer within {SECONDS_MOST:.0f} seconds."
    cause = error.__cause__ or error.__context__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"Its certificate is not trusted: {cause.verify_message}."
    reason = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
    return f"It could not be reached: {reason}."[: SAID_MOST * 2]


class _Door(httpcore.NetworkBackend):
    """Connects to addresses that were looked at, and to no others; all that follows has one end of time."""

    def __init__(self, private_allowed: bool) -> None:
        self._private_allowed = private_allowed
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        until = time.monotonic() + SECONDS_MOST
        looked_up = _looking_up.submit(open_addresses, host, port, private_allowed=self._private_allowed)
        try:
            addresses = looked_up.result(_left(until))
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        for address in addresses[:-1]:
            try:
                return _Until(until, self._network.connect_tcp(address, port, _left(until) / 2))
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return _Until(until, self._network.connect_tcp(addresses[-1], port, _left(until)))


class _Until(httpcore.NetworkStream):
    """A connection that ends at one moment, however often a little comes over it."""

    def __init__(self, until: float, stream: httpcore.NetworkStream) -> None:
        self._until = until
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITTEN_AT_ONCE):
            self._stream.write(buffer[start : start + _WRITTEN_AT_ONCE], _left(self._until))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Until(self._until, self._stream.start_tls(ssl_context, server_hostname, _left(self._until)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(until: float) -> float:
    """Seconds until then. Raises where there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
