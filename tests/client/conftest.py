"""The client of `statebase_client/` against a really running server, or one that plays an answer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest

from statebase_client import AsyncStateBase, StateBase
from tests.api.conftest import server

__all__ = ["server"]


@pytest.fixture
def sb(server):
    """Our client with a key that may do all."""
    with StateBase(api_key=server.full_key, base_url=server.url) as client:
        yield client


@pytest.fixture
def agent(server):
    """Our client with a key as an agent should have it."""
    with StateBase(api_key=server.agent_key, base_url=server.url) as client:
        yield client


@pytest.fixture
def an_async_client(server):
    """Opens our asynchronous client, inside a running loop."""
    return lambda: AsyncStateBase(api_key=server.full_key, base_url=server.url)


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
    thread = Thread(target=played.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{played.server_address[1]}"
        yield SimpleNamespace(url=url, asked=asked, waiting=waiting)
    finally:
        played.shutdown()
        thread.join()
        played.server_close()
