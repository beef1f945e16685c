"""Background work made of many small jobs, of which one that fails keeps no other from being done."""

from collections.abc import Callable, Iterable


def do_all(jobs: Iterable[Callable[[], int]]) -> int:
    """Do all of `jobs`, whichever of them fail.

    Returns what they return together; raises what failed, together, when all have had their turn.
    """
    done = 0
    failures = []
    for job in jobs:
        try:
            done += job()
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise ExceptionGroup("Background work failed", failures)
    return done
