"""The time machine of one session at one version, put together: a bounded number of queries at any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from sessions_app import queries
from sessions_app.models import AgentSession, EvidenceHold, StateVersion
from sessions_app.queries import windows
from sessions_app.time_machine.address import Address
from sessions_app.time_machine.entries import Entry, entries, spans
from sessions_app.time_machine.rail import Branch, Rail, Refused, Scene, draw, groups
from sessions_app.time_machine.tree import Tree, state_tree
from sessions_app.time_machine.turns import ShownTurn, shown_turns
from statebase_site.web.wording import pointer_dots

# The rail draws so many versions one by one; of longer sessions those round the cursor, the rest grouped.
_RAIL_WHOLE = 40
_RAIL_BLOCK, _RAIL_ROUND = 10, 8
_RAIL_GROUPS = 6  # on each side

# The list moves in blocks, so that it stands still while the cursor moves within one.
_LIST_WHOLE = 60
_LIST_BLOCK, _LIST_ROUND = 30, 15

_TURNS_SHOWN = 3

SUGGESTED_REASON = "Rollback to last good state"


def window(number: int, head: int, *, whole: int, block: int, round_: int) -> tuple[int, int]:
    """The versions shown round `number`: all of a short session, else its block and some on both sides."""
    if head < whole:
        return 0, head
    first = number // block * block
    return max(0, first - round_), min(head, first + block - 1 + round_)


@dataclass(frozen=True, slots=True)
class Listing:
    """The part of the version list that is shown, newest first, and where its neighbours begin."""

    entries: list[Entry]
    newer_at: int | None
    older_at: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A version that one can roll back to from here, and what that undoes."""

    number: int
    undoes: str
    before_this: bool


