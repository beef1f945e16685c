"""A predicate tried on the states it has to tell apart, before a scenario is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.forms import BaseForm

from incidents_app import predicate as predicates
from incidents_app.models import AffectedSession
from incidents_app.presenting.picker import numbers_in
from sessions_app import queries as sessions
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor


@dataclass(frozen=True, slots=True)
class Tried:
    """What a predicate says of the good state, where it should hold, and of the bad one, where it should not.

    None: that state is not known. `fault`: why the predicate can't be read.
    """

    good_version: int | None = None
    holds_in_good: bool | None = None
    bad_version: int | None = None
    holds_in_bad: bool | None = None
    fault: str = ""

    @property
    def tells_them_apart(self) -> bool:
        """Whether it is true of the good state and false of the bad one."""
        return self.holds_in_good is True and self.holds_in_bad is False


def tried(by: Actor, rows: Sequence[AffectedSession], form: BaseForm) -> Tried | None:
    """Try what the form holds; None where there is no predicate, or no session, yet."""
    expression = str(form["predicate"].value() or "")
    row = next((each for each in rows if each.session_id == form["session_id"].value()), None)
    if not expression.strip() or row is None:
        return None
    try:
        predicates.check(expression)
    except predicates.BadPredicate as fault:
        return Tried(fault=str(fault))
    agent_session = sessions.session_for(by, row.session_id)
    fork = next(iter(numbers_in(form["fork_version"])), None)
    good = fork if fork is not None and fork <= agent_session.head_version else None
    bad = row.divergence_version
    return Tried(
        good_version=good,
        holds_in_good=_holds(agent_session, good, expression),
        bad_version=bad,
        holds_in_bad=_holds(agent_session, bad, expression),
    )


def _holds(agent_session: AgentSession, number: int | None, expression: str) -> bool | None:
    if number is None:
        return None
    return predicates.holds(expression, sessions.document_at(agent_session, number).value)
