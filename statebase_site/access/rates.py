"""Rate limits: a token bucket for each key, of which processes lease a few requests at a time (contract 4.1).

A bucket is one number, the moment at which it is full again: each request moves that on by the time in which
one request grows back. What a process has leased and not spent counts as if it were still in the bucket, so
it melts away as that fills up. Therefore bucket and leases together never hold more than the bucket can, and
all processes together let no more through than one would.
"""

import math
import threading
from typing import NamedTuple

from django.db import connection

from statebase_site.access.models import ApiKey, RateBucket
from statebase_site.base import clock

FILLED_IN_SECONDS = 120.0
"""An empty bucket is full after this time: it holds twice the requests of a minute."""
RATE_LIMIT_MOST = 1_000_000
"""Requests a minute; over that, floating-point seconds could not tell one request from the next."""

_LEASES = 20  # leases of a full bucket: with fewer, one process keeps what another could use
_ALMOST = 1e-3  # of a request: seconds since 1970 are known to a quarter of a microsecond
_BUCKETS_AT_MOST = 10_000


class Verdict(NamedTuple):
    """Whether a request may go on, and what its answer says of the limit (contract 4.1).

    `remaining` is in requests, `reset` a Unix second, `retry_after` in whole seconds, 0 where it is allowed.
    """

    allowed: bool
    limit: int
    remaining: int
    reset: int
    retry_after: int


class _Lease:
    """What this process knows of a key's bucket."""

    __slots__ = ("empty_until", "full_at", "left", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.left = 0  # requests that may still pass without asking
        self.full_at = 0.0  # when the bucket is full again, as it was at the last lease
        self.empty_until = 0.0  # before that, asking again is in vain


_leases: dict[str, _Lease] = {}


def take(key: ApiKey) -> Verdict:
    """Let one request of a key with a limit pass, or not.

    Only requests of the same key wait for one another, and only while a lease is fetched. Raises
    DatabaseError.
    """
    now = clock.now().timestamp()
    each = 60 / key.rate_limit  # seconds in which one request grows back
    lease = _leases.get(key.public_id) or _new_lease(key, now)
    with lease.lock:
        lease.left = max(0, min(lease.left, int((lease.full_at - now) / each + _ALMOST)))
        if not lease.left and now >= lease.empty_until:
            _renew(lease, key, now, each)
        if allowed := lease.left > 0:
            lease.left -= 1
        full_at, left, empty_until = lease.full_at, lease.left, lease.empty_until
    remaining = int(_room(full_at, now) / each + _ALMOST) + left
    return Verdict(
        allowed,
        limit=key.rate_limit,
        remaining=min(key.rate_limit, remaining),
        reset=math.ceil(max(now, full_at - left * each)),
        retry_after=0 if allowed else max(1, math.ceil(empty_until - now)),
    )


def _new_lease(key: ApiKey, now: float) -> _Lease:
    if len(_leases) >= _BUCKETS_AT_MOST:
        for public_id, known in list(_leases.items()):
            if known.full_at <= now:  # a full bucket is as good as a new one
                _leases.pop(public_id, None)
    return _leases.setdefault(key.public_id, _Lease())


def _room(full_at: float, now: float) -> float:
    """Seconds' worth of requests in the bucket."""
    return now + FILLED_IN_SECONDS - max(full_at, now)


def _renew(lease: _Lease, key: ApiKey, now: float, each: float) -> None:
    wanted = max(1, 2 * key.rate_limit // _LEASES)
    if connection.vendor == "sqlite":  # there is one process, so what it knows is the bucket
        lease.left, lease.full_at = _poured(lease.full_at, wanted, now, each)
    else:
        lease.left, lease.full_at = _poured_for_all(key.pk, wanted, now, each)
    if not lease.left:
        lease.empty_until = lease.full_at - FILLED_IN_SECONDS + each


def _poured(full_at: float, wanted: int, now: float, each: float) -> tuple[int, float]:
    """How many of `wanted` requests a bucket gives, and when it is full again after that."""
    granted = min(wanted, int(_room(full_at, now) / each + _ALMOST))
    return granted, max(full_at, now) + granted * each


def _poured_for_all(key_pk: int, wanted: int, now: float, each: float) -> tuple[int, float]:
    """The same from the bucket that all processes share.

    Whoever changed the row meanwhile makes this try again: no lock is held from one statement to the next.
    """
    bucket = RateBucket.objects.filter(pk=key_pk)
    while True:
        full_at = bucket.values_list("full_at", flat=True).first()
        if full_at is None:
            RateBucket.objects.bulk_create([RateBucket(pk=key_pk, full_at=now)], ignore_conflicts=True)
            continue
        granted, full_after = _poured(full_at, wanted, now, each)
        if not granted or bucket.filter(full_at=full_at).update(full_at=full_after):
            return granted, full_after
