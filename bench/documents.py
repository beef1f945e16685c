"""States of a given size, as agents have them: many small keys, nested objects, lists of results."""

import json
import random
from typing import Any


def state_of(size_bytes: int, *, seed: int = 1) -> dict[str, Any]:
    """A believable state whose compact JSON has about `size_bytes` bytes; the same for the same seed."""
    generator = random.Random(seed)  # noqa: S311 - data, not secrets
    words = [
        f"{generator.choice('bcdfglmnprstv')}{generator.choice('aeiou')}{generator.randrange(10**6)}"
        for _ in range(999)
    ]
    state: dict[str, Any] = {"step": 0, "status": "searching", "results": []}
    size = 0
    while size < size_bytes - 60:
        state["results"].append(
            {
                "id": f"r{len(state['results']):06}",
                "title": " ".join(generator.sample(words, 6)),
                "price": round(generator.uniform(10, 900), 2),
                "seats": generator.randrange(300),
                "tags": generator.sample(words, 3),
                "open": generator.random() < 0.5,
            }
        )
        size += len(json.dumps(state["results"][-1], separators=(",", ":"))) + 1
    return state
