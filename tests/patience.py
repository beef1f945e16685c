"""How a test waits for what has to happen, also on a machine that is busy with much else."""

import time
from collections.abc import Callable
from typing import TypeVar

# So long a test may hang before it fails; nothing waits longer than it has to.
SECONDS = 240

Found = TypeVar("Found")


def until(look: Callable[[], Found]) -> Found:
    """What `look` finds at last; it is asked again until it finds something."""
    deadline = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)
    return found