class TimeMachine:
    """What the page shows; each part is read when the template asks for it."""

    def __init__(self, agent_session: AgentSession, address: Address) -> None:
        """Raises `VersionNotFound` where the address names a version that is not there."""
        self.session = agent_session
        self.address = address
        self.head = agent_session.head_version
        number = self.head if address.number is None else address.number
        self.number = queries.absolute_version(agent_session, number)

    @property
    def is_current(self) -> bool:
        return self.number == self.head

    @property
    def before(self) -> int:
        return self.number - 1

    @property
    def after(self) -> int:
        return self.number + 1

    @property
    def head_count(self) -> int:
        return self.head + 1

    @cached_property
    def ranges(self) -> list[queries.LiveRange]:
        return queries.live_ranges(self.session)

    @cached_property
    def _rail_entries(self) -> list[Entry]:
        first, last = window(self.number, self.head, whole=_RAIL_WHOLE, block=_RAIL_BLOCK, round_=_RAIL_ROUND)
        return self._entries(first, last)

    def _entries(self, first: int, last: int) -> list[Entry]:
        found = entries(windows.versions_between(self.session, max(0, first - 1), last), self.ranges)
        return [entry for entry in found if entry.number >= first]

    @cached_property
    def entry(self) -> Entry:
        """The selected version."""
        return next(entry for entry in self._rail_entries if entry.number == self.number)

    @property
    def version(self) -> StateVersion:
        return self.entry.version

    # Timeline -----------------------------------------------------------------------------------------

    @cached_property
    def rail(self) -> Rail:
        shown = self._rail_entries
        first, last = shown[0].number, shown[-1].number
        targets = windows.rollback_targets(self.session) if self.session.rollback_count else {}
        return draw(
            Scene(
                entries=shown,
                selected=self.number,
                head=self.head,
                before=groups(0, first - 1, list(targets), _RAIL_GROUPS),
                after=groups(last + 1, self.head, list(targets), _RAIL_GROUPS),
                targets=targets,
                branches=_branches(self.forks, first, last),
                refused=self._refused(shown),
                turns=windows.turns_per_version(self.session, first, last) if self.session.turn_count else {},
                frozen_before=first > 0 and shown[0].version.frozen and shown[0].mark != "freeze",
                has_rollbacks=bool(targets),
                has_forks=bool(self.forks),
                has_turns=self.session.turn_count > 0,
            )
        )

    @cached_property
    def forks(self) -> list[AgentSession]:
        return windows.forks_of(self.session)

    def _refused(self, shown: Sequence[Entry]) -> list[Refused]:
        """Where the crosses stand: behind the last version before the last refusal of each freeze."""
        found: dict[int, int] = {}
        for each in windows.refusals_by_freeze(self.session):
            earlier = [entry.number for entry in shown if entry.version.created_at <= each.last_at]
            if each.frozen_version >= shown[0].number and earlier and earlier[-1] >= each.frozen_version:
                found[earlier[-1]] = found.get(earlier[-1], 0) + each.count
        return [Refused(after, count) for after, count in found.items()]

    @cached_property
    def listing(self) -> Listing:
        at = self.number if self.address.list_at is None else min(self.address.list_at, self.head)
        if self.address.rollbacks_only:
            return self._rollback_listing(at)
        first, last = window(at, self.head, whole=_LIST_WHOLE, block=_LIST_BLOCK, round_=_LIST_ROUND)
        return Listing(
            entries=list(reversed(self._entries(first, last))),
            newer_at=min(last + _LIST_ROUND, self.head) if last < self.head else None,
            older_at=max(first - _LIST_ROUND, 0) if first > 0 else None,
        )

    def _rollback_listing(self, at: int) -> Listing:
        last = self.head if self.address.list_at is None else at
        rows = windows.rollbacks_until(self.session, last, _LIST_WHOLE + 1)
        shown = [
            Entry(row, row.kind, windows.undone_by(row.number, self.ranges), None)
            for row in rows[:_LIST_WHOLE]
        ]
        return Listing(
            entries=shown,
            newer_at=self.head if last < self.head else None,
            older_at=rows[-1].number if len(rows) > _LIST_WHOLE else None,
        )

    # Links: the address with one thing changed ----------------------------------------------------------

    @property
    def all_url(self) -> str:
        return self.address.with_(rollbacks_only=False, list_at=None)

    @property
    def rollbacks_url(self) -> str:
        return self.address.with_(rollbacks_only=True, list_at=None)

    @property
    def newer_url(self) -> str:
        return self.address.with_(list_at=self.listing.newer_at)

    @property
    def older_url(self) -> str:
        return self.address.with_(list_at=self.listing.older_at)

    @property
    def mark_url(self) -> str:
        return self.address.with_(compare_with=self.number)

    @property
    def unmark_url(self) -> str:
        return self.address.with_(compare_with=None)

    @property
    def follow_url(self) -> str:
        return self.address.with_(number=None, list_at=None, follow=not self.address.follow)

    @property
    def diff_toggle_url(self) -> str:
        return self.address.with_(diff_only=not self.address.diff_only)

    @property
    def unpin_url(self) -> str:
        return self.address.with_(pin=None)

    @property
    def pin_base(self) -> str:
        """The address that a JSON Pointer is added to, to watch only that path."""
        url = self.address.with_(pin=None, opened=(), folded=())
        return f"{url}{'&' if '?' in url else '?'}pin="

    @property
    def state_url(self) -> str:
        return reverse("sessions:state", args=[self.session.public_id, self.number])

    @property
    def value_url(self) -> str:
        return f"{self.state_url}?{urlencode({'path': self.address.pin or ''}, safe='/')}"

    # State --------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Tree:
        numbers = [self.number - 1, self.number] if self.number else [0]
        documents = dict(queries.documents_at(self.session, numbers))
        before = documents[self.number - 1].value if self.number else None
        return state_tree(before, documents[self.number].value, self.address)

    @property
    def pin_dots(self) -> str:
        return pointer_dots(self.address.pin or "")

    @property
    def sdk(self) -> str:
        """The line of the official SDK that rolls back to the version shown."""
        return f'sb.sessions.rollback(session_id="{self.session.public_id}", version={self.number})'

    # Why ----------------------------------------------------------------------------------------------

    @cached_property
    def turns(self) -> list[ShownTurn]:
        """The turns that ended at this version, or else the last one before it."""
        if not self.session.turn_count:
            return []
        found = windows.turns_up_to(self.session, self.number, _TURNS_SHOWN)
        here = [turn for turn in found if turn.state_version == self.number]
        return shown_turns(list(reversed(here or found[:1])), self.number)

    @property
    def hash(self) -> str:
        return bytes(self.version.sha256).hex()

    @cached_property
    def holds(self) -> list[EvidenceHold]:
        return windows.open_holds(self.session)

    @cached_property
    def refusals(self) -> queries.Refusals:
        return queries.refusals(self.session)

    @cached_property
    def freeze_version(self) -> StateVersion | None:
        """The version that froze the session; None while it runs."""
        if self.session.frozen_version is None:
            return None
        return queries.version_row(self.session, self.session.frozen_version)

    # Acting -------------------------------------------------------------------------------------------

    @cached_property
    def choices(self) -> list[Choice]:
        """To the version shown unless it is the current one, and to the one before it."""
        offered = [] if self.is_current else [Choice(self.number, self.undoes(self.number), False)]
        if self.number > 0:
            offered.append(Choice(self.number - 1, self.undoes(self.number - 1), True))
        return offered

    def undoes(self, target: int) -> str:
        """Which live versions a rollback to `target` would undo, in words."""
        return undone_in_words(self.ranges, target)

    @property
    def suggested_reason(self) -> str:
        """What stands in the field for the reason: nothing where a hold is open and it must be typed."""
        return "" if self.session.open_holds else SUGGESTED_REASON


def undone_in_words(ranges: Sequence[queries.LiveRange], target: int) -> str:
    """`v4, v5`, `v4–v9, v12`: the live versions after `target`; the oldest are named, the rest counted."""
    runs = [(max(each.first, target + 1), each.last) for each in reversed(ranges) if each.last > target]
    words = [
        spans(range(first, last + 1)) if last - first < 9 else f"v{first}–v{last}" for first, last in runs
    ]
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more runs" if len(words) > 4 else "")


def _branches(forks: Sequence[AgentSession], first: int, last: int) -> list[Branch]:
    by_version: dict[int, list[str]] = {}
    for fork in forks:
        if fork.forked_version is not None and first <= fork.forked_version <= last:
            by_version.setdefault(fork.forked_version, []).append(fork.public_id)
    return [Branch(number, tuple(ids)) for number, ids in by_version.items()]
