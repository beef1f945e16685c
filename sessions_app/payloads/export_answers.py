"""The shapes of exports for the OpenAPI document; `export` builds what they describe (contract 6.9, 15)."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from sessions_app.payloads import answers
from sessions_app.payloads.answers import JsonDocument


class ExportedVersion(answers.StateVersion):
    """A version with the SHA-256 of its state as compact UTF-8 JSON."""

    sha256: str


class ExportedTurn(answers.Turn):
    """A turn; a state given with it stands here, or is that of the version named."""

    state_before_version: int | None
    state_after_version: int | None
    stale_before: bool
    actor: str


class ExportedTrace(answers.Trace):
    """A trace as it is stored; `hash` covers it and the one before it in the session's chain."""

    position: int | None
    hash: str
    subject_sha256: str | None


class ExportedSession(answers.Session):
    """The session's head."""

    frozen_version: int | None
    deleted_at: str | None
    lineage_root: str
    chain_length: int
    chain_hash: str


class SessionExport(TypedDict):
    """Everything of a session that the key may see; the rest is named in `omitted`.

    `sha256` is that of the document without this last key, as compact JSON.
    """

    object: Literal["session_export"]
    format: int
    session: ExportedSession
    omitted: list[str]
    versions: list[ExportedVersion]
    turns: list[ExportedTurn]
    entities: list[answers.Entity]
    holds: list[JsonDocument]
    memories: NotRequired[list[answers.Memory]]
    traces: NotRequired[list[ExportedTrace]]
    refused_writes: NotRequired[list[JsonDocument]]
    sha256: str


class UserExport(TypedDict):
    """All stored data of a user: the sessions whole, and what is bound to none of them."""

    object: Literal["user_export"]
    format: int
    user_id: str
    sessions: list[SessionExport]
    memories: list[answers.Memory]
    traces: list[ExportedTrace]
    sha256: str
