"""Predicates over a state: JMESPath expressions that hold or do not (contract 16). Pure."""

from __future__ import annotations

import jmespath
from jmespath.exceptions import JMESPathError

from statebase_site.base.json import JsonValue

CHARACTERS_MOST = 1000


class BadPredicate(ValueError):
    """The expression can't be read; the message says where."""


def check(expression: str) -> str:
    """The expression, if it is JMESPath of a bearable length. Raises `BadPredicate`."""
    if not expression.strip():
        raise BadPredicate("The predicate is empty.")
    if len(expression) > CHARACTERS_MOST:
        raise BadPredicate(f"The predicate has over {CHARACTERS_MOST:,} characters.")
    try:
        jmespath.compile(expression)
    except (JMESPathError, RecursionError) as fault:
        raise BadPredicate(f"This is no JMESPath expression: {_in_a_line(fault)}") from None
    return expression


def holds(expression: str, state: JsonValue) -> bool:
    """Whether the expression is true of the state, by JMESPath's rule: null, false and what is empty are not.

    An expression that fails on this state (a function given a value of the wrong type) does not hold. Raises
    `BadPredicate` for one that can't be read.
    """
    check(expression)
    try:
        found = jmespath.search(expression, state)
    except (JMESPathError, RecursionError, TypeError, ValueError):
        return False
    return found is not None and found is not False and found not in ("", [], {})


def _in_a_line(fault: Exception) -> str:
    return str(fault).splitlines()[0][:200] if str(fault) else "it is nested too deeply."
