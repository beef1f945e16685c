"""How the viewer wants moments shown: one setting for pages, pictures and exports alike."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest
from django.utils import timezone

MODES = {"utc": "UTC", "local": "Local", "relative": "Relative"}
MODE_COOKIE = "times"
ZONE_COOKIE = "tz"
STYLES = ("moment", "clock", "date", "full")

_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (30 * 86_400, 86_400, "d"))


@dataclass(frozen=True)
class ViewerTimes:
    """A viewer's setting: `mode` is a key of `MODES`, `zone` what absolute times are written in."""

    mode: str = "utc"
    zone: tzinfo = UTC

    @classmethod
    def of(cls, request: HttpRequest | None) -> "ViewerTimes":
        """The setting in the cookies of `request`; UTC where there is none, or an unknown one."""
        cookies = request.COOKIES if request is not None else {}
        mode = cookies.get(MODE_COOKIE, "utc")
        if mode not in MODES:
            mode = "utc"
        return cls(mode, _zone(cookies.get(ZONE_COOKIE, "")) if mode == "local" else UTC)

    @property
    def zone_name(self) -> str:
        return getattr(self.zone, "key", "UTC")

    def text(self, moment: datetime, style: str = "moment", *, now: datetime | None = None) -> str:
        """`moment` in words: `29 Nov 09:12:03`, its `clock`, its `date`, or in `full` with its zone.

        In relative mode every style but `full` is the distance from `now`.
        """
        now = now or timezone.now()
        if self.mode == "relative" and style != "full":
            return relative(moment, now)
        local = moment.astimezone(self.zone)
        date = f"{local.day} {local:%b}"
        if style == "clock":
            return f"{local:%H:%M:%S}"
        if style == "date":
            return f"{date} {local.year}"
        if style == "full":
            return f"{date} {local.year} {local:%H:%M:%S}.{local.microsecond // 1000:03d} {local.tzname()}"
        if local.year != now.astimezone(self.zone).year:
            date = f"{date} {local.year}"
        return f"{date} {local:%H:%M:%S}"

    def iso(self, moment: datetime) -> str:
        """`moment` for an export: ISO 8601 in the viewer's zone, with its offset."""
        return moment.astimezone(self.zone).isoformat().replace("+00:00", "Z")


def utc_text(moment: datetime) -> str:
    """The exact moment, for the title of a `<time>`: `2026-11-29 09:12:03.123456 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def relative(moment: datetime, now: datetime) -> str:
    """`just now`, `32 s ago`, `4 min ago`, `in 3 h`, `5 d ago`; the date when it is a month away or more."""
    seconds = (now - moment).total_seconds()
    away = abs(seconds)
    if away < 5:
        return "just now"
    for limit, unit, name in _STEPS:
        if away < limit:
            words = f"{int(away // unit)} {name}"
            return f"{words} ago" if seconds > 0 else f"in {words}"
    day = moment.astimezone(UTC)
    return f"{day.day} {day:%b %Y}"


def _zone(name: str) -> tzinfo:
    # A cookie is the visitor's to write, and ZoneInfo opens a file of that name.
    if len(name) > 64 or not _ZONE_NAME.fullmatch(name):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
