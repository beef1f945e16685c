"""The official SDK's classes, from which those of this package come.

They carry no types: mypy would take every attribute of a subclass as of any type. So it is told what is
used of them here.
"""

from __future__ import annotations

import httpx

MYPY = False  # true to mypy only

if MYPY:
    from typing import Self

    class SessionsClient: ...

    class AsyncSessionsClient: ...

    class MemoryClient: ...

    class AsyncMemoryClient: ...

    class StateBase:
        client: httpx.Client
        base_url: str
        timeout: float

        def __init__(self, api_key: str, base_url: str, timeout: float) -> None: ...
        def __enter__(self) -> Self: ...
        def __exit__(self, *raised: object) -> None: ...
        def close(self) -> None: ...

    class AsyncStateBase:
        client: httpx.AsyncClient
        base_url: str
        timeout: float

        def __init__(self, api_key: str, base_url: str, timeout: float) -> None: ...
        async def __aenter__(self) -> Self: ...
        async def __aexit__(self, *raised: object) -> None: ...
        async def close(self) -> None: ...

else:
    from statebase import AsyncStateBase, StateBase
    from statebase.async_client import AsyncMemoryClient, AsyncSessionsClient
    from statebase.client import MemoryClient, SessionsClient

__all__ = [
    "AsyncMemoryClient",
    "AsyncSessionsClient",
    "AsyncStateBase",
    "MemoryClient",
    "SessionsClient",
    "StateBase",
]
