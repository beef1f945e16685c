"""Answers that are saved as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.http import HttpResponse, StreamingHttpResponse

_PIECE_BYTES = 64 * 1024


def download(text: str, *, name: str, content_type: str) -> HttpResponse:
    """A text to be saved under `name` (ASCII), as UTF-8; shown as nothing else, and kept by no cache."""
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=_headers(name))


def in_pieces(pieces: Iterable[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """The same for UTF-8 that is made while it is sent, so that its length does not count.

    A fault on the way breaks the answer off: what arrives then is not whole, and can't be taken for it.
    """
    return StreamingHttpResponse(_joined(pieces), content_type=content_type, headers=_headers(name))


def _headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Many small pieces as few larger ones."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= _PIECE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)
