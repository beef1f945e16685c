"""The official StateBase SDK and the calls it lacks; a drop-in for `statebase`."""

from statebase_client.client import AsyncStateBase, StateBase
from statebase_client.errors import (
    AuthenticationFailed,
    Conflict,
    GateUnmet,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerError,
    SessionFrozen,
    SessionHeld,
    StateBaseError,
    TooLarge,
    VersionConflict,
)
from statebase_client.pages import AsyncPage, Page
from statebase_client.results import StateNotLoaded

__all__ = [
    "AsyncPage",
    "AsyncStateBase",
    "AuthenticationFailed",
    "Conflict",
    "GateUnmet",
    "InvalidRequest",
    "NotFound",
    "Page",
    "PermissionDenied",
    "RateLimited",
    "ServerError",
    "SessionFrozen",
    "SessionHeld",
    "StateBase",
    "StateBaseError",
    "StateNotLoaded",
    "TooLarge",
    "VersionConflict",
]
