"""How often keys are used: counted in memory, written in batches, so that no request waits on a key's row."""

import threading
import time

from django.core.signals import request_finished
from django.db import DatabaseError
from django.db.models import F

from statebase_site.access.models import ApiKey
from statebase_site.base import clock

WRITTEN_EVERY_SECONDS = 2.0
"""The first request after a pause is written at once, the ones after it when this time has passed."""

_lock = threading.Lock()
_waiting: dict[int, int] = {}
_written = 0.0


def count(key_pk: int) -> None:
    """Note one request of a key."""
    with _lock:
        _waiting[key_pk] = _waiting.get(key_pk, 0) + 1


def write() -> None:
    """Write what was counted in this process. Where the database is busy, it waits for the next time."""
    global _written
    with _lock:
        counted = dict(_waiting)
        _waiting.clear()
        _written = time.monotonic()
    for key_pk, requests in counted.items():
        try:
            ApiKey.objects.filter(pk=key_pk).update(
                total_requests=F("total_requests") + requests, last_used_at=clock.now()
            )
        except DatabaseError:
            with _lock:
                _waiting[key_pk] = _waiting.get(key_pk, 0) + requests


def _write_when_due(**_: object) -> None:
    # After the answer has gone out: the client does not wait for it.
    if _waiting and time.monotonic() - _written >= WRITTEN_EVERY_SECONDS:
        write()


request_finished.connect(_write_when_due, dispatch_uid="write key usage")
