"""Errors of sessions, versions, turns and traces; codes are those of contract section 3."""

from datetime import datetime
from typing import Any

from statebase_site.base.clock import isoformat
from statebase_site.base.errors import (
    Conflict,
    DomainError,
    Frozen,
    InvalidInput,
    NotFound,
    PermissionRefused,
    TooLarge,
)

__all__ = [
    "ContentTooLarge",
    "DomainError",
    "EntityExists",
    "EntityNotFound",
    "InvalidInput",
    "MemoryConflict",
    "MemoryNotFound",
    "PermissionRefused",
    "RefusedWhileFrozen",
    "SessionFrozen",
    "SessionHeld",
    "SessionNotFound",
    "StateTooLarge",
    "ThawRefused",
    "TooLarge",
    "TraceNotFound",
    "TurnNotFound",
    "VersionConflict",
    "VersionNotFound",
]


class SessionNotFound(NotFound):
    """No such session, or not for this actor."""

    code = "session_not_found"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"There is no session {session_id!r}.",
            param="session_id",
            suggestion="Check the id and the project of the key; expired and deleted sessions are gone.",
        )


class VersionNotFound(NotFound):
    """The session has no such version; the message names those it has."""

    code = "version_not_found"

    def __init__(self, session_id: str, requested: object, current: int) -> None:
        super().__init__(
            f"Session {session_id} has no version {requested}: its versions are 0 to {current}.",
            param="version",
            suggestion=f"Name a version from 0 to {current}, or -1 to -{current} counted back."
            if current
            else "Its only version is 0.",
        )


class TurnNotFound(NotFound):
    """No such turn, or not for this actor."""

    code = "turn_not_found"

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"There is no turn {turn_id!r} in this session.", param="turn_id")


class TraceNotFound(NotFound):
    """No such trace, or not for this actor."""

    code = "trace_not_found"

    def __init__(self, trace_id: str) -> None:
        super().__init__(f"There is no trace {trace_id!r}.", param="trace_id")


class VersionConflict(Conflict):
    """The session is past the version that the caller saw; extra `current_version`."""

    code = "version_conflict"

    def __init__(self, expected: int, current: int) -> None:
        super().__init__(
            f"The session has moved on: version {expected} was expected, the current one is {current}.",
            param="expected_version",
            suggestion="Read what changed since, then decide again.",
            current_version=current,
        )


class SessionHeld(Conflict):
    """The session is evidence and may not be deleted; extra `holds`."""

    code = "session_held"

    def __init__(self, holds: list[dict[str, Any]]) -> None:
        labels = ", ".join(hold["label"] for hold in holds)
        super().__init__(
            f"The session is evidence of {labels} and may not be deleted while that is open.", holds=holds
        )


class StateTooLarge(TooLarge):
    """The state that a write would make is over its limit."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The resulting state has {size:,} bytes; the limit is {limit:,}.",
            param="state",
            suggestion="Keep large data outside the state and store a reference to it.",
        )


class MemoryNotFound(NotFound):
    """No such memory, or not for this actor."""

    code = "memory_not_found"

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"There is no memory {memory_id!r}.", param="memory_id")


class MemoryConflict(Conflict):
    """The memory was changed since the caller saw it; extra `current_version`."""

    code = "version_conflict"

    def __init__(self, current: int) -> None:
        super().__init__(
            "Somebody changed this memory since you opened it.",
            param="expected_version",
            suggestion="Look at what it says now, then save again.",
            current_version=current,
        )


class EntityNotFound(NotFound):
    """No such entity, or not for this actor."""

    code = "entity_not_found"

    def __init__(self, entity_id: str) -> None:
        super().__init__(f"There is no entity {entity_id!r}.", param="id")


class EntityExists(Conflict):
    """The session knows a thing of that type and id already."""

    code = "already_exists"

    def __init__(self, entity_type: str, entity_id: str, known_as: str) -> None:
        super().__init__(
            f"The session has an entity {entity_type} {entity_id!r} already.",
            param="entity_id",
            suggestion=f"Change it: PUT /v1/entities/{known_as}.",
        )


class ContentTooLarge(TooLarge):
    """The content of a memory is over its limit (contract 4.3)."""

    code = "content_too_large"


class RefusedWhileFrozen(DomainError):
    """A refusal on a frozen session, with what its evidence is made of (contract 8.5)."""

    session_id: str
    operation: str
    frozen_at: datetime
    frozen_version: int


class SessionFrozen(RefusedWhileFrozen, Frozen):
    """A write that the freeze refuses; leaves a `write.refused` trace, named in `trace_id`."""

    def __init__(
        self,
        *,
        session_id: str,
        operation: str,
        frozen_at: datetime,
        frozen_version: int,
        notices: list[str],
    ) -> None:
        notice = " ".join(notices)
        super().__init__(
            f"Session {session_id} is frozen since version {frozen_version}: nothing may change it until "
            f"it is resumed.{' ' + notice if notice else ''}",
            suggestion="Stop, and wait for a person to resume the session.",
            session_id=session_id,
            frozen_at=isoformat(frozen_at),
            frozen_version=frozen_version,
            trace_id=None,
        )
        self.session_id = session_id
        self.operation = operation
        self.frozen_at = frozen_at
        self.frozen_version = frozen_version


class ThawRefused(RefusedWhileFrozen, PermissionRefused):
    """Resuming, or rolling back while frozen, without the scope for it (contract 8.2, 8.4)."""

    def __init__(
        self,
        message: str,
        *,
        required_scope: str,
        session_id: str,
        operation: str,
        frozen_at: datetime,
        frozen_version: int,
    ) -> None:
        super().__init__(message, required_scope=required_scope, trace_id=None)
        self.session_id = session_id
        self.operation = operation
        self.frozen_at = frozen_at
        self.frozen_version = frozen_version
