"""Which embedder is in use (setting STATEBASE_EMBEDDER), and the optional one that knows meaning."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from sessions_app.embedding import Embedder, HashedEmbedder


@cache
def embedder() -> Embedder:
    """The one embedder of this process. Raises ImproperlyConfigured where it isn't installed."""
    if settings.EMBEDDER == "words":
        return HashedEmbedder()
    if settings.EMBEDDER == "wordllama":
        return WordLlamaEmbedder()
    try:
        return import_string(settings.EMBEDDER)()
    except ImportError as error:
        raise ImproperlyConfigured(
            f"STATEBASE_EMBEDDER is {settings.EMBEDDER!r}, which can't be imported: {error}. "
            "It is `words`, `wordllama`, or the dotted path of a class."
        ) from error


class WordLlamaEmbedder:
    """The mean of what the words of a text mean, by the model in the package `wordllama` (an extra)."""

    name = "wordllama-l2-supercat-256"
    # Measured: 65 % of paraphrases reach it, and 1 % of texts that do not belong together (docs/api.md).
    related: float | None = 0.25

    def __init__(self) -> None:
        found = find_spec("wordllama")
        if found is None or found.origin is None:
            raise ImproperlyConfigured(
                "STATEBASE_EMBEDDER is wordllama, which isn't installed. Install it with "
                f"`{sys.executable} -m pip install 'wordllama>=0.4,<0.5'`, or leave the variable out to find "
                "memories by their words."
            )
        # Here, because they come with the extra. Its own loader is passed by: it may ask the network.
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(found.origin).parent
        self._meanings: Any = load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
        tokenizer = folder / "tokenizers/l2_supercat_tokenizer_config.json"
        self._tokenizer = Tokenizer.from_file(str(tokenizer))

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> array[float]:
        tokens = self._tokenizer.encode(text.lower(), add_special_tokens=False).ids
        total = self._meanings[tokens].sum(axis=0, dtype="float32")
        length = float((total * total).sum()) ** 0.5
        return array("f", (total / length if length else total).tolist())
