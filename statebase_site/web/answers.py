"""Shapes of answers that every app's routes share, for the OpenAPI document."""

from typing import Any, Generic, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

Item = TypeVar("Item")


class List(TypedDict, Generic[Item]):
    """The envelope of every list (contract section 2)."""

    object: Literal["list"]
    data: list[Item]
    has_more: bool
    first_id: str | None
    last_id: str | None


class ErrorFacts(TypedDict):
    """What went wrong; some kinds of error say more than these fields (contract section 3)."""

    code: str
    message: str
    type: Literal[
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "conflict_error",
        "frozen_error",
        "rate_limit_error",
        "api_error",
    ]
    param: str | None
    request_id: str
    suggestion: str | None
    docs: str | None
    required_scope: NotRequired[str]
    current_version: NotRequired[int]
    holds: NotRequired[list[dict[str, Any]]]
    unmet: NotRequired[list[dict[str, Any]]]
    session_id: NotRequired[str]
    frozen_at: NotRequired[str]
    frozen_version: NotRequired[int]
    trace_id: NotRequired[str]
    retry_after: NotRequired[int]


class Fault(TypedDict):
    """One fault of a request that can't be read; `loc` is where it is."""

    loc: list[str | int]
    msg: str
    type: str


class Problem(TypedDict):
    """The one shape of every error; `detail` repeats the message, or tells each fault."""

    error: ErrorFacts
    detail: str | list[Fault]


class Root(TypedDict):
    """What this is."""

    name: str
    version: str
    api: str
    health: str


class DatabaseHealth(TypedDict):
    """The database; `latency_ms` where it answers."""

    status: Literal["healthy", "unreachable"]
    kind: str
    latency_ms: NotRequired[float]


class ApiHealth(TypedDict):
    """The process itself."""

    status: Literal["healthy"]


class Services(TypedDict):
    """What the server is made of."""

    api: ApiHealth
    database: DatabaseHealth


class Health(TypedDict):
    """What runs and how it fares (contract 6.1)."""

    status: Literal["healthy", "unhealthy"]
    timestamp: str
    version: str
    uptime_seconds: int
    services: Services


class Liveness(TypedDict):
    """That the process answers."""

    status: Literal["alive"]


class Readiness(TypedDict):
    """Whether the process can serve."""

    status: Literal["ready", "not_ready"]
    database: DatabaseHealth
