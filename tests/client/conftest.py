"""The client of `statebase_client/` against a really running server, or one that plays an answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from statebase_client import AsyncStateBase, StateBase
from tests.patience import SECONDS


@pytest.fixture
def sb(server):
    """Our client with a key that may do all."""
    with StateBase(server.full_key, server.url, SECONDS) as client:
        yield client


@pytest.fixture
def agent(server):
    """Our client with a key as an agent should have it."""
    with StateBase(server.agent_key, server.url, SECONDS) as client:
        yield client


@pytest.fixture(params=["StateBase", "AsyncStateBase"])
def play(request):
    """Plays a story with one of the clients, then with the other: `play(story, url, key)`.

    A story takes the client and yields what its calls return (a result, something to await, or an iterator
    over pages); it is sent the result, or has the error thrown into it.
    """
    return _play if request.param == "StateBase" else lambda *given: asyncio.run(_play_async(*given))


def count_requests(sb):
    """What the client asks from now on, as (method, path and query)."""
    asked = []
    sb.client.event_hooks = {
        "request": [lambda request: asked.append((request.method, request.url.raw_path))]
    }
    return asked


Story = Callable[[Any], Generator[Any, Any, None]]


def _play(story: Story, url: str, key: str = "sb_none") -> None:
    with StateBase(key, url, SECONDS) as sb:
        steps = story(sb)
        result = None
        with suppress(StopIteration):
            while True:
                result = steps.send(result)
                if isinstance(result, Iterator):
                    result = list(result)


async def _play_async(story: Story, url: str, key: str = "sb_none") -> None:
    async with AsyncStateBase(key, url, SECONDS) as sb:
        steps = story(sb)
        result = error = None
        with suppress(StopIteration):
            while True:
                step = steps.send(result) if error is None else steps.throw(error)
                result = error = None
                try:
                    if isinstance(step, AsyncIterator):
                        result = [item async for item in step]
                    else:
                        result = await step
                except Exception as raised:
                    error = raised


@contextmanager
def playing(*answers: tuple[int, object, dict[str, str]]) -> Iterator[SimpleNamespace]:
    """A server that gives these answers (status, body, headers) in turn and keeps what it was asked."""
    asked: list[SimpleNamespace] = []
    waiting = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else None
            asked.append(
                SimpleNamespace(method=self.command, path=self.path, body=body, headers=self.headers)
            )
            status, answered, headers = waiting.pop(0)
            text = b"" if answered is None else json.dumps(answered).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            """Nothing: the tests look at what was asked."""

    played = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=played.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{played.server_address[1]}"
        yield SimpleNamespace(url=url, asked=asked, waiting=waiting)
    finally:
        played.shutdown()
        thread.join()
        played.server_close()
