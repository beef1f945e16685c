"""Which embedder is in use (setting STATEBASE_EMBEDDER)."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from sessions_app.embedding import Embedder, HashedEmbedder


@cache
def embedder() -> Embedder:
    """The one embedder of this process."""
    if settings.EMBEDDER == "words":
        return HashedEmbedder()
    return import_string(settings.EMBEDDER)()
