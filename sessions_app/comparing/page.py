"""The page of one comparison, put together: two states are read, whatever is shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse

from sessions_app import queries
from sessions_app.comparing.address import SHAPES, DiffAddress, Side
from sessions_app.comparing.lines import Line, Pair, lines, two_columns
from sessions_app.diff import Comparison, compare
from sessions_app.diff.unified import Block, unified
from sessions_app.models import AgentSession, StateVersion
from sessions_app.time_machine.tree import Tree, comparison_tree
from statebase_site.base.json import JsonObject, dumps, pretty

TEXT_LINES = 1_500  # of the text shown on the page; all of it can be downloaded
LINE_SHOWN = 600  # characters of one line of it
PATCH_SHOWN = 60_000  # characters


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One of the two versions with what is told of it, and the address of its state."""

    side: Side
    version: StateVersion
    state_url: str

    @property
    def agent_session(self) -> AgentSession:
        return self.side.agent_session

    @property
    def number(self) -> int:
        return self.side.number


@dataclass(frozen=True, slots=True)
class Link:
    """An address, and what it shows."""

    url: str
    words: str


class ComparisonPage:
    """What the template asks for; each part is worked out then."""

    def __init__(self, address: DiffAddress, left: Side, right: Side) -> None:
        self.address, self._left, self._right = address, left, right
        self._documents = queries.documents_of(*((side.agent_session, side.number) for side in (left, right)))

    @cached_property
    def left(self) -> ShownSide:
        return _shown(self._left)

    @cached_property
    def right(self) -> ShownSide:
        return _shown(self._right)

    @property
    def across_sessions(self) -> bool:
        return self._left.agent_session.pk != self._right.agent_session.pk

    @cached_property
    def comparison(self) -> Comparison:
        left, right = self._documents
        return compare(left.value, right.value)

    @property
    def equal(self) -> bool:
        return self.comparison.equal

    @property
    def only_order_differs(self) -> bool:
        return self.equal and self._documents[0].text != self._documents[1].text

    # The tree -----------------------------------------------------------------------------------------

    @cached_property
    def _tree(self) -> Tree:
        return comparison_tree(self.comparison.root, self.address)

    @cached_property
    def lines(self) -> list[Line]:
        return lines(self._tree.rows)

    @property
    def pairs(self) -> list[Pair]:
        return two_columns(self.lines)

    @property
    def change_count(self) -> int:
        """How many changes the page shows and numbers."""
        return self.text_blocks_count if self.address.shape == "text" else self._tree.hunks

    @property
    def has_folded_changes(self) -> bool:
        """Whether there are changes in what is folded, because they are too many to show at once."""
        rows = self._tree.rows
        return any(
            (row.kind == "more" and not row.text.startswith("unchanged"))
            or (row.kind == "folded" and not row.sign and row.node is not None and row.node.counts.total)
            for row in rows
        )

    # The text -----------------------------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> list[Block]:
        left, right = (pretty(document.value).split("\n") for document in self._documents)
        return unified(left, right)

    @property
    def text_blocks_count(self) -> int:
        return len(self.text_blocks)

    @cached_property
    def text_blocks(self) -> list[Block]:
        """The blocks that fit on the page, with their lines cut to what fits."""
        found: list[Block] = []
        left = TEXT_LINES
        for block in self._blocks:
            if left <= 0:
                break
            shown = [
                line if len(line.text) <= LINE_SHOWN else line._replace(text=f"{line.text[:LINE_SHOWN]}…")
                for line in block.lines[:left]
            ]
            left -= len(shown)
            found.append(block._replace(lines=shown))
        return found

    @property
    def text_is_cut(self) -> bool:
        return sum(len(block.lines) for block in self.text_blocks) < sum(
            len(block.lines) for block in self._blocks
        ) or any(len(line.text) > LINE_SHOWN for block in self._blocks for line in block.lines)

    @property
    def whole_text(self) -> str:
        """The unified diff in full, as `patch` reads it."""
        head = [f"--- {self._left.text}", f"+++ {self._right.text}"] if self._blocks else []
        body = [
            text
            for block in self._blocks
            for text in (block.header, *(line.sign + line.text for line in block.lines))
        ]
        return "".join(f"{line}\n" for line in (*head, *body))

    # The patch ----------------------------------------------------------------------------------------

    @property
    def patch(self) -> list[JsonObject]:
        return self.comparison.patch

    @cached_property
    def whole_patch(self) -> str:
        """One operation a line, as a JSON document."""
        operations = ",\n".join(f"  {dumps(operation)}" for operation in self.patch)
        return f"[\n{operations}\n]\n" if operations else "[]\n"

    @property
    def patch_shown(self) -> str:
        return self.whole_patch[:PATCH_SHOWN]

    @property
    def patch_cut(self) -> int:
        return max(0, len(self.whole_patch) - PATCH_SHOWN)

    # Other comparisons --------------------------------------------------------------------------------

    @property
    def shapes(self) -> list[tuple[str, Link]]:
        return [(shape, Link(self.address.with_(shape=shape), words)) for shape, words in SHAPES.items()]

    @property
    def order_url(self) -> str:
        """The text, which shows the order of keys too."""
        return self.address.with_(shape="text")

    @property
    def text_url(self) -> str:
        return f"{self.address.between(self.address.left, self.address.right)}&download=text"

    @property
    def patch_url(self) -> str:
        return f"{self.address.between(self.address.left, self.address.right)}&download=patch"

    @property
    def swapped_url(self) -> str:
        return self.address.between(self.address.right, self.address.left)

    @property
    def earlier(self) -> Link | None:
        """Both sides one version back."""
        return self._moved(-1)

    @property
    def later(self) -> Link | None:
        return self._moved(+1)

    def _moved(self, by: int) -> Link | None:
        left, right = _step(self._left, by), _step(self._right, by)
        if left is None or right is None:
            return None
        return Link(self.address.between(left.text, right.text), f"{left.name} → {right.name}")

    @property
    def left_steps(self) -> list[Link | None]:
        """The left side one version back, and one on."""
        return [self._stepped(self._left, by, is_left=True) for by in (-1, +1)]

    @property
    def right_steps(self) -> list[Link | None]:
        return [self._stepped(self._right, by, is_left=False) for by in (-1, +1)]

    def _stepped(self, side: Side, by: int, *, is_left: bool) -> Link | None:
        moved = _step(side, by)
        if moved is None:
            return None
        left, right = (moved.text, self.address.right) if is_left else (self.address.left, moved.text)
        return Link(self.address.between(left, right), moved.name)


def _shown(side: Side) -> ShownSide:
    return ShownSide(
        side,
        queries.version_row(side.agent_session, side.number),
        reverse("sessions:state", args=[side.agent_session.public_id, side.number]),
    )


def _step(side: Side, by: int) -> Side | None:
    number = side.number + by
    if not 0 <= number <= side.agent_session.head_version:
        return None
    return Side(side.agent_session, number, f"{side.text.rpartition(':')[0]}:{number}".removeprefix(":"))
