"""Checking a session's hash chain (domain rule 7)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from django.db.models import Max

from sessions_app import chain
from sessions_app.enums import Action, TraceSource
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.queries.versions import texts_at

_ALTERED = "the row is not the one that was accepted"
_MISSING = "the row is missing"
_UNNAMED = "no trace names this row"


@dataclass(frozen=True, slots=True)
class FirstBad:
    """The first row that does not fit: `kind` is version, turn, trace or session."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Result over `versions` versions and `traces` traces; `first_bad` is None where all fits."""

    versions: int
    traces: int
    first_bad: FirstBad | None

    @property
    def ok(self) -> bool:
        return self.first_bad is None


def verify_session(agent_session: AgentSession) -> Verification:
    """Recompute every hash of a session, oldest first, and stop at the first row that does not fit.

    What is written meanwhile is left out. Tamper-evident, not tamper-proof: whoever rewrites every later row
    and the session's head as well is not found.
    """
    walk = _Walk(agent_session)
    first_bad = walk.along_the_chain() or walk.what_no_trace_names() or _client_notes(agent_session)
    return Verification(walk.versions_checked, walk.traces_checked, first_bad)


class _Walk:
    """Goes along the chain, and at each link checks what the action made.

    Versions, their texts and turns are read beside it, in the order they were made: none is kept in memory.
    """

    def __init__(self, agent_session: AgentSession) -> None:
        self.agent_session = agent_session
        versions = StateVersion.objects.filter(
            agent_session=agent_session, number__lte=agent_session.head_version
        )
        turns = Turn.objects.filter(agent_session=agent_session, number__lte=agent_session.turn_count)
        self.versions = versions.defer("body", "changes_text").order_by("number").iterator()
        self.texts = texts_at(agent_session, range(agent_session.head_version + 1))
        self.turns = turns.order_by("number").iterator()
        self.traces_checked = 0
        self.versions_checked = 0

    def along_the_chain(self) -> FirstBad | None:
        session = self.agent_session
        chained = Trace.objects.filter(
            agent_session=session, source=TraceSource.SYSTEM, position__lte=session.chain_length
        )
        previous = b""
        for trace in chained.order_by("position").iterator():
            self.traces_checked += 1
            if trace.position != self.traces_checked:
                return FirstBad("trace", f"position {self.traces_checked}", _MISSING)
            if chain.trace_hash(trace, previous) != bytes(trace.hash):
                return FirstBad("trace", trace.public_id, "the row is not the one that was written")
            previous = bytes(trace.hash)
            if trace.subject_sha256 is not None and (bad := self._check_subject(trace)):
                return bad
        if self.traces_checked != session.chain_length:
            return FirstBad("trace", f"position {self.traces_checked + 1}", _MISSING)
        if previous != bytes(session.chain_hash):
            return FirstBad("session", session.public_id, "its head names another end of the chain")
        return None

    def _check_subject(self, trace: Trace) -> FirstBad | None:
        details = trace.details
        number = details.get("new_version", details.get("version"))
        version = turn = None
        if number is not None:
            version = next(self.versions, None)
            if version is None or version.number != number:
                return FirstBad("version", f"v{number}", _MISSING)
            if bad := self._check_text(version):
                return bad
        if trace.action == Action.TURN_ADDED:
            turn = next(self.turns, None)
            if turn is None or turn.number != details["turn_number"]:
                return FirstBad("turn", str(trace.resource_id), _MISSING)
        if chain.subject_hash(version=version, turn=turn) == bytes(trace.subject_sha256 or b""):
            return None
        if turn is None:
            return FirstBad("version", f"v{number}", _ALTERED)
        return FirstBad(
            "turn", str(trace.resource_id), f"{_ALTERED}, or v{number} is not" if version else _ALTERED
        )

    def _check_text(self, version: StateVersion) -> FirstBad | None:
        """The body gives the text that the version's hash names."""
        self.versions_checked += 1
        try:
            number, text = next(self.texts)
        except Exception as error:  # a broken body can fail in any way: each names the version
            return FirstBad("version", str(version), f"the stored state can't be read: {error}")
        if number != version.number or sha256(text).digest() != bytes(version.sha256):
            return FirstBad("version", str(version), "the stored state is not the one that was accepted")
        return None

    def what_no_trace_names(self) -> FirstBad | None:
        """Rows put in later, among the others or behind the head."""
        if version := next(self.versions, None):
            return FirstBad("version", str(version), _UNNAMED)
        if turn := next(self.turns, None):
            return FirstBad("turn", turn.public_id, _UNNAMED)
        session = self.agent_session
        newest = {
            "version": StateVersion.objects.filter(agent_session=session).aggregate(last=Max("number")),
            "turn": Turn.objects.filter(agent_session=session).aggregate(last=Max("number")),
            "trace": Trace.objects.filter(agent_session=session).aggregate(last=Max("position")),
        }
        # Read after them: what was written properly meanwhile is not behind this head.
        head = AgentSession.objects.get(pk=session.pk)
        ends = {"version": head.head_version, "turn": head.turn_count, "trace": head.chain_length}
        for kind, found in newest.items():
            if found["last"] is not None and found["last"] > ends[kind]:
                return FirstBad(kind, f"{kind} {found['last']}", "the row stands behind the session's head")
        return None


def _client_notes(agent_session: AgentSession) -> FirstBad | None:
    """Each carries its own hash, outside the chain; that one is missing can't be seen."""
    notes = Trace.objects.filter(agent_session=agent_session, source=TraceSource.CLIENT).order_by("pk")
    for note in notes.iterator():
        if chain.trace_hash(note, b"") != bytes(note.hash):
            return FirstBad("trace", note.public_id, "the note is not the one that was written")
    return None
