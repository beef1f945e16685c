"""What is told before a rollback: its full account, and what happened while somebody made up their mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app import queries
from sessions_app.diff import compare
from sessions_app.forms import RollbackForm
from sessions_app.models import AgentSession
from sessions_app.queries import windows
from sessions_app.time_machine.address import Address
from sessions_app.time_machine.entries import Entry, entries, spans
from sessions_app.time_machine.page import SUGGESTED_REASON, undone_in_words
from sessions_app.time_machine.tree import Tree, comparison_tree
from sessions_app.time_machine.turns import ShownTurn, shown_turns

_ROWS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The account of a rollback that was not made."""

    session: AgentSession
    preview: queries.RollbackPreview
    tree: Tree
    undone: list[Entry]
    undone_more: int
    undone_words: str
    turns: list[ShownTurn]
    turns_more: int
    irreversible: int

    def form(self) -> RollbackForm:
        """An unsent form for this rollback."""
        required = self.session.open_holds > 0
        return RollbackForm(
            initial={
                "version": self.preview.to_version,
                "expected_version": self.preview.from_version,
                "reason": "" if required else SUGGESTED_REASON,
            },
            reason_required=required,
        )


def rehearsal(agent_session: AgentSession, target: int) -> Rehearsal:
    """Rehearse a rollback to version `target`. Raises `VersionNotFound`."""
    preview = queries.rollback_preview(agent_session, target)
    address = Address(agent_session.public_id, number=preview.to_version, diff_only=True)
    undone = list(reversed(preview.undone_versions))
    return Rehearsal(
        session=agent_session,
        preview=preview,
        tree=comparison_tree(preview.comparison.root, address),
        undone=[Entry(row, row.kind, None, None) for row in undone[:_ROWS_SHOWN]],
        undone_more=max(0, len(undone) - _ROWS_SHOWN),
        undone_words=spans([row.number for row in undone]),
        turns=shown_turns(preview.turns[:_ROWS_SHOWN], target),
        turns_more=max(0, len(preview.turns) - _ROWS_SHOWN),
        irreversible=sum(effect.reversibility != "reversible" for effect in preview.effects),
    )


@dataclass(frozen=True, slots=True)
class MovedOn:
    """What happened since the version that somebody saw as the current one."""

    session: AgentSession
    seen: int
    target: int
    reason: str
    entries: list[Entry]
    more: int
    tree: Tree
    undoes: str

    def form(self) -> RollbackForm:
        """The same rollback again, from the version that is current now; what was typed is kept."""
        initial = {
            "version": self.target,
            "expected_version": self.session.head_version,
            "reason": self.reason,
        }
        return RollbackForm(initial=initial, reason_required=self.session.open_holds > 0)


def moved_on(agent_session: AgentSession, sent: dict[str, Any]) -> MovedOn:
    """What changed since `sent["expected_version"]`, for a form that came too late."""
    head = agent_session.head_version
    seen, target = min(sent["expected_version"], head), min(sent["version"], head)
    first = max(seen, head - _ROWS_SHOWN)
    ranges = queries.live_ranges(agent_session)
    rows = entries(windows.versions_between(agent_session, first, head), ranges)
    documents = dict(queries.documents_at(agent_session, [seen, head]))
    return MovedOn(
        session=agent_session,
        seen=seen,
        target=target,
        reason=sent["reason"],
        entries=[entry for entry in reversed(rows) if entry.number > first],
        more=first - seen,
        tree=comparison_tree(
            compare(documents[seen].value, documents[head].value).root,
            Address(agent_session.public_id, diff_only=True),
        ),
        undoes=undone_in_words(ranges, target),
    )
