"""Child processes that end when their parent does, however it ends."""

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def ending_with_parent(with_signal: signal.Signals = signal.SIGTERM) -> Callable[[], None] | None:
    """A `preexec_fn`: the kernel sends `with_signal` when the parent dies, even when it was killed.

    None where the system has no such thing; there a killed parent leaves its children behind.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up before the fork: nothing may be imported after it

    def ask_the_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, with_signal)

    return ask_the_kernel
