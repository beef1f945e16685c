"""Answers that are saved as a file."""

from __future__ import annotations

from django.http import HttpResponse


def download(text: str, *, name: str, content_type: str) -> HttpResponse:
    """A text to be saved under `name` (ASCII), as UTF-8; shown as nothing else, and kept by no cache."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)
