"""Checking a session's hash chain (domain rule 7)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from sessions_app import chain
from sessions_app.enums import Action, TraceSource
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.queries.versions import documents_at
from statebase_site.base import json


@dataclass(frozen=True, slots=True)
class FirstBad:
    """The first row that does not fit: `kind` is version, turn or trace."""

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

    Tamper-evident, not tamper-proof: whoever rewrites every later row as well is not found.
    """
    versions = _check_states(agent_session)
    if isinstance(versions, FirstBad):
        return Verification(0, 0, versions)
    checked = 0
    previous = b""
    version_rows = {
        version.number: version
        for version in StateVersion.objects.filter(agent_session=agent_session).defer("body").iterator()
    }
    turn_rows = {turn.trace_id: turn for turn in Turn.objects.filter(agent_session=agent_session).iterator()}
    chained = Trace.objects.filter(agent_session=agent_session, source=TraceSource.SYSTEM).order_by(
        "position"
    )
    for trace in chained.iterator():
        checked += 1
        bad = _check_trace(trace, checked, previous, version_rows, turn_rows)
        if bad:
            return Verification(versions, checked, bad)
        previous = bytes(trace.hash)
    if checked != agent_session.chain_length or previous != bytes(agent_session.chain_hash):
        missing = FirstBad("trace", f"position {checked + 1}", "rows at the end of the chain are missing")
        return Verification(versions, checked, missing)
    return Verification(versions, checked, None)


def _check_states(agent_session: AgentSession) -> int | FirstBad:
    """Every version is there, and its body gives the text that its hash names."""
    hashes = dict(StateVersion.objects.filter(agent_session=agent_session).values_list("number", "sha256"))
    for number in range(agent_session.head_version + 1):
        if number not in hashes:
            return FirstBad("version", f"v{number}", "the row is missing")
    documents = documents_at(agent_session, hashes)
    for number in sorted(hashes):
        try:
            _, document = next(documents)
        except Exception as error:  # a broken body can fail in any way: each names the version
            return FirstBad("version", f"v{number}", f"the stored state can't be read: {error}")
        if sha256(document.text).digest() != bytes(hashes[number]):
            return FirstBad("version", f"v{number}", "the stored state is not the one that was accepted")
    return len(hashes)


def _check_trace(
    trace: Trace, position: int, previous: bytes, versions: dict[int, StateVersion], turns: dict[str, Turn]
) -> FirstBad | None:
    if trace.position != position:
        return FirstBad("trace", f"position {position}", "the row is missing")
    if chain.trace_hash(trace, previous) != bytes(trace.hash):
        return FirstBad("trace", trace.public_id, "the row is not the one that was written")
    if trace.subject_sha256 is None:
        return None
    details = trace.details
    number = details.get("new_version", details.get("version"))
    version = versions.get(number) if isinstance(number, int) else None
    turn = turns.get(trace.public_id) if trace.action == Action.TURN_ADDED else None
    if chain.subject_hash(version=version, turn=turn) != bytes(trace.subject_sha256):
        named = f"v{number}" if version else json.dumps(details.get("turn_id"))
        return FirstBad("version" if version else "turn", named, "the row is not the one that was accepted")
    return None
