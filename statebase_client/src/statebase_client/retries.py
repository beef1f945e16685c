"""When a refused request is sent again, and how long to wait before."""

from __future__ import annotations

import random

import httpx

LONGEST_PAUSE = 60.0
"""Seconds: a server that asks for a longer pause is not asked again."""

_FIRST_PAUSE, _LONGEST_BACKOFF = 0.5, 8.0
_SAFE_METHODS = ("GET", "DELETE")  # a PUT of a state makes a version each time


def pause_before_retry(response: httpx.Response, attempt: int, max_retries: int) -> float | None:
    """Seconds until the request may be sent again; None where it may not.

    Only what was refused for the moment (429, 503) is sent again, and only where a second run does no harm:
    reads, deletions, and what carries an Idempotency-Key. `attempt` counts from 0.
    """
    request = response.request
    harmless = request.method in _SAFE_METHODS or "Idempotency-Key" in request.headers
    if response.status_code not in (429, 503) or not harmless or attempt >= max_retries:
        return None
    asked = _seconds(response.headers.get("Retry-After"))
    if asked is not None:
        return asked if asked <= LONGEST_PAUSE else None
    backoff: float = min(_FIRST_PAUSE * 2**attempt, _LONGEST_BACKOFF)
    return backoff * random.uniform(0.5, 1)  # noqa: S311 - spreads the retries of many clients


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
