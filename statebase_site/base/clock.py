"""The one source of time. Recorded runs and demo data are replayed at the time they happened."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_travelled_to: ContextVar[datetime | None] = ContextVar("travelled_to", default=None)


def now() -> datetime:
    """The current time as an aware datetime in UTC, or the moment set by `at`."""
    return _travelled_to.get() or datetime.now(UTC)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let everything inside happen at `moment` (aware): for importing runs that happened earlier."""
    token = _travelled_to.set(moment.astimezone(UTC))
    try:
        yield
    finally:
        _travelled_to.reset(token)


def isoformat(moment: datetime) -> str:
    """ISO 8601 in UTC ending in `Z`, always with microseconds (contract section 1)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
