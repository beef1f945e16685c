"""What the address of a comparison says: two versions, of one session or of two, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from sessions_app import queries
from sessions_app.errors import InvalidInput
from sessions_app.models import AgentSession
from sessions_app.time_machine.address import Address
from statebase_site.access.actor import Actor
from statebase_site.web.fields import read_whole_number

SHAPES = {"inline": "Inline", "side": "Side by side", "text": "Text", "patch": "JSON Patch"}
REMEMBERED = ("inline", "side", "text")
"""The ways of showing a comparison that a browser keeps; the machine form is for once."""


@dataclass(frozen=True, slots=True)
class Side:
    """A version to compare. `text` names it in the address: `3`, or `sess_…:3` in another session."""

    agent_session: AgentSession
    number: int
    text: str

    @classmethod
    def of(cls, agent_session: AgentSession, number: int, page_of: AgentSession) -> Side:
        own = agent_session.pk == page_of.pk
        return cls(agent_session, number, str(number) if own else f"{agent_session.public_id}:{number}")

    @property
    def name(self) -> str:
        return f"v{self.number}"


def sides(by: Actor, agent_session: AgentSession, left: str, right: str) -> tuple[Side, Side]:
    """The versions that `?left=` and `?right=` name: else the current one, and the one before it.

    Raises `InvalidInput` for what names none, `VersionNotFound`, and `SessionNotFound`, also for a session of
    another project.
    """
    newer = _side(by, agent_session, right, "right") or Side.of(
        agent_session, agent_session.head_version, agent_session
    )
    return _side(by, agent_session, left, "left") or _before(by, newer, agent_session), newer


def _side(by: Actor, page_of: AgentSession, text: str, param: str) -> Side | None:
    session_id, _, number = text.strip().rpartition(":")
    if not text.strip():
        return None
    try:
        requested = read_whole_number(number.removeprefix("v"))
    except ValueError:
        raise InvalidInput(
            f"{text[:80]!r} names no version. Write a number such as 3, or -1 for the one before the current "
            "version, or a session and a number such as sess_a:3.",
            param=param,
        ) from None
    named = queries.session_for(by, session_id) if session_id else page_of
    return Side.of(named, queries.absolute_version(named, requested), page_of)


def _before(by: Actor, newer: Side, page_of: AgentSession) -> Side:
    """The version before one: of version 0 of a fork what it was forked from, of another version 0 itself."""
    if newer.number:
        return Side.of(newer.agent_session, newer.number - 1, page_of)
    fork = newer.agent_session
    if fork.forked_from is not None and fork.forked_version is not None:
        parent = queries.sessions_for(by).filter(public_id=fork.forked_from).first()
        if parent is not None:
            return Side.of(parent, fork.forked_version, page_of)
    return newer


@dataclass(frozen=True, slots=True)
class DiffAddress(Address):
    """One comparison; every link of its page is this with one thing changed."""

    left: str = ""
    right: str = ""
    shape: str = "inline"

    @classmethod
    def of(cls, session_id: str, left: Side, right: Side, shape: str, asked: QueryDict) -> DiffAddress:
        """The address of two sides; what was opened and folded by hand is taken from `asked`."""
        read = Address.read(session_id, None, asked)
        return cls(
            session_id,
            diff_only=True,
            opened=read.opened,
            folded=read.folded,
            left=left.text,
            right=right.text,
            shape=shape,
        )

    @property
    def url(self) -> str:
        pairs = [("left", self.left), ("right", self.right), ("as", self.shape)]
        pairs += [("open", path) for path in self.opened] + [("fold", path) for path in self.folded]
        return f"{reverse('sessions:diff', args=[self.session_id])}?{urlencode(pairs, safe='/:')}"

    def between(self, left: str, right: str) -> str:
        """The address of another comparison, shown the same way."""
        return self.with_(left=left, right=right, opened=(), folded=())
