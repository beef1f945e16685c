"""The two clients: the official ones, and the calls they lack."""

from __future__ import annotations

from statebase_client import official
from statebase_client.calls import AsyncGroup, Request, SyncGroup, call
from statebase_client.incidents import AsyncIncidents, Incidents
from statebase_client.keys import AsyncKeys, Keys
from statebase_client.memory import AsyncMemories, Memories
from statebase_client.results import Record
from statebase_client.scenarios import AsyncScenarios, Scenarios
from statebase_client.sessions import AsyncSessions, Sessions
from statebase_client.traces import AsyncTraces, Traces
from statebase_client.users import AsyncUsers, Users
from statebase_client.webhooks import AsyncWebhooks, Webhooks

HOSTED = "https://api.statebase.org"
"""Where the official SDK looks for the server; one of your own is given as `base_url`."""


class _ServiceCalls:
    """Calls on the client itself."""

    @call
    def health(self) -> Request[Record]:
        """How the server is; needs no key."""
        return Request("GET", "/health", lambda answer: Record(answer.json()))


class StateBase(_ServiceCalls, SyncGroup, official.StateBase):
    """Client of a StateBase server; `with StateBase(…) as sb:` closes its connections.

    `timeout` is in seconds. A request that is refused for the moment (429, 503) is sent again up to
    `max_retries` times where that does no harm: reads, deletions, and what has an `idempotency_key`.
    """

    def __init__(
        self, api_key: str, base_url: str = HOSTED, timeout: float = 30.0, *, max_retries: int = 3
    ) -> None:
        official.StateBase.__init__(self, api_key, base_url, timeout)
        self.max_retries = max_retries
        shared = (self.client, self.base_url, max_retries)
        self.sessions = Sessions(*shared)
        self.memory = Memories(*shared)
        self.traces = Traces(*shared)
        self.keys = Keys(*shared)
        self.users = Users(*shared)
        self.webhooks = Webhooks(*shared)
        self.incidents = Incidents(*shared)
        self.scenarios = Scenarios(*shared)


class AsyncStateBase(_ServiceCalls, AsyncGroup, official.AsyncStateBase):
    """`StateBase` for `await`; `async with AsyncStateBase(…) as sb:` closes its connections."""

    def __init__(
        self, api_key: str, base_url: str = HOSTED, timeout: float = 30.0, *, max_retries: int = 3
    ) -> None:
        official.AsyncStateBase.__init__(self, api_key, base_url, timeout)
        self.max_retries = max_retries
        shared = (self.client, self.base_url, max_retries)
        self.sessions = AsyncSessions(*shared)
        self.memory = AsyncMemories(*shared)
        self.traces = AsyncTraces(*shared)
        self.keys = AsyncKeys(*shared)
        self.users = AsyncUsers(*shared)
        self.webhooks = AsyncWebhooks(*shared)
        self.incidents = AsyncIncidents(*shared)
        self.scenarios = AsyncScenarios(*shared)
