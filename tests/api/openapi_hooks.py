"""What schemathesis loads beside its configuration, in a process of its own."""

from itertools import count
from typing import Any

import schemathesis

_numbers = count()


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    """Requests are alike, and one key for two of them would hide what else is answered: each gets its own."""
    if case.headers.get("Idempotency-Key") and len(case.headers["Idempotency-Key"]) < 255:
        case.headers["Idempotency-Key"] = f"key {next(_numbers)}"
