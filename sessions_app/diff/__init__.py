"""Structural differences of JSON documents. Pure: no Django, no database."""

from sessions_app.diff.operations import Changes, Kind, Operation, changes
from sessions_app.diff.pointer import parts, pointer, resolve
from sessions_app.diff.with_values import state_diff

__all__ = ["Changes", "Kind", "Operation", "changes", "parts", "pointer", "resolve", "state_diff"]
