"""Structural differences of JSON documents. Pure: no Django, no database."""

from sessions_app.diff.comparison import Comparison, compare
from sessions_app.diff.operations import Changes, Kind, Operation, changes
from sessions_app.diff.patch import apply_patch
from sessions_app.diff.pointer import parts, pointer, resolve
from sessions_app.diff.segments import Segment, SegmentKind, words
from sessions_app.diff.tree import Counts, Node, NodeKind
from sessions_app.diff.with_values import state_diff

__all__ = [
    "Changes",
    "Comparison",
    "Counts",
    "Kind",
    "Node",
    "NodeKind",
    "Operation",
    "Segment",
    "SegmentKind",
    "apply_patch",
    "changes",
    "compare",
    "parts",
    "pointer",
    "resolve",
    "state_diff",
    "words",
]
