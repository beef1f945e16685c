"""A tiny HTTP server on a thread, which keeps what it was sent and answers as badly as a test wants."""

from __future__ import annotations

import socket
import socketserver
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from statebase_site.base import json
from tests.patience import SECONDS

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def answer(status: int, body: bytes = b"", *headers: str) -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@dataclass(frozen=True)
class Received:
    """One request, to the byte; header names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.parse(self.body)


class Receiver:
    """Keeps requests in `received`; `behave` gets each connection after it, `arrived` is set by each."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.received: list[Received] = []
        self.arrived = Event()
        self.ended = Event()
        self.behave: Callable[[socket.socket], None] = lambda connection: connection.sendall(self.answer)
        self.answer = OK
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                line = self.rfile.readline().decode().strip()
                if not line:
                    return
                headers = {}
                while text := self.rfile.readline().decode().strip():
                    name, _, value = text.partition(":")
                    headers[name.lower()] = value.strip()
                body = self.rfile.read(int(headers.get("content-length", 0)))
                receiver.received.append(Received(line, headers, body))
                receiver.arrived.set()
                with suppress(OSError):  # the other side had enough
                    receiver.behave(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

            def handle_error(self, *_: Any) -> None:
                """A handshake that the client ends is none of the server's errors."""

        self._server = Server((host, 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?from=statebase"

    def wrap(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def end(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)
