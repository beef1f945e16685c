"""Evidence: a copy of what a version or trace said when it was pinned, with its hash."""

from __future__ import annotations

from django.db import models

from incidents_app.enums import PinKind
from incidents_app.models.affected_session import AffectedSession
from statebase_site.base.append_only import AppendOnlyModel


class Pin(AppendOnlyModel):
    """One pinned row of a session. The copy outlives the session."""

    affected = models.ForeignKey(
        AffectedSession, on_delete=models.DO_NOTHING, related_name="pins", db_index=False
    )
    kind = models.CharField(max_length=7, choices=PinKind)
    target = models.CharField(max_length=40, help_text="A version's number, or a trace's id.")
    content = models.TextField(help_text="JSON: what the API answered for it.")
    sha256 = models.CharField(max_length=64, help_text="Of `content`, in hex.")
    note = models.TextField(blank=True)
    pinned_by = models.CharField(max_length=160)
    pinned_at = models.DateTimeField()

    class Meta:
        ordering = ["pinned_at", "id"]
        constraints = [models.UniqueConstraint(fields=["affected", "kind", "target"], name="pin_once")]

    def __str__(self) -> str:
        return f"v{self.target}" if self.kind == PinKind.VERSION else self.target
