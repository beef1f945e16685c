"""What the address of a time machine says: the version, how its state is shown, and where the list is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

_FOLDS_KEPT = 40
_POINTER_MOST = 1_000  # characters
_VERSION_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Address:
    """One place in the time machine; every link of the page is this with one thing changed.

    `opened` and `folded` are JSON Pointers that were opened or folded by hand; an opened one may carry a
    start, `200:/flights`, for a further part of a long list or text. `number` None means the current version.
    """

    session_id: str
    number: int | None = None
    diff_only: bool = False
    pin: str | None = None
    opened: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    rollbacks_only: bool = False
    list_at: int | None = None
    compare_with: int | None = None
    follow: bool = False

    @classmethod
    def read(cls, session_id: str, number: int | None, asked: QueryDict) -> Address:
        """The place that a request names; what is not understood counts as not said."""
        return cls(
            session_id=session_id,
            number=number,
            diff_only=asked.get("view") == "diff",
            pin=_pointer(asked.get("pin")),
            opened=tuple(_pointers(asked.getlist("open"), may_start=True)),
            folded=tuple(_pointers(asked.getlist("fold"))),
            rollbacks_only=asked.get("only") == "rollbacks",
            list_at=version_number(asked.get("list")),
            compare_with=version_number(asked.get("mark")),
            follow=asked.get("follow") == "1",
        )

    @property
    def base(self) -> str:
        """The address of the session, which those of its versions begin with."""
        return reverse("sessions:time-machine", args=[self.session_id])

    @property
    def keep(self) -> str:
        """The query that goes along from version to version; with its question mark, or empty."""
        return self._query(with_place=False)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The same as pairs, for the hidden fields of a form."""
        return self._pairs(with_place=False)

    @property
    def parts_opened(self) -> dict[str, list[int]]:
        """Where the parts begin that were opened by hand, by JSON Pointer."""
        found: dict[str, list[int]] = {}
        for named in self.opened:
            start, colon, path = named.partition(":")
            is_part = bool(colon) and start.isdecimal()
            found.setdefault(path if is_part else named, []).append(int(start) if is_part else 0)
        return found

    @property
    def url(self) -> str:
        path = self.base if self.number is None else f"{self.base}v/{self.number}"
        return path + self._query(with_place=True)

    def with_(self, **changes: object) -> str:
        """The address of the same place but for `changes`."""
        return replace(self, **changes).url  # type: ignore[arg-type]

    def opening(self, path: str, start: int = 0) -> str:
        """The address that shows what is folded at a JSON Pointer, from item or character `start` on."""
        named = f"{start}:{path}" if start else path
        opened = tuple(each for each in self.opened if each != named)
        return self.with_(
            opened=(*opened, named)[-_FOLDS_KEPT:], folded=tuple(each for each in self.folded if each != path)
        )

    def folding(self, path: str) -> str:
        """The address that folds what is open at a JSON Pointer."""
        opened = tuple(each for each in self.opened if each != path and not each.endswith(f":{path}"))
        folded = tuple(each for each in self.folded if each != path)
        return self.with_(opened=opened, folded=(*folded, path)[-_FOLDS_KEPT:])

    def _query(self, *, with_place: bool) -> str:
        pairs = self._pairs(with_place=with_place)
        return f"?{urlencode(pairs, safe='/:')}" if pairs else ""

    def _pairs(self, *, with_place: bool) -> list[tuple[str, str]]:
        pairs = [("view", "diff")] if self.diff_only else []
        if self.pin is not None:
            pairs.append(("pin", self.pin))
        pairs += [("open", path) for path in self.opened]
        pairs += [("fold", path) for path in self.folded]
        if self.rollbacks_only:
            pairs.append(("only", "rollbacks"))
        if self.compare_with is not None:
            pairs.append(("mark", str(self.compare_with)))
        if with_place and self.list_at is not None:
            pairs.append(("list", str(self.list_at)))
        if with_place and self.follow:
            pairs.append(("follow", "1"))
        return pairs


def version_number(text: str | None) -> int | None:
    """A version number as it stands in an address; None for anything else."""
    text = (text or "").strip().removeprefix("v")
    if text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= _VERSION_MOST:
        return int(text)
    return None


def _pointers(asked: Iterable[str], *, may_start: bool = False) -> Iterable[str]:
    for text in list(dict.fromkeys(asked))[:_FOLDS_KEPT]:
        start, colon, path = text.partition(":")
        if not (may_start and colon and start.isascii() and start.isdecimal()):
            path = text
        if _pointer(path) is not None:
            yield text


def _pointer(text: str | None) -> str | None:
    """A JSON Pointer, or None for what is none, or too long to travel in an address."""
    if text is None or len(text) > _POINTER_MOST or (text and not text.startswith("/")):
        return None
    return text
