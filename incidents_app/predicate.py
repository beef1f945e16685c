"""Predicates over a state: JMESPath expressions that hold or do not (contract 16). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter

from statebase_site.base.json import JsonValue

CHARACTERS_MOST = 1000
STEPS_MOST = 2_000_000
"""How much work an evaluation may be: a short expression can double a list with each of its parts."""

_CHARACTERS_A_STEP = 32


class BadPredicate(ValueError):
    """The expression can't be read; the message says where."""


class _TooMuch(Exception):
    """The evaluation would go on for too long."""


class _Bounded(TreeInterpreter):
    """Counts the work of an evaluation, and ends it at STEPS_MOST."""

    def __init__(self) -> None:
        super().__init__()
        self._left = STEPS_MOST
        self._calls = Functions()

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._spend(1)
        return super().visit(node, *args, **kwargs)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        return self._made(super().visit_flatten(node, value))

    def visit_slice(self, node: Any, value: Any) -> Any:
        return self._made(super().visit_slice(node, value))

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        # A function may walk through all of what it is given, however often one value stands in it.
        given = [self.visit(child, value) for child in node["children"]]
        self._walk(given)
        if node["value"] == "join" and len(given) == 2:
            self._spend(_size(given[0]) * _size(given[1]))
        return self._made(self._calls.call_function(node["value"], given))

    def visit_comparator(self, node: Any, value: Any) -> Any:
        sides = [self.visit(child, value) for child in node["children"]]
        self._walk(sides)
        literals = [{"type": "literal", "value": side, "children": []} for side in sides]
        compared: Any = {**node, "children": literals}
        return super().visit_comparator(compared, value)

    def _made(self, value: Any) -> Any:
        self._spend(_size(value))
        return value

    def _walk(self, values: list[Any]) -> None:
        waiting = list(values)
        while waiting:
            one = waiting.pop()
            self._spend(_size(one))
            if isinstance(one, list):
                waiting += one
            elif isinstance(one, dict):
                waiting += one.values()

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _TooMuch


def _size(value: Any) -> int:
    if isinstance(value, str):
        return 1 + len(value) // _CHARACTERS_A_STEP
    return 1 + len(value) if isinstance(value, list | dict) else 1


def check(expression: str) -> str:
    """The expression, if it is JMESPath of a bearable length. Raises `BadPredicate`."""
    if not expression.strip():
        raise BadPredicate("The predicate is empty.")
    if len(expression) > CHARACTERS_MOST:
        raise BadPredicate(f"The predicate has over {CHARACTERS_MOST:,} characters.")
    try:
        unknown = sorted(set(_functions(jmespath.compile(expression).parsed)) - set(Functions.FUNCTION_TABLE))
    except (JMESPathError, RecursionError, ValueError) as fault:
        raise BadPredicate(f"This is no JMESPath expression: {_in_a_line(fault)}") from None
    if unknown:
        raise BadPredicate(f"This is no JMESPath expression: there is no function {unknown[0]}().")
    return expression


def _functions(node: Any) -> Iterator[str]:
    """The names of the functions that an expression calls."""
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _functions(child)


def holds(expression: str, state: JsonValue) -> bool:
    """Whether the expression is true of the state, by JMESPath's rule: null, false and what is empty are not.

    An expression that fails on this state (a function given a value of the wrong type), or that would take
    too long, does not hold. Raises `BadPredicate` for one that can't be read.
    """
    check(expression)
    try:
        found = _Bounded().visit(jmespath.compile(expression).parsed, state)
    except (JMESPathError, _TooMuch, RecursionError, TypeError, ValueError, ArithmeticError):
        return False
    return found is not None and found is not False and found not in ("", [], {})


def _in_a_line(fault: Exception) -> str:
    return str(fault).splitlines()[0][:200] if str(fault) else "it is nested too deeply."
