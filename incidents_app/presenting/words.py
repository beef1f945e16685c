"""Lengths of time, names and ids in words, as a person on call reads them. Pure."""

from __future__ import annotations

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_ID_SHOWN = 12


def span(seconds: float | None) -> str:
    """`7 s`, `4 min 12 s`, `34 min`, `3 h 20 min`, `2 d 4 h`; what was not recorded says so."""
    if seconds is None:
        return "not recorded"
    whole = int(max(0, seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "min", 1, "s")
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < 2 * _DAY:
        return _two(whole, _HOUR, "h", _MINUTE, "min")
    return _two(whole, _DAY, "d", _HOUR, "h")


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    first = f"{whole // large} {large_name}"
    return f"{first} {rest} {small_name}" if rest else first


def who(label: str) -> str:
    """Whose doing something was: `maria`, `key sb_9f2c`, `the server`, from an actor's label."""
    if label == "system":
        return "the server"
    return label.removeprefix("user:") if label.startswith("user:") else f"key {label}"


def shorter(session_id: str) -> str:
    """The beginning of a session's id, where the whole stands close by."""
    return session_id if len(session_id) <= _ID_SHOWN else f"{session_id[:_ID_SHOWN]}…"


def names(session_ids: list[str], most: int = 3) -> str:
    """`sess_a, sess_b and 3 more`."""
    if len(session_ids) <= most:
        return ", ".join(session_ids)
    return f"{', '.join(session_ids[:most])} and {len(session_ids) - most} more"
